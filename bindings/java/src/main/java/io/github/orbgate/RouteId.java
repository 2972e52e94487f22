package io.github.orbgate;

/**
 * A route to ask by: see {@link Engine#findRoute}. One of another policy denies as {@code no_route}.
 *
 * @param bits the same in every process, below 2<sup>53</sup>
 */
public record RouteId(long bits) {}
