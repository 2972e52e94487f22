//! Two templates which both fit some path are legal, and worth a warning where they differ in what
//! they require: the one that people read first may not be the one that decides.

use core::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use orbgate_yaml::{Faults, first_place};

use super::conflicts::{FullRoute, Segment, full_routes};
use super::fault::Fault;
use super::model::Policy;

/// Steps after which the search ends. 100,000 ordinary routes take about a million.
const STEPS: usize = 20_000_000;

impl Policy {
    /// Pairs of routes of one method which both fit some path, under different scopes or orbs.
    ///
    /// Each stands at the route that comes second in the file and names the line of the first. At most 1,000
    /// are listed; where there may be more, the last line says so.
    #[must_use]
    pub fn overlaps(&self) -> Vec<Fault> {
        let routes = full_routes(self);
        let mut search = Search {
            routes: &routes,
            roots: HashMap::new(),
            nodes: Vec::new(),
            steps: 0,
        };
        let mut faults = Faults::default();
        for (index, route) in routes.iter().enumerate() {
            let segments: Vec<Segment<'_>> = route.segments().collect();
            let root = search.root(route.method, segments.len());
            search.compare(route, &segments, root, &mut faults);
            if search.steps > STEPS {
                faults.cut(route.place, "too many routes fit the same paths: the search ended here, and more may overlap");
                break;
            }
            if faults.is_full() {
                break;
            }
            search.insert(index, &segments, root);
        }
        Fault::list(faults.into_list())
    }
}

/// The routes so far, as a tree of segments for each method and number of segments.
struct Search<'r> {
    routes: &'r [FullRoute<'r>],
    roots: HashMap<(&'r str, usize), usize>,
    nodes: Vec<Branch<'r>>,
    steps: usize,
}

#[derive(Default)]
struct Branch<'r> {
    // Sorted, so that the same policy gives the same warnings where they are cut short.
    literals: BTreeMap<&'r str, usize>,
    parameter: Option<usize>,
    route: Option<usize>,
}

impl<'r> Search<'r> {
    fn root(&mut self, method: &'r str, length: usize) -> usize {
        let fresh = self.nodes.len();
        let root = *self.roots.entry((method, length)).or_insert(fresh);
        if root == fresh {
            self.nodes.push(Branch::default());
        }
        root
    }

    /// Reports every route in the tree that fits a path which `route` fits too.
    fn compare(
        &mut self,
        route: &FullRoute<'_>,
        segments: &[Segment<'_>],
        root: usize,
        faults: &mut Faults,
    ) {
        let mut open = vec![(root, segments)];
        while let Some((node, segments)) = open.pop() {
            self.steps = self.steps.saturating_add(1);
            if self.steps > STEPS || faults.is_full() {
                return;
            }
            let Some(branch) = self.nodes.get(node) else {
                continue;
            };
            let Some((segment, rest)) = segments.split_first() else {
                if let Some(other) = branch.route.and_then(|index| self.routes.get(index)) {
                    report(route, other, faults);
                }
                continue;
            };
            open.extend(branch.parameter.map(|next| (next, rest)));
            match segment {
                Segment::Parameter => {
                    self.steps = self.steps.saturating_add(branch.literals.len());
                    open.extend(branch.literals.values().map(|next| (*next, rest)));
                }
                Segment::Literal(literal) => {
                    open.extend(branch.literals.get(literal).map(|next| (*next, rest)))
                }
            }
        }
    }

    fn insert(&mut self, route: usize, segments: &[Segment<'r>], root: usize) {
        let mut node = root;
        for segment in segments {
            let fresh = self.nodes.len();
            let Some(branch) = self.nodes.get_mut(node) else {
                return;
            };
            node = match segment {
                Segment::Parameter => *branch.parameter.get_or_insert(fresh),
                Segment::Literal(literal) => *branch.literals.entry(literal).or_insert(fresh),
            };
            if node == fresh {
                self.nodes.push(Branch::default());
            }
        }
        if let Some(branch) = self.nodes.get_mut(node) {
            branch.route = Some(route);
        }
    }
}

fn report(route: &FullRoute<'_>, first: &FullRoute<'_>, faults: &mut Faults) {
    if route.scope == first.scope && route.orbs == first.orbs {
        return;
    }
    let decides = if more_specific(route, first) {
        route
    } else {
        first
    };
    let place = first_place(first.place, route.place);
    let (route_shown, first_shown, decides) = (route.shown(), first.shown(), decides.shown());
    faults.push(
        route.place,
        format!("route {route_shown} overlaps {first_shown} ({place}): a path that fits both is decided by {decides}"),
    );
}

/// A literal beats a parameter at the first position where they differ.
fn more_specific(route: &FullRoute<'_>, other: &FullRoute<'_>) -> bool {
    let rank = |segment: Segment<'_>| matches!(segment, Segment::Parameter);
    route.segments().map(rank).cmp(other.segments().map(rank)) == Ordering::Less
}
