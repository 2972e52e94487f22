//! What routes need if that isn't just their own scope: the keys `or` and `and` of scopes and routes.

use std::collections::HashMap;

use orbgate_yaml::{Diagnostics, Location, Spanned, first_location, near, quoted};

use super::document::{ApiDocument, Document, RouteDocument, ScopeDocument};
use super::grammar::{self, MAX_ALTERNATIVES};
use super::model::{Policy, Requirement, RouteRule, ScopeRule};
use super::shared::different_token_key;
use crate::tables::sorted::sort;

/// The maximum number of scope names in a requirement.
const MAX_NAMES: usize = 256;

/// The maximum total length of all routes' requirements, in bytes. A short file whose routes share a long requirement
/// must not take gigabytes in a digest or in a listing.
const ALL_BYTES: usize = 64 << 20;

/// The longest scope for which similar ones are looked for: people don't type longer ones.
const LONGEST: usize = 64;

/// How many pairs of characters are compared to find them. A long list of unknown scopes must not take long.
const COMPARED: usize = 1 << 24;

/// The keys `or` and `and` of a scope or route.
#[derive(Clone, Copy, Default)]
pub(super) struct Keys<'d> {
    pub(super) or: Option<&'d Spanned<Vec<Spanned<String>>>>,
    and: Option<&'d Spanned<String>>,
}

impl<'d> Keys<'d> {
    pub(super) const fn new(or: &'d Option<Spanned<Vec<Spanned<String>>>>, and: &'d Option<Spanned<String>>) -> Self {
        Self { or: or.as_ref(), and: and.as_ref() }
    }

    const fn of_scope(scope: &'d ScopeDocument) -> Self {
        Self::new(&scope.or, &scope.and)
    }

    const fn of_route(route: &'d RouteDocument) -> Self {
        match route {
            RouteDocument::Plain(_) => Self { or: None, and: None },
            RouteDocument::WithKeys(route) => Self::new(&route.or, &route.and),
        }
    }

    /// Whether there is one of them.
    pub(super) const fn are_stated(self) -> bool {
        self.or.is_some() || self.and.is_some()
    }

    /// Reports an `or` without alternatives.
    pub(super) fn refuse_empty(self, diagnostics: &mut Diagnostics, message: impl FnOnce() -> String) {
        if let Some(or) = self.or.filter(|or| or.value.is_empty()) {
            diagnostics.push_new(or.location, message());
        }
    }

    /// The requirement that the keys state for routes of this scope. `None` if it is only the scope, or has errors.
    pub(super) fn requirement(self, owner: &Spanned<String>, diagnostics: &mut Diagnostics) -> Option<Requirement> {
        let and = self.and.and_then(|and| names(and, Some(&owner.value), diagnostics));
        let own = core::iter::once(owner.value.as_str()).chain(and.into_iter().flatten()).collect();
        let mut all: Vec<(Vec<_>, _)> = vec![(own, self.and.map_or(owner.location, |and| and.location))];
        for alternative in self.or.iter().flat_map(|or| &or.value) {
            all.extend(names(alternative, None, diagnostics).map(|names| (names, alternative.location)));
        }
        let count: usize = all.iter().map(|(names, _)| names.len()).sum();
        if all.len() > MAX_ALTERNATIVES || count > MAX_NAMES {
            let location = self.or.map(|or| or.location).or(self.and.map(|and| and.location)).unwrap_or(owner.location);
            let (owner, all) = (quoted(&owner.value), all.len());
            let limits = format!("the limits are {MAX_ALTERNATIVES} and {MAX_NAMES}");
            let message = format!("scope {owner} and its alternatives are {all} with {count} names; {limits}");
            diagnostics.push_new(location, message);
            return None;
        }
        check_redundant(&all, diagnostics);
        let mut all = all.into_iter().map(|(names, location)| (names.join(" "), location));
        // The owner's stays the first.
        let own = all.next();
        let mut others: Vec<_> = all.collect();
        sort(&mut others);
        (count > 1).then(|| Requirement { alternatives: own.into_iter().chain(others).collect() })
    }
}

/// The sorted scopes of an alternative, to which an owner adds itself. `None`, with errors, if it isn't valid.
fn names<'d>(
    alternative: &'d Spanned<String>,
    owner: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<&'d str>> {
    if diagnostics.stand_at(alternative.location) {
        return None;
    }
    let mut names: Vec<_> = alternative.value.split(' ').collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair.first() == pair.last()).and_then(|pair| pair.first());
    let message = match (grammar::alternative(&alternative.value), owner, twice) {
        (Err(message), ..) => message,
        (_, _, Some(twice)) => format!("scope {} is listed twice in {}", quoted(twice), quoted(&alternative.value)),
        (_, Some(owner), _) if names.contains(&owner) => {
            let owner = quoted(owner);
            format!("`and` names the scopes needed besides {owner}, so not {owner} itself")
        }
        _ => return Some(names),
    };
    diagnostics.push(alternative.location, message);
    None
}

/// Reports alternatives that contain another, which is enough.
fn check_redundant(all: &[(Vec<&str>, Location)], diagnostics: &mut Diagnostics) {
    for (at, (names, location)) in all.iter().enumerate() {
        let mut others = all.iter().enumerate();
        let enough = others.find(|(other, (part, _))| {
            let is_smaller = part.len() < names.len() || part.len() == names.len() && *other < at;
            is_smaller && part.iter().all(|name| names.contains(name))
        });
        if let Some((_, (enough, first))) = enough {
            let (own, enough) = (quoted(&names.join(" ")), quoted(&enough.join(" ")));
            let first = first_location(*first, *location);
            let message = format!("alternative {own} is redundant, because {enough} is enough ({first})");
            diagnostics.push_new(*location, message);
        }
    }
}

/// A scope in an api: the api, its name and its entry in the file, and its rule.
type InApi<'p> = (&'p ApiDocument, &'p Spanned<String>, &'p ScopeDocument, &'p ScopeRule);

/// A scope in all its apis.
struct Known<'p> {
    /// Its first api.
    api: &'p ApiDocument,
    /// Where it has routes first.
    with_routes: Option<InApi<'p>>,
    /// Whether a route uses the scope's keys.
    are_used: bool,
}

/// Checks requirements against the rest of the policy: their scopes exist and have the same rule for tokens, every key is
/// used, and a scope of several apis has the same keys wherever it has routes.
pub(super) fn check(document: &Document, policy: &Policy, diagnostics: &mut Diagnostics) {
    let apis = document.apis.0.iter().zip(&policy.apis);
    let scopes = apis.flat_map(|((_, api), rules)| {
        let scopes = api.scopes.0.iter().zip(&rules.scopes);
        scopes.map(move |((name, scope), rule)| (api, name, scope, rule))
    });
    let of_routes = |scope: &ScopeDocument| scope.routes.0.iter().any(|route| Keys::of_route(route).are_stated());
    if !scopes.clone().any(|(_, _, scope, _)| Keys::of_scope(scope).are_stated() || of_routes(scope)) {
        return;
    }
    let mut all: HashMap<&str, Known<'_>> = HashMap::new();
    for own @ (api, name, scope, _) in scopes.clone() {
        let known = all.entry(&name.value).or_insert(Known { api, with_routes: None, are_used: false });
        known.with_routes = known.with_routes.or_else(|| (!scope.routes.0.is_empty()).then_some(own));
        known.are_used |= scope.routes.0.iter().any(|route| !Keys::of_route(route).are_stated());
    }
    let names: Vec<_> = all.keys().copied().filter(|name| name.len() <= LONGEST).collect();
    let mut room = COMPARED;
    let mut meant = |scope: &str| {
        room = room.checked_sub(names.len())?;
        let alike = |name: &&&str| name.len().abs_diff(scope.len()) <= 2;
        let alike: Vec<_> = names.iter().filter(alike).copied().collect();
        let pairs = alike.len().saturating_mul(scope.len()).saturating_mul(scope.len());
        room = room.checked_sub(pairs)?;
        near(scope, &alike)
    };
    for own @ (api, name, scope, rule) in scopes {
        let has_routes = !scope.routes.0.is_empty();
        if let Some(Known { with_routes, are_used, .. }) = all.get(name.value.as_str()) {
            if !has_routes || !are_used {
                let why = if has_routes { "each of its routes states its own" } else { "it has no routes here" };
                check_unused(name, scope, why, diagnostics);
            }
            // Twice in one api is a duplicate key, which is reported separately.
            if let Some(first) = with_routes.filter(|(first, ..)| has_routes && !core::ptr::eq(*first, api)) {
                check_same(own, first, diagnostics);
            }
        }
        let stated = rule.routes.iter().filter(|route| route.states_requirement);
        let stated = stated.filter_map(|route| route.requirement.as_deref());
        for requirement in rule.requirement.as_deref().into_iter().chain(stated) {
            check_scopes(name, api, requirement, &all, &mut meant, diagnostics);
        }
    }
    let routes = policy.apis.iter().flat_map(|api| &api.scopes).flat_map(|scope| &scope.routes);
    let bytes = |route: &RouteRule| route.requirement.as_ref().map_or(0, |requirement| requirement.bytes());
    if let Some(route) = grammar::first_beyond(ALL_BYTES, routes, bytes) {
        let message = "the scopes that the routes up to here need have over 64 MiB together";
        diagnostics.push(route.location, message);
    }
}

/// Reports keys of a scope that no route uses.
fn check_unused(name: &Spanned<String>, scope: &ScopeDocument, why: &str, diagnostics: &mut Diagnostics) {
    let or = scope.or.as_ref().map(|or| ("or", or.location));
    let and = scope.and.as_ref().map(|and| ("and", and.location));
    for (key, location) in or.into_iter().chain(and) {
        diagnostics.push_new(location, format!("no route uses `{key}` of scope {}: {why}", quoted(&name.value)));
    }
}

/// Reports keys of a scope that differ from those of the same scope in another api.
fn check_same((_, name, _, own): InApi<'_>, (_, first, _, other): InApi<'_>, diagnostics: &mut Diagnostics) {
    if own.requirement == other.requirement {
        return;
    }
    let [own, other] = [own, other].map(|rule| rule.requirement.iter().flat_map(|needs| needs.alternatives()).skip(1));
    let key = if own.eq(other) { "and" } else { "or" };
    let (shown, first) = (quoted(&name.value), first_location(first.location, name.location));
    diagnostics.push(name.location, format!("scope {shown} is in two apis with different `{key}` (first on {first})"));
}

/// Reports scopes that don't exist, or to which other tokens apply than to the owner.
fn check_scopes<'p>(
    owner: &Spanned<String>,
    api: &ApiDocument,
    requirement: &Requirement,
    all: &HashMap<&str, Known<'_>>,
    meant: &mut dyn FnMut(&str) -> Option<&'p str>,
    diagnostics: &mut Diagnostics,
) {
    for (scopes, location) in &requirement.alternatives {
        for scope in scopes.split(' ').filter(|scope| *scope != owner.value) {
            let shown = quoted(scope);
            let message = match all.get(scope) {
                None => {
                    let meant = meant(scope).map(|name| format!("; did you mean {}?", quoted(name)));
                    format!("scope {shown} isn't in this policy{}", meant.unwrap_or_default())
                }
                Some(known) => match different_token_key(api, known.api, diagnostics) {
                    None => continue,
                    Some(key) => {
                        let owner = quoted(&owner.value);
                        format!("scope {shown} can't be needed with {owner} or instead of it: their `{key}` differs")
                    }
                },
            };
            diagnostics.push(*location, message);
        }
    }
}
