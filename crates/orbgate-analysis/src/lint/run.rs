//! One run of lint.

use orbgate::sorted::sort_by;
use orbgate::{Engine, Policy};

use super::finding::{Collector, Findings};
use super::{literals, names, overlaps, suppress};

/// Finds likely mistakes in a valid policy. `text` is the policy file, whose comments can suppress findings.
///
/// Time is linear in the size of the policy, and in the number of methods that one of two overlapping templates lacks.
/// After a million such methods, the search for hidden routes ends, and the findings aren't
/// [`complete`](Findings::complete).
///
/// ```
/// use orbgate::Policy;
///
/// let text = "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { permits: x, orbs: true, routes: [GET /x] } } } }\n...\n";
/// let found = orbgate_analysis::lint(&Policy::from_yaml(text).unwrap(), text);
/// assert_eq!(
///     found.list[0].to_string(),
///     "2:77: warning[unstated_get]: `GET /x` only reads, and consumes orbs without a stated amount"
/// );
/// ```
#[must_use]
pub fn lint(policy: &Policy, text: &str) -> Findings {
    let engine = Engine::new(policy);
    let mut findings = Collector::default();
    overlaps::look(&engine, &mut findings);
    names::look(policy, &engine, &mut findings);
    literals::look(&engine, &mut findings);
    let mut list = findings.list;
    sort_by(&mut list, |a, b| (a.location, a.code, &a.message).cmp(&(b.location, b.code, &b.message)));
    let mut cut = Vec::from_iter(findings.cut);
    suppress::apply(text, &mut list, &mut cut);
    Findings { list, complete: cut.is_empty(), cut }
}
