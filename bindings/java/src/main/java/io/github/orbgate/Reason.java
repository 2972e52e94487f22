package io.github.orbgate;

import java.util.Locale;

/** Why a request was allowed or denied. Numbers and names are frozen. */
public enum Reason {
    /** A reason of a later release; only its effect is known: see {@link Decision#isAllow}. As a denial, status 403. */
    UNKNOWN(Layout.DEFAULT_HTTP_STATUS),
    // cargo xtask codes: codes
    /** The request has no single, safe spelling. Status 400. */
    MALFORMED_REQUEST(400),
    /** No token was supplied. Status 401. */
    NO_TOKEN(401),
    /** The token was refused, or its kind is unknown. Status 401. */
    INVALID_TOKEN(401),
    /** The policy has no such route or scope. Status 404. */
    NO_ROUTE(404),
    /** The route does not declare this method. Status 405. */
    METHOD_NOT_DECLARED(405),
    /** The scope applies only to a user's token. Status 403. */
    USER_TOKEN_REQUIRED(403),
    /** Allowed: the scope applies only to a user's token; organisations pass without it. */
    SCOPE_NOT_APPLICABLE(0),
    /** The token does not carry the required scope. Status 403. */
    SCOPE_MISSING(403),
    /** Allowed: the token carries the required scope. */
    SCOPE_HELD(0),
    /** Allowed: the route needs no token. */
    PUBLIC_ROUTE(0),
    /** The account doesn't have the orbs that the call consumes. Status 402. */
    INSUFFICIENT_ORBS(402),
    /** The ledger didn't answer in time. Status 503. */
    LEDGER_UNAVAILABLE(503),
    /** The token lacks only scopes that a fresh or stronger login gives. Status 401. */
    INSUFFICIENT_USER_AUTHENTICATION(401),
    // end of codes
    ;

    private static final Reason[] VALUES = values();

    private final int httpStatus;
    private final String word = name().toLowerCase(Locale.ROOT);

    Reason(int httpStatus) {
        this.httpStatus = httpStatus;
    }

    /** The constant with the library's number, which is its index. */
    static Reason of(int number) {
        return number < VALUES.length ? VALUES[number] : UNKNOWN;
    }

    /** The name in every language, for example {@code scope_missing}. */
    @Override
    public String toString() {
        return word;
    }

    /** The HTTP status of a denial with this reason; 0 for reasons that allow. */
    public int httpStatus() {
        return httpStatus;
    }
}
