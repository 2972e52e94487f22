package io.github.orbgate;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A request as it came over the wire: nothing of it is decoded, stripped or joined.
 *
 * @param method the method
 * @param target path and query, as they are in the request line
 * @param authorization every value of {@code Authorization}, one item a line of the header
 * @param headerNames those of all headers, or at least of those with {@code method} in them: some let a {@code POST} be another method
 * @param matched the template that a router outside the gate has taken, with its prefix, and no text where that router does not
 *     say, as in a fallback; empty where no router is outside. With a router, a request that another route would allow is denied
 * @param bonus whether the request allows bonus orbs
 */
public record GateRequest(
        String method,
        String target,
        List<String> authorization,
        List<String> headerNames,
        Optional<String> matched,
        BonusOrbs bonus) {

    /** Checks that nothing is null. */
    public GateRequest {
        Objects.requireNonNull(method, "method");
        Objects.requireNonNull(target, "target");
        authorization = List.copyOf(authorization);
        headerNames = List.copyOf(headerNames);
        Objects.requireNonNull(matched, "matched");
        Objects.requireNonNull(bonus, "bonus");
    }

    /** A request without bonus orbs, where no router is outside the gate. */
    public GateRequest(String method, String target, Collection<String> authorization, Collection<String> headerNames) {
        this(method, target, List.copyOf(authorization), List.copyOf(headerNames), Optional.empty(), BonusOrbs.REFUSE);
    }

    /** The same, which a router has taken to the route of this template; no text where it does not say. */
    public GateRequest matched(String template) {
        return new GateRequest(method, target, authorization, headerNames, Optional.of(template), bonus);
    }

    /** The same with bonus orbs or without. */
    public GateRequest bonus(BonusOrbs bonus) {
        return new GateRequest(method, target, authorization, headerNames, matched, bonus);
    }

    /** Method and target: nothing of a token. */
    @Override
    public String toString() {
        return method + " " + target;
    }
}
