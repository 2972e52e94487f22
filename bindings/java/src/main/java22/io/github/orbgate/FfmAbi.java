package io.github.orbgate;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Calls through the Foreign Function and Memory API of Java 22; only in the part of the jar for that version. */
final class FfmAbi implements Abi {
    private static final Linker LINKER = Linker.nativeLinker();

    /** As a constant of this class, a method handle is compiled into its caller. */
    private static final SymbolLookup LIBRARY = SymbolLookup.libraryLookup(Library.path(), Arena.global());

    /**
     * The header declares these functions short, and they neither allocate, block nor call back. So a
     * call need not change the thread's state, and can read arrays of the caller in place.
     */
    private static final Linker.Option SHORT = Linker.Option.critical(true);

    private static final MethodHandle DECIDE =
            handle("orbgate_engine_decide_packed", Packed.DECIDE, JAVA_LONG, SHORT);
    private static final MethodHandle DECIDE_ROUTE =
            handle("orbgate_engine_decide_route_packed", Packed.ROUTE, JAVA_LONG, SHORT);
    private static final MethodHandle DECIDE_SCOPE =
            handle("orbgate_engine_decide_scope_packed", Packed.SCOPE, JAVA_LONG, SHORT);

    /** The same for long strings, because the garbage collector must not wait for them. */
    private static final MethodHandle DECIDE_LONG =
            handle("orbgate_engine_decide_packed", Packed.DECIDE, JAVA_LONG);
    private static final MethodHandle DECIDE_ROUTE_LONG =
            handle("orbgate_engine_decide_route_packed", Packed.ROUTE, JAVA_LONG);
    private static final MethodHandle DECIDE_SCOPE_LONG =
            handle("orbgate_engine_decide_scope_packed", Packed.SCOPE, JAVA_LONG);

    /** Longer input is copied: the library needs microseconds for it. */
    static final int MOST_SHORT = 16 << 10;

    // A batch may be long, so the garbage collector must not wait for it.
    private static final MethodHandle DECIDE_BATCH =
            handle(
                    "orbgate_engine_decide_batch_packed",
                    List.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                    JAVA_INT);
    private static final MethodHandle ROUTE =
            handle("orbgate_engine_route", List.of(JAVA_LONG, JAVA_INT, JAVA_LONG), JAVA_INT, SHORT);

    // A gate verifies signatures and waits for locks, so the garbage collector must not wait for
    // it.
    private static final MethodHandle GATE_ASK =
            handle("orbgate_gate_ask", Collections.nCopies(8, JAVA_LONG), JAVA_INT);
    private static final MethodHandle ABI_VERSION = handle("orbgate_abi_version", List.of(), JAVA_INT, SHORT);

    /** The parameters of the packed calls. */
    private static final class Packed {
        static final List<MemoryLayout> TOKEN = List.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_INT);
        static final List<MemoryLayout> ROUTE = with(JAVA_LONG, JAVA_LONG, JAVA_LONG);
        static final List<MemoryLayout> SCOPE = with(JAVA_LONG, ADDRESS, JAVA_LONG);
        static final List<MemoryLayout> DECIDE = with(JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);

        private static List<MemoryLayout> with(MemoryLayout... first) {
            return Stream.concat(Stream.of(first), TOKEN.stream()).toList();
        }
    }

    private final ConcurrentHashMap<String, MethodHandle> others = new ConcurrentHashMap<>();

    private static MethodHandle handle(
            String name, List<MemoryLayout> arguments, MemoryLayout result, Linker.Option... options) {
        MemorySegment symbol =
                LIBRARY.find(name).orElseThrow(() -> new UnsatisfiedLinkError("the library has no " + name));
        MemoryLayout[] layouts = arguments.toArray(MemoryLayout[]::new);
        return LINKER.downcallHandle(symbol, FunctionDescriptor.of(result, layouts), options);
    }

    @Override
    public long decide(
            long engine, byte[] method, byte[] target, int kind, byte[] scopes, long scopeSet, int flags) {
        if ((long) method.length + target.length + scopes.length > MOST_SHORT) {
            return copied(
                    DECIDE_LONG, engine, method, (long) method.length, target, (long) target.length, kind, scopes,
                    (long) scopes.length, scopeSet, flags);
        }
        try {
            return (long)
                    DECIDE.invokeExact(
                            engine,
                            MemorySegment.ofArray(method),
                            (long) method.length,
                            MemorySegment.ofArray(target),
                            (long) target.length,
                            kind,
                            MemorySegment.ofArray(scopes),
                            (long) scopes.length,
                            scopeSet,
                            flags);
        } catch (Throwable problem) {
            throw impossible(problem);
        }
    }

    @Override
    public long decideRoute(
            long engine, long high, long low, int kind, byte[] scopes, long scopeSet, int flags) {
        if (scopes.length > MOST_SHORT) {
            return copied(
                    DECIDE_ROUTE_LONG, engine, high, low, kind, scopes, (long) scopes.length, scopeSet, flags);
        }
        try {
            return (long)
                    DECIDE_ROUTE.invokeExact(
                            engine,
                            high,
                            low,
                            kind,
                            MemorySegment.ofArray(scopes),
                            (long) scopes.length,
                            scopeSet,
                            flags);
        } catch (Throwable problem) {
            throw impossible(problem);
        }
    }

    @Override
    public long decideScope(long engine, byte[] scope, int kind, byte[] scopes, long scopeSet, int flags) {
        if ((long) scope.length + scopes.length > MOST_SHORT) {
            return copied(
                    DECIDE_SCOPE_LONG, engine, scope, (long) scope.length, kind, scopes, (long) scopes.length,
                    scopeSet, flags);
        }
        try {
            return (long)
                    DECIDE_SCOPE.invokeExact(
                            engine,
                            MemorySegment.ofArray(scope),
                            (long) scope.length,
                            kind,
                            MemorySegment.ofArray(scopes),
                            (long) scopes.length,
                            scopeSet,
                            flags);
        } catch (Throwable problem) {
            throw impossible(problem);
        }
    }

    private static long copied(MethodHandle handle, Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            Object[] copies = Stream.of(arguments).map(argument -> copy(arena, argument)).toArray();
            return (long) handle.invokeWithArguments(copies);
        } catch (Throwable problem) {
            throw impossible(problem);
        }
    }

    private static Object copy(Arena arena, Object argument) {
        return argument instanceof byte[] bytes ? arena.allocateFrom(JAVA_BYTE, bytes) : argument;
    }

    @Override
    public int decideBatch(long engine, long batch, long out, long outLength) {
        try {
            return (int) DECIDE_BATCH.invokeExact(engine, batch, out, outLength);
        } catch (Throwable problem) {
            throw impossible(problem);
        }
    }

    @Override
    public int route(long engine, int number, long out) {
        try {
            return (int) ROUTE.invokeExact(engine, number, out);
        } catch (Throwable problem) {
            throw impossible(problem);
        }
    }

    @Override
    public int gateAsk(
            long gate, long engine, long step, long question, long questionLength, long answer, long room, long answerLength) {
        try {
            return (int) GATE_ASK.invokeExact(gate, engine, step, question, questionLength, answer, room, answerLength);
        } catch (Throwable problem) {
            throw impossible(problem);
        }
    }

    @Override
    public int abiVersion() {
        try {
            return (int) ABI_VERSION.invokeExact();
        } catch (Throwable problem) {
            throw impossible(problem);
        }
    }

    @Override
    public int call(String function, Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            Object[] lent = Stream.of(arguments).map(argument -> copy(arena, argument)).toArray();
            return (int) others.computeIfAbsent(function, name -> other(name, lent)).invokeWithArguments(lent);
        } catch (Throwable problem) {
            throw impossible(problem);
        }
    }

    private static MethodHandle other(String name, Object... arguments) {
        Stream<MemoryLayout> layouts =
                Stream.of(arguments).map(FfmAbi::layout);
        return handle(name, layouts.toList(), JAVA_INT);
    }

    private static MemoryLayout layout(Object argument) {
        return argument instanceof MemorySegment ? ADDRESS : argument instanceof Long ? JAVA_LONG : JAVA_INT;
    }

    @Override
    public long address(ByteBuffer buffer) {
        return MemorySegment.ofBuffer(buffer).address();
    }

    @Override
    public byte[] copy(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(length).toArray(JAVA_BYTE);
    }

    @Override
    public String name() {
        return "FFM";
    }

    /** C functions throw nothing, so this is an error of Java itself, such as a stack overflow. */
    private static RuntimeException impossible(Throwable problem) {
        if (problem instanceof Error error) {
            throw error;
        }
        return problem instanceof RuntimeException exception ? exception : new IllegalStateException(problem);
    }
}
