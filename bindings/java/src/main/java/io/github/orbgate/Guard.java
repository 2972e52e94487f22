package io.github.orbgate;

/** What answers requests as they came: a {@link Gate}, or a fake of a test's own, with {@link Answer#of} for its answers. */
@FunctionalInterface
public interface Guard {
    /** The answer to a request. */
    Answer ask(GateRequest request);
}
