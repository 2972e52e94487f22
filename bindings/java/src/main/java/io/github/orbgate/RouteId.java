package io.github.orbgate;

/**
 * The id of a route, to decide by: see {@link Engine#findRoute}. An id of another policy is denied as {@code
 * no_route}.
 *
 * <p>It is the same in every process.
 *
 * @param high the upper 64 bits
 * @param low the lower 64 bits
 */
public record RouteId(long high, long low) {}
