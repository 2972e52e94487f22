package io.github.orbgate;

/** Answers requests: a {@link Gate}, or a fake in tests that returns {@link Answer#of}. */
@FunctionalInterface
public interface Guard {
    /** The answer to a request. */
    Answer ask(GateRequest request);

    /**
     * Answers a request that was allowed, after a router has chosen its handler. A gate counts only denials here.
     *
     * @param request the same request with the router's template: {@link GateRequest#matched()}
     * @param allowed the result of the first question
     */
    default Answer askAgain(GateRequest request, Call allowed) {
        return ask(request);
    }
}
