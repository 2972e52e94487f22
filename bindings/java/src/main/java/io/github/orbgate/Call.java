package io.github.orbgate;

/**
 * What a service is told of a request that its gate has allowed.
 *
 * @param decision why, and what it consumes
 * @param token who calls
 */
public record Call(Decision decision, BearerToken token) {}
