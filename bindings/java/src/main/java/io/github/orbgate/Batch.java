package io.github.orbgate;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Many requests for one call: all with the same token ({@link Engine#decide(Batch, Token)}), or each with its own
 * ({@link Engine#decide(Batch)}). It keeps its memory between uses, and threads may share
 * it: they take turns for each call.
 */
public final class Batch {
    private final Column methods = new Column();
    private final Column targets = new Column();
    private final Column scopes = new Column();
    private NativeBuffer kinds = new NativeBuffer(256);
    private NativeBuffer sets = new NativeBuffer(2048);
    private NativeBuffer bonus = new NativeBuffer(256);
    /** The tokens of the rows, which keep their scope sets alive; empty if one token is passed for all rows. */
    private final List<Token> tokens = new ArrayList<>();

    private final NativeBuffer batch = NativeBuffer.struct(Layout.Batch.SIZE);
    private final NativeBuffer token = NativeBuffer.struct(Layout.Token.SIZE);
    private NativeBuffer text = new NativeBuffer(0);
    private NativeBuffer out = new NativeBuffer(0);
    private int size;

    /** Adds a request without its own token. Pass method and target as received. */
    public void add(String method, String target) {
        add(Text.ofRequest(method, "method"), Text.ofRequest(target, "target"));
    }

    /**
     * Adds a request as bytes, without its own token.
     *
     * @throws IllegalStateException if the batch would have more than 2 GiB, or other rows have tokens of their own
     */
    public synchronized void add(byte[] method, byte[] target) {
        Objects.requireNonNull(method, "method");
        Objects.requireNonNull(target, "target");
        if (!tokens.isEmpty()) {
            throw new IllegalStateException("the other rows have tokens of their own");
        }
        addTexts(method, target);
        size++;
    }

    /** Adds a request with its own token. */
    public void add(String method, String target, Token token, BonusOrbs bonus) {
        add(Text.ofRequest(method, "method"), Text.ofRequest(target, "target"), token, bonus);
    }

    /**
     * Adds a request as bytes, with its own token.
     *
     * @throws IllegalStateException if the batch would have more than 2 GiB, or other rows have no tokens of their own
     */
    public synchronized void add(byte[] method, byte[] target, Token token, BonusOrbs bonus) {
        Objects.requireNonNull(method, "method");
        Objects.requireNonNull(target, "target");
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(bonus, "bonus");
        if (tokens.size() != size) {
            throw new IllegalStateException("the other rows have no tokens of their own");
        }
        scopes.reserve(size, token.scopes.length);
        kinds = kinds.grown(size, size + 1L);
        sets = sets.grown(size * 8L, size * 8L + 8);
        this.bonus = this.bonus.grown(size, size + 1L);
        this.bonus.bytes.put(size, (byte) bonus.flags);
        addTexts(method, target);
        scopes.add(size, token.scopes);
        kinds.bytes.put(size, (byte) token.kind);
        sets.bytes.putLong(size * 8, token.scopeSet());
        tokens.add(token);
        size++;
    }

    private void addTexts(byte[] method, byte[] target) {
        methods.reserve(size, method.length);
        targets.reserve(size, target.length);
        methods.add(size, method);
        targets.add(size, target);
    }

    /** The number of requests. */
    public synchronized int size() {
        return size;
    }

    /** Removes all requests. */
    public synchronized void clear() {
        size = 0;
        methods.length = 0;
        targets.length = 0;
        scopes.length = 0;
        tokens.clear();
    }

    /** With one token for all requests. */
    synchronized long[] decide(long engine, Token token, BonusOrbs bonus) {
        if (!tokens.isEmpty()) {
            throw new IllegalStateException("the rows have tokens of their own");
        }
        describe(token);
        ByteBuffer fields = batch.bytes;
        fields.putInt(Layout.Batch.FLAGS, bonus.flags | Layout.PACK_ABOUT);
        fields.putLong(Layout.Batch.TOKEN, this.token.address);
        fields.putLong(Layout.Batch.KINDS, 0);
        Column.describeNone(fields, Layout.Batch.SCOPES);
        fields.putLong(Layout.Batch.SCOPE_SETS, 0);
        fields.putLong(Layout.Batch.ALLOW_BONUS_ORBS, 0);
        makeRoom();
        decideRows(engine, 0, size);
        Reference.reachabilityFence(token);
        return decided();
    }

    /** Decides with the tokens of the rows. One call accepts either rows with interned scopes or rows with strings. */
    synchronized long[] decide(long engine) {
        if (tokens.size() != size) {
            throw new IllegalStateException("the rows have no tokens of their own");
        }
        ByteBuffer fields = batch.bytes;
        fields.putInt(Layout.Batch.FLAGS, Layout.PACK_ABOUT);
        fields.putLong(Layout.Batch.TOKEN, 0);
        makeRoom();
        for (int first = 0, last; first < size; first = last) {
            boolean interned = isInterned(first);
            for (last = first + 1; last < size && isInterned(last) == interned; last++) {}
            fields.putLong(Layout.Batch.KINDS, kinds.address + first);
            if (interned) {
                Column.describeNone(fields, Layout.Batch.SCOPES);
            } else {
                scopes.describe(fields, Layout.Batch.SCOPES, first);
            }
            fields.putLong(Layout.Batch.SCOPE_SETS, interned ? sets.address + first * 8L : 0);
            fields.putLong(Layout.Batch.ALLOW_BONUS_ORBS, bonus.address + first);
            decideRows(engine, first, last);
        }
        return decided();
    }

    private boolean isInterned(int row) {
        return sets.bytes.getLong(row * 8) != 0;
    }

    private void makeRoom() {
        out = out.grown(0, size * 8L);
    }

    private void decideRows(long engine, int first, int last) {
        ByteBuffer fields = batch.bytes;
        fields.putLong(Layout.Batch.LEN, last - first);
        methods.describe(fields, Layout.Batch.METHOD, first);
        targets.describe(fields, Layout.Batch.TARGET, first);
        try {
            Core.check(
                    Library.ABI.decideBatch(engine, batch.address, out.address + first * 8L, last - first));
        } finally {
            // The library only gets addresses of memory that belongs to this batch.
            Reference.reachabilityFence(this);
        }
    }

    private long[] decided() {
        long[] packed = new long[size];
        out.bytes.asLongBuffer().get(packed);
        return packed;
    }

    private void describe(Token of) {
        text = text.grown(0, of.scopes.length);
        text.bytes.put(0, of.scopes);
        ByteBuffer fields = token.bytes;
        fields.putInt(Layout.Token.KIND, of.kind);
        fields.putLong(Layout.Token.SCOPES, text.address);
        fields.putLong(Layout.Token.SCOPES_LEN, of.scopes.length);
        fields.putLong(Layout.Token.SCOPE_SET, of.scopeSet());
    }

    /** Strings in Arrow's utf8 layout. */
    private static final class Column {
        private NativeBuffer data = new NativeBuffer(1024);
        private NativeBuffer offsets = new NativeBuffer(1024);
        private int length;

        /** Makes room for another string. */
        void reserve(int row, int bytes) {
            if (bytes > Integer.MAX_VALUE - length || row > Integer.MAX_VALUE / 4 - 2) {
                throw new IllegalStateException("the batch is full");
            }
            data = data.grown(length, (long) length + bytes);
            offsets = offsets.grown((row + 1) * 4L, (row + 2) * 4L);
        }

        void add(int row, byte[] text) {
            data.bytes.put(length, text);
            length += text.length;
            offsets.bytes.putInt((row + 1) * 4, length);
        }

        /** Describes the column from a row on. */
        void describe(ByteBuffer fields, int at, int first) {
            fields.putLong(at + Layout.Column.DATA, data.address);
            fields.putLong(at + Layout.Column.DATA_LEN, length);
            fields.putLong(at + Layout.Column.OFFSETS, offsets.address + first * 4L);
        }

        static void describeNone(ByteBuffer fields, int at) {
            fields.putLong(at + Layout.Column.DATA, 0);
            fields.putLong(at + Layout.Column.DATA_LEN, 0);
            fields.putLong(at + Layout.Column.OFFSETS, 0);
        }
    }
}
