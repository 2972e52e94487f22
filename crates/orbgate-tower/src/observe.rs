//! What can be observed of decisions: counters and spans. Labels are codes and route templates, never a path,
//! and nothing of a token.

use metrics::counter;
use orbgate::Decision;
use tracing::Span;
use tracing::field::{Empty, display};

use crate::verify::Refused;

/// The span of a decision, from the header to the answer.
pub(crate) fn span() -> Span {
    tracing::info_span!(
        "orbgate",
        decision = Empty,
        reason = Empty,
        route = Empty,
        policy = Empty,
        token_refused = Empty
    )
}

/// Counts a decision, and notes it in its span.
pub(crate) fn decided(decision: &Decision<'_>, refused: Option<Refused>, span: &Span) {
    let outcome = outcome(decision);
    let (reason, route) = (decision.reason().as_str(), decision.route());
    let labels = [
        ("decision", outcome.into()),
        ("reason", reason.into()),
        ("route", route.unwrap_or_default().to_owned().into()),
    ];
    let labels: [(&str, metrics::SharedString); 3] = labels;
    counter!("orbgate_decisions_total", &labels).increment(1);
    if let Some(Refused(code)) = refused {
        counter!("orbgate_tokens_refused_total", "reason" => code).increment(1);
        span.record("token_refused", code);
    }
    span.record("decision", outcome);
    span.record("reason", reason);
    if let Some(route) = route {
        span.record("route", route);
    }
    span.record("policy", display(decision.policy()));
}

pub(crate) const fn outcome(decision: &Decision<'_>) -> &'static str {
    if decision.is_allow() { "allow" } else { "deny" }
}

/// Counts a policy that was `loaded`, `refused` or `unreadable`.
pub(crate) fn reloaded(result: &'static str) {
    counter!("orbgate_policy_loads_total", "result" => result).increment(1);
}

/// Counts audit records that could not be kept.
pub(crate) fn audit_lost(records: u64) {
    counter!("orbgate_audit_lost_total").increment(records);
}
