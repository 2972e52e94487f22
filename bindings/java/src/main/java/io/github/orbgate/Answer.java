package io.github.orbgate;

import java.util.Objects;
import java.util.Optional;

/**
 * The answer of a gate to a request.
 *
 * @param decision the decision
 * <!-- cargo xtask codes: descriptions -->
 * @param httpStatus the status of the response to a denied request; 0 for an allow
 * @param preflight the request is allowed only as a preflight, so run only a handler of {@code OPTIONS}
 * @param wwwAuthenticate the {@code WWW-Authenticate} header of a denial
 * @param allow the {@code Allow} header of a denial
 * @param refused why the token is rejected, such as {@code expired}, only for logs and counters
 * @param publicTemplate the template of an allowed request that needs no token
 * @param token the verified token; absent without a valid token
 * <!-- end of descriptions -->
 */
public record Answer(
        Decision decision,
        // cargo xtask codes: parameters
        int httpStatus,
        boolean preflight,
        Optional<String> wwwAuthenticate,
        Optional<String> allow,
        Optional<String> refused,
        Optional<String> publicTemplate,
        Optional<BearerToken> token
        // end of parameters
        ) {

    /** An answer that is not completely an allow has the status of a denial. */
    public Answer {
        Objects.requireNonNull(decision, "decision");
        if (httpStatus == 0 && !(decision.isAllow() && (token.isPresent() || publicTemplate.isPresent()))) {
            httpStatus = Layout.DEFAULT_HTTP_STATUS;
        }
    }

    static Answer of(Decision decision, Messages.Answer from, Optional<BearerToken> token) {
        return new Answer(
                decision,
                // cargo xtask codes: values
                Math.toIntExact(from.httpStatus),
                from.preflight,
                Optional.ofNullable(from.wwwAuthenticate),
                Optional.ofNullable(from.allow),
                Text.unlessEmpty(from.refused),
                Text.unlessEmpty(from.publicTemplate),
                token
                // end of values
                );
    }

    /** An answer for a fake {@link Guard}, allowed if the reason allows. */
    public static Answer of(Reason reason, BearerToken token) {
        Decision decision = Decision.of(reason);
        Messages.Answer answer = new Messages.Answer(Wire.Reader.empty());
        answer.httpStatus = decision.httpStatus();
        return of(decision, answer, Optional.of(token));
    }

    /** The answer from which an allowed call was created. */
    static Answer of(Call allowed) {
        Messages.Answer answer = new Messages.Answer(Wire.Reader.empty());
        answer.preflight = allowed.preflight();
        answer.publicTemplate = allowed.publicTemplate().orElse("");
        return of(allowed.decision(), answer, allowed.bearer());
    }

    /** A denial without a decision. */
    static Answer denied() {
        return of(Decision.of(Reason.UNKNOWN), new Messages.Answer(Wire.Reader.empty()), Optional.empty());
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
