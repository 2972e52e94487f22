package io.github.orbgate;

import java.time.Instant;
import java.util.Optional;

/**
 * The content of a verified token, without the token itself.
 *
 * @param kind its kind
 * @param scopes its scopes, separated by single spaces
 * @param issuer its issuer ({@code iss})
 * @param subject its subject ({@code sub})
 * @param client the client to which it was issued
 * @param actor the party that acts for the subject ({@code act})
 * @param id its identifier ({@code jti})
 * @param fingerprint identifies it in logs without revealing it
 * @param expires its expiry time
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

    /** A token for a fake {@link Guard}, without a particular subject. */
    public static BearerToken of(TokenKind kind, String scopes) {
        Optional<String> none = Optional.empty();
        return new BearerToken(kind, scopes, "", none, none, none, none, "", Instant.MAX);
    }
}
