package io.github.orbgate;

/**
 * A route of a service, as written in its router.
 *
 * @param method for example {@code GET}
 * @param template for example {@code /users/{id}}
 */
public record ServiceRoute(String method, String template) {}
