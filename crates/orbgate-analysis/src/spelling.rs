//! How much of a malformed target, from its start, is in order.

use orbgate::{Detail, Engine, Token};

use crate::questions::call;

/// How many bytes of a malformed target, from its start, are a target that breaks no rule: after them comes what the
/// first broken rule is about. `None` for a target that is in order, and for one that is malformed only because of the
/// policy's templates (`non_canonical_literal`, `ambiguous_case`).
///
/// It asks the engine about each beginning of the target's first 8,192 bytes, the longest first.
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
    // The token and the method break no rule.
    let detail = |target: &[u8]| {
        engine
            .decide(&call(b"GET", target, Token::user("")))
            .detail()
    };
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

/// A longer target is never in order.
pub(crate) const LONGEST: usize = 8_192;
