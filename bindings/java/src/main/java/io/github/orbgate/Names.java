package io.github.orbgate;

/** The names of what gates count and say. Made by {@code cargo xtask codes}; not to be edited. */
final class Names {
    private Names() {}

    static final String EFFECT_DENY = "deny";
    static final String EFFECT_ALLOW = "allow";
    static final String DECISIONS_TOTAL = "orbgate_decisions_total";
    static final String TOKENS_REFUSED_TOTAL = "orbgate_tokens_refused_total";
    static final String MISROUTED_TOTAL = "orbgate_misrouted_total";
    static final String POLICY_LOADS_TOTAL = "orbgate_policy_loads_total";
    static final String AUDIT_LOST_TOTAL = "orbgate_audit_lost_total";
    static final String HOLDS_TOTAL = "orbgate_holds_total";
    static final String SETTLEMENTS_TOTAL = "orbgate_settlements_total";
    static final String OVER_CEILING_TOTAL = "orbgate_over_ceiling_total";
    static final String LABEL_DECISION = "decision";
    static final String LABEL_REASON = "reason";
    static final String LABEL_ROUTE = "route";
    static final String LABEL_MATCHED = "matched";
    static final String LABEL_RESULT = "result";
}
