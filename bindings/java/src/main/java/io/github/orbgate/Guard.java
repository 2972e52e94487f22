package io.github.orbgate;

import java.util.function.Supplier;

/** Answers requests: a {@link Gate}, or a fake in tests that returns {@link Answer#of}. */
@FunctionalInterface
public interface Guard {
    /** The answer to a request. */
    Answer ask(GateRequest request);

    /**
     * Answers a request. The function determines whether it allows bonus orbs. It is called only for an allowed request, so the
     * body of a denied one isn't read. If it throws, the request allows none.
     */
    default Answer ask(GateRequest request, Supplier<BonusOrbs> bonus) {
        Answer answer = ask(request);
        return answer.isAllow() && BonusOrbs.of(bonus) == BonusOrbs.ALLOW ? ask(request.bonus(BonusOrbs.ALLOW)) : answer;
    }

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
