package io.github.orbgate;

import java.util.Locale;

/** Which rule a malformed request breaks. Numbers and names are frozen. */
public enum Detail {
    /** A detail of a later release. */
    UNKNOWN,
    // cargo xtask codes: codes
    /** A method is 1 to 16 capital letters. */
    METHOD,
    /** A target has 1 to 8,192 bytes, at most 32 segments, each at most 256 bytes. */
    LENGTH,
    /** A target has only visible ASCII characters. */
    BYTE,
    /** A target never carries a {@code #}. */
    FRAGMENT,
    /** A target starts with {@code /}. */
    FORM,
    /** A path never carries a {@code \}. */
    BACKSLASH,
    /** A path never carries a {@code ;}. */
    MATRIX_PARAM,
    /** The path carries a character that must be escaped there. */
    PATH_CHAR,
    /** This policy accepts no percent-encoding in a path. */
    PERCENT,
    /** A {@code %} needs two hexadecimal digits after it. */
    BAD_ESCAPE,
    /** The path escapes a control character. */
    ENCODED_CONTROL,
    /** The path escapes a delimiter. */
    ENCODED_DELIMITER,
    /** The path escapes a character that needs no escape. */
    ENCODED_UNRESERVED,
    /** The path escapes a byte outside ASCII. */
    NON_ASCII,
    /** A segment starts or ends with an escaped space. */
    WHITESPACE,
    /** The path has an empty segment or a trailing {@code /}. */
    EMPTY_SEGMENT,
    /** A segment of the path is nothing but dots. */
    DOT_SEGMENT,
    /** A segment is an escaped spelling of a literal. */
    NON_CANONICAL_LITERAL,
    /** The path differs only in case from a more specific route. */
    AMBIGUOUS_CASE,
    /** A request never asks for an upgrade to {@code h2c}. */
    UPGRADE,
    /** The account has too few orbs. */
    INSUFFICIENT,
    /** Bonus orbs would suffice, but the request doesn't allow them. */
    BONUS_NOT_ALLOWED,
    /** Other calls hold the missing orbs. */
    TEMPORARILY_HELD,
    /** The account is frozen. */
    FROZEN,
    /** The token is valid, but nothing proves that it is its sender's. */
    PROOF,
    // end of codes
    ;

    private static final Detail[] VALUES = values();

    private final String word = name().toLowerCase(Locale.ROOT);

    /** The constant with the library's number, which is its index. */
    static Detail of(int number) {
        return number < VALUES.length ? VALUES[number] : UNKNOWN;
    }

    /** The name in every language, for example {@code empty_segment}. */
    @Override
    public String toString() {
        return word;
    }
}
