//! Finds differences between a document and a policy.

use std::collections::{HashMap, HashSet};

use orbgate::policy::{Api, Diagnostic, RouteRule, ScopeRule};
use orbgate::{Location, Orbs, OrganisationRule, Policy};
use orbgate_yaml::quoted;

use crate::document::{Document, Need, Operation};
use crate::template::{full_path, shape};
use crate::words::{any_of, words};
use crate::{Options, left_out, settled};

orbgate::codes! {
    /// How a document and a policy differ.
    #[derive(PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum DriftKind {
        Missing: "missing", "the document has an operation that the policy lacks";
        Extra: "extra", "the policy has a route that the document lacks";
        Scope: "scope", "the scopes differ";
        Orbs: "orbs", "what a call consumes differs";
        Organisation: "organisation", "what an organisation's token gets differs";
        Closed: "closed", "only one of the two denies every call of the path";
        Unclear: "unclear", "no policy can express the document's operation, and the policy has no route for it, so its calls are denied";
        Unequal: "unequal", "no policy can express the document's operation, but the policy has a route for it, which might allow its calls for less";
    }
}

orbgate::texts!(DriftKind);

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Drift {
    /// The kind of difference.
    pub kind: DriftKind,
    /// Method and path.
    pub operation: String,
    /// Its location in the document.
    pub document: Option<Location>,
    /// Its location in the policy.
    pub policy: Option<Location>,
    /// A message for users: lower case, no final period.
    pub message: String,
}

/// Compares a document with a policy in both directions: first in the order of the document, then in the order
/// of the policy.
///
/// Operations that [`import`](crate::import) leaves out are also left out here. If all differences are
/// [`Unclear`](DriftKind::Unclear), the policy allows no call with weaker requirements than the document. The names of
/// parameters don't matter. Orbs are compared if the document or `options` state them. The rule for organisations'
/// tokens is compared if the document has `x-orbs-api`; without it, no such token may be allowed without a scope.
///
/// # Errors
///
/// Returns errors in the document as a whole, or in the options for it; never empty.
pub fn check(bytes: &[u8], options: &Options, policy: &Policy) -> Result<Vec<Drift>, Vec<Diagnostic>> {
    let mut document = crate::read::read(bytes, options)?;
    left_out::duplicates(&mut document);
    let needs: Vec<_> = document.operations.iter().map(|operation| operation.need.as_ref().ok().cloned()).collect();
    forget_charges(&mut document);
    settled(&mut document)?;
    let mut routes = routes(policy);
    let mut drift = Vec::new();
    // Operations of one call share a route, so one of them is compared.
    let operations = document.operations.iter().zip(needs).filter(|(operation, _)| !document.shares_a_route(operation));
    for (operation, own_need) in operations {
        let key = (operation.method.as_deref().unwrap_or_default(), shape(&operation.path));
        let route = match &operation.method {
            Some(_) => routes.get_mut(&key),
            None => None,
        };
        let location = route.as_ref().map(|route| route.rule.location());
        let differences = compared(operation, own_need.as_ref(), route, &document);
        drift.extend(differences.into_iter().map(|(kind, message)| Drift {
            kind,
            operation: operation.name(),
            document: Some(operation.location),
            policy: location,
            message,
        }));
    }
    drift.extend(closed(&document, policy, &routes));
    let mut extra: Vec<_> = routes.into_values().filter(|route| !route.seen).collect();
    extra.sort_by_key(|route| route.rule.location());
    drift.extend(extra.into_iter().map(|route| Drift {
        kind: DriftKind::Extra,
        operation: route.name(),
        document: None,
        policy: Some(route.rule.location()),
        message: format!("the document has no such operation; the policy says scope {}", any_of(route.alternatives())),
    }));
    Ok(drift)
}

/// The differences between an operation and the policy's route for it. `own_need` is the requirement that
/// the operation itself states.
fn compared(
    operation: &Operation,
    own_need: Option<&Need>,
    route: Option<&mut Route<'_>>,
    document: &Document,
) -> Vec<(DriftKind, String)> {
    match (&operation.need, route) {
        (Err(problem), None) => {
            let message = format!("{} [{}]", problem.message, problem.kind);
            vec![(DriftKind::Unclear, message)]
        }
        (Err(problem), Some(route)) => {
            route.seen = true;
            let scope = any_of(route.alternatives());
            let message = format!(
                "the policy says scope {scope}, and no policy can say what the document does: {} [{}]",
                problem.message, problem.kind
            );
            // Differences count even so, if the operation itself states only one requirement.
            let differences = own_need.map(|need| route.differences(need, document));
            let unequal = core::iter::once((DriftKind::Unequal, message));
            unequal.chain(differences.into_iter().flatten()).collect()
        }
        (Ok(need), None) => {
            let scope = any_of(need.needed.alternatives());
            let message = format!("the policy has no such route; the document says scope {scope}");
            vec![(DriftKind::Missing, message)]
        }
        (Ok(need), Some(route)) => {
            route.seen = true;
            route.differences(own_need.unwrap_or(need), document)
        }
    }
}

/// Forgets the orbs of scopes, and gives each operation its own: a policy needs consistent orbs, and a document doesn't.
fn forget_charges(document: &mut Document) {
    let operations = document.operations.iter_mut();
    for need in operations.filter_map(|operation| operation.need.as_mut().ok()) {
        need.own = true;
        need.orbs = Some(Orbs::Unstated);
    }
    let apis = document.schemes.all.iter_mut().filter_map(|scheme| scheme.api.as_mut());
    for scope in apis.flat_map(|api| &mut api.scopes) {
        scope.orbs = None;
    }
}

struct Route<'p> {
    api: &'p Api,
    path: String,
    scope: &'p ScopeRule,
    rule: &'p RouteRule,
    seen: bool,
}

/// The routes of a policy, by method and shape.
fn routes(policy: &Policy) -> HashMap<(&str, String), Route<'_>> {
    let mut routes = HashMap::new();
    for api in policy.apis() {
        for scope in api.scopes() {
            for rule in scope.routes() {
                let path = full_path(policy, api, rule.template());
                let route = Route { api, path, scope, rule, seen: false };
                routes.insert((rule.method(), shape(&route.path)), route);
            }
        }
    }
    routes
}

impl Route<'_> {
    fn name(&self) -> String {
        format!("{} {}", self.rule.method(), self.path)
    }

    /// What a call needs: alternatives, each of scopes separated by one space, the owner's first.
    fn alternatives(&self) -> impl Iterator<Item = String> {
        let requirement = self.rule.requirement();
        let own = requirement.is_none().then(|| self.scope.name().to_owned());
        let stated = requirement.into_iter().flat_map(|requirement| requirement.alternatives().map(str::to_owned));
        own.into_iter().chain(stated)
    }

    fn differences(&self, need: &Need, document: &Document) -> Vec<(DriftKind, String)> {
        let mut differences = Vec::new();
        let (says, has) = ("the document says", "the policy says");
        if !need.needed.alternatives().eq(self.alternatives()) {
            let message =
                format!("{says} scope {}, {has} {}", any_of(need.needed.alternatives()), any_of(self.alternatives()));
            differences.push((DriftKind::Scope, message));
        }
        let own = self.rule.orbs().or(self.scope.orbs());
        if need.orbs.is_some() && need.orbs != own {
            let [one, other] = [need.orbs, own].map(words);
            differences.push((DriftKind::Orbs, format!("{says} {one}, {has} {other}")));
        }
        let scheme = document.schemes.all.get(need.needed.scheme);
        let facts = scheme.and_then(|scheme| scheme.api.as_ref());
        let own = self.api.organisation();
        let stated = facts.and_then(|facts| facts.organisation.as_deref());
        let differs = match facts {
            Some(_) => stated != own.map(OrganisationRule::as_str),
            // Settings that the document doesn't state aren't compared, but every token needs the
            // scope.
            None => own == Some(OrganisationRule::AllowWithoutScope),
        };
        if differs {
            let [one, other] = [stated, own.map(OrganisationRule::as_str)].map(|rule| match rule {
                Some(rule) => format!("`organisation: {rule}`"),
                None => "that any token will do".to_owned(),
            });
            let message = format!("{says} {one}, {has} {other}");
            differences.push((DriftKind::Organisation, message));
        }
        differences
    }
}

/// Paths that only the document or only the policy closes. A path that has a route in the policy is no other route's.
fn closed(document: &Document, policy: &Policy, routes: &HashMap<(&str, String), Route<'_>>) -> Vec<Drift> {
    let slash = if document.policy.trailing_slash { "/" } else { "" };
    let full = |path: &str| shape(&if path.ends_with('/') { path.to_owned() } else { format!("{path}{slash}") });
    let mut own = HashMap::new();
    for api in policy.apis() {
        own.extend(api.closed().iter().map(|closed| {
            let path = full_path(policy, api, closed.template());
            (shape(&path), (path, closed.location()))
        }));
    }
    let with_routes: HashSet<_> = routes.keys().map(|(_, shape)| shape.as_str()).collect();
    let mut drift = Vec::new();
    for closed in &document.closed {
        let shape = full(&closed.path);
        if own.contains_key(&shape) || with_routes.contains(shape.as_str()) {
            continue;
        }
        let message = match &closed.against {
            Some((route, line)) => {
                format!("the policy doesn't close the path, so {} (line {line}) decides its calls", quoted(route))
            }
            None => "the policy doesn't close the path, for which the document has no operations".to_owned(),
        };
        let operation = closed.path.clone();
        drift.push(Drift {
            kind: DriftKind::Closed,
            operation,
            document: Some(closed.location),
            policy: None,
            message,
        });
    }
    let operations = document.operations.iter().map(|operation| &operation.path);
    for path in operations.chain(document.empty.iter().map(|empty| &empty.path)) {
        own.remove(&full(path));
    }
    let mut extra: Vec<_> = own.into_values().collect();
    extra.sort_by_key(|(_, location)| *location);
    drift.extend(extra.into_iter().map(|(operation, location)| Drift {
        kind: DriftKind::Closed,
        operation,
        document: None,
        policy: Some(location),
        message: "the document has no such path; the policy closes it".to_owned(),
    }));
    drift
}
