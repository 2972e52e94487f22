package io.github.orbgate;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;

/** Calls through JNA's direct mapping, for a JDK without the Foreign Function and Memory API. */
final class JnaAbi implements Abi {
    private final NativeLibrary library;

    JnaAbi(String path) {
        library = NativeLibrary.getInstance(path);
        Native.register(Functions.class, library);
    }

    @Override
    public long decide(
            long engine, byte[] method, byte[] target, int kind, byte[] scopes, long scopeSet, int flags) {
        return Functions.orbgate_engine_decide_packed(
                engine, method, method.length, target, target.length, kind, scopes, scopes.length, scopeSet, flags);
    }

    @Override
    public long decideRoute(
            long engine, long high, long low, int kind, byte[] scopes, long scopeSet, int flags) {
        return Functions.orbgate_engine_decide_route_packed(
                engine, high, low, kind, scopes, scopes.length, scopeSet, flags);
    }

    @Override
    public long decideScope(long engine, byte[] scope, int kind, byte[] scopes, long scopeSet, int flags) {
        return Functions.orbgate_engine_decide_scope_packed(
                engine, scope, scope.length, kind, scopes, scopes.length, scopeSet, flags);
    }

    @Override
    public int decideBatch(long engine, long batch, long out, long outLength) {
        return Functions.orbgate_engine_decide_batch_packed(engine, batch, out, outLength);
    }

    @Override
    public int route(long engine, int number, long out) {
        return Functions.orbgate_engine_route(engine, number, out);
    }

    @Override
    public int gateAsk(
            long gate, long engine, long step, long question, long questionLength, long answer, long room, long answerLength) {
        return Functions.orbgate_gate_ask(gate, engine, step, question, questionLength, answer, room, answerLength);
    }

    @Override
    public int abiVersion() {
        return Functions.orbgate_abi_version();
    }

    @Override
    public int call(String function, Object... arguments) {
        return library.getFunction(function).invokeInt(arguments);
    }

    @Override
    public long address(ByteBuffer buffer) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(buffer));
    }

    @Override
    public byte[] copy(long address, long length) {
        return new Pointer(address).getByteArray(0, Math.toIntExact(length));
    }

    @Override
    public String name() {
        return "JNA";
    }

    /** The functions that are called for every request or route. JNA finds them by these names. */
    private static final class Functions {
        static native long orbgate_engine_decide_packed(
                long engine,
                byte[] method,
                long methodLength,
                byte[] target,
                long targetLength,
                int kind,
                byte[] scopes,
                long scopesLength,
                long scopeSet,
                int flags);

        static native long orbgate_engine_decide_route_packed(
                long engine, long routeHigh,
                long routeLow, int kind, byte[] scopes, long scopesLength, long scopeSet, int flags);

        static native long orbgate_engine_decide_scope_packed(
                long engine,
                byte[] scope,
                long scopeLength,
                int kind,
                byte[] scopes,
                long scopesLength,
                long scopeSet,
                int flags);

        static native int orbgate_engine_decide_batch_packed(long engine, long batch, long out, long outLength);

        static native int orbgate_engine_route(long engine, int number, long out);

        static native int orbgate_gate_ask(
                long gate, long engine, long step, long question, long questionLength, long answer, long room, long answerLength);

        static native int orbgate_abi_version();
    }
}
