//! How many tuples a policy may have: sets of places that are literal, among the full templates with the same number
//! of segments. A path is compared tuple by tuple, so their number bounds what a decision costs.

use std::collections::HashMap;

use orbgate_yaml::Faults;

use super::conflicts::FullRoute;

/// Most tuples among the templates of one length. Real policies of up to 1,220 routes have at most 14.
const TUPLES: usize = 64;

/// Reports, for each length, the first route whose tuple is one too many.
pub(super) fn check(routes: &[FullRoute<'_>], faults: &mut Faults) {
    let mut lengths: HashMap<u32, Vec<u64>> = HashMap::new();
    for route in routes {
        let tuple = route.tuple();
        // Tuples of one length have their highest bit in one place.
        let tuples = lengths.entry(tuple.leading_zeros()).or_default();
        if tuples.len() > TUPLES || tuples.contains(&tuple) {
            continue;
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
