package io.github.orbgate;

import java.util.Locale;

/** Why a request was allowed or denied. Numbers and words are frozen. */
public enum Reason {
    /** One of a later release, which only its effect tells: see {@link Decision#isAllow}. As a denial, status 403. */
    UNKNOWN,
    /** The request has no single, safe spelling; the detail names the rule. Status 400. */
    MALFORMED_REQUEST,
    /** No token was supplied. Status 401. */
    NO_TOKEN,
    /** The token was refused, or its kind is unknown. Status 401. */
    INVALID_TOKEN,
    /** The policy has no such route or scope. Status 404. */
    NO_ROUTE,
    /** The route does not declare this method. Status 405. */
    METHOD_NOT_DECLARED,
    /** The scope applies only to a user's token. Status 403. */
    USER_TOKEN_REQUIRED,
    /** Allowed: the scope applies only to a user's token, and organisations pass without it. */
    SCOPE_NOT_APPLICABLE,
    /** The token does not carry the required scope. Status 403. */
    SCOPE_MISSING,
    /** Allowed: the token carries the required scope. */
    SCOPE_HELD;

    private static final Reason[] VALUES = values();

    private final String word = name().toLowerCase(Locale.ROOT);

    /** The constant of the library's number, which is its place. */
    static Reason of(int number) {
        return number < VALUES.length ? VALUES[number] : UNKNOWN;
    }

    /** The word that every language has for it, as in {@code scope_missing}. */
    @Override
    public String toString() {
        return word;
    }

    /** The HTTP status of a denial for this reason; 0 for the reasons that allow. */
    public int httpStatus() {
        return STATUS[ordinal()];
    }

    private static final int[] STATUS = new int[VALUES.length];

    static {
        for (Reason reason : VALUES) {
            STATUS[reason.ordinal()] = Library.ABI.call("orbgate_reason_http_status", reason.ordinal()) & 0xffff;
        }
        STATUS[UNKNOWN.ordinal()] = 403;
    }
}
