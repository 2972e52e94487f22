package io.github.orbgate;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The state of an issuer's keys, or of its introspection endpoint.
 *
 * <!-- cargo xtask codes: descriptions -->
 * @param issuer the issuer
 * @param count the number of usable keys. At 0, every token is rejected unless {@code isOpaque} is true
 * @param age the time since the keys were fetched; empty if there aren't any
 * @param failure why the last attempt failed; empty if it succeeded
 * @param warnings the keys that were left out, with the reasons
 * @param isOpaque the issuer's tokens are opaque
 * <!-- end of descriptions -->
 */
public record IssuerKeys(
        // cargo xtask codes: parameters
        String issuer,
        int count,
        Optional<Duration> age,
        Optional<String> failure,
        List<String> warnings,
        boolean isOpaque
        // end of parameters
        ) {

    static IssuerKeys of(Messages.IssuerStatus from, long monotonicMs) {
        return new IssuerKeys(
                // cargo xtask codes: values
                from.issuer,
                Math.toIntExact(from.keyCount),
                from.keyCount == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(monotonicMs - from.fetchedMs)),
                Text.unlessEmpty(from.failure),
                from.warnings.lines().toList(),
                from.opaque
                // end of values
                );
    }
}
