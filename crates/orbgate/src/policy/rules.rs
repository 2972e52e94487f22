//! The document → the policy: each string matches its grammar, and the keys of an api, a scope and
//! a route are consistent.

use std::collections::HashMap;
use std::sync::Arc;

use orbgate_yaml::{Diagnostics, Spanned, first_location, quoted};

use super::document::{
    ApiDocument, Document, OrbsDocument, Organisation, RouteDocument, RouteWithKeys, ScopeDocument, Target,
    TrailingSlash,
};
use super::grammar;
use super::model::{Api, ClosedRule, Policy, RouteRule, ScopeRule};
use super::requirements::Keys;
use crate::tables::terms::{Digest, Orbs, OrganisationRule, Profile};

/// The policy that the document describes, which is valid if no error was found earlier or here. Moves the routes'
/// strings out of the document.
pub(super) fn policy(document: &mut Document, diagnostics: &mut Diagnostics) -> Policy {
    if let Some(name) = &document.name {
        judge(name, diagnostics, |name| grammar::name(name, "the policy's name"));
    }
    let no_orbs = document.orbs.as_ref();
    if no_orbs.is_some_and(|orbs| !diagnostics.stand_at(orbs.location)) {
        without_orbs(document, diagnostics);
    }
    let apis = document.apis.0.iter_mut();
    let apis = apis.map(|(name, api)| api_rule(name, api, diagnostics)).collect();
    Policy {
        name: document.name.as_ref().map(|name| name.value.clone()),
        target: match document.target.as_ref().map(|target| target.value) {
            None | Some(Target::Strict) => Profile::Strict,
            Some(Target::EncodedParams) => Profile::EncodedParams,
        },
        trailing_slash: document.trailing_slash.as_ref().is_some_and(|slash| slash.value == TrailingSlash::Always),
        apis,
        headings: headings(document.headings.as_deref().unwrap_or_default(), diagnostics),
        digest: Digest([0; 32]),
        has_end_marker: false,
        is_sealed: false,
    }
}

/// `orbs: none` means `orbs: false` on every scope. Scopes and routes must not state `orbs` then.
fn without_orbs(document: &mut Document, diagnostics: &mut Diagnostics) {
    let apis = document.apis.0.iter_mut();
    for (name, scope) in apis.flat_map(|(_, api)| api.scopes.0.iter_mut()) {
        let of_routes = scope.routes.0.iter_mut().filter_map(|route| match route {
            RouteDocument::WithKeys(RouteWithKeys { orbs, .. }) => orbs.take(),
            RouteDocument::Plain(_) => None,
        });
        let of_routes = of_routes.map(|orbs| orbs.location);
        for location in scope.orbs.take().map(|orbs| orbs.location).into_iter().chain(of_routes) {
            diagnostics.push_new(location, "`orbs` isn't allowed here, because the policy has `orbs: none`");
        }
        scope.orbs = Some(Spanned { value: OrbsDocument::Consumes(false), location: name.location });
    }
}

fn headings(headings: &[Spanned<String>], diagnostics: &mut Diagnostics) -> Vec<String> {
    let mut first = HashMap::new();
    for heading in headings {
        if !judge(heading, diagnostics, |heading| grammar::name(heading, "a heading")) {
            continue;
        }
        if let Some(first) = first.get(heading.value.as_str()) {
            let first = first_location(*first, heading.location);
            let shown = quoted(&heading.value);
            diagnostics.push(heading.location, format!("heading {shown} is listed twice (first on {first})"));
        } else {
            first.insert(heading.value.as_str(), heading.location);
        }
    }
    headings.iter().map(|heading| heading.value.clone()).collect()
}

fn api_rule(name: &Spanned<String>, api: &mut ApiDocument, diagnostics: &mut Diagnostics) -> Api {
    judge(name, diagnostics, |name| grammar::name(name, "the api's name"));
    judge_organisation(name, api, diagnostics);
    let base_path = base_path(name, api, diagnostics);
    let mut scopes = Vec::with_capacity(api.scopes.0.len());
    for (name, scope) in &mut api.scopes.0 {
        judge(name, diagnostics, grammar::scope);
        scopes.push(scope_rule(name, scope, base_path.as_deref(), diagnostics));
    }
    let closed = api.closed.take().into_iter().flatten();
    let closed = closed.filter_map(|template| closed_rule(template, base_path.as_deref(), diagnostics)).collect();
    let organisation = api.organisation.as_ref().map(|organisation| match organisation.value {
        Organisation::Deny => OrganisationRule::Deny,
        Organisation::AllowWithoutScope => OrganisationRule::AllowWithoutScope,
    });
    Api {
        name: name.value.clone(),
        base_path,
        base_path_location: api.base_path.as_ref().map_or(name.location, |base_path| base_path.location),
        organisation,
        scopes,
        closed,
    }
}

/// An api has `organisation` if and only if its scopes apply only to a user's token.
fn judge_organisation(name: &Spanned<String>, api: &ApiDocument, diagnostics: &mut Diagnostics) {
    let shown = quoted(&name.value);
    let (location, missing, message) = match (&api.token, &api.organisation) {
        (Some(token), None) => {
            let must = "must say what an organisation's token gets: `organisation: deny` or `organisation: allow_without_scope`";
            (token.location, "organisation", format!("api {shown} has `token: user` and {must}"))
        }
        (None, Some(organisation)) => {
            (organisation.location, "token", format!("`organisation` needs `token: user` in api {shown}"))
        }
        _ => return,
    };
    if !diagnostics.is_misspelt(name.location, missing) {
        diagnostics.push_new(location, message);
    }
}

/// The base path of an api. Required if the api has routes or closed templates.
fn base_path(name: &Spanned<String>, api: &ApiDocument, diagnostics: &mut Diagnostics) -> Option<String> {
    if let Some(base_path) = &api.base_path {
        return judge(base_path, diagnostics, grammar::base_path).then(|| base_path.value.clone());
    }
    let has_routes = api.scopes.0.iter().any(|(_, scope)| !scope.routes.0.is_empty());
    if has_routes || api.closed.as_ref().is_some_and(|closed| !closed.is_empty()) {
        let has = if has_routes { "routes" } else { "closed templates" };
        let message = format!("api {} has {has} but is missing the key `base_path`", quoted(&name.value));
        diagnostics.lacking(name.location, "base_path", message);
    }
    None
}

fn scope_rule(
    name: &Spanned<String>,
    scope: &mut ScopeDocument,
    base_path: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> ScopeRule {
    let shown = quoted(&name.value);
    if let Some(permits) = &scope.permits {
        judge(permits, diagnostics, grammar::permits);
    }
    if scope.orbs.is_none() && !scope.routes.0.is_empty() {
        let message = format!("scope {shown} has routes but is missing the key `orbs`");
        diagnostics.lacking(name.location, "orbs", message);
    }
    let orbs = scope.orbs.as_ref().map(|orbs| match orbs.value {
        OrbsDocument::Consumes(false) => Orbs::Free,
        OrbsDocument::Consumes(true) => Orbs::Unstated,
        OrbsDocument::Amount(amount) => Orbs::Amount(amount),
    });
    let keys = Keys::of_scope(scope);
    keys.refuse_empty(diagnostics, || format!("`or` of scope {shown} lists no alternative"));
    let of_scope = keys.are_stated().then(|| keys.requirement(name, diagnostics).map(Arc::new));
    let mut routes = Vec::with_capacity(scope.routes.0.len());
    for route in &mut scope.routes.0 {
        let keys = Keys::of_route(route);
        if of_scope.is_none() {
            let message = || format!("`or: []` replaces `or` and `and` of scope {shown}, which has neither");
            keys.refuse_empty(diagnostics, message);
        }
        let own = keys.are_stated().then(|| keys.requirement(name, diagnostics).map(Arc::new));
        let states_requirement = own.is_some();
        let requirement = own.or_else(|| of_scope.clone()).flatten();
        let (text, amount) = match route {
            RouteDocument::Plain(text) => (text, None),
            RouteDocument::WithKeys(RouteWithKeys { route, orbs, .. }) => (route, orbs.as_ref()),
        };
        if let Some(amount) = amount
            && orbs == Some(Orbs::Free)
            && !diagnostics.stand_at(amount.location)
        {
            diagnostics.push(amount.location, format!("a route's own `orbs` needs a scope that consumes orbs, and {shown} has `orbs: false`; give the route a scope of its own"));
        }
        let (location, orbs) = (text.location, amount.map(|amount| amount.value));
        routes.extend(method_length(text, base_path, diagnostics).map(|method_length| RouteRule {
            text: core::mem::take(&mut text.value),
            method_length,
            orbs,
            requirement,
            states_requirement,
            location,
        }));
    }
    ScopeRule {
        name: name.value.clone(),
        permits: scope.permits.as_ref().map(|permits| permits.value.clone()),
        orbs,
        requirement: of_scope.flatten(),
        routes,
        location: name.location,
    }
}

fn closed_rule(text: Spanned<String>, base_path: Option<&str>, diagnostics: &mut Diagnostics) -> Option<ClosedRule> {
    let is_valid = judge(&text, diagnostics, |text| {
        grammar::template(text)?;
        grammar::within_limits(base_path.unwrap_or_default(), text)
    });
    is_valid.then_some(ClosedRule { template: text.value, location: text.location })
}

/// The length of a route's method, if the route is valid.
fn method_length(text: &Spanned<String>, base_path: Option<&str>, diagnostics: &mut Diagnostics) -> Option<usize> {
    if diagnostics.stand_at(text.location) {
        return None;
    }
    let fitting = grammar::route(&text.value).and_then(|(method, template)| {
        grammar::within_limits(base_path.unwrap_or_default(), template)?;
        Ok(method.len())
    });
    fitting.map_err(|message| diagnostics.push(text.location, message)).ok()
}

/// Checks a string against its grammar, unless it already has an error. Returns whether it is valid.
fn judge(
    text: &Spanned<String>,
    diagnostics: &mut Diagnostics,
    grammar: impl FnOnce(&str) -> Result<(), String>,
) -> bool {
    if diagnostics.stand_at(text.location) {
        return false;
    }
    grammar(&text.value).map_err(|message| diagnostics.push(text.location, message)).is_ok()
}
