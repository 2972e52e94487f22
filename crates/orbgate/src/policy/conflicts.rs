//! What two routes of a policy can do to each other, judged on full templates (base path prepended).
//!
//! All searches walk a tree of segments: the templates that start alike share a node. That keeps the
//! work proportional to the number of segments, not to the number of pairs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::grammar;
use super::model::Policy;
use crate::terms::Orbs;
use crate::terms::Place;
use crate::yaml::{Faults, first_place, quoted};

/// One route under its full template.
pub(super) struct FullRoute<'p> {
    pub(super) method: &'p str,
    /// The full template, in two parts.
    template: [&'p str; 2],
    pub(super) place: Place,
    pub(super) scope: &'p str,
    /// What a call consumes: the route's own amount, else the scope's column.
    pub(super) orbs: Option<Orbs>,
}

impl<'p> FullRoute<'p> {
    /// The route in backticks.
    pub(super) fn shown(&self) -> String {
        quoted(&format!("{} {}", self.method, self.template.concat()))
    }

    pub(super) fn segments(&self) -> impl Iterator<Item = Segment<'p>> {
        let parts = self.template.into_iter();
        parts.flat_map(grammar::segments).map(Segment::of)
    }
}

/// A segment as far as matching goes: the name of a parameter means nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Segment<'t> {
    Parameter,
    Literal(&'t str),
}

impl<'t> Segment<'t> {
    fn of(text: &'t str) -> Self {
        if text.starts_with('{') {
            Self::Parameter
        } else {
            Self::Literal(text)
        }
    }
}

/// Every route of the policy, in the order of the file.
pub(super) fn full_routes(policy: &Policy) -> Vec<FullRoute<'_>> {
    let scopes = policy.apis.iter().flat_map(|api| &api.scopes);
    let mut routes = Vec::with_capacity(scopes.map(|scope| scope.routes.len()).sum());
    for api in &policy.apis {
        // Without a sound base path the full templates are not known.
        let Some(base_path) = &api.base_path else {
            continue;
        };
        for scope in &api.scopes {
            routes.extend(scope.routes.iter().map(|route| {
                FullRoute {
                    method: route.method(),
                    template: grammar::full_template(base_path, route.template()),
                    place: route.place,
                    scope: &scope.name,
                    orbs: route
                        .orbs
                        .map_or(scope.orbs, |amount| Some(Orbs::Amount(amount))),
                }
            }));
        }
    }
    routes
}

/// Most bytes of all full templates together: a short file with a long base path must not take
/// gigabytes.
const ALL_TEMPLATES_BYTES: usize = 64 << 20;

/// Reports routes that cannot stand side by side.
pub(super) fn check(policy: &Policy, faults: &mut Faults) {
    if let Some(place) = where_too_many(policy) {
        let message =
            "the full paths up to here, each with its base path, have over 64 MiB together";
        faults.push(place, message.to_owned());
        return;
    }
    let routes = full_routes(policy);
    let mut tree = Tree {
        edges: HashMap::with_capacity(routes.len()),
        spellings: HashMap::with_capacity(routes.len()),
        before: Vec::new(),
    };
    let mut ends: HashMap<(usize, &str), &FullRoute<'_>> = HashMap::with_capacity(routes.len());
    for route in &routes {
        let end = tree.walk(route, faults);
        match ends.entry((end, route.method)) {
            Entry::Vacant(free) => {
                free.insert(route);
            }
            Entry::Occupied(first) => faults.push(route.place, collision(route, first.get())),
        }
    }
}

/// The first route whose full template is one too many.
fn where_too_many(policy: &Policy) -> Option<Place> {
    let mut bytes = 0_usize;
    for api in &policy.apis {
        let base_path = api.base_path.as_ref().map_or(0, String::len);
        for route in api.scopes.iter().flat_map(|scope| &scope.routes) {
            bytes = bytes
                .saturating_add(base_path)
                .saturating_add(route.template().len());
            if bytes > ALL_TEMPLATES_BYTES {
                return Some(route.place);
            }
        }
    }
    None
}

fn collision(route: &FullRoute<'_>, first: &FullRoute<'_>) -> String {
    let place = first_place(first.place, route.place);
    if route.template.concat() == first.template.concat() {
        return format!("route {} is listed twice (first on {place})", route.shown());
    }
    let (route, first) = (route.shown(), first.shown());
    format!("route {route} and {first} ({place}) differ only in the names of their parameters")
}

fn lower_case(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    Cow::Borrowed(text)
}

struct Tree<'t> {
    /// From a node, by a segment, to the next node. Nodes are numbers; 0 is the root.
    edges: HashMap<(usize, Segment<'t>), usize>,
    /// How a literal below a node was spelled first, and where, by its lower case.
    spellings: HashMap<(usize, Cow<'t, str>), (&'t str, Place)>,
    /// The way of the route before, each segment with the node behind it: routes that stand together
    /// often start alike.
    before: Vec<(Segment<'t>, usize)>,
}

impl<'t> Tree<'t> {
    /// The node at which the route's template ends.
    fn walk(&mut self, route: &FullRoute<'t>, faults: &mut Faults) -> usize {
        let before = self.before.iter().map(|(segment, _)| *segment);
        let alike = before.zip(route.segments());
        let alike = alike.take_while(|(before, own)| before == own).count();
        self.before.truncate(alike);
        let mut node = self.before.last().map_or(0, |(_, node)| *node);
        for segment in route.segments().skip(alike) {
            node = self.step(node, segment, route, faults);
            self.before.push((segment, node));
        }
        node
    }

    /// The node behind a segment.
    fn step(
        &mut self,
        node: usize,
        segment: Segment<'t>,
        route: &FullRoute<'t>,
        faults: &mut Faults,
    ) -> usize {
        let next = self.edges.len().saturating_add(1);
        match self.edges.entry((node, segment)) {
            Entry::Occupied(edge) => *edge.get(),
            Entry::Vacant(edge) => {
                edge.insert(next);
                if let Segment::Literal(literal) = segment {
                    self.compare_spelling(node, literal, route, faults);
                }
                next
            }
        }
    }

    /// The engine refuses a path that differs from a literal only in case (rule P21), so two such
    /// literals at one place would lock each other out.
    fn compare_spelling(
        &mut self,
        node: usize,
        literal: &'t str,
        route: &FullRoute<'_>,
        faults: &mut Faults,
    ) {
        match self.spellings.entry((node, lower_case(literal))) {
            Entry::Vacant(free) => {
                free.insert((literal, route.place));
            }
            Entry::Occupied(first) => {
                let (spelling, first) = first.get();
                let (literal, spelling) = (quoted(literal), quoted(spelling));
                let first = first_place(*first, route.place);
                let message = format!(
                    "{literal} in route {} differs only in case from {spelling} ({first})",
                    route.shown()
                );
                faults.push(route.place, message);
            }
        }
    }
}
