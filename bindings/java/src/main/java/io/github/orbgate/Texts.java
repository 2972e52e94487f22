package io.github.orbgate;

import java.util.List;

/** Strings for the library, consecutively in one buffer that also contains the C structs that point to them. */
final class Texts {
    private final NativeBuffer buffer;
    private int at;

    /** The strings start at this offset; there must be room for all of them. */
    Texts(NativeBuffer buffer, int from) {
        this.buffer = buffer;
        at = from;
    }

    /** Writes a string, and at this offset the {@code OrbgateStr} that points to it. */
    void put(int field, byte[] text) {
        buffer.bytes.put(at, text);
        buffer.bytes.putLong(field + Layout.Str.DATA, text.length == 0 ? 0 : buffer.address + at);
        buffer.bytes.putLong(field + Layout.Str.LEN, text.length);
        at += text.length;
    }

    /** The same for several strings, with consecutive {@code OrbgateStr}. */
    void putAll(int field, List<byte[]> texts) {
        for (int index = 0; index < texts.size(); index++) {
            put(field + index * Layout.Str.SIZE, texts.get(index));
        }
    }

    /** The number of bytes for these strings, each with its {@code OrbgateStr}. */
    static int room(List<byte[]> texts) {
        return texts.stream().mapToInt(text -> Math.addExact(text.length, Layout.Str.SIZE)).reduce(0, Math::addExact);
    }
}
