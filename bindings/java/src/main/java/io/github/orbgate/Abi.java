package io.github.orbgate;

import java.nio.ByteBuffer;

/**
 * The C ABI, by one of the two ways that Java has into it. Pointers and sizes are {@code long}: only 64-bit
 * processes can have an implementation.
 */
interface Abi {
    /** {@code orbgate_engine_decide_packed}. */
    long decide(long engine, byte[] method, byte[] target, int kind, byte[] scopes, long scopeSet, int flags);

    /** {@code orbgate_engine_decide_route_packed}. */
    long decideRoute(long engine, long high, long low, int kind, byte[] scopes, long scopeSet, int flags);

    /** {@code orbgate_engine_decide_scope_packed}. */
    long decideScope(long engine, byte[] scope, int kind, byte[] scopes, long scopeSet, int flags);

    /** {@code orbgate_engine_decide_batch_packed}. */
    int decideBatch(long engine, long batch, long out, long outLength);

    /** {@code orbgate_engine_route}: called for every route of a policy. */
    int route(long engine, int number, long out);

    /** {@code orbgate_gate_ask}. */
    int gateAsk(
            long gate, long engine, long step, long question, long questionLength, long answer, long room, long answerLength);

    /** {@code orbgate_abi_version}: the cheapest call. */
    int abiVersion();

    /**
     * Any other function, by its name: for calls that are not made for every request. Each argument is an
     * {@code Integer} for 32 bits, a {@code Long} for 64, or a {@code byte[]} that is lent for the call. It returns the lowest 32 bits
     * of the result, but a function may define fewer.
     */
    int call(String function, Object... arguments);

    /** The address of a newly allocated direct buffer. */
    long address(ByteBuffer buffer);

    /** Copies memory of the library. */
    byte[] copy(long address, long length);

    /** A human-readable name. */
    String name();
}
