//! Finds the valid prefix of a malformed target.

use orbgate::{Detail, Engine, Token};

use crate::questions::call;

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
pub(crate) const LONGEST: usize = 8_192;
