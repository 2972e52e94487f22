package io.github.orbgate;

/** What becomes of CORS preflight requests: {@code OPTIONS} with {@code Origin} and {@code Access-Control-Request-Method}. */
public enum CorsPreflight {
    /** They are decided like every other request: a browser sends no token with them, so they are denied. */
    DENY(Layout.CORS_PREFLIGHT_DENY),
    /** They pass if the route that they ask about is declared. */
    PASS(Layout.CORS_PREFLIGHT_PASS);

    final int number;

    CorsPreflight(int number) {
        this.number = number;
    }
}
