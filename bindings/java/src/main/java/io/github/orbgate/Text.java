package io.github.orbgate;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/** Strings as bytes. */
final class Text {
    private Text() {}

    /** A longer method, path or scope is denied for its length alone. */
    private static final int MOST_OF_A_REQUEST = 1 << 16;

    /** The largest array that every Java can make. */
    private static final int MOST_BYTES = Integer.MAX_VALUE - 8;

    /**
     * Encodes UTF-8. A lone surrogate becomes a byte that never occurs in UTF-8, so that the engine rejects it.
     * Java's own encoder would write a question mark, which has a meaning in a target.
     *
     * @throws IllegalArgumentException if the result has more bytes than an array can have
     */
    static byte[] bytes(String text, String name) {
        Objects.requireNonNull(text, name);
        // Java's encoder allocates three bytes per character, without checking for overflow.
        return text.length() <= MOST_BYTES / 3 ? encoded(text, name) : others(text, name);
    }

    /** A method, target, template or scope. The beginning of a longer one is enough: its length still denies it. */
    static byte[] ofRequest(String text, String name) {
        return bytes(beginning(text, name, MOST_OF_A_REQUEST), name);
    }

    /** A policy. The beginning of a longer one is enough: it is still rejected for its length. */
    static byte[] ofPolicy(String text, String name) {
        return bytes(beginning(text, name, Layout.MAX_POLICY_BYTES + 1), name);
    }

    /** A policy or a configuration. One byte above the maximum is read, so that the library reports the error. */
    static byte[] ofStream(InputStream stream, String name) throws IOException {
        return Objects.requireNonNull(stream, name).readNBytes(Layout.MAX_POLICY_BYTES + 1);
    }

    private static String beginning(String text, String name, int most) {
        Objects.requireNonNull(text, name);
        return text.length() <= most ? text : text.substring(0, most);
    }

    private static byte[] encoded(String text, String name) {
        // Java's encoder is fast, and correct for strings with one byte per character, except that it writes `?` for a
        // lone surrogate.
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length != text.length()) {
            return others(text, name);
        }
        for (int at = 0; at < bytes.length; at++) {
            if (bytes[at] == '?' && text.charAt(at) != '?') {
                return others(text, name);
            }
        }
        return bytes;
    }

    /** Joins scopes into one string. An element that contains a space is left out, because it would become two scopes. */
    static String joined(Collection<String> scopes) {
        Objects.requireNonNull(scopes, "scopes").forEach(scope -> Objects.requireNonNull(scope, "a scope"));
        return scopes.stream().filter(scope -> scope.indexOf(' ') < 0).collect(Collectors.joining(" "));
    }

    private static byte[] others(String text, String name) {
        byte[] bytes = new byte[checked(size(text), name)];
        int length = 0;
        for (int at = 0; at < text.length(); at += Character.charCount(text.codePointAt(at))) {
            int point = text.codePointAt(at);
            if (point < 0x80) {
                bytes[length++] = (byte) point;
            } else if (point < 0x800) {
                bytes[length++] = (byte) (0xc0 | point >> 6);
                bytes[length++] = (byte) (0x80 | point & 0x3f);
            } else if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                bytes[length++] = (byte) 0xff;
            } else if (point < 0x10000) {
                bytes[length++] = (byte) (0xe0 | point >> 12);
                bytes[length++] = (byte) (0x80 | point >> 6 & 0x3f);
                bytes[length++] = (byte) (0x80 | point & 0x3f);
            } else {
                bytes[length++] = (byte) (0xf0 | point >> 18);
                bytes[length++] = (byte) (0x80 | point >> 12 & 0x3f);
                bytes[length++] = (byte) (0x80 | point >> 6 & 0x3f);
                bytes[length++] = (byte) (0x80 | point & 0x3f);
            }
        }
        return bytes;
    }

    /** The number of bytes that the result has. */
    private static long size(String text) {
        long size = 0;
        for (int at = 0; at < text.length(); at += Character.charCount(text.codePointAt(at))) {
            int point = text.codePointAt(at);
            boolean isSingle = point < 0x80 || point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE;
            size += isSingle ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        }
        return size;
    }

    /** A string that means nothing if it is empty. */
    static Optional<String> unlessEmpty(String text) {
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    static int checked(long size, String name) {
        if (size > MOST_BYTES) {
            throw new IllegalArgumentException(name + " has more than 2 GiB");
        }
        return (int) size;
    }
}
