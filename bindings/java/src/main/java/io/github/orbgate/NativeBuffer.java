package io.github.orbgate;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Memory that the library can read and write, initially zero; freed by the garbage collector. */
final class NativeBuffer {
    final ByteBuffer bytes;
    final long address;

    NativeBuffer(int size) {
        // An empty buffer has no address, and some calls of the library reject a null pointer.
        bytes = ByteBuffer.allocateDirect(Math.max(size, 1)).order(ByteOrder.nativeOrder());
        address = Library.ABI.address(bytes);
    }

    /** A struct that starts with its size. */
    static NativeBuffer struct(int size) {
        NativeBuffer buffer = new NativeBuffer(size);
        buffer.bytes.putInt(0, size);
        return buffer;
    }

    /**
     * This buffer, or a larger one that starts with its used bytes.
     *
     * @throws IllegalStateException if it would have more than 2 GiB
     */
    NativeBuffer grown(long used, long needed) {
        if (needed <= bytes.capacity()) {
            return this;
        }
        if (needed > Integer.MAX_VALUE) {
            throw new IllegalStateException("the batch is full");
        }
        NativeBuffer larger = new NativeBuffer((int) Math.min(Integer.MAX_VALUE, Math.max(needed, used * 2)));
        larger.bytes.put(0, bytes, 0, (int) used);
        return larger;
    }

    /** The {@code OrbgateStr} at an offset; null if it has no string. */
    String text(int offset) {
        long data = bytes.getLong(offset + Layout.Str.DATA);
        if (data == 0) {
            return null;
        }
        return new String(Library.ABI.copy(data, bytes.getLong(offset + Layout.Str.LEN)), StandardCharsets.UTF_8);
    }
}
