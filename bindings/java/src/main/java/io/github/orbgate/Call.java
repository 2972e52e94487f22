package io.github.orbgate;

import java.util.Objects;
import java.util.Optional;

/**
 * What a service is told of a request that its gate has allowed.
 *
 * @param decision why, and what it consumes
 * @param bearer who calls; empty for a public route, whose callers nobody asks for a token
 * @param publicTemplate the template of a public route; empty for a route of the policy
 */
public record Call(Decision decision, Optional<BearerToken> bearer, Optional<String> publicTemplate) {
    /** Checks that nothing is null. */
    public Call {
        Objects.requireNonNull(decision, "decision");
        Objects.requireNonNull(bearer, "bearer");
        Objects.requireNonNull(publicTemplate, "publicTemplate");
    }

    /**
     * Who calls.
     *
     * @throws IllegalStateException for a public route
     */
    public BearerToken token() {
        return bearer.orElseThrow(() -> new IllegalStateException("a call of a public route has no token"));
    }
}
