package io.github.orbgate;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How the keys of one issuer are.
 *
 * @param issuer who it is
 * @param count how many keys there are to use; with none, every token of the issuer is refused
 * @param age how long ago they were fetched; empty if there are none
 * @param failure why the last attempt failed, if it did
 * @param warnings the keys that were left out, and why
 */
public record IssuerKeys(String issuer, int count, Optional<Duration> age, Optional<String> failure, List<String> warnings) {

    /** Reads an {@code OrbgateIssuerStatus}. */
    static IssuerKeys read(NativeBuffer buffer, int at, long monotonicMs) {
        int count = buffer.bytes.getInt(at + Layout.IssuerStatus.KEY_COUNT);
        long age = monotonicMs - buffer.bytes.getLong(at + Layout.IssuerStatus.FETCHED_MS);
        String warnings = buffer.text(at + Layout.IssuerStatus.WARNINGS);
        return new IssuerKeys(
                buffer.text(at + Layout.IssuerStatus.ISSUER),
                count,
                count == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(age)),
                Optional.ofNullable(buffer.text(at + Layout.IssuerStatus.FAILURE)),
                warnings == null ? List.of() : warnings.lines().toList());
    }
}
