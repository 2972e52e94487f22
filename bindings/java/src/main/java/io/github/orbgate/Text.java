package io.github.orbgate;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Objects;
import java.util.stream.Collectors;

/** Strings as bytes. */
final class Text {
    private Text() {}

    /** Each is refused for its length alone if it is longer: a method, a path, a scope. */
    private static final int MOST_OF_A_REQUEST = 1 << 16;

    /** The largest array that every Java can make. */
    private static final int MOST_BYTES = Integer.MAX_VALUE - 8;

    /**
     * UTF-8. A lone surrogate has no UTF-8: it becomes a byte that UTF-8 does not have, so that the
     * engine refuses it. Java's own encoder would turn it into a question mark, which has a meaning in a target.
     *
     * @throws IllegalArgumentException if that has more bytes than an array can have
     */
    static byte[] bytes(String text, String name) {
        Objects.requireNonNull(text, name);
        // Java's encoder makes room for three bytes a character, and does not check that there can be as many.
        return text.length() <= MOST_BYTES / 3 ? encoded(text, name) : others(text, name);
    }

    /** A method, target, template or scope. Of a longer one the beginning is enough: it is refused for its length, too. */
    static byte[] ofRequest(String text, String name) {
        return bytes(beginning(text, name, MOST_OF_A_REQUEST), name);
    }

    /** A policy. Of a longer one the beginning is enough: it is refused for its length, too. */
    static byte[] ofPolicy(String text, String name) {
        return bytes(beginning(text, name, Layout.MAX_POLICY_BYTES + 1), name);
    }

    /** A policy or a configuration. One byte more than it may have is read, so that the library says what is wrong. */
    static byte[] ofStream(InputStream stream, String name) throws IOException {
        return Objects.requireNonNull(stream, name).readNBytes(Layout.MAX_POLICY_BYTES + 1);
    }

    private static String beginning(String text, String name, int most) {
        Objects.requireNonNull(text, name);
        return text.length() <= most ? text : text.substring(0, most);
    }

    private static byte[] encoded(String text, String name) {
        // Java's encoder is fast. For text with one byte a character it is right, except that it writes `?` for a lone surrogate.
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

    /** Scopes in one text. An element with a space in it is no scope: it is left out, because it would be two scopes there. */
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

    /** How many bytes that makes. */
    private static long size(String text) {
        long size = 0;
        for (int at = 0; at < text.length(); at += Character.charCount(text.codePointAt(at))) {
            int point = text.codePointAt(at);
            boolean isSingle = point < 0x80 || point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE;
            size += isSingle ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        }
        return size;
    }

    static int checked(long size, String name) {
        if (size > MOST_BYTES) {
            throw new IllegalArgumentException(name + " has more than 2 GiB");
        }
        return (int) size;
    }
}
