//! What routes need if that isn't just their own scope: the keys `or` and `and` of scopes and routes.

use std::collections::{HashMap, HashSet};

use orbgate_yaml::{Diagnostics, Location, Spanned, first_location, quoted};

use super::document::{ApiDocument, Document, RouteDocument, RouteWithKeys, ScopeDocument};
use super::grammar::{self, MAX_ALTERNATIVES};
use super::model::{Alternative, Policy, Requirement};

/// The maximum number of scope names in a requirement.
const MAX_NAMES: usize = 256;

/// The maximum total length of all routes' requirements, in bytes. A short file whose routes share a long requirement
/// must not take gigabytes in a digest or in a listing.
const ALL_BYTES: usize = 64 << 20;

/// The keys `or` and `and` of a scope or route.
#[derive(Clone, Copy)]
pub(super) struct Keys<'d> {
    or: Option<&'d Spanned<Vec<Spanned<String>>>>,
    and: Option<&'d Spanned<String>>,
}

impl<'d> Keys<'d> {
    pub(super) const fn of_scope(scope: &'d ScopeDocument) -> Self {
        Self { or: scope.or.as_ref(), and: scope.and.as_ref() }
    }

    pub(super) const fn of_route(route: &'d RouteDocument) -> Self {
        match route {
            RouteDocument::Plain(_) => Self { or: None, and: None },
            RouteDocument::WithKeys(RouteWithKeys { or, and, .. }) => Self { or: or.as_ref(), and: and.as_ref() },
        }
    }

    /// Whether there is one of them.
    pub(super) const fn are_stated(self) -> bool {
        self.or.is_some() || self.and.is_some()
    }

    /// The location of each key's value that has no error.
    pub(super) fn locations(self, diagnostics: &Diagnostics) -> Vec<(&'static str, Location)> {
        let or = self.or.map(|or| ("`or`", or.location));
        let and = self.and.map(|and| ("`and`", and.location));
        or.into_iter().chain(and).filter(|(_, location)| !diagnostics.stand_at(*location)).collect()
    }

    /// The scopes that the keys name, in an order that doesn't depend on the file.
    pub(super) fn scopes(self) -> (Vec<Vec<&'d str>>, Vec<&'d str>) {
        let or = self.or.map_or(&[][..], |or| &or.value).iter();
        let mut or: Vec<_> = or.map(|alternative| sorted(&alternative.value)).collect();
        or.sort_unstable();
        (or, self.and.map_or_else(Vec::new, |and| sorted(&and.value)))
    }

    /// The requirement that the keys state for routes of this scope. `None` if it is only the scope, or has errors.
    pub(super) fn requirement(self, owner: &Spanned<String>, diagnostics: &mut Diagnostics) -> Option<Requirement> {
        let mut own = vec![owner.value.as_str()];
        own.extend(self.and.and_then(|and| names(and, Some(&owner.value), diagnostics)).into_iter().flatten());
        let mut all =
            vec![Alternative { text: own.join(" "), location: self.and.map_or(owner.location, |and| and.location) }];
        for alternative in self.or.iter().flat_map(|or| &or.value) {
            if let Some(names) = names(alternative, None, diagnostics) {
                all.push(Alternative { text: names.join(" "), location: alternative.location });
            }
        }
        let location = self.or.map_or(owner.location, |or| or.location);
        let count: usize = all.iter().map(|alternative| alternative.scopes().count()).sum();
        if all.len() > MAX_ALTERNATIVES || count > MAX_NAMES {
            let message = format!(
                "scope {} and its alternatives are {} with {count} names; the limits are {MAX_ALTERNATIVES} and {MAX_NAMES}",
                quoted(&owner.value),
                all.len()
            );
            diagnostics.push_new(location, message);
            return None;
        }
        check_redundant(&all, diagnostics);
        all.get_mut(1..)?.sort_unstable_by(|a, b| a.text.cmp(&b.text));
        (count > 1).then_some(Requirement { alternatives: all })
    }
}

fn sorted(alternative: &str) -> Vec<&str> {
    let mut names: Vec<_> = alternative.split(' ').collect();
    names.sort_unstable();
    names
}

/// The sorted scopes of an alternative, which an owner adds itself to. `None`, with errors, if it isn't valid.
fn names<'d>(
    alternative: &'d Spanned<String>,
    owner: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<&'d str>> {
    if diagnostics.stand_at(alternative.location) {
        return None;
    }
    if let Err(message) = grammar::alternative(&alternative.value) {
        diagnostics.push(alternative.location, message);
        return None;
    }
    let names = sorted(&alternative.value);
    let twice = names.windows(2).find(|pair| pair.first() == pair.get(1)).and_then(|pair| pair.first());
    let Some(twice) = twice.or(names.iter().find(|name| Some(**name) == owner)).copied() else {
        return Some(names);
    };
    let shown = quoted(twice);
    let message = match Some(twice) == owner {
        true => format!("`and` names the scopes needed besides {shown}, so not {shown} itself"),
        false => format!("scope {shown} is listed twice in {}", quoted(&alternative.value)),
    };
    diagnostics.push(alternative.location, message);
    None
}

/// Reports alternatives that contain another, which is enough.
fn check_redundant(all: &[Alternative], diagnostics: &mut Diagnostics) {
    let sets: Vec<_> = all.iter().map(|alternative| sorted(&alternative.text)).collect();
    let is_in = |part: &[&str], whole: &[&str]| {
        let mut rest = whole.iter();
        part.iter().all(|name| rest.any(|other| other == name))
    };
    for (at, (set, own)) in sets.iter().zip(all).enumerate() {
        let mut others = sets.iter().zip(all).enumerate();
        let enough = others.find(|(other, (part, _))| {
            let is_smaller = part.len() < set.len() || part.len() == set.len() && *other < at;
            is_smaller && is_in(part, set)
        });
        if let Some((_, (_, enough))) = enough {
            let (own_text, text) = (quoted(&own.text), quoted(&enough.text));
            let first = first_location(enough.location, own.location);
            diagnostics.push_new(
                own.location,
                format!("alternative {own_text} is redundant, because {text} is enough ({first})"),
            );
        }
    }
}

/// Checks requirements against the rest of the policy: their scopes exist and have the same rule for tokens, and every
/// key is used.
pub(super) fn check(document: &Document, policy: &Policy, diagnostics: &mut Diagnostics) {
    let routes =
        |api: &super::Api| api.scopes.iter().any(|scope| scope.routes.iter().any(|route| route.requirement.is_some()));
    let keys = |api: &ApiDocument| api.scopes.0.iter().any(|(_, scope)| Keys::of_scope(scope).are_stated());
    let apis = document.apis.0.iter().zip(&policy.apis);
    if !document.apis.0.iter().any(|(_, api)| keys(api)) && !policy.apis.iter().any(routes) {
        return;
    }
    let mut known: HashMap<&str, &ApiDocument> = HashMap::new();
    let mut used = HashSet::new();
    for (_, api) in &document.apis.0 {
        for (name, scope) in &api.scopes.0 {
            known.entry(&name.value).or_insert(api);
            if scope.routes.0.iter().any(|route| !Keys::of_route(route).are_stated()) {
                used.insert(name.value.as_str());
            }
        }
    }
    let mut left = Some(ALL_BYTES);
    for ((_, api), rules) in apis {
        for ((name, scope), rule) in api.scopes.0.iter().zip(&rules.scopes) {
            check_used(name, scope, used.contains(name.value.as_str()), diagnostics);
            let stated = rule.routes.iter().filter(|route| route.states_requirement);
            let stated = stated.filter_map(|route| route.requirement.as_deref());
            for requirement in rule.requirement.as_deref().into_iter().chain(stated) {
                check_scopes(name, api, requirement, &known, diagnostics);
            }
            for route in &rule.routes {
                let bytes = route.requirement.as_ref().map_or(0, |requirement| requirement.bytes());
                let less = left.and_then(|left| left.checked_sub(bytes));
                if less.is_none() && left.is_some() {
                    let message = "the scopes that the routes up to here need have over 64 MiB together";
                    diagnostics.push(route.location, message);
                }
                left = less;
            }
        }
    }
}

/// Reports keys of a scope that no route uses.
fn check_used(name: &Spanned<String>, scope: &ScopeDocument, is_used: bool, diagnostics: &mut Diagnostics) {
    let has_routes = !scope.routes.0.is_empty();
    if is_used && has_routes {
        return;
    }
    let why = if has_routes { "each of its routes states its own" } else { "it has no routes here" };
    for (key, location) in Keys::of_scope(scope).locations(diagnostics) {
        let message = format!("no route uses {key} of scope {}: {why}", quoted(&name.value));
        diagnostics.push(location, message);
    }
}

/// Reports scopes that don't exist, or to which other tokens apply than to the owner.
fn check_scopes(
    owner: &Spanned<String>,
    api: &ApiDocument,
    requirement: &Requirement,
    known: &HashMap<&str, &ApiDocument>,
    diagnostics: &mut Diagnostics,
) {
    for alternative in &requirement.alternatives {
        for scope in alternative.scopes().filter(|scope| *scope != owner.value) {
            let Some(other) = known.get(scope) else {
                diagnostics.push(alternative.location, format!("scope {} isn't in this policy", quoted(scope)));
                continue;
            };
            if let Some(key) = different_token_key(api, other, diagnostics) {
                let (scope, owner) = (quoted(scope), quoted(&owner.value));
                let message =
                    format!("scope {scope} can't be needed with {owner} or instead of it: their `{key}` differs");
                diagnostics.push(alternative.location, message);
            }
        }
    }
}

/// The key about tokens that two apis state differently, unless these keys already have errors, which are enough.
pub(super) fn different_token_key(
    one: &ApiDocument,
    other: &ApiDocument,
    diagnostics: &Diagnostics,
) -> Option<&'static str> {
    let has_diagnostic = |api: &ApiDocument| {
        api.token.is_some() != api.organisation.is_some()
            || api.token.as_ref().is_some_and(|it| diagnostics.stand_at(it.location))
            || api.organisation.as_ref().is_some_and(|it| diagnostics.stand_at(it.location))
    };
    let rule = |api: &ApiDocument| api.organisation.as_ref().map(|rule| rule.value);
    match (rule(one), rule(other)) {
        _ if has_diagnostic(one) || has_diagnostic(other) => None,
        (one, other) if one == other => None,
        (Some(_), Some(_)) => Some("organisation"),
        _ => Some("token"),
    }
}
