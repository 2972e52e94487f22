package io.github.orbgate;

import java.util.Locale;

/** Whose token it is. */
public enum TokenKind {
    /** Not known, or none of the others: denied as {@code invalid_token}. */
    UNKNOWN(0),
    /** A user's. */
    USER(1),
    /** An organisation's. */
    ORGANISATION(2);

    final int number;
    private final String word = name().toLowerCase(Locale.ROOT);

    TokenKind(int number) {
        this.number = number;
    }

    /** The word that every language has for it, as in {@code user}. */
    @Override
    public String toString() {
        return word;
    }

    /** The kind of a name, {@code user} or {@code organisation}; any other is unknown, and unknown denies. */
    public static TokenKind of(String name) {
        for (TokenKind kind : values()) {
            if (kind.word.equals(name)) {
                return kind;
            }
        }
        return UNKNOWN;
    }
}
