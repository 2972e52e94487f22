//! How many tuples a policy may have: sets of places that are literal, among the full templates with the same number
//! of segments. A path is compared tuple by tuple, so their number bounds what a decision costs.

use orbgate_yaml::Faults;

use super::conflicts::FullRoute;
use crate::seeded::SeededMap;

/// Most tuples among the templates of one length. Real policies of up to 1,220 routes have at most 14.
const TUPLES: usize = 64;

/// The tuples of each length.
#[derive(Default)]
pub(super) struct Tuples(SeededMap<u32, Vec<u64>>);

impl Tuples {
    /// Adds a route's, and reports the route if its tuple is the first one too many of its length.
    pub(super) fn add(&mut self, tuple: u64, route: &FullRoute<'_>, faults: &mut Faults) {
        // Tuples of one length have their highest bit in one place.
        let tuples = self.0.entry(tuple.leading_zeros()).or_default();
        if tuples.len() > TUPLES || tuples.contains(&tuple) {
            return;
        }
        tuples.push(tuple);
        if tuples.len() > TUPLES {
            faults.push(route.place, one_too_many(route));
        }
    }
}

fn one_too_many(route: &FullRoute<'_>) -> String {
    let (shown, length) = (route.shown(), route.segments().count());
    format!(
        "route {shown} mixes literals and parameters in one more way than the {TUPLES} that paths of {length} segments may have"
    )
}
