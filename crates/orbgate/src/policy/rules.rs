//! The document → the policy: every text fits its grammar, and the keys of an api, a scope and a
//! route fit together.

use std::collections::HashMap;

use orbgate_yaml::{Faults, Place, Spanned, first_place, quoted};

use super::document::{
    ApiDocument, Document, OrbsDocument, Organisation, PricedRoute, RouteDocument, ScopeDocument,
    Target,
};
use super::model::{Api, Policy, RouteRule, ScopeRule};
use super::{digest, grammar};
use crate::terms::{Digest, Orbs, OrganisationRule, Profile};

/// The policy that the document states; valid if no fault was found, before this or here. It takes the routes' texts.
pub(super) fn policy(document: &mut Document, faults: &mut Faults) -> Policy {
    if let Some(name) = &document.name {
        judge(name, faults, |name| {
            grammar::name(name, "the policy's name")
        });
    }
    let no_orbs = document.orbs.as_ref();
    if no_orbs.is_some_and(|orbs| !faults.stand_at(orbs.place)) {
        without_orbs(document, faults);
    }
    let apis = document.apis.0.iter_mut();
    let apis = apis
        .map(|(name, api)| api_rule(name, api, faults))
        .collect();
    let mut policy = Policy {
        name: document.name.as_ref().map(|name| name.value.clone()),
        target: match document.target.as_ref().map(|target| target.value) {
            None | Some(Target::Strict) => Profile::Strict,
            Some(Target::EncodedParams) => Profile::EncodedParams,
        },
        apis,
        headings: headings(document.headings.as_deref().unwrap_or_default(), faults),
        digest: Digest([0; 32]),
        has_end_marker: false,
        is_sealed: false,
    };
    policy.digest = digest::digest(&policy);
    policy
}

/// `orbs: none` means `orbs: false` on every scope, and nothing else may state orbs then.
fn without_orbs(document: &mut Document, faults: &mut Faults) {
    let apis = document.apis.0.iter_mut();
    for (name, scope) in apis.flat_map(|(_, api)| api.scopes.0.iter_mut()) {
        let of_routes = scope.routes.iter().filter_map(|route| match route {
            RouteDocument::Priced(PricedRoute { orbs, .. }) => orbs.as_ref(),
            RouteDocument::Plain(_) => None,
        });
        let places = of_routes.map(|orbs| orbs.place);
        let places = scope.orbs.iter().map(|orbs| orbs.place).chain(places);
        for place in places
            .filter(|place| !faults.stand_at(*place))
            .collect::<Vec<_>>()
        {
            let message = "`orbs` isn't allowed here, because the policy has `orbs: none`";
            faults.push(place, message.to_owned());
        }
        for route in &mut scope.routes {
            if let RouteDocument::Priced(PricedRoute { orbs, .. }) = route {
                *orbs = None;
            }
        }
        scope.orbs = Some(Spanned {
            value: OrbsDocument::Consumes(false),
            place: name.place,
        });
    }
}

fn headings(headings: &[Spanned<String>], faults: &mut Faults) -> Vec<String> {
    let mut first = HashMap::new();
    for heading in headings {
        judge(heading, faults, |heading| {
            grammar::name(heading, "a heading")
        });
        if faults.stand_at(heading.place) {
            continue;
        }
        if let Some(first) = first.get(heading.value.as_str()) {
            let first = first_place(*first, heading.place);
            let shown = quoted(&heading.value);
            faults.push(
                heading.place,
                format!("heading {shown} is listed twice (first on {first})"),
            );
        } else {
            first.insert(heading.value.as_str(), heading.place);
        }
    }
    headings
        .iter()
        .map(|heading| heading.value.clone())
        .collect()
}

fn api_rule(name: &Spanned<String>, api: &mut ApiDocument, faults: &mut Faults) -> Api {
    judge(name, faults, |name| grammar::name(name, "the api's name"));
    judge_organisation(name, api, faults);
    let base_path = base_path(name, api, faults);
    let mut scopes = Vec::with_capacity(api.scopes.0.len());
    for (name, scope) in &mut api.scopes.0 {
        judge(name, faults, grammar::scope);
        scopes.push(scope_rule(name, scope, base_path.as_deref(), faults));
    }
    let organisation = api
        .organisation
        .as_ref()
        .map(|organisation| match organisation.value {
            Organisation::Deny => OrganisationRule::Deny,
            Organisation::AllowWithoutScope => OrganisationRule::AllowWithoutScope,
        });
    Api {
        name: name.value.clone(),
        base_path,
        base_path_place: api
            .base_path
            .as_ref()
            .map_or(name.place, |base_path| base_path.place),
        organisation,
        scopes,
    }
}

/// What an organisation's token gets is said where the scopes apply only to a user's token, and only there.
fn judge_organisation(name: &Spanned<String>, api: &ApiDocument, faults: &mut Faults) {
    let shown = quoted(&name.value);
    match (&api.token, &api.organisation) {
        (Some(token), None)
            if !faults.stand_at(token.place) && !faults.is_misspelt(name.place, "organisation") =>
        {
            let message = "must say what an organisation's token gets: `organisation: deny` or `organisation: allow_without_scope`";
            faults.push(
                token.place,
                format!("api {shown} has `token: user` and {message}"),
            );
        }
        (None, Some(organisation))
            if !faults.stand_at(organisation.place) && !faults.is_misspelt(name.place, "token") =>
        {
            faults.push(
                organisation.place,
                format!("`organisation` needs `token: user` in api {shown}"),
            );
        }
        _ => {}
    }
}

/// The base path of an api, which one with routes has.
fn base_path(name: &Spanned<String>, api: &ApiDocument, faults: &mut Faults) -> Option<String> {
    let has_routes = api
        .scopes
        .0
        .iter()
        .any(|(_, scope)| !scope.routes.is_empty());
    match &api.base_path {
        None if has_routes => {
            let shown = quoted(&name.value);
            let message = format!("api {shown} has routes and lacks the key `base_path`");
            faults.lacking(name.place, "base_path", message);
            None
        }
        None => None,
        Some(base_path) => {
            judge(base_path, faults, grammar::base_path);
            (!faults.stand_at(base_path.place)).then(|| base_path.value.clone())
        }
    }
}

fn scope_rule(
    name: &Spanned<String>,
    scope: &mut ScopeDocument,
    base_path: Option<&str>,
    faults: &mut Faults,
) -> ScopeRule {
    let shown = quoted(&name.value);
    if let Some(permits) = &scope.permits {
        judge(permits, faults, grammar::permits);
    }
    if scope.orbs.is_none() && !scope.routes.is_empty() {
        let message = format!("scope {shown} has routes and lacks the key `orbs`");
        faults.lacking(name.place, "orbs", message);
    }
    let orbs = scope.orbs.as_ref().map(|orbs| match orbs.value {
        OrbsDocument::Consumes(false) => Orbs::Free,
        OrbsDocument::Consumes(true) => Orbs::Unstated,
        OrbsDocument::Amount(amount) => Orbs::Amount(amount),
    });
    let mut routes = Vec::with_capacity(scope.routes.len());
    for route in &mut scope.routes {
        let (text, amount) = match route {
            RouteDocument::Plain(text) => (text, None),
            RouteDocument::Priced(PricedRoute { route, orbs }) => (route, orbs.as_ref()),
        };
        if let Some(amount) = amount
            && orbs == Some(Orbs::Free)
            && !faults.stand_at(amount.place)
        {
            faults.push(amount.place, format!("a route's own `orbs` needs a scope that consumes orbs, and {shown} has `orbs: false`"));
        }
        routes.extend(route_rule(
            text,
            amount.map(|amount| amount.value),
            base_path,
            faults,
        ));
    }
    ScopeRule {
        name: name.value.clone(),
        permits: scope.permits.as_ref().map(|permits| permits.value.clone()),
        orbs,
        routes,
        place: name.place,
    }
}

fn route_rule(
    text: &mut Spanned<String>,
    orbs: Option<u64>,
    base_path: Option<&str>,
    faults: &mut Faults,
) -> Option<RouteRule> {
    if faults.stand_at(text.place) {
        return None;
    }
    let fitting = grammar::route(&text.value).and_then(|(method, template)| {
        grammar::within_limits(base_path.unwrap_or_default(), template)?;
        Ok(method.len())
    });
    match fitting {
        Ok(method_length) => Some(RouteRule {
            text: core::mem::take(&mut text.value),
            method_length,
            orbs,
            place: text.place,
        }),
        Err(message) => {
            faults.push(text.place, message);
            None
        }
    }
}

/// Judges a text by its grammar, unless something is already known to be wrong with it.
fn judge(
    text: &Spanned<String>,
    faults: &mut Faults,
    grammar: impl FnOnce(&str) -> Result<(), String>,
) {
    let place: Place = text.place;
    if faults.stand_at(place) {
        return;
    }
    if let Err(message) = grammar(&text.value) {
        faults.push(place, message);
    }
}
