package io.github.orbgate;

/** A <em>verified</em> bearer token: its kind and its scopes. Immutable. */
public final class Token {
    private static final byte[] NOTHING = {};
    private static final Token NONE = new Token(255, NOTHING, null);

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

    /** A user's token, its scopes interned. */
    public static Token user(ScopeSet scopes) {
        return of(TokenKind.USER, scopes);
    }

    /** An organisation's token, its scopes separated by spaces, as it has them. */
    public static Token organisation(String scopes) {
        return of(TokenKind.ORGANISATION, scopes);
    }

    /** An organisation's token, its scopes interned. */
    public static Token organisation(ScopeSet scopes) {
        return of(TokenKind.ORGANISATION, scopes);
    }

    /** A token of a kind, its scopes separated by spaces, as it has them. */
    public static Token of(TokenKind kind, String scopes) {
        return new Token(kind.number, Text.bytes(scopes), null);
    }

    /** A token of a kind, its scopes interned. */
    public static Token of(TokenKind kind, ScopeSet scopes) {
        return new Token(kind.number, NOTHING, java.util.Objects.requireNonNull(scopes));
    }

    /** The interned scopes, or a null pointer. Whoever calls must keep this token reachable. */
    long scopeSet() {
        return set == null ? 0 : set.pointer;
    }
}
