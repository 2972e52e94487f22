package io.github.orbgate;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Objects;
import java.util.stream.Collectors;

/** Strings as bytes. */
final class Text {
    private Text() {}

    /**
     * UTF-8. A lone surrogate has no UTF-8: it becomes a byte that UTF-8 does not have, so that the
     * engine refuses it. Java's own encoder would turn it into a question mark, which has a meaning in a target.
     */
    static byte[] bytes(String text, String name) {
        Objects.requireNonNull(text, name);
        // Java's encoder is fast. For text with one byte a character it is right, except that it writes `?` for a lone surrogate.
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length != text.length()) {
            return others(text);
        }
        for (int at = 0; at < bytes.length; at++) {
            if (bytes[at] == '?' && text.charAt(at) != '?') {
                return others(text);
            }
        }
        return bytes;
    }

    /** Scopes in one text. An element with a space in it is no scope: it is left out, because it would be two scopes there. */
    static String joined(Collection<String> scopes) {
        Objects.requireNonNull(scopes, "scopes").forEach(scope -> Objects.requireNonNull(scope, "a scope"));
        return scopes.stream().filter(scope -> scope.indexOf(' ') < 0).collect(Collectors.joining(" "));
    }

    private static byte[] others(String text) {
        byte[] bytes = new byte[Math.multiplyExact(text.length(), 3)];
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
        return Arrays.copyOf(bytes, length);
    }
}
