package io.github.orbgate;

/** What answers requests as they came: a {@link Gate}, or a fake of a test's own, with {@link Answer#of} for its answers. */
@FunctionalInterface
public interface Guard {
    /** The answer to a request. */
    Answer ask(GateRequest request);

    /**
     * The answer to a request that was allowed, once a router has chosen its handler. A gate counts it only if it is a denial.
     *
     * @param request the same request, with what the router has taken: {@link GateRequest#matched()}
     * @param allowed what came of asking before
     */
    default Answer askAgain(GateRequest request, Call allowed) {
        return ask(request);
    }
}
