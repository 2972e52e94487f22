//! Explains a decision step by step.

use orbgate::{Charge, Decision, Engine, Grant, MissingStep, Request, Requirement, RouteId, Scopes, Token};

use crate::near::{NearMiss, near_misses};
use crate::questions::needed;
use crate::rules::{TargetRule, in_order, target_rules};

/// A decision, the steps that led to it, and the changes that would lead to a different decision.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Explanation<'e> {
    /// The engine's decision.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub decision: Decision<'e>,
    /// The step that is missing for the denied call's scope.
    pub missing_step: Option<MissingStep>,
    /// The alternatives of the route, the owner's first. Empty if the route needs just its scope, or if there is no route.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub alternatives: Vec<TriedAlternative<'e>>,
    /// The orbs that the denied call would consume if a user's token with the needed scopes made it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub orbs_if_allowed: Option<Charge>,
    /// The length of a malformed target's valid prefix, in bytes: see [`in_order`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub in_order: Option<usize>,
    /// The rules that the call was checked against, by number. Empty for a decision by route or scope.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub rules: Vec<TargetRule>,
    /// Routes that almost match the call, the nearest first: see [`near_misses`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub near: Vec<NearMiss<'e>>,
}

/// An alternative of what a route needs, and how far a token has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TriedAlternative<'e> {
    /// Its scopes, which are enough together. None of them can be spared.
    pub scopes: Vec<&'e str>,
    /// Those of them that the token lacks. Empty if it has the alternative.
    pub lacking: Vec<&'e str>,
}

/// Tries the alternatives of a route on a token with these scopes.
///
/// ```
/// use orbgate::{Engine, Policy};
///
/// let policy = "orbgate: 1\napis: { a: { base_path: '', scopes: {\
///     read: { orbs: false, or: [admin], routes: [GET /a] }, admin: { routes: [] } } } }";
/// let engine = Engine::new(&Policy::from_yaml(policy)?);
/// let route = engine.routes().next().unwrap();
/// let tried = orbgate_analysis::alternatives(&route.requirement(), "admin");
/// let lacking: Vec<_> = tried.iter().map(|alternative| alternative.lacking.as_slice()).collect();
/// assert_eq!(lacking, [&["read"][..], &[]]);
/// # Ok::<_, orbgate::PolicyError>(())
/// ```
pub fn alternatives<'e, 't>(requirement: &Requirement<'e>, held: impl Into<Scopes<'t>>) -> Vec<TriedAlternative<'e>> {
    let held = held.into();
    let tried = requirement.alternatives().map(|scopes| TriedAlternative {
        scopes: scopes.clone().map(|scope| scope.name()).collect(),
        lacking: scopes.filter(|scope| !scope.is_among(held)).map(|scope| scope.name()).collect(),
    });
    tried.collect()
}

/// Explains the decision on a call. The grant contains the known scopes that the call's application declared
/// and requested. Time is linear in the number of routes.
///
/// ```
/// use orbgate::{Engine, Grant, Request, RouteId, Token};
///
/// let request = Request {
///     method: b"GET",
///     target: b"/api/v1/external/voxie/7",
///     token: Some(Token::user("read:voxies")),
///     allow_bonus_orbs_use: false,
/// };
/// let explained = orbgate_analysis::explain(Engine::external(), &request, &Grant::default());
/// assert_eq!(explained.decision.reason().as_str(), "no_route");
/// assert_eq!(explained.near[0].meant.as_deref(), Some("/api/v1/external/voxies/7"));
/// ```
#[must_use]
pub fn explain<'e>(engine: &'e Engine, request: &Request<'_>, grant: &Grant<'_>) -> Explanation<'e> {
    let decide = |token: Option<Token<'_>>| engine.decide(&Request { token, ..*request });
    let mut explained = of_decision(decide, request.token, grant);
    let decision = &explained.decision;
    explained.in_order = decision.detail().and_then(|_| in_order(engine, request.target));
    explained.rules = target_rules(engine, request.target, decision);
    let text = (str::from_utf8(request.method), str::from_utf8(request.target));
    if let (Ok(method), Ok(target)) = text {
        explained.near = near_misses(engine, method, target);
    }
    explained
}

/// Explains a decision by route, without a target.
#[must_use]
pub fn explain_route<'e>(
    engine: &'e Engine,
    route: RouteId,
    token: Option<Token<'_>>,
    allow_bonus_orbs_use: bool,
    grant: &Grant<'_>,
) -> Explanation<'e> {
    let decide = |token: Option<Token<'_>>| engine.decide_route(route, token, allow_bonus_orbs_use);
    of_decision(decide, token, grant)
}

/// Explains a decision by scope, without a route.
#[must_use]
pub fn explain_scope<'e>(
    engine: &'e Engine,
    scope: impl AsRef<[u8]>,
    token: Option<Token<'_>>,
    allow_bonus_orbs_use: bool,
    grant: &Grant<'_>,
) -> Explanation<'e> {
    let scope = scope.as_ref();
    let decide = |token: Option<Token<'_>>| engine.decide_scope(scope, token, allow_bonus_orbs_use);
    of_decision(decide, token, grant)
}

/// The parts that every explanation contains.
fn of_decision<'e>(
    decide: impl Fn(Option<Token<'_>>) -> Decision<'e>,
    token: Option<Token<'_>>,
    grant: &Grant<'_>,
) -> Explanation<'e> {
    let decision = decide(token);
    let held = token.map_or(Scopes::Text(b""), |token| token.scopes);
    let requirement = decision.requirement();
    Explanation {
        missing_step: grant.missing_step(&decision, held),
        alternatives: requirement.map(|requirement| alternatives(&requirement, held)).unwrap_or_default(),
        orbs_if_allowed: charge_if_allowed(&decision, decide),
        decision,
        in_order: None,
        rules: Vec::new(),
        near: Vec::new(),
    }
}

fn charge_if_allowed<'e>(
    decision: &Decision<'e>,
    decide: impl Fn(Option<Token<'_>>) -> Decision<'e>,
) -> Option<Charge> {
    if decision.is_allow() {
        return None;
    }
    let denial = decide(Some(Token::user("")));
    let scopes = needed(denial.scope()?, denial.requirement());
    match decide(Some(Token::user(&scopes))) {
        Decision::Allow(allow) => allow.charge(),
        Decision::Deny(_) => None,
    }
}
