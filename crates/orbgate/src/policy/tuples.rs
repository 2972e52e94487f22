//! Limits the number of tuples. A tuple is a set of positions that are literal in a full template with a given
//! number of segments. A path is compared tuple by tuple, so their number bounds the cost of a decision.

use crate::tables::list::index;

/// The maximum number of tuples for each path length. Together with the lookup of all the path's literals, a decision
/// does 64 lookups. Real policies of up to 1,220 routes have at most 14 tuples.
const TUPLES: usize = 63;

/// The tuples of each length, indexed by their number of leading zeros.
pub(super) struct Tuples([Vec<u64>; 64]);

impl Tuples {
    pub(super) const fn new() -> Self {
        Self([const { Vec::new() }; 64])
    }

    /// Adds a tuple. Returns whether it is the first of its length to exceed the limit.
    pub(super) fn is_one_too_many(&mut self, tuple: u64) -> bool {
        // Tuples of one length have the same highest bit.
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

/// The error message for a route whose tuple exceeds the limit.
pub(super) fn one_too_many(route: &str, tuple: u64) -> String {
    let length = tuple.checked_ilog2().unwrap_or_default();
    format!("{route} adds another mix of literals and parameters for paths of {length} segments; the limit is {TUPLES}")
}
