package io.github.orbgate;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BiFunction;
import java.util.function.LongFunction;

/**
 * A native engine with its users: its owners, which are the engines and handles that hold it, and the running calls. It
 * is freed once the last owner is closed and the last call has returned. The garbage collector does not see its size,
 * and frees it only if it was never closed.
 */
final class Core {
    /**
     * Running calls are counted in lanes. Concurrent threads mostly use different lanes, whose counts are in separate
     * cache lines: with a single count, processors would wait for each other.
     */
    private static final int LANES = 16;

    /** Distance between the counts of two lanes: 128 bytes. */
    private static final int APART = 16;

    /** The count of a closed lane is this value plus the number of running calls. */
    private static final long CLOSED = Long.MIN_VALUE / 2;

    /** The count after the last call has returned: late calls change it, but never back to {@code CLOSED}. */
    private static final long DRAINED = 2 * CLOSED;

    final Table table;
    private final long engine;
    private final AtomicInteger owners = new AtomicInteger(1);
    private final AtomicLongArray lanes = new AtomicLongArray(LANES * APART);
    private final AtomicInteger undrained = new AtomicInteger(LANES);
    private final Cleaner.Cleanable free;

    /** Takes ownership of a new engine of the library. The caller becomes its owner. */
    Core(long engine) {
        this.engine = engine;
        free = Library.CLEANER.register(this, () -> Library.ABI.call("orbgate_engine_free", engine));
        table = Table.read(engine);
        Reference.reachabilityFence(this);
    }

    /** Adds an owner; returns false if no owner is left. */
    boolean own() {
        return owners.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
    }

    /** Removes an owner. The last one closes the lanes, without waiting for the calls in them. */
    void disown() {
        if (owners.decrementAndGet() > 0) {
            return;
        }
        for (int lane = 0; lane < lanes.length(); lane += APART) {
            if (lanes.addAndGet(lane, CLOSED) == CLOSED) {
                drain(lane);
            }
        }
    }

    /** Begins a call: the engine stays alive until {@link #leave}. Less than 0 if the last owner has closed it. */
    int enter() {
        int lane = ((int) Thread.currentThread().getId() & LANES - 1) * APART;
        if (lanes.incrementAndGet(lane) < 0) {
            leave(lane);
            return -1;
        }
        return lane;
    }

    /** Ends a call. */
    void leave(int lane) {
        if (lanes.decrementAndGet(lane) == CLOSED) {
            drain(lane);
        }
        Reference.reachabilityFence(this);
    }

    /** No call is in a closed lane. Several calls may detect that; the first one frees. */
    private void drain(int lane) {
        if (lanes.compareAndSet(lane, CLOSED, DRAINED) && undrained.decrementAndGet() == 0) {
            free.clean();
        }
    }

    boolean isFreed() {
        return undrained.get() == 0;
    }

    /** For a call that is not made for every request. */
    <T> T during(LongFunction<T> call) {
        int lane = enter();
        if (lane < 0) {
            throw Engine.closed();
        }
        return leaving(lane, (engine, table) -> call.apply(engine));
    }

    /** For a call after {@link #enter}. */
    <T> T leaving(int lane, BiFunction<Long, Table, T> call) {
        try {
            return call.apply(engine, table);
        } finally {
            leave(lane);
        }
    }

    /** Null if the last owner has closed the engine. */
    Decision decide(byte[] method, byte[] target, Token token, BonusOrbs bonus) {
        Objects.requireNonNull(method, "method");
        Objects.requireNonNull(target, "target");
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(bonus, "bonus");
        int lane = enter();
        if (lane < 0) {
            return null;
        }
        try {
            return decided(
                    Library.ABI.decide(
                            engine, method, target, token.kind, token.scopes, token.scopeSet(), bonus.flags | Layout.PACK_ABOUT));
        } finally {
            Reference.reachabilityFence(token);
            leave(lane);
        }
    }

    /** Null if the last owner has closed the engine. */
    Decision decideRoute(RouteId route, Token token, BonusOrbs bonus) {
        Objects.requireNonNull(route, "route");
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(bonus, "bonus");
        int lane = enter();
        if (lane < 0) {
            return null;
        }
        try {
            return decided(
                    Library.ABI.decideRoute(
                            engine,
                            route.high(),
                            route.low(),
                            token.kind,
                            token.scopes,
                            token.scopeSet(),
                            bonus.flags | Layout.PACK_ABOUT));
        } finally {
            Reference.reachabilityFence(token);
            leave(lane);
        }
    }

    /** Null if the last owner has closed the engine. */
    Decision decideScope(byte[] scope, Token token, BonusOrbs bonus) {
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(bonus, "bonus");
        int lane = enter();
        if (lane < 0) {
            return null;
        }
        try {
            return decided(
                    Library.ABI.decideScope(
                            engine, scope, token.kind, token.scopes, token.scopeSet(), bonus.flags | Layout.PACK_ABOUT));
        } finally {
            Reference.reachabilityFence(token);
            leave(lane);
        }
    }

    private Decision decided(long packed) {
        if (Layout.effect(packed) == Layout.EFFECT_INVALID) {
            check(Layout.reason(packed)); // In that case, the status is in its place.
        }
        return new Decision(table, packed);
    }

    /** Throws if a status is not OK. */
    static void check(int status) {
        if (status != Layout.STATUS_OK) {
            throw failure(status);
        }
    }

    /** The exception for a status that is not OK. */
    static OrbgateException failure(int status) {
        return new OrbgateException(switch (status) {
            case Layout.STATUS_INVALID_ARGUMENT -> "the library rejected an argument";
            case Layout.STATUS_PANIC -> "a bug in the library was caught: the call had no effect";
            default -> "the library answered with status " + status;
        });
    }
}
