//! The names of a gate's metrics and labels, the same in every language: `cargo xtask codes` writes them
//! into each.

macro_rules! names {
    ($($(#[$about:meta])+ $name:ident = $text:literal;)+) => {
        $($(#[$about])+ pub const $name: &str = $text;)+

        /// All names, each with the name of its constant.
        pub const ALL: &[(&str, &str)] = &[$((stringify!($name), $text)),+];
    };
}

names! {
    /// Counts decisions, by decision, reason and route; the route is empty if there isn't one.
    DECISIONS_TOTAL = "orbgate_decisions_total";
    /// Counts rejected tokens, by reason. The reason is a code that isn't sent to callers.
    TOKENS_REFUSED_TOTAL = "orbgate_tokens_refused_total";
    /// Counts requests that a router sent to a different route than the policy, by the policy's route and the
    /// router's template.
    MISROUTED_TOTAL = "orbgate_misrouted_total";
    /// Counts versions of a policy, by result.
    POLICY_LOADS_TOTAL = "orbgate_policy_loads_total";
    /// Counts lines of the audit log that couldn't be written.
    AUDIT_LOST_TOTAL = "orbgate_audit_lost_total";
    /// Counts holds of orbs, by result.
    HOLDS_TOTAL = "orbgate_holds_total";
    /// Counts holds that are over, by result.
    SETTLEMENTS_TOTAL = "orbgate_settlements_total";
    /// Counts calls whose handlers stated more orbs than the ceiling of their holds.
    OVER_CEILING_TOTAL = "orbgate_over_ceiling_total";
    /// The label for allow or deny.
    LABEL_DECISION = "decision";
    /// The label for a decision's reason, or for why a token was rejected.
    LABEL_REASON = "reason";
    /// The label for the route that the policy allows.
    LABEL_ROUTE = "route";
    /// The label for the template that a router chose.
    LABEL_MATCHED = "matched";
    /// The label for the result of loading a policy.
    LABEL_RESULT = "result";
    /// A result: the policy is active.
    LOAD_LOADED = "loaded";
    /// A result: the file can't be read.
    LOAD_UNREADABLE = "unreadable";
    /// A result: the policy has errors.
    LOAD_REFUSED = "refused";
    /// A result: the file has no end marker.
    LOAD_UNFINISHED = "unfinished";
    /// A result: the policy allows more than the active one, and the settings reject that.
    LOAD_WIDER = "wider";
}
