package io.github.orbgate;

import java.util.Objects;
import java.util.function.BiFunction;

/**
 * Holds an engine's policy, for hot reload: readers never wait, and every decision comes from exactly one policy. A
 * handle owns what it holds by itself: closing the engine does not take it out.
 *
 * <p>A {@link ScopeSet} holds nothing for another policy than its own, so a token's text is the safe choice here.
 */
public final class Handle implements Policy {
    private volatile Core core;

    /** A handle that holds this engine's policy. */
    public Handle(Engine engine) {
        core = Objects.requireNonNull(engine, "engine").share();
    }

    /**
     * Puts another engine's policy in. Calls under way end with the one they began with, which is then freed unless an
     * engine holds it, too. Close this engine if there is no other use for it.
     */
    public void store(Engine engine) {
        Core next = Objects.requireNonNull(engine, "engine").share();
        Core replaced;
        synchronized (this) {
            replaced = core;
            core = next;
        }
        replaced.disown();
    }

    /** The current engine, for several questions to one policy: close it after them. */
    public Engine load() {
        Core now = core;
        while (!now.own()) {
            now = core; // It has been replaced meanwhile.
        }
        return new Engine(now);
    }

    /** A call with the current engine, and the table of its policy. */
    <T> T during(BiFunction<Long, Table, T> call) {
        while (true) {
            Core now = core;
            int lane = now.enter();
            if (lane >= 0) { // Otherwise it has been replaced meanwhile.
                return now.leaving(lane, call);
            }
        }
    }

    /** Decides with the current engine. */
    @Override
    public Decision decide(byte[] method, byte[] target, Token token, BonusOrbs bonus) {
        Decision decision;
        do {
            decision = core.decide(method, target, token, bonus);
        } while (decision == null); // It has been replaced meanwhile.
        return decision;
    }

    /** {@code Handle[sha256:…]}. */
    @Override
    public String toString() {
        return "Handle[" + core.table.digest() + "]";
    }
}
