package io.github.orbgate;

/**
 * A token's scopes, interned once for many decisions: see {@link Engine#scopeSet}. It belongs to the policy of the
 * engine that created it; an engine of another policy treats it as empty, and denies. Immutable; its few bytes of
 * memory are freed once it is unreachable.
 */
public final class ScopeSet {
    final long pointer;

    ScopeSet(long pointer) {
        this.pointer = pointer;
        Library.CLEANER.register(this, () -> Library.ABI.call("orbgate_scope_set_free", pointer));
    }
}
