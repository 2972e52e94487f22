package io.github.orbgate;

import java.util.Optional;

/**
 * What a denied caller is told in {@code WWW-Authenticate}.
 *
 * @param realm of a full challenge
 * @param resourceMetadata the URL of the service's metadata (RFC 9728), of a full challenge
 */
public record Challenge(Extent extent, Optional<String> realm, Optional<String> resourceMetadata) {
    /** How much it says. */
    public enum Extent {
        /** {@code Bearer}, with every 401 and 403. */
        MINIMAL(Layout.CHALLENGE_MINIMAL),
        /** Also the error and the missing scope, as RFC 6750 says. */
        FULL(Layout.CHALLENGE_FULL),
        /** No header, and every denial is a bare 403. */
        NONE(Layout.CHALLENGE_NONE);

        final int number;

        Extent(int number) {
            this.number = number;
        }
    }

    /** One that says this much. */
    public static Challenge of(Extent extent) {
        return new Challenge(extent, Optional.empty(), Optional.empty());
    }
}
