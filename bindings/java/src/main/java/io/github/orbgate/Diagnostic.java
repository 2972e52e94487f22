package io.github.orbgate;

/**
 * One error in a policy or a configuration.
 *
 * @param line the line, from 1
 * @param column the column in characters, from 1
 * @param message the error, without the location
 */
public record Diagnostic(int line, int column, String message) {}
