package io.github.orbgate;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * Methods and targets of many requests, for one call: see {@link Engine#decide(Batch, Token)}. It keeps its memory from
 * one use to the next. Threads that share one take turns.
 */
public final class Batch {
    private final Column methods = new Column();
    private final Column targets = new Column();
    private final NativeBuffer batch = NativeBuffer.struct(136);
    private final NativeBuffer token = NativeBuffer.struct(32);
    private NativeBuffer scopes = new NativeBuffer(0);
    private NativeBuffer out = new NativeBuffer(0);
    private int size;

    /** Adds a request; the method and the target as they came over the wire. */
    public void add(String method, String target) {
        add(Text.bytes(method), Text.bytes(target));
    }

    /**
     * Adds a request that is there in bytes.
     *
     * @throws IllegalStateException if the batch would have more than 2 GiB
     */
    public synchronized void add(byte[] method, byte[] target) {
        methods.reserve(size, method.length);
        targets.reserve(size, target.length);
        methods.add(size, method);
        targets.add(size, target);
        size++;
    }

    /** How many requests there are. */
    public synchronized int size() {
        return size;
    }

    /** Takes all requests away. */
    public synchronized void clear() {
        size = 0;
        methods.length = 0;
        targets.length = 0;
    }

    synchronized long[] decide(Core core, Token token, BonusOrbs bonus) {
        if (out.bytes.capacity() < size * 8L) {
            out = new NativeBuffer(Math.multiplyExact(size, 8));
        }
        describe(token);
        ByteBuffer fields = batch.bytes;
        fields.putInt(4, bonus.flags);
        fields.putLong(8, size);
        methods.describe(fields, 16);
        targets.describe(fields, 40);
        fields.putLong(64, this.token.address);
        try {
            Core.check(Library.ABI.decideBatch(core.engine, batch.address, out.address, size));
        } finally {
            Reference.reachabilityFence(token);
            Reference.reachabilityFence(core);
        }
        long[] packed = new long[size];
        out.bytes.asLongBuffer().get(packed);
        return packed;
    }

    private void describe(Token of) {
        if (scopes.bytes.capacity() < of.scopes.length) {
            scopes = new NativeBuffer(of.scopes.length);
        }
        scopes.bytes.put(0, of.scopes);
        ByteBuffer fields = token.bytes;
        fields.putInt(4, of.kind);
        fields.putLong(8, scopes.address);
        fields.putLong(16, of.scopes.length);
        fields.putLong(24, of.scopeSet());
    }

    /** Texts as Arrow lays out utf8. */
    private static final class Column {
        private NativeBuffer data = new NativeBuffer(1024);
        private NativeBuffer offsets = new NativeBuffer(1024);
        private int length;

        /** Makes room for one more text. */
        void reserve(int row, int bytes) {
            if (bytes > Integer.MAX_VALUE - length || row > Integer.MAX_VALUE / 4 - 2) {
                throw new IllegalStateException("the batch is full");
            }
            data = grown(data, length, length + bytes);
            offsets = grown(offsets, (row + 1) * 4, (row + 2) * 4);
        }

        void add(int row, byte[] text) {
            data.bytes.put(length, text);
            length += text.length;
            offsets.bytes.putInt((row + 1) * 4, length);
        }

        void describe(ByteBuffer fields, int at) {
            fields.putLong(at, data.address);
            fields.putLong(at + 8, length);
            fields.putLong(at + 16, offsets.address);
        }

        private static NativeBuffer grown(NativeBuffer old, int used, int needed) {
            if (needed <= old.bytes.capacity()) {
                return old;
            }
            NativeBuffer larger = new NativeBuffer((int) Math.min(Integer.MAX_VALUE, Math.max(needed, used * 2L)));
            larger.bytes.put(0, old.bytes, 0, used);
            return larger;
        }
    }
}
