package io.github.orbgate;

import java.util.AbstractList;
import java.util.RandomAccess;

/** The decisions of a batch, in the same order. Immutable. */
public final class Decisions extends AbstractList<Decision> implements RandomAccess {
    private final Table table;
    private final long[] packed;

    Decisions(Table table, long[] packed) {
        this.table = table;
        this.packed = packed;
    }

    /** Whether the call of a row is allowed: the same as {@code get(row).isAllow()}, without allocating an object. */
    public boolean isAllow(int row) {
        return Decision.isAllow(packed[row]);
    }

    @Override
    public Decision get(int row) {
        return new Decision(table, packed[row]);
    }

    @Override
    public int size() {
        return packed.length;
    }
}
