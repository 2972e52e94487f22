//! Two templates which both fit some path are legal, and worth a warning where they differ in what
//! they require: the one that people read first may not be the one that decides.

use core::ops::ControlFlow;
use std::collections::HashMap;

use orbgate_yaml::{Faults, Place as YamlPlace, first_place};

use super::conflicts::{FullRoute, Segment, full_routes};
use super::fault::{Fault, place};
use super::meetings::meetings;
use super::model::Policy;
use crate::terms::{Orbs, Place};

/// Most pairs that are listed.
const LISTED: usize = 1_000;

/// The pairs of routes that overlap; see [`Policy::overlapping`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overlaps {
    /// The places of each pair in the file, the first before the second, in the order of the second.
    pub pairs: Vec<[Place; 2]>,
    /// Whether these are all; at most 1,000 are listed.
    pub complete: bool,
}

impl Policy {
    /// Pairs of routes of one method which both fit some path, under different scopes or orbs.
    ///
    /// Takes time linear in the size of the policy, however many routes overlap.
    #[must_use]
    pub fn overlapping(&self) -> Overlaps {
        let routes = full_routes(self);
        let (pairs, complete) = pairs(&routes);
        let places = |pair: &Pair<'_>| pair.map(|route| place(route.place));
        Overlaps {
            pairs: pairs.iter().map(places).collect(),
            complete,
        }
    }

    /// The same in words, as [`warnings`](Self::warnings).
    ///
    /// Each is at the route that comes second in the file and names the line of the first. Where some are missing, the last
    /// line says so.
    #[must_use]
    pub fn overlaps(&self) -> Vec<Fault> {
        let routes = full_routes(self);
        let (pairs, complete) = pairs(&routes);
        let mut faults = Faults::default();
        for [first, second] in &pairs {
            faults.push(second.place, message(first, second));
        }
        if let (Some([_, last]), false) = (pairs.last(), complete) {
            faults.cut(last.place, "more routes overlap than are listed");
        }
        Fault::list(faults.into_list())
    }
}

/// Two routes, in the order of the file.
type Pair<'r> = [&'r FullRoute<'r>; 2];

/// The pairs that overlap, and whether these are all.
fn pairs<'r>(routes: &'r [FullRoute<'r>]) -> (Vec<Pair<'r>>, bool) {
    let shapes: Vec<Vec<_>> = routes.iter().map(shape).collect();
    let mut pairs = Vec::new();
    let of = |list: &[usize]| -> Vec<&'r FullRoute<'r>> {
        list.iter().filter_map(|at| routes.get(*at)).collect()
    };
    let all = meetings(&shapes, |one, two| {
        differing(&of(one), &of(two), &mut pairs)
    });
    pairs.sort_by_key(|[first, second]| (second.place, first.place));
    (pairs, all.is_continue())
}

fn shape<'p>(route: &FullRoute<'p>) -> Vec<Option<&'p str>> {
    let segment = |segment| match segment {
        Segment::Parameter => None,
        Segment::Literal(literal) => Some(literal),
    };
    let segments = route.segments().map(segment);
    // `/` has no segment: no parameter takes nothing.
    segments.filter(|segment| *segment != Some("")).collect()
}

/// What a route requires: its scope and orbs.
type Requirement<'r> = (&'r str, Option<Orbs>);

/// Notes the routes of both lists that have one method and require something else. Those that require the same are not looked
/// at one by one: nearly all do.
fn differing<'r>(
    one: &[&'r FullRoute<'r>],
    two: &[&'r FullRoute<'r>],
    pairs: &mut Vec<Pair<'r>>,
) -> ControlFlow<()> {
    let mut by_method: HashMap<&str, Vec<(Requirement<'_>, Vec<&FullRoute<'_>>)>> = HashMap::new();
    let mut places: HashMap<(&str, Requirement<'_>), usize> = HashMap::new();
    for route in two {
        let classes = by_method.entry(route.method).or_default();
        let key = (route.method, requirement(route));
        let at = *places.entry(key).or_insert(classes.len());
        if at == classes.len() {
            classes.push((key.1, Vec::new()));
        }
        if let Some((_, routes)) = classes.get_mut(at) {
            routes.push(route);
        }
    }
    for route in one {
        for (required, others) in by_method.get(route.method).into_iter().flatten() {
            if *required == requirement(route) {
                continue;
            }
            for other in others {
                if pairs.len() == LISTED {
                    return ControlFlow::Break(());
                }
                let mut pair = [*route, *other];
                pair.sort_by_key(|route| route.place);
                pairs.push(pair);
            }
        }
    }
    ControlFlow::Continue(())
}

const fn requirement<'r>(route: &FullRoute<'r>) -> Requirement<'r> {
    (route.scope, route.orbs)
}

fn message(first: &FullRoute<'_>, second: &FullRoute<'_>) -> String {
    let decides = if more_specific(second, first) {
        second
    } else {
        first
    };
    let place: YamlPlace = first.place;
    let place = first_place(place, second.place);
    let (second, first, decides) = (second.shown(), first.shown(), decides.shown());
    format!(
        "route {second} overlaps {first} ({place}): of the two, a path that fits both takes {decides}"
    )
}

/// A literal beats a parameter at the first position where they differ.
fn more_specific(route: &FullRoute<'_>, other: &FullRoute<'_>) -> bool {
    let is_parameter = |segment| matches!(segment, Segment::Parameter);
    let parameters = route.segments().map(is_parameter);
    parameters.lt(other.segments().map(is_parameter))
}
