//! The rules for targets, how far a decision checked them, and the valid prefix of a malformed target.

use orbgate::sorted::sort_by_key;
use orbgate::{Decision, Detail, Engine, Token};

use crate::questions::call;

/// A rule for targets, and whether a call satisfies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TargetRule {
    /// The detail of a call that breaks the rule. [`Detail::rule`] returns the rule's number.
    pub detail: Detail,
    /// Whether the call satisfies the rule.
    pub state: RuleState,
}

/// Whether a call satisfies a rule for targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleState {
    /// The rule was checked completely, and the call satisfies it.
    Pass,
    /// The call breaks the rule, and is denied for that.
    Fail,
    /// The call was denied before the rule was checked completely.
    NotReached,
}

impl RuleState {
    /// `pass`, `fail` or `not_reached`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NotReached => "not_reached",
        }
    }
}

/// All rules that the policy applies to a call, ordered by number, and whether the call satisfies them, according
/// to the engine's decision.
///
/// ```
/// use orbgate::{Engine, Request};
/// use orbgate_analysis::{RuleState, target_rules};
///
/// let engine = Engine::external();
/// let target = b"/api/v1//external";
/// let request = Request { method: b"GET", target, token: None, allow_bonus_orbs_use: false };
/// let rules = target_rules(engine, target, &engine.decide(&request));
/// let broken = rules.iter().find(|rule| rule.state == RuleState::Fail).unwrap();
/// assert_eq!((broken.detail.rule(), broken.detail.as_str()), (10, "empty_segment"));
/// ```
#[must_use]
pub fn target_rules(engine: &Engine, target: &[u8], decision: &Decision<'_>) -> Vec<TargetRule> {
    let reached = reached(target, decision);
    let state = |detail: Detail| match decision.detail() {
        Some(broken) if broken == detail => RuleState::Fail,
        _ if detail.step() < reached => RuleState::Pass,
        _ => RuleState::NotReached,
    };
    let profile = engine.target();
    let of_the_policy = Detail::ALL.into_iter().filter(|detail| detail.is_of(profile));
    let mut rules: Vec<_> = of_the_policy.map(|detail| TargetRule { detail, state: state(detail) }).collect();
    sort_by_key(&mut rules, |rule| rule.detail.rule());
    rules
}

/// The limit on bytes is checked before the limits on segments.
const LIMIT_ON_BYTES: u8 = 2;
/// Rules that read the policy are checked only for callers with a token.
const BESIDE_THE_POLICY: u8 = Detail::NonCanonicalLiteral.step();

/// The step at which the decision was made.
fn reached(target: &[u8], decision: &Decision<'_>) -> u8 {
    match (decision.detail(), decision.reason()) {
        (Some(Detail::Length), _) if !(1..=LONGEST).contains(&target.len()) => LIMIT_ON_BYTES,
        (Some(detail), _) => detail.step(),
        (None, reason) if reason.is_without_token() => BESIDE_THE_POLICY,
        (None, _) => u8::MAX,
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for TargetRule {
    /// `{"rule","detail","state"}`; for example, the rule is `"P10"`.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;

        let mut json = serializer.serialize_struct("TargetRule", 3)?;
        json.serialize_field("rule", &format_args!("P{}", self.detail.rule()))?;
        json.serialize_field("detail", self.detail.as_str())?;
        json.serialize_field("state", self.state.as_str())?;
        json.end()
    }
}

/// The length, in bytes, of the longest prefix of a malformed target that breaks no rule. The first broken rule
/// concerns the bytes after it. `None` for a valid target, and for one that is malformed only because of the policy's
/// templates (`non_canonical_literal`, `ambiguous_case`).
///
/// Decides each prefix of the target's first 8,192 bytes with the engine, the longest first.
///
/// ```
/// use orbgate::Engine;
///
/// assert_eq!(orbgate_analysis::in_order(Engine::external(), "/api/v1//external"), Some(7));
/// assert_eq!(orbgate_analysis::in_order(Engine::external(), "/api/v1"), None);
/// ```
#[must_use]
pub fn in_order(engine: &Engine, target: impl AsRef<[u8]>) -> Option<usize> {
    let target = target.as_ref();
    // The token and the method satisfy all rules.
    let detail = |target: &[u8]| engine.decide(&call(b"GET", target, Token::user(""))).detail();
    let breaks_a_rule = |target: &[u8]| {
        let of_the_policy = [Detail::NonCanonicalLiteral, Detail::AmbiguousCase];
        detail(target).is_some_and(|detail| !of_the_policy.contains(&detail))
    };
    if !breaks_a_rule(target) {
        return None;
    }
    let longest = target.len().min(LONGEST);
    let lengths = (0..=longest).rev();
    let mut beginnings = lengths.filter_map(|length| target.get(..length));
    let in_order = beginnings.find(|beginning| !breaks_a_rule(beginning));
    Some(in_order.map_or(0, <[u8]>::len))
}

/// A longer target is never valid.
const LONGEST: usize = 8_192;
