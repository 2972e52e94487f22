package io.github.orbgate;

import java.util.Objects;
import java.util.function.BiFunction;

/**
 * Holds a policy that can be replaced at run time: readers never wait, and each decision comes from exactly one
 * policy. A handle owns its policy: closing the engine does not remove it.
 *
 * <p>A {@link ScopeSet} is empty for other policies than its own, so tokens with strings are the safe choice
 * here.
 */
public final class Handle implements Policy {
    private volatile Core core;

    /** A handle that holds this engine's policy. */
    public Handle(Engine engine) {
        core = Objects.requireNonNull(engine, "engine").share();
    }

    /**
     * Replaces the policy. Running calls finish with the previous one, which is then freed unless an engine holds it
     * too. Close the engine if you don't use it otherwise.
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

    /** The current engine, for several questions to the same policy. Close it afterwards. */
    public Engine load() {
        Core now = core;
        while (!now.own()) {
            now = core; // It has been replaced meanwhile.
        }
        return new Engine(now);
    }

    /** A call with the current engine and the table of its policy. */
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
