//! Finds literals and methods of routes that seem to be misspelt.

use core::ops::ControlFlow;
use std::collections::{BTreeMap, HashSet};

use orbgate::policy::Prefixes;
use orbgate::sorted::sort_by_key;
use orbgate::{Engine, Location, Route};
use phf::{OrderedSet, phf_ordered_set};

use super::code::Code;
use super::finding::Collector;
use super::words::{alike, is_exchange, similar};

pub(super) fn look(engine: &Engine, findings: &mut Collector) {
    let mut routes: Vec<_> = engine.routes().collect();
    sort_by_key(&mut routes, Route::location);
    methods(&routes, findings);
    let literals = Literals::of(&routes, findings);
    misspelt(engine, &literals, findings);
}

/// The methods of HTTP (RFC 9110, RFC 5789), the gates' method for operations of an MCP server, and the registered methods
/// that contain only letters. The first ones are suggested for a misspelt method.
static METHODS: OrderedSet<&'static str> = phf_ordered_set! {
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "CONNECT",
    "OPTIONS",
    "TRACE",
    "PATCH",
    "MCP",
    "ACL",
    "BIND",
    "CHECKIN",
    "CHECKOUT",
    "COPY",
    "LABEL",
    "LINK",
    "LOCK",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKCOL",
    "MKREDIRECTREF",
    "MKWORKSPACE",
    "MOVE",
    "ORDERPATCH",
    "PROPFIND",
    "PROPPATCH",
    "QUERY",
    "REBIND",
    "REPORT",
    "SEARCH",
    "UNBIND",
    "UNLINK",
    "UNLOCK",
    "UNCHECKOUT",
    "UPDATE",
};

/// Methods that aren't HTTP methods, each at its first location.
fn methods(routes: &[Route<'_>], findings: &mut Collector) {
    let mut seen = HashSet::new();
    for route in routes {
        let method = route.method();
        if METHODS.contains(method) || !seen.insert(method) {
            continue;
        }
        let near = METHODS.iter().copied().take(10);
        let near = near.map(|known| (strsim::osa_distance(method, known), known));
        let near = near
            .filter(|(distance, known)| *distance <= 2 && *distance < known.len().min(method.len()).saturating_sub(1));
        let near = near.min().map_or_else(
            || "a route has one method, by its own name".to_owned(),
            |(_, known)| format!("did you mean `{known}`?"),
        );
        let message = format!("`{method}` is no method of HTTP: {near}");
        findings.push(Code::UnknownMethod, route.location(), None, message);
    }
}

/// The literals, each with its first location and the prefixes before it.
struct Literals<'e>(BTreeMap<&'e str, (Location, Vec<usize>)>);

impl<'e> Literals<'e> {
    /// Collects the literals, and reports those at one position that differ only in plural. They can't differ only in
    /// case, because that is an error.
    fn of(routes: &[Route<'e>], findings: &mut Collector) -> Self {
        let mut prefixes = Prefixes::with_room(routes.len(), |literal| alike(literal).into());
        let mut literals: BTreeMap<&str, (Location, Vec<usize>)> = BTreeMap::new();
        for route in routes {
            let mut before = 0;
            for segment in route.template().split('/').skip(1) {
                let next = prefixes.next(before, segment, route.location());
                if next.is_new {
                    let literal = literals.entry(segment);
                    let (_, locations) = literal.or_insert_with(|| (route.location(), Vec::new()));
                    locations.push(before);
                }
                if let Some((other, location)) = next.alike {
                    let message = format!(
                        "literals `{other}` (line {}) and `{segment}` at one place of a path differ only in plural",
                        location.line
                    );
                    findings.push_pair(Code::CaseOrPlural, [location, route.location()], message);
                }
                before = next.prefix;
            }
        }
        Self(literals)
    }

    fn are_side_by_side(&self, one: &str, two: &str) -> bool {
        let locations = |literal: &str| self.0.get(literal).map(|(_, locations)| locations);
        let (Some(one), Some(two)) = (locations(one), locations(two)) else {
            return false;
        };
        let one: HashSet<_> = one.iter().collect();
        two.iter().any(|location| one.contains(location))
    }
}

/// Reports literals that differ in one character from another literal at their position, and literals at any position
/// in which two adjacent characters are swapped, compared with another literal or with a word of a scope.
fn misspelt(engine: &Engine, literals: &Literals<'_>, findings: &mut Collector) {
    let mut words: BTreeMap<&str, (Location, bool)> = BTreeMap::new();
    for scope in engine.scope_table() {
        for word in scope.name().split(|letter: char| !letter.is_ascii_alphanumeric()) {
            words.entry(word).or_insert((scope.location(), false));
        }
    }
    for (literal, (location, _)) in &literals.0 {
        words.insert(literal, (*location, true));
    }
    let list: Vec<_> = words.keys().copied().collect();
    let kind = |is_literal| if is_literal { "literal" } else { "the word" };
    // If it ends early, the missing findings are recorded.
    let _ = similar(&list, |one, two| {
        let (Some(one), Some(two)) = (list.get(one), list.get(two)) else {
            return ControlFlow::Continue(());
        };
        let (Some((location, is_literal)), Some((other, other_is))) = (words.get(one), words.get(two)) else {
            return ControlFlow::Continue(());
        };
        let are_meant = (*is_literal || *other_is) && is_exchange(one, two)
            || is_long(one, two) && literals.are_side_by_side(one, two);
        if !are_meant {
            return ControlFlow::Continue(());
        }
        if !findings.has_room(Code::SimilarLiterals) {
            return ControlFlow::Break(());
        }
        let (one, two) = ((*location, *is_literal, one), (*other, *other_is, two));
        let ((first, first_is, one), (second, second_is, two)) =
            if (one.0, one.1) <= (two.0, two.1) { (one, two) } else { (two, one) };
        let (first_is, second_is) = (kind(first_is), kind(second_is));
        let message =
            format!("{first_is} `{one}` (line {}) and {second_is} `{two}` differ in one character", first.line);
        findings.push_pair(Code::SimilarLiterals, [first, second], message);
        ControlFlow::Continue(())
    });
}

/// Whether two words that differ in one character are long enough to be the same word. `stats` and `status`, and
/// `teams` and `terms`, are different words.
fn is_long(one: &str, two: &str) -> bool {
    let shorter = one.len().min(two.len());
    match one.len() == two.len() {
        true => shorter >= 8,
        false => shorter >= 6,
    }
}
