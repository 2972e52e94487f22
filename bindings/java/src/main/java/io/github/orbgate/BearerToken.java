package io.github.orbgate;

import java.time.Instant;
import java.util.Optional;

/**
 * What is known of a verified token. Its text is not here.
 *
 * @param kind whose it is
 * @param scopes its scopes, with one space between two
 * @param issuer who issued it
 * @param subject whom it is about ({@code sub})
 * @param client the client that it was issued to
 * @param actor who acts for the subject ({@code act})
 * @param id its own name ({@code jti})
 * @param fingerprint names it in logs and reveals nothing of it
 * @param expires when it expires
 */
public record BearerToken(
        TokenKind kind,
        String scopes,
        String issuer,
        Optional<String> subject,
        Optional<String> client,
        Optional<String> actor,
        Optional<String> id,
        String fingerprint,
        Instant expires) {

    /** A token for a fake {@link Guard}: of nobody in particular. */
    public static BearerToken of(TokenKind kind, String scopes) {
        Optional<String> none = Optional.empty();
        return new BearerToken(kind, scopes, "", none, none, none, none, "", Instant.MAX);
    }
}
