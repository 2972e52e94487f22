package io.github.orbgate;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The state of an issuer's keys, or of its introspection endpoint.
 *
 * @param issuer the issuer
 * @param isOpaque whether its tokens are opaque: then it has no keys, and its endpoint is asked about each token
 * @param count the number of usable keys; with 0, every token of the issuer is rejected, unless they are opaque
 * @param age the time since they were fetched; empty if there are none
 * @param failure why the last attempt failed, if it did
 * @param warnings the keys that were left out, with reasons
 */
public record IssuerKeys(
        String issuer, boolean isOpaque, int count, Optional<Duration> age, Optional<String> failure, List<String> warnings) {

    /** Reads an {@code OrbgateIssuerStatus}. */
    static IssuerKeys read(NativeBuffer buffer, int at, long monotonicMs) {
        int count = buffer.bytes.getInt(at + Layout.IssuerStatus.KEY_COUNT);
        long age = monotonicMs - buffer.bytes.getLong(at + Layout.IssuerStatus.FETCHED_MS);
        String warnings = buffer.text(at + Layout.IssuerStatus.WARNINGS);
        return new IssuerKeys(
                buffer.text(at + Layout.IssuerStatus.ISSUER),
                buffer.bytes.getInt(at + Layout.IssuerStatus.OPAQUE) == 1,
                count,
                count == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(age)),
                Optional.ofNullable(buffer.text(at + Layout.IssuerStatus.FAILURE)),
                warnings == null ? List.of() : warnings.lines().toList());
    }
}
