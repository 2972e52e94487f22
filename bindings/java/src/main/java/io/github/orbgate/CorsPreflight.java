package io.github.orbgate;

/** How to answer CORS preflight requests: {@code OPTIONS} with {@code Origin} and {@code Access-Control-Request-Method}. */
public enum CorsPreflight {
    /** Decide them like every other request: browsers send no token with them, so they are denied. */
    DENY(Layout.CORS_PREFLIGHT_DENY),
    /** Pass them if the requested route is declared. */
    PASS(Layout.CORS_PREFLIGHT_PASS);

    final int number;

    CorsPreflight(int number) {
        this.number = number;
    }
}
