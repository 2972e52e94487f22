package io.github.orbgate;

/**
 * A place that holds an engine, for hot reload: readers never wait, and every decision comes from exactly one policy.
 * Closing an engine does not take it out of a handle.
 *
 * <p>A {@link ScopeSet} holds nothing for another policy than its own, so a token's text is the safe choice here.
 */
public final class Handle {
    private volatile Core core;

    /** A place that holds this engine. */
    public Handle(Engine engine) {
        core = engine.open();
    }

    /** Puts another engine in. Calls under way end with the engine they began with. */
    public void store(Engine engine) {
        core = engine.open();
    }

    /** The engine of now, for several questions to one policy. */
    public Engine load() {
        return new Engine(core);
    }

    /** Decides a request with the engine of now, without bonus orbs. */
    public Decision decide(String method, String target, Token token) {
        return decide(method, target, token, BonusOrbs.REFUSE);
    }

    /** Decides a request with the engine of now. */
    public Decision decide(String method, String target, Token token, BonusOrbs bonus) {
        return decide(Text.bytes(method), Text.bytes(target), token, bonus);
    }

    /** Decides a request that is there in bytes, with the engine of now. */
    public Decision decide(byte[] method, byte[] target, Token token, BonusOrbs bonus) {
        return core.decide(method, target, token, bonus);
    }
}
