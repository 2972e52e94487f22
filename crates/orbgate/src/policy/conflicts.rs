//! Conflicts between routes of a policy, checked on full templates (with the base path prepended).
//!
//! With hashes, the work is proportional to the number of segments, not to the number of pairs.

use core::hash::{Hash, Hasher};
use std::borrow::Cow;
use std::collections::hash_map::Entry;

use orbgate_yaml::{Diagnostics, Location, first_location, quoted};

use super::grammar;
use super::model::{Api, Policy};
use super::prefixes::Prefixes;
use super::tuples::{Tuples, one_too_many};
use crate::tables::seeded::{RandomSeed, SeededMap};
use crate::tables::terms::MAX_TARGET_BYTES;

/// One route with its full template.
struct FullRoute<'p> {
    /// Empty for a closed template.
    method: &'p str,
    /// The full template, in two parts.
    template: [&'p str; 2],
    location: Location,
}

impl<'p> FullRoute<'p> {
    /// The route in backticks.
    fn shown(&self) -> String {
        quoted(format!("{} {}", self.method, self.template.concat()).trim_start())
    }

    const fn is_closed(&self) -> bool {
        self.method.is_empty()
    }

    /// What it is, and the route in backticks.
    fn named(&self) -> String {
        format!("{} {}", if self.is_closed() { "closed template" } else { "route" }, self.shown())
    }

    /// The length of the full template.
    const fn bytes(&self) -> usize {
        let [base_path, template] = self.template;
        base_path.len().saturating_add(template.len())
    }

    fn segments(&self) -> impl Iterator<Item = Option<&'p str>> {
        let parts = self.template.into_iter();
        parts.flat_map(grammar::segments).map(literal)
    }
}

/// The literal that a segment matches, or `None` for a parameter, whose name doesn't matter.
fn literal(segment: &str) -> Option<&str> {
    (!segment.starts_with('{')).then_some(segment)
}

/// The maximum total length of all full templates, in bytes. A short file with a long base path
/// must not take gigabytes.
const ALL_TEMPLATES_BYTES: usize = 64 << 20;

/// Reports routes and closed templates that can't all be in a policy.
pub(super) fn check(policy: &Policy, diagnostics: &mut Diagnostics) {
    let known = policy.apis.iter().filter_map(|api| Some((api, api.base_path.as_deref()?)));
    let routes = full_routes(known);
    if let Some(route) = grammar::first_beyond(ALL_TEMPLATES_BYTES, &routes, |route| route.bytes()) {
        let message = "the full paths up to here, each with its base path, have over 64 MiB together";
        return diagnostics.push(route.location, message);
    }
    for route in routes.iter().filter(|route| policy.trailing_slash && route.bytes() >= MAX_TARGET_BYTES) {
        let shown = route.shown();
        let message = format!("the path of {shown} has over {MAX_TARGET_BYTES} bytes with its slash");
        diagnostics.push(route.location, message);
    }
    check_routes(&routes, diagnostics);
    // If a base path has an error, the routes below it are compared only with each other.
    for api in policy.apis.iter().filter(|api| api.base_path.is_none()) {
        check_routes(&full_routes(core::iter::once((api, ""))), diagnostics);
    }
}

/// All closed templates and then all routes of these apis with their base paths, in the order of the file.
fn full_routes<'p>(apis: impl Iterator<Item = (&'p Api, &'p str)> + Clone) -> Vec<FullRoute<'p>> {
    let scopes = apis.clone().flat_map(|(api, _)| &api.scopes);
    let mut routes = Vec::with_capacity(scopes.map(|scope| scope.routes.len()).sum());
    for (api, base_path) in apis.clone() {
        routes.extend(api.closed.iter().map(|closed| FullRoute {
            method: "",
            template: grammar::full_template(base_path, &closed.template),
            location: closed.location,
        }));
    }
    for (api, base_path) in apis {
        for scope in &api.scopes {
            routes.extend(scope.routes.iter().map(|route| FullRoute {
                method: route.method(),
                template: grammar::full_template(base_path, route.template()),
                location: route.location,
            }));
        }
    }
    routes
}

/// Reports routes that conflict, and the first route of each length whose tuple exceeds the limit. Closed templates come
/// first.
fn check_routes(routes: &[FullRoute<'_>], diagnostics: &mut Diagnostics) {
    // If all letters are small, no two literals differ only in case.
    let is_needed = routes.iter().any(has_capital_literal);
    let mut tree = is_needed.then(|| Tree::with_room(routes.len()));
    let mut firsts = SeededMap::with_capacity_and_hasher(routes.len(), RandomSeed::default());
    let mut tuples = Tuples::new();
    let has_closed = routes.first().is_some_and(FullRoute::is_closed);
    for route in routes {
        let end = tree.as_mut().map(|tree| tree.walk(route, diagnostics));
        let tuple = tuple(route);
        if tuples.is_one_too_many(tuple) {
            diagnostics.push(route.location, one_too_many(&route.named(), tuple));
        }
        match firsts.entry(Shape { route, end }) {
            Entry::Vacant(free) => drop(free.insert(route)),
            Entry::Occupied(first) => diagnostics.push(route.location, collision(route, first.get())),
        }
        if has_closed
            && !route.is_closed()
            && let Some(closed) = firsts.get(&Shape { route: &FullRoute { method: "", ..*route }, end })
        {
            let line = first_location(closed.location, route.location);
            diagnostics.push(route.location, format!("{} is of the {} ({line})", route.named(), closed.named()));
        }
    }
}

/// A one, followed by a bit for each segment that is set if the segment is literal. There are at most 32 segments.
fn tuple(route: &FullRoute<'_>) -> u64 {
    route.template.into_iter().fold(1, |tuple, part| {
        // `/` has one segment, an empty literal.
        let tuple = if part == "/" { tuple << 1 | 1 } else { tuple };
        let pairs = part.as_bytes().windows(2);
        pairs.fold(tuple, |tuple, pair| match pair {
            [b'/', first] => tuple << 1 | u64::from(*first != b'{'),
            _ => tuple,
        })
    })
}

fn has_capital_literal(route: &FullRoute<'_>) -> bool {
    route.template.into_iter().any(has_capitals) && route.segments().flatten().any(has_capitals)
}

/// Checks all bytes, many at a time.
fn has_capitals(text: &str) -> bool {
    text.bytes().fold(false, |has, byte| has | byte.is_ascii_uppercase())
}

/// The parts of a route that matching depends on. Two equal routes can't both be in a policy.
struct Shape<'r, 'p> {
    route: &'r FullRoute<'p>,
    /// The number of its template, if the tree has one.
    end: Option<usize>,
}

impl PartialEq for Shape<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        self.end == other.end
            && self.route.method == other.route.method
            && (self.end.is_some() || self.route.segments().eq(other.route.segments()))
    }
}

impl Eq for Shape<'_, '_> {}

impl Hash for Shape<'_, '_> {
    /// Hashes segments, because routes of two apis can be equal even if their base paths end at different segments.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.route.method.as_bytes());
        if let Some(end) = self.end {
            return state.write_usize(end);
        }
        for part in self.route.template {
            for segment in grammar::segments(part) {
                match literal(segment) {
                    None => state.write_u64(1),
                    Some(literal) => state.write(literal.as_bytes()),
                }
            }
        }
    }
}

fn collision(route: &FullRoute<'_>, first: &FullRoute<'_>) -> String {
    let location = first_location(first.location, route.location);
    if route.template.concat() == first.template.concat() {
        return format!("{} is listed twice (first on {location})", route.named());
    }
    let (route, first) = (route.named(), first.shown());
    format!("{route} and {first} ({location}) differ only in the names of their parameters")
}

fn lower_case(text: &str) -> Cow<'_, str> {
    if has_capitals(text) {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    Cow::Borrowed(text)
}

/// The tree of template prefixes, and the path of the previous template through it: neighbours often start alike.
struct Tree<'t> {
    prefixes: Prefixes<'t, Location>,
    /// The previous template, in two parts.
    before: [&'t str; 2],
    /// The prefix after each of its segments.
    way: Vec<usize>,
}

impl<'t> Tree<'t> {
    fn with_room(templates: usize) -> Self {
        Self { prefixes: Prefixes::with_room(templates, lower_case), before: [""; 2], way: Vec::new() }
    }

    /// The number of the route's whole template. Reports literals that differ only in case from an earlier one.
    fn walk(&mut self, route: &FullRoute<'t>, diagnostics: &mut Diagnostics) -> usize {
        let before = core::mem::replace(&mut self.before, route.template);
        let (alike, rest) = grammar::common_segments(before, route.template);
        self.way.truncate(alike);
        let mut prefix = self.way.last().copied().unwrap_or_default();
        for segment in rest.into_iter().flat_map(grammar::segments) {
            let next = self.prefixes.next(prefix, segment, route.location);
            if let Some(first) = next.alike {
                diagnostics.push(route.location, respelling(segment, first, route));
            }
            prefix = next.prefix;
            self.way.push(prefix);
        }
        prefix
    }
}

/// The engine rejects a path that differs from a literal only in case (rule P21), so two such literals at
/// one position would make each other unreachable.
fn respelling(literal: &str, (spelling, first): (&str, Location), route: &FullRoute<'_>) -> String {
    let (literal, spelling) = (quoted(literal), quoted(spelling));
    let first = first_location(first, route.location);
    format!("{literal} in {} differs only in case from {spelling} ({first})", route.named())
}
