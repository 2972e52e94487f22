//! The document → the policy: each string matches its grammar, and the keys of an api, a scope and
//! a route are consistent.

use std::collections::HashMap;
use std::sync::Arc;

use orbgate_yaml::{Diagnostics, Spanned, first_location, quoted};

use super::document::{
    ApiDocument, Document, Entries, NoOrbs, OrbsDocument, Organisation, RouteDocument, RouteWithKeys, ScopeDocument,
    Target, TokenDocument, TrailingSlash, is_set,
};
use super::grammar;
use super::model::{Api, ClosedRule, Policy, RouteRule, ScopeRule};
use super::requirements::Keys;
use crate::tables::terms::{Digest, Orbs, OrganisationRule, Profile};

/// The policy that the document describes, which is valid if no error was found earlier or here. Moves the routes'
/// strings out of the document.
///
/// Here and below, each mapping is taken apart without `..`, so that a new key without a reader doesn't compile.
pub(super) fn policy(document: &mut Document, diagnostics: &mut Diagnostics) -> Policy {
    let Document { orbgate: _, name, target, trailing_slash, orbs, apis, headings } = document;
    if let Some(name) = name {
        judge(name, diagnostics, |name| grammar::name(name, "the policy's name"));
    }
    if let Some(Spanned { value: NoOrbs::None, location }) = orbs
        && !diagnostics.stand_at(*location)
    {
        without_orbs(apis, diagnostics);
    }
    let apis = apis.0.iter_mut();
    let apis = apis.map(|(name, api)| api_rule(name, api, diagnostics)).collect();
    Policy {
        name: name.as_ref().map(|name| name.value.clone()),
        target: match target.as_ref().map(|target| target.value) {
            None | Some(Target::Strict) => Profile::Strict,
            Some(Target::EncodedParams) => Profile::EncodedParams,
        },
        trailing_slash: match trailing_slash.as_ref().map(|slash| slash.value) {
            None | Some(TrailingSlash::Never) => false,
            Some(TrailingSlash::Always) => true,
        },
        apis,
        headings: headings_of(headings.as_deref().unwrap_or_default(), diagnostics),
        digest: Digest([0; 32]),
        has_end_marker: false,
        is_sealed: false,
    }
}

/// `orbs: none` means `orbs: false` on every scope. Scopes and routes must not state `orbs` then.
fn without_orbs(apis: &mut Entries<ApiDocument>, diagnostics: &mut Diagnostics) {
    for (name, scope) in apis.0.iter_mut().flat_map(|(_, api)| api.scopes.0.iter_mut()) {
        let of_routes = scope.routes.0.iter_mut().filter_map(|route| match route {
            RouteDocument::WithKeys(route) => route.orbs.take(),
            RouteDocument::Plain(_) => None,
        });
        let of_routes = of_routes.map(|orbs| orbs.location);
        for location in scope.orbs.take().map(|orbs| orbs.location).into_iter().chain(of_routes) {
            diagnostics.push_new(location, "`orbs` isn't allowed here, because the policy has `orbs: none`");
        }
        scope.orbs = Some(Spanned { value: OrbsDocument::Consumes(false), location: name.location });
    }
}

fn headings_of(headings: &[Spanned<String>], diagnostics: &mut Diagnostics) -> Vec<String> {
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
    let ApiDocument { base_path, token, organisation, closed, scopes } = api;
    let organisation = organisation_rule(name, token.as_ref(), organisation.as_ref(), diagnostics);
    let base_path_location = base_path.as_ref().map_or(name.location, |base_path| base_path.location);
    let base_path = match base_path {
        Some(base_path) => judge(base_path, diagnostics, grammar::base_path).then(|| base_path.value.clone()),
        None => {
            refuse_no_base_path(name, scopes, closed.as_deref(), diagnostics);
            None
        }
    };
    let mut rules = Vec::with_capacity(scopes.0.len());
    for (name, scope) in &mut scopes.0 {
        judge(name, diagnostics, grammar::scope);
        rules.push(scope_rule(name, scope, base_path.as_deref(), diagnostics));
    }
    let closed = closed.take().into_iter().flatten();
    let closed = closed.filter_map(|template| closed_rule(template, base_path.as_deref(), diagnostics)).collect();
    Api { name: name.value.clone(), base_path, base_path_location, organisation, scopes: rules, closed }
}

/// What an organisation's token gets. An api states it if and only if its scopes apply only to a user's token.
fn organisation_rule(
    name: &Spanned<String>,
    token: Option<&Spanned<TokenDocument>>,
    organisation: Option<&Spanned<Organisation>>,
    diagnostics: &mut Diagnostics,
) -> Option<OrganisationRule> {
    let shown = quoted(&name.value);
    let refused = match (token, organisation) {
        (Some(Spanned { value: TokenDocument::User, location }), None) => {
            let must = "must say what an organisation's token gets: `organisation: deny` or `organisation: allow_without_scope`";
            Some((*location, "organisation", format!("api {shown} has `token: user` and {must}")))
        }
        (None, Some(organisation)) => {
            Some((organisation.location, "token", format!("`organisation` needs `token: user` in api {shown}")))
        }
        _ => None,
    };
    if let Some((location, missing, message)) = refused
        && !diagnostics.is_misspelt(name.location, missing)
    {
        diagnostics.push_new(location, message);
    }
    organisation.map(|organisation| match organisation.value {
        Organisation::Deny => OrganisationRule::Deny,
        Organisation::AllowWithoutScope => OrganisationRule::AllowWithoutScope,
    })
}

/// Reports that an api without a base path has routes or closed templates.
fn refuse_no_base_path(
    name: &Spanned<String>,
    scopes: &Entries<ScopeDocument>,
    closed: Option<&[Spanned<String>]>,
    diagnostics: &mut Diagnostics,
) {
    let has_routes = scopes.0.iter().any(|(_, scope)| !scope.routes.0.is_empty());
    if has_routes || closed.is_some_and(|closed| !closed.is_empty()) {
        let has = if has_routes { "routes" } else { "closed templates" };
        let message = format!("api {} has {has} but is missing the key `base_path`", quoted(&name.value));
        diagnostics.lacking(name.location, "base_path", message);
    }
}

fn scope_rule(
    name: &Spanned<String>,
    scope: &mut ScopeDocument,
    base_path: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> ScopeRule {
    let shown = quoted(&name.value);
    let ScopeDocument { permits, orbs, sensitive, or, and, routes } = scope;
    if let Some(permits) = permits {
        judge(permits, diagnostics, grammar::permits);
    }
    if orbs.is_none() && !routes.all_state_orbs() {
        let has = if routes.0.iter().any(RouteDocument::states_orbs) { "routes without `orbs`" } else { "routes" };
        diagnostics.lacking(name.location, "orbs", format!("scope {shown} has {has} but is missing the key `orbs`"));
    }
    let keys = Keys::new(or, and);
    keys.refuse_empty(diagnostics, || format!("`or` of scope {shown} lists no alternative"));
    let of_scope = keys.are_stated().then(|| keys.requirement(name, diagnostics).map(Arc::new));
    let mut rules = Vec::with_capacity(routes.0.len());
    for route in &mut routes.0 {
        let (text, orbs, keys) = match route {
            RouteDocument::Plain(text) => (text, None, Keys::default()),
            RouteDocument::WithKeys(RouteWithKeys { route, orbs, or, and }) => {
                (route, orbs.as_ref(), Keys::new(or, and))
            }
        };
        if of_scope.is_none() {
            let message = || format!("`or: []` replaces `or` and `and` of scope {shown}, which has neither");
            keys.refuse_empty(diagnostics, message);
        }
        let own = keys.are_stated().then(|| keys.requirement(name, diagnostics).map(Arc::new));
        let states_requirement = own.is_some();
        let requirement = own.or_else(|| of_scope.clone()).flatten();
        let (location, orbs) = (text.location, orbs.map(|orbs| orbs_of(orbs.value)));
        rules.extend(method_length(text, base_path, diagnostics).map(|method_length| RouteRule {
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
        permits: permits.as_ref().map(|permits| permits.value.clone()),
        orbs: orbs.as_ref().map(|orbs| orbs_of(orbs.value)),
        is_sensitive: is_set(sensitive),
        requirement: of_scope.flatten(),
        routes: rules,
        location: name.location,
    }
}

const fn orbs_of(orbs: OrbsDocument) -> Orbs {
    match orbs {
        OrbsDocument::Consumes(false) => Orbs::Free,
        OrbsDocument::Consumes(true) => Orbs::Unstated,
        OrbsDocument::Amount(amount) => Orbs::Amount(amount),
    }
}

fn closed_rule(text: Spanned<String>, base_path: Option<&str>, diagnostics: &mut Diagnostics) -> Option<ClosedRule> {
    let is_valid = judge(&text, diagnostics, |text| {
        grammar::template("", text)?;
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
