package io.github.orbgate;

import java.util.Objects;
import java.util.Optional;

/**
 * The information that a service gets about an allowed request.
 *
 * @param decision the decision, with reason and charge
 * @param bearer the caller's token; empty for a public route, which requires none
 * @param publicTemplate the template of a public route; empty for a route of the policy
 * @param preflight whether the request is allowed only as a CORS preflight, like {@link Answer#preflight}
 */
public record Call(Decision decision, Optional<BearerToken> bearer, Optional<String> publicTemplate, boolean preflight) {
    /** Checks that nothing is null. */
    public Call {
        Objects.requireNonNull(decision, "decision");
        Objects.requireNonNull(bearer, "bearer");
        Objects.requireNonNull(publicTemplate, "publicTemplate");
    }

    /** The template of the allowed route of the policy, or of the public route; empty with a fake gate. */
    public Optional<String> template() {
        return publicTemplate.or(() -> decision.route().map(route -> route.substring(route.indexOf(' ') + 1)));
    }

    /**
     * The caller's token.
     *
     * @throws IllegalStateException for a public route
     */
    public BearerToken token() {
        return bearer.orElseThrow(() -> new IllegalStateException("a call of a public route has no token"));
    }
}
