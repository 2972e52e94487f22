//! The names of what a gate counts, the same in every language: `cargo xtask codes` writes them into each.

macro_rules! names {
    ($($(#[$about:meta])+ $name:ident = $text:literal;)+) => {
        $($(#[$about])+ pub const $name: &str = $text;)+

        /// All of them, each with the name of its constant.
        pub const ALL: &[(&str, &str)] = &[$((stringify!($name), $text)),+];
    };
}

names! {
    /// Counts decisions, by decision, reason and route; the route is empty where there is none.
    DECISIONS_TOTAL = "orbgate_decisions_total";
    /// Counts tokens that are refused, by reason: a code that no caller learns.
    TOKENS_REFUSED_TOTAL = "orbgate_tokens_refused_total";
    /// Counts requests that a router has sent elsewhere than the policy, by route and by what it has matched.
    MISROUTED_TOTAL = "orbgate_misrouted_total";
    /// Counts versions of a policy, by result.
    POLICY_LOADS_TOTAL = "orbgate_policy_loads_total";
    /// Counts lines of the audit that could not be written.
    AUDIT_LOST_TOTAL = "orbgate_audit_lost_total";
    /// The label that says allow or deny.
    LABEL_DECISION = "decision";
    /// The label of a decision's reason, or of why a token is refused.
    LABEL_REASON = "reason";
    /// The label of the route that the policy allows.
    LABEL_ROUTE = "route";
    /// The label of the template that a router has taken.
    LABEL_MATCHED = "matched";
    /// The label of what became of a policy.
    LABEL_RESULT = "result";
    /// A result: the policy is in force.
    LOAD_LOADED = "loaded";
    /// A result: its file cannot be read.
    LOAD_UNREADABLE = "unreadable";
    /// A result: it has errors.
    LOAD_REFUSED = "refused";
    /// A result: it has no end marker.
    LOAD_UNFINISHED = "unfinished";
}
