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

    /** No token: denied as {@code no_token}. */
    public static Token none() {
        return NONE;
    }

    /** A user's token, with its scopes as one string separated by spaces. */
    public static Token user(String scopes) {
        return of(TokenKind.USER, scopes);
    }

    /** A user's token, with a list of scopes, for example from a JSON array. */
    public static Token user(Collection<String> scopes) {
        return of(TokenKind.USER, scopes);
    }

    /** A user's token with interned scopes. */
    public static Token user(ScopeSet scopes) {
        return of(TokenKind.USER, scopes);
    }

    /** An organisation's token, with its scopes as one string separated by spaces. */
    public static Token organisation(String scopes) {
        return of(TokenKind.ORGANISATION, scopes);
    }

    /** An organisation's token, with a list of scopes, for example from a JSON array. */
    public static Token organisation(Collection<String> scopes) {
        return of(TokenKind.ORGANISATION, scopes);
    }

    /** An organisation's token with interned scopes. */
    public static Token organisation(ScopeSet scopes) {
        return of(TokenKind.ORGANISATION, scopes);
    }

    /** A token of this kind, with its scopes as one string separated by spaces. */
    public static Token of(TokenKind kind, String scopes) {
        return new Token(Objects.requireNonNull(kind, "kind").number, Text.bytes(scopes, "scopes"), null);
    }

    /** A token of this kind with interned scopes. */
    public static Token of(TokenKind kind, ScopeSet scopes) {
        return new Token(Objects.requireNonNull(kind, "kind").number, NOTHING, Objects.requireNonNull(scopes, "scopes"));
    }

    /** A token of this kind, with a list of scopes, for example from a JSON array. A scope that contains a space is in no policy. */
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
