package io.github.orbgate;

/**
 * A route of a service, as its router writes it.
 *
 * @param method as in {@code GET}
 * @param template as in {@code /users/{id}}
 */
public record ServiceRoute(String method, String template) {}
