//! Metrics and traces of decisions: counters and spans. Labels are codes and route templates, and never
//! contain a path or any part of a token.

use std::borrow::Cow;
use std::sync::Once;
#[cfg(feature = "watch")]
use std::time::{SystemTime, UNIX_EPOCH};

use orbgate::{Decision, Effect};
use orbgate_analysis::{Explanation, Shadowed};
use orbgate_gate::{Statement, names};
use orbgate_token::NoticeLevel;
use tracing::Span;
use tracing::field::{Empty, display};

/// The span of a decision, from reading the headers to the result.
pub(crate) fn span() -> Span {
    tracing::info_span!(
        "orbgate",
        decision = Empty,
        reason = Empty,
        route = Empty,
        about = Empty,
        policy = Empty,
        token_refused = Empty,
        shadow = Empty,
        matched = Empty
    )
}

/// Counts a decision, and records it in its span.
pub(crate) fn decided(decision: &Decision<'_>, refused: Option<&'static str>, span: &Span) {
    let outcome = effect(decision);
    let (reason, route) = (decision.reason().as_str(), decision.route_name());
    let labels = [
        (names::LABEL_DECISION, outcome.into()),
        (names::LABEL_REASON, reason.into()),
        (names::LABEL_ROUTE, route.unwrap_or_default().to_owned().into()),
    ];
    count(names::DECISIONS_TOTAL, labels, 1);
    if let Some(code) = refused {
        let reason = (names::LABEL_REASON, code.into());
        count(names::TOKENS_REFUSED_TOTAL, [reason], 1);
        span.record("token_refused", code);
    }
    span.record("decision", outcome);
    span.record("reason", reason);
    if let Some(route) = route {
        span.record("route", route);
    } else if let Some(about) = decision.about() {
        span.record("about", about.as_str());
    }
    span.record("policy", display(decision.policy()));
}

/// Logs why a call is denied. Without the query, which can contain secrets, and without the token.
///
/// `explain` gets neither headers nor the query. If it has another cause than the decision, only the decision is logged.
pub(crate) fn explained<'e>(
    decision: &Decision<'_>,
    method: &[u8],
    target: &[u8],
    explain: impl FnOnce(&[u8]) -> Explanation<'e>,
) {
    let path = target.split(|byte| *byte == b'?').next();
    let path = path.unwrap_or_default();
    let explanation = explain(path);
    let cause = |decision: &Decision<'_>| (decision.reason(), decision.detail());
    let json = match cause(&explanation.decision) == cause(decision) {
        true => serde_json::to_string(&explanation),
        false => serde_json::to_string(decision),
    };
    if let Ok(explanation) = json {
        let (method, path) = (String::from_utf8_lossy(method), String::from_utf8_lossy(path));
        tracing::info!(%method, %path, explanation, "a call is denied");
    }
}

/// Counts the candidate's decision for a request, and records in the span how it disagrees.
pub(crate) fn shadowed(both: &Shadowed<'_, '_>, span: &Span) {
    let result = both.disagreement().map_or("same", |disagreement| disagreement.as_str());
    count("orbgate_shadow_decisions_total", [(names::LABEL_RESULT, result.into())], 1);
    if both.disagreement().is_some() {
        span.record("shadow", result);
    }
}

/// Counts a request that the policy allows for one route, but that a router sent to another route, or to one that it
/// doesn't report.
pub(crate) fn misrouted(decision: &Decision<'_>, matched: &str, span: &Span) {
    dispatched_otherwise(decision.route_name().unwrap_or_default(), matched);
    span.record("matched", matched);
}

/// The same at a handler, after the decision's span has ended.
pub(crate) fn dispatched_otherwise(route: &str, matched: &str) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        tracing::error!(
            route,
            matched,
            "requests are denied: the router has chosen a route that the policy lacks, or none"
        );
    });
    let labels = [(names::LABEL_ROUTE, route.to_owned().into()), (names::LABEL_MATCHED, matched.to_owned().into())];
    count(names::MISROUTED_TOTAL, labels, 1);
}

pub(crate) const fn effect(decision: &Decision<'_>) -> &'static str {
    Effect::of(decision.is_allow()).as_str()
}

/// Counts a version of a policy: `loaded`, or why it was rejected.
pub(crate) fn reloaded(result: &'static str) {
    let result = (names::LABEL_RESULT, result.into());
    count(names::POLICY_LOADS_TOTAL, [result], 1);
}

/// Logs how a gate charges.
pub(crate) fn charging(statement: &Statement) {
    match statement.level {
        NoticeLevel::Info => tracing::info!("{}", statement.text),
        NoticeLevel::Warning | NoticeLevel::Error => tracing::warn!("{}", statement.text),
    }
}

/// Counts the changes of a version of a policy when it becomes active.
pub(crate) fn policy_changed(wider: u64, narrower: u64, removed: u64) {
    for (kind, changes) in [("wider", wider), ("narrower", narrower), ("removed", removed)] {
        count("orbgate_policy_changes_total", [("kind", kind.into())], changes);
    }
}

/// Records that the file was read and still contains the active policy.
#[cfg(feature = "watch")]
#[expect(clippy::disallowed_methods, reason = "an operator compares it with the clock")]
pub(crate) fn policy_read() {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    set("orbgate_policy_read_time_seconds", since.unwrap_or_default().as_secs_f64());
}

/// Records whether the file's version differs from the active one.
#[cfg(feature = "watch")]
pub(crate) fn policy_waiting(waits: bool) {
    set("orbgate_policy_waiting", f64::from(u8::from(waits)));
}

/// Counts audit records that couldn't be kept.
#[cfg(feature = "audit")]
pub(crate) fn audit_lost(records: u64) {
    count(names::AUDIT_LOST_TOTAL, [], records);
}

/// Counts the result of a hold.
#[cfg(feature = "ledger")]
pub(crate) fn held(result: &'static str) {
    count(names::HOLDS_TOTAL, [(names::LABEL_RESULT, result.into())], 1);
}

/// Counts the result of settlements.
#[cfg(feature = "ledger")]
pub(crate) fn settled(result: &'static str, settlements: u64) {
    count(names::SETTLEMENTS_TOTAL, [(names::LABEL_RESULT, result.into())], settlements);
}

/// Counts the orbs of a capture: those that were spent, and those that weren't there.
#[cfg(feature = "ledger")]
pub(crate) fn captured(captured: u64, shortfall: u64) {
    count("orbgate_orbs_captured_total", [], captured);
    count("orbgate_orbs_shortfall_total", [], shortfall);
}

/// Counts a call that has stated more orbs than the ceiling, and the orbs that are over it.
#[cfg(feature = "ledger")]
pub(crate) fn over_ceiling(orbs: u64) {
    count(names::OVER_CEILING_TOTAL, [], 1);
    count("orbgate_orbs_over_ceiling_total", [], orbs);
}

/// Records how many settlements wait for the ledger.
#[cfg(feature = "ledger")]
pub(crate) fn settling(settlements: usize) {
    let settlements = u32::try_from(settlements).unwrap_or(u32::MAX);
    set("orbgate_settlements_waiting", f64::from(settlements));
}

/// Adds to a counter.
#[cfg(feature = "metrics")]
fn count<const N: usize>(name: &'static str, labels: [(&'static str, Cow<'static, str>); N], by: u64) {
    let labels = labels.map(|(name, value)| metrics::Label::new(name, value));
    metrics::counter!(name, labels.to_vec()).increment(by);
}

#[cfg(all(feature = "metrics", any(feature = "ledger", feature = "watch")))]
fn set(name: &'static str, value: f64) {
    metrics::gauge!(name).set(value);
}

/// Without the feature `metrics`, nothing is counted.
#[cfg(not(feature = "metrics"))]
fn count<const N: usize>(_: &'static str, _: [(&'static str, Cow<'static, str>); N], _: u64) {}

#[cfg(all(not(feature = "metrics"), any(feature = "ledger", feature = "watch")))]
const fn set(_: &'static str, _: f64) {}
