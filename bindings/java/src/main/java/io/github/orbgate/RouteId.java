package io.github.orbgate;

/**
 * A route to ask by: see {@link Engine#findRoute}. One of another policy denies as {@code no_route}.
 *
 * <p>The same in every process.
 *
 * @param high the upper 64 bits
 * @param low the lower 64 bits
 */
public record RouteId(long high, long low) {}
