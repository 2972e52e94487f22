package io.github.orbgate;

import java.util.Optional;

/**
 * The content of {@code WWW-Authenticate} on a denial.
 *
 * @param realm of a full challenge
 * @param resourceMetadata the URL of the service's metadata (RFC 9728), of a full challenge
 */
public record Challenge(Extent extent, Optional<String> realm, Optional<String> resourceMetadata) {
    /** The amount of detail. */
    public enum Extent {
        /** {@code Bearer}, with every 401 and 403. */
        MINIMAL(Layout.CHALLENGE_MINIMAL),
        /** Also the error and the missing scope (RFC 6750). */
        FULL(Layout.CHALLENGE_FULL),
        /** No header, and every denial is a bare 403. */
        NONE(Layout.CHALLENGE_NONE);

        final int number;

        Extent(int number) {
            this.number = number;
        }
    }

    /** A challenge with this amount of detail. */
    public static Challenge of(Extent extent) {
        return new Challenge(extent, Optional.empty(), Optional.empty());
    }
}
