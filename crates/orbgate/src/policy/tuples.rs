//! How many tuples a policy may have: sets of places that are literal, among the full templates with the same number
//! of segments. A path is compared tuple by tuple, so their number bounds what a decision costs.

use crate::tables::list::index;

/// Most tuples among the templates of one length: with the look-up of all the path's literals, a decision does 64. Real policies of up to
/// 1,220 routes have at most 14.
const TUPLES: usize = 63;

/// The tuples of each length, by how many zeros they begin with.
pub(super) struct Tuples([Vec<u64>; 64]);

impl Tuples {
    pub(super) const fn new() -> Self {
        Self([const { Vec::new() }; 64])
    }

    /// Adds one, and says whether it is the first one too many of its length.
    pub(super) fn is_one_too_many(&mut self, tuple: u64) -> bool {
        // Tuples of one length have their highest bit in one place.
        let Some(tuples) = self.0.get_mut(index(tuple.leading_zeros())) else {
            return false;
        };
        if tuples.len() > TUPLES || tuples.contains(&tuple) {
            return false;
        }
        tuples.push(tuple);
        tuples.len() > TUPLES
    }
}

/// What is wrong with the route of a tuple that is one too many.
pub(super) fn one_too_many(shown: &str, tuple: u64) -> String {
    let length = tuple.checked_ilog2().unwrap_or_default();
    format!(
        "route {shown} adds another mix of literals and parameters for paths of {length} segments; the limit is {TUPLES}"
    )
}
