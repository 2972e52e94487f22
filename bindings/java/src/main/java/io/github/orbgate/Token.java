package io.github.orbgate;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Objects;

/** A <em>verified</em> bearer token: its kind and its scopes. Immutable. */
public final class Token {
    private static final byte[] NOTHING = {};
    private static final Token NONE = new Token(Layout.TOKEN_KIND_NONE, NOTHING, null);

    final int kind;
    final byte[] scopes;
    private final ScopeSet set;

    private Token(int kind, byte[] scopes, ScopeSet set) {
        this.kind = kind;
        this.scopes = scopes;
        this.set = set;
    }

    /** No token was supplied: denied as {@code no_token}. */
    public static Token none() {
        return NONE;
    }

    /** A user's token, its scopes separated by spaces, as it has them. */
    public static Token user(String scopes) {
        return of(TokenKind.USER, scopes);
    }

    /** A user's token whose scopes come one by one, as from a JSON array. */
    public static Token user(Collection<String> scopes) {
        return of(TokenKind.USER, scopes);
    }

    /** A user's token, its scopes interned. */
    public static Token user(ScopeSet scopes) {
        return of(TokenKind.USER, scopes);
    }

    /** An organisation's token, its scopes separated by spaces, as it has them. */
    public static Token organisation(String scopes) {
        return of(TokenKind.ORGANISATION, scopes);
    }

    /** An organisation's token whose scopes come one by one, as from a JSON array. */
    public static Token organisation(Collection<String> scopes) {
        return of(TokenKind.ORGANISATION, scopes);
    }

    /** An organisation's token, its scopes interned. */
    public static Token organisation(ScopeSet scopes) {
        return of(TokenKind.ORGANISATION, scopes);
    }

    /** A token of a kind, its scopes separated by spaces, as it has them. */
    public static Token of(TokenKind kind, String scopes) {
        return new Token(Objects.requireNonNull(kind, "kind").number, Text.bytes(scopes, "scopes"), null);
    }

    /** A token of a kind, its scopes interned. */
    public static Token of(TokenKind kind, ScopeSet scopes) {
        return new Token(Objects.requireNonNull(kind, "kind").number, NOTHING, Objects.requireNonNull(scopes, "scopes"));
    }

    /** A token of a kind whose scopes come one by one, as from a JSON array. A scope with a space in it is in no policy. */
    public static Token of(TokenKind kind, Collection<String> scopes) {
        return of(kind, Text.joined(scopes));
    }

    /** {@code Token[user, read:orbs]}. */
    @Override
    public String toString() {
        if (this == NONE) {
            return "Token[none]";
        }
        String words = set == null ? new String(scopes, StandardCharsets.UTF_8) : "interned";
        return "Token[" + TokenKind.values()[kind] + ", " + words + "]";
    }

    /** The interned scopes, or a null pointer. The caller must keep this token reachable. */
    long scopeSet() {
        return set == null ? 0 : set.pointer;
    }
}
