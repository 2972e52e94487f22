package io.github.orbgate;

/**
 * A token's scopes, interned once for many decisions: see {@link Engine#scopeSet}. It belongs to the policy of the engine
 * that made it; with an engine of another policy it holds nothing, so that decisions deny. Immutable; its memory, a
 * few bytes, is given back when nothing refers to it any more.
 */
public final class ScopeSet {
    final long pointer;

    ScopeSet(long pointer) {
        this.pointer = pointer;
        Library.CLEANER.register(this, () -> Library.ABI.call("orbgate_scope_set_free", pointer));
    }
}
