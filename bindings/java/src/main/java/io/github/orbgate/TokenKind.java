package io.github.orbgate;

import java.util.Locale;

/** The kind of a token. */
public enum TokenKind {
    // cargo xtask codes: codes
    /** An unknown kind: denied as {@code invalid_token}. */
    UNKNOWN(Layout.TOKEN_KIND_UNKNOWN),
    /** A user's token. */
    USER(Layout.TOKEN_KIND_USER),
    /** An organisation's token. */
    ORGANISATION(Layout.TOKEN_KIND_ORGANISATION),
    // end of codes
    ;

    final int number;
    private final String word = name().toLowerCase(Locale.ROOT);

    TokenKind(int number) {
        this.number = number;
    }

    /** The name in every language, for example {@code user}. */
    @Override
    public String toString() {
        return word;
    }

    /** The constant with the library's number. */
    static TokenKind of(int number) {
        for (TokenKind kind : values()) {
            if (kind.number == number) {
                return kind;
            }
        }
        return UNKNOWN;
    }

    /** The kind with this name, {@code user} or {@code organisation}; any other name is unknown, which denies. */
    public static TokenKind of(String name) {
        for (TokenKind kind : values()) {
            if (kind.word.equals(name)) {
                return kind;
            }
        }
        return UNKNOWN;
    }
}
