package io.github.orbgate;

import java.time.Instant;
import java.util.Optional;

/**
 * The content of a verified token, without the token itself.
 *
 * <!-- cargo xtask codes: descriptions -->
 * @param kind its kind
 * @param scopes its scopes, separated by single spaces
 * @param issuer the issuer
 * @param subject the subject ({@code sub}); empty if the token doesn't state it
 * @param client the client that the token was issued to; empty if the token doesn't state it
 * @param actor the party that acts for the subject ({@code act}); empty if the token doesn't state it
 * @param id the token's own id ({@code jti}); empty if the token doesn't state it
 * @param fingerprint an id that reveals nothing about the token
 * @param expires when the token expires
 * <!-- end of descriptions -->
 */
public record BearerToken(
        // cargo xtask codes: parameters
        TokenKind kind,
        String scopes,
        String issuer,
        Optional<String> subject,
        Optional<String> client,
        Optional<String> actor,
        Optional<String> id,
        String fingerprint,
        Instant expires
        // end of parameters
        ) {

    static BearerToken of(Messages.Token from) {
        return new BearerToken(
                // cargo xtask codes: values
                TokenKind.of(Math.toIntExact(from.kind)),
                from.scopes,
                from.issuer,
                Text.unlessEmpty(from.subject),
                Text.unlessEmpty(from.client),
                Text.unlessEmpty(from.actor),
                Text.unlessEmpty(from.id),
                from.fingerprint,
                Instant.ofEpochMilli(from.expiresMs)
                // end of values
                );
    }

    /** A token for a fake {@link Guard}, without a particular subject. */
    public static BearerToken of(TokenKind kind, String scopes) {
        Messages.Token token = new Messages.Token(Wire.Reader.empty());
        token.kind = kind.number;
        token.scopes = scopes;
        token.expiresMs = Long.MAX_VALUE;
        return of(token);
    }
}
