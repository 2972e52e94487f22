package io.github.orbgate;

/**
 * One thing wrong with a policy or a configuration.
 *
 * @param line the line, from 1
 * @param column the column in characters, from 1
 * @param message what is wrong, without the location
 */
public record Diagnostic(int line, int column, String message) {}
