//! The literals and methods of routes that seem to be misspelt.

use core::ops::ControlFlow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use orbgate::{Engine, Place, Route};

use super::words::{alike, is_exchange, similar};
use super::{Code, Found};

pub(super) fn look(engine: &Engine, found: &mut Found) {
    let mut routes: Vec<_> = engine.routes().collect();
    routes.sort_by_key(Route::place);
    methods(&routes, found);
    let tree = Tree::of(&routes, found);
    misspelt(engine, &tree, found);
}

/// The methods of HTTP (RFC 9110, RFC 5789), and those of the registry that have letters alone.
const METHODS: [&str; 36] = [
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "CONNECT",
    "OPTIONS",
    "TRACE",
    "PATCH",
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
];

/// Methods that HTTP does not have, each at its first place.
fn methods(routes: &[Route<'_>], found: &mut Found) {
    let mut seen = HashSet::new();
    for route in routes {
        let method = route.method();
        if METHODS.contains(&method) || !seen.insert(method) {
            continue;
        }
        let near = METHODS.into_iter().take(9);
        let near = near.map(|known| (strsim::osa_distance(method, known), known));
        let near = near.filter(|(distance, known)| {
            *distance <= 2 && *distance < known.len().min(method.len()).saturating_sub(1)
        });
        let near = near.min().map_or_else(
            || "a route has one method, by its own name".to_owned(),
            |(_, known)| format!("did you mean `{known}`?"),
        );
        let message = format!("`{method}` is no method of HTTP: {near}");
        found.push(Code::UnknownMethod, route.place(), None, message);
    }
}

/// The literals, each with its first place and what comes before it.
struct Tree<'e> {
    literals: BTreeMap<&'e str, (Place, Vec<usize>)>,
}

impl<'e> Tree<'e> {
    /// Numbers the paths before the literals, ignoring the names of parameters, and notes literals at one place of the
    /// paths that differ only in plural. They cannot differ only in case: that is a fault.
    fn of(routes: &[Route<'e>], found: &mut Found) -> Self {
        let mut nodes: HashMap<(usize, &str), usize> = HashMap::new();
        let mut first: HashMap<(usize, String), (&str, Place)> = HashMap::new();
        let mut literals: BTreeMap<&str, (Place, Vec<usize>)> = BTreeMap::new();
        for route in routes {
            let mut parent = 0;
            for segment in route.template().split('/').skip(1) {
                let is_parameter = segment.starts_with('{');
                let key = if is_parameter { "{}" } else { segment };
                let fresh = nodes.len().saturating_add(1);
                let entry = nodes.entry((parent, key));
                let is_new = matches!(entry, Entry::Vacant(_));
                let node = *entry.or_insert(fresh);
                if is_new && !is_parameter {
                    let (_, parents) = literals
                        .entry(segment)
                        .or_insert_with(|| (route.place(), Vec::new()));
                    parents.push(parent);
                    match first.entry((parent, alike(segment))) {
                        Entry::Vacant(entry) => drop(entry.insert((segment, route.place()))),
                        Entry::Occupied(entry) => {
                            let (other, place) = *entry.get();
                            let message = format!(
                                "literals `{other}` (line {}) and `{segment}` at one place of a path differ only in plural",
                                place.line
                            );
                            found.push_pair(Code::CaseOrPlural, [place, route.place()], message);
                        }
                    }
                }
                parent = node;
            }
        }
        Self { literals }
    }

    /// Whether both are literals at one place of the paths.
    fn are_side_by_side(&self, one: &str, two: &str) -> bool {
        let parents = |literal: &str| self.literals.get(literal).map(|(_, parents)| parents);
        let (Some(one), Some(two)) = (parents(one), parents(two)) else {
            return false;
        };
        let one: HashSet<_> = one.iter().collect();
        two.iter().any(|parent| one.contains(parent))
    }
}

/// Literals that differ in one character from another at their place, and those anywhere in which two neighbours are exchanged:
/// from another literal, or from a word of a scope.
fn misspelt(engine: &Engine, tree: &Tree<'_>, found: &mut Found) {
    let mut words: BTreeMap<&str, (Place, bool)> = BTreeMap::new();
    for scope in engine.scope_table() {
        for word in scope
            .name()
            .split(|letter: char| !letter.is_ascii_alphanumeric())
        {
            words.entry(word).or_insert((scope.place(), false));
        }
    }
    for (literal, (place, _)) in &tree.literals {
        words.insert(literal, (*place, true));
    }
    let list: Vec<_> = words.keys().copied().collect();
    let kind = |is_literal| if is_literal { "literal" } else { "the word" };
    // If it ends early, that is noted.
    let _ = similar(&list, |one, two| {
        let (Some(one), Some(two)) = (list.get(one), list.get(two)) else {
            return ControlFlow::Continue(());
        };
        let (Some((place, is_literal)), Some((other, other_is))) = (words.get(one), words.get(two))
        else {
            return ControlFlow::Continue(());
        };
        let are_meant = (*is_literal || *other_is) && is_exchange(one, two)
            || is_long(one, two) && tree.are_side_by_side(one, two);
        if !are_meant {
            return ControlFlow::Continue(());
        }
        if !found.has_room(Code::SimilarLiterals) {
            return ControlFlow::Break(());
        }
        let mut pair = [(*place, *is_literal, one), (*other, *other_is, two)];
        pair.sort_by_key(|(place, is_literal, _)| (*place, *is_literal));
        let [(first, first_is, one), (second, second_is, two)] = pair;
        let (first_is, second_is) = (kind(first_is), kind(second_is));
        let message = format!(
            "{first_is} `{one}` (line {}) and {second_is} `{two}` differ in one character",
            first.line
        );
        found.push_pair(Code::SimilarLiterals, [first, second], message);
        ControlFlow::Continue(())
    });
}

/// Whether two words that differ in one character are long enough to be one word: `stats` and `status`, `teams` and `terms` are two.
fn is_long(one: &str, two: &str) -> bool {
    let shorter = one.len().min(two.len());
    match one.len() == two.len() {
        true => shorter >= 8,
        false => shorter >= 6,
    }
}
