package io.github.orbgate;

import java.util.Objects;
import java.util.Optional;

/**
 * What a gate says to a request.
 *
 * @param decision what was decided
 * @param httpStatus the status of a denial, to be sent with an empty body; 0 for an allow
 * @param wwwAuthenticate the {@code WWW-Authenticate} of a denial
 * @param allow the {@code Allow} of a denial
 * @param refused why the token is refused: a code for logs, of which the caller learns nothing
 * @param token what is known of the token; none where none is right
 * @param publicTemplate the template of an allowed request that needs no token; else empty
 */
public record Answer(
        Decision decision,
        int httpStatus,
        Optional<String> wwwAuthenticate,
        Optional<String> allow,
        Optional<String> refused,
        Optional<BearerToken> token,
        Optional<String> publicTemplate) {

    /** Whatever is not wholly an allow has the status of a denial. */
    public Answer {
        Objects.requireNonNull(decision, "decision");
        if (httpStatus == 0 && !(decision.isAllow() && (token.isPresent() || publicTemplate.isPresent()))) {
            httpStatus = Layout.DEFAULT_HTTP_STATUS;
        }
    }

    /** An answer for a fake {@link Guard}, allowed where the reason allows. */
    public static Answer of(Reason reason, BearerToken token) {
        Decision decision = Decision.of(reason);
        Optional<String> none = Optional.empty();
        return new Answer(decision, decision.httpStatus(), none, none, none, Optional.of(token), none);
    }

    /** The allow that a call comes from. */
    static Answer of(Call allowed) {
        Optional<String> none = Optional.empty();
        return new Answer(allowed.decision(), 0, none, none, none, allowed.bearer(), allowed.publicTemplate());
    }

    /** A denial without a decision. */
    static Answer denied() {
        Optional<String> none = Optional.empty();
        return new Answer(Decision.of(Reason.UNKNOWN), Layout.DEFAULT_HTTP_STATUS, none, none, none, Optional.empty(), none);
    }

    /** Whether the request may pass. */
    public boolean isAllow() {
        return httpStatus == 0;
    }

    /** What the service is told of an allowed request; empty for a denial. */
    public Optional<Call> call() {
        return isAllow() ? Optional.of(new Call(decision, token, publicTemplate)) : Optional.empty();
    }
}
