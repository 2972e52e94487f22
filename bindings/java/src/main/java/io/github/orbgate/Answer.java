package io.github.orbgate;

import java.util.Objects;
import java.util.Optional;

/**
 * The answer of a gate to a request.
 *
 * @param decision the decision
 * @param httpStatus the status of a denial, whose body must be empty; 0 for an allow
 * @param wwwAuthenticate the {@code WWW-Authenticate} of a denial
 * @param allow the {@code Allow} of a denial
 * @param refused why the token was rejected: a code for logs, which must not reach the caller
 * @param token the content of the token; empty without a valid token
 * @param publicTemplate the template of an allowed public route; otherwise empty
 * @param preflight whether the request is allowed only as a CORS preflight ({@link CorsPreflight#PASS}): don't run a handler that takes
 *     other methods than {@code OPTIONS}
 */
public record Answer(
        Decision decision,
        int httpStatus,
        Optional<String> wwwAuthenticate,
        Optional<String> allow,
        Optional<String> refused,
        Optional<BearerToken> token,
        Optional<String> publicTemplate,
        boolean preflight) {

    /** An answer that is not completely an allow has the status of a denial. */
    public Answer {
        Objects.requireNonNull(decision, "decision");
        if (httpStatus == 0 && !(decision.isAllow() && (token.isPresent() || publicTemplate.isPresent()))) {
            httpStatus = Layout.DEFAULT_HTTP_STATUS;
        }
    }

    /** An answer for a fake {@link Guard}, allowed if the reason allows. */
    public static Answer of(Reason reason, BearerToken token) {
        Decision decision = Decision.of(reason);
        Optional<String> none = Optional.empty();
        return new Answer(decision, decision.httpStatus(), none, none, none, Optional.of(token), none, false);
    }

    /** The answer from which an allowed call was created. */
    static Answer of(Call allowed) {
        Optional<String> none = Optional.empty();
        return new Answer(allowed.decision(), 0, none, none, none, allowed.bearer(), allowed.publicTemplate(), allowed.preflight());
    }

    /** A denial without a decision. */
    static Answer denied() {
        Optional<String> none = Optional.empty();
        return new Answer(Decision.of(Reason.UNKNOWN), Layout.DEFAULT_HTTP_STATUS, none, none, none, Optional.empty(), none, false);
    }

    /** Whether the request may pass. */
    public boolean isAllow() {
        return httpStatus == 0;
    }

    /** The information that a service gets about an allowed request; empty for a denial. */
    public Optional<Call> call() {
        return isAllow() ? Optional.of(new Call(decision, token, publicTemplate, preflight)) : Optional.empty();
    }
}
