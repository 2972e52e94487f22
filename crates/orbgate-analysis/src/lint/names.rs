//! Checks names, descriptions and amounts, one scope or route at a time.

use core::ops::ControlFlow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use orbgate::policy::{RouteRule, advice, parameter_of_another_format};
use orbgate::{Engine, Location, Orbs, Policy, Scope, is_earned};
use orbgate_yaml::quoted;

use super::code::Code;
use super::finding::Collector;
use super::words::{self, alike};

pub(super) fn look(policy: &Policy, engine: &Engine, findings: &mut Collector) {
    let scopes: Vec<_> = engine.scope_table().collect();
    let alternatives = engine.routes().filter(|route| !route.requirement().is_one_scope());
    let alternatives = alternatives.flat_map(|route| route.requirement().alternatives().flatten());
    let in_alternatives: HashSet<_> = alternatives.map(|scope| scope.index()).collect();
    for scope in &scopes {
        look_at_scope(*scope, in_alternatives.contains(&scope.index()), findings);
    }
    elsewhere(&scopes, findings);
    case_or_plural(&scopes, findings);
    similar(&scopes, findings);
    other_formats(policy, findings);
    repeated_base_paths(policy, findings);
    unstated_amounts(policy, findings);
    repeated(policy, findings);
    if !policy.has_end_marker() {
        let message = "the file does not end in `...`: what is cut short may be a valid policy with fewer routes";
        findings.push(Code::NoEndMarker, START, None, message.to_owned());
    }
}

/// Literals such as `:id`, which are parameters in other formats, and templates with more of another format than that.
fn other_formats(policy: &Policy, findings: &mut Collector) {
    for api in policy.apis() {
        if let Some(base_path) = api.base_path() {
            colon_literals(base_path, api.base_path_location(), findings);
        }
        let routes = api.scopes().iter().flat_map(|scope| scope.routes());
        let routes = routes.map(|route| (route.method(), route.template(), route.location()));
        let closed = api.closed().iter().map(|closed| ("", closed.template(), closed.location()));
        for (method, template, location) in routes.chain(closed) {
            let segments = template.split('/');
            let segments =
                segments.map(|segment| parameter_of_another_format(segment).unwrap_or_else(|| segment.to_owned()));
            let without_colons = segments.collect::<Vec<_>>().join("/");
            match advice(method, template).filter(|_| advice(method, &without_colons).is_some()) {
                Some(advice) => {
                    let message = format!("{advice}; as it is, it means something else here");
                    findings.push(Code::ForeignTemplate, location, None, message);
                }
                None => colon_literals(template, location, findings),
            }
        }
    }
}

fn colon_literals(path: &str, location: Location, findings: &mut Collector) {
    for segment in path.split('/') {
        let Some(parameter) = parameter_of_another_format(segment) else {
            continue;
        };
        let (segment, parameter) = (quoted(segment), quoted(&parameter));
        let message = format!("{segment} is a literal; a parameter is written {parameter}");
        findings.push(Code::ColonLiteral, location, None, message);
    }
}

/// Routes that begin with the base path of their api.
fn repeated_base_paths(policy: &Policy, findings: &mut Collector) {
    for api in policy.apis() {
        let Some(base_path) = api.base_path().filter(|path| !path.is_empty()) else {
            continue;
        };
        for route in api.scopes().iter().flat_map(|scope| scope.routes()) {
            let below = route.template().strip_prefix(base_path);
            let Some(below) = below.filter(|below| below.is_empty() || below.starts_with('/')) else {
                continue;
            };
            let (method, template) = (route.method(), route.template());
            let below = if below.is_empty() { "/" } else { below };
            let message = format!(
                "`{method} {template}` is called as `{base_path}{template}`, because the base path comes before it: write `{method} {below}`"
            );
            findings.push(Code::RepeatedBasePath, route.location(), None, message);
        }
    }
}

/// Routes without a stated amount in scopes with other routes that state one. Free routes state none.
fn unstated_amounts(policy: &Policy, findings: &mut Collector) {
    for scope in policy.apis().iter().flat_map(|api| api.scopes()) {
        let orbs = |route: &RouteRule| route.orbs().or(scope.orbs());
        if !scope.routes().iter().any(|route| matches!(orbs(route), Some(Orbs::Amount(_)))) {
            continue;
        }
        for route in scope.routes().iter().filter(|route| orbs(route) == Some(Orbs::Unstated)) {
            let message = format!(
                "`{} {}` consumes orbs without a stated amount, and other routes of scope {} state theirs",
                route.method(),
                route.template(),
                quoted(scope.name())
            );
            findings.push(Code::UnstatedAmount, route.location(), None, message);
        }
    }
}

/// Routes with `or` or `and` whose scope states the same for all of its routes.
fn repeated(policy: &Policy, findings: &mut Collector) {
    for scope in policy.apis().iter().flat_map(|api| api.scopes()) {
        let own = scope.requirement().filter(|_| scope.routes().len() > 1);
        let states_it = |route: &&RouteRule| route.states_requirement() && own.is_some() && route.requirement() == own;
        for route in scope.routes().iter().filter(states_it) {
            let message = format!(
                "`{} {}` states what it needs, and scope {} states the same for all of its routes",
                route.method(),
                route.template(),
                quoted(scope.name())
            );
            findings.push(Code::RepeatedRequirement, route.location(), None, message);
        }
    }
}

/// The start of the file, for findings about the whole file.
const START: Location = Location { line: 1, column: 1 };

/// Checks a scope, and whether a route of another scope accepts it or needs it as well.
fn look_at_scope(scope: Scope<'_>, is_in_alternatives: bool, findings: &mut Collector) {
    let name = scope.name();
    if scope.routes().next().is_none() && !is_in_alternatives {
        let message = format!("scope `{name}` has no route: it can only be asked for by its name");
        findings.push(Code::ScopeWithoutRoutes, scope.location(), None, message);
    }
    let is_described = scope.permits().is_some_and(|permits| !permits.trim().is_empty());
    if !is_described && !is_earned(name) {
        let message =
            format!("scope `{name}` has no description: add `permits`, which users see when they grant the scope");
        findings.push(Code::NoPermits, scope.location(), None, message);
    }
    for route in scope.routes() {
        if matches!(route.method(), "GET" | "HEAD") && route.orbs() == Orbs::Unstated {
            let message = format!("`{}` only reads, and consumes orbs without a stated amount", route.as_str());
            findings.push(Code::UnstatedGet, route.location(), None, message);
        }
    }
}

/// The specification's inference scopes (§5.6) in apis that accept any token. For other resources, a scope's name
/// doesn't show whether it is only for users.
fn elsewhere(scopes: &[Scope<'_>], findings: &mut Collector) {
    let for_any = scopes.iter().filter(|scope| scope.organisation().is_none());
    for scope in for_any.filter(|scope| is_inference(scope.name())) {
        let message = format!(
            "scope `{}` counts on every token in api `{}`, and a scope for inference only on a user's: put it into an api with `token: user`",
            scope.name(),
            scope.api()
        );
        findings.push(Code::InferenceElsewhere, scope.location(), None, message);
    }
}

fn is_inference(scope: &str) -> bool {
    let action = scope.strip_suffix(":inference");
    action.is_some_and(|action| !action.is_empty() && !action.contains(':'))
}

/// Scopes whose names differ only in case or plural.
fn case_or_plural(scopes: &[Scope<'_>], findings: &mut Collector) {
    let mut first: HashMap<String, Scope<'_>> = HashMap::new();
    for scope in scopes {
        match first.entry(alike(scope.name())) {
            Entry::Vacant(entry) => drop(entry.insert(*scope)),
            Entry::Occupied(entry) => {
                let other = entry.get();
                let message = format!(
                    "scopes `{}` (line {}) and `{}` differ only in case or plural",
                    other.name(),
                    other.location().line,
                    scope.name()
                );
                findings.push_pair(Code::CaseOrPlural, [other.location(), scope.location()], message);
            }
        }
    }
}

/// Scopes whose names differ in one character: changed, missing, added or swapped with the next.
fn similar(scopes: &[Scope<'_>], findings: &mut Collector) {
    let names: Vec<_> = scopes.iter().map(|scope| scope.name()).collect();
    // If it ends early, the missing findings are recorded.
    let _ = words::similar(&names, |one, two| {
        let (Some(first), Some(second)) = (scopes.get(one), scopes.get(two)) else {
            return ControlFlow::Continue(());
        };
        if !findings.has_room(Code::SimilarScopes) {
            return ControlFlow::Break(());
        }
        let message = format!(
            "scopes `{}` (line {}) and `{}` differ in one character",
            first.name(),
            first.location().line,
            second.name()
        );
        let locations = [first.location(), second.location()];
        findings.push_pair(Code::SimilarScopes, locations, message);
        ControlFlow::Continue(())
    });
}
