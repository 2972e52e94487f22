//! Questions about one policy that go beyond one decision, for audits.

use orbgate::{Allow, Decision, Engine, Request, Requirement, Route, Scope, Scopes, Token};

/// A row of the table: a route with its scope, or a scope without routes in its api.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRow<'e> {
    /// The scope, with its orb column and permitted action.
    pub scope: Scope<'e>,
    /// The api.
    pub api: &'e str,
    /// The route; `None` if the scope has none in this api.
    pub route: Option<Route<'e>>,
}

/// The table of specification §4.2 as rows, in the order of the policy file: one for each route, and one
/// for each scope that has no routes in its api.
pub fn table_rows(engine: &Engine) -> impl Iterator<Item = TableRow<'_>> {
    engine.scopes_in_apis().flat_map(|in_api| {
        let mut routes = in_api.routes().map(Some).peekable();
        let none = routes.peek().is_none().then_some(None);
        routes.chain(none).map(move |route| TableRow { scope: in_api.scope(), api: in_api.api(), route })
    })
}

/// The rows of the table that can be called: routes, and scopes that have no route in any api, which are decided by
/// scope. A scope of several apis appears once, in [the first](Scope::api).
pub fn callable_rows(engine: &Engine) -> impl Iterator<Item = TableRow<'_>> {
    let is_one = |scope: Scope<'_>, api| scope.routes().next().is_none() && scope.api() == api;
    table_rows(engine).filter(move |row| row.route.is_some() || is_one(row.scope, row.api))
}

/// The route that a method and a target reach. The route names the scope that the call needs.
///
/// # Errors
///
/// The denial that every token gets: `malformed_request`, `no_route` or `method_not_declared`.
pub fn route_of<'e>(
    engine: &'e Engine,
    method: impl AsRef<[u8]>,
    target: impl AsRef<[u8]>,
) -> Result<Route<'e>, Decision<'e>> {
    let decision = engine.decide(&call(method.as_ref(), target.as_ref(), Token::user("")));
    decision.about().ok_or(decision)
}

/// Everything that a token can call, with the orbs that each call consumes, in the order of the policy
/// file: routes, and scopes without routes, which are decided by scope.
pub fn reach<'e>(engine: &'e Engine, token: Token<'_>) -> impl Iterator<Item = Allow<'e>> + use<'e> {
    // Interned once: searching the string for each route would take routes times scopes.
    let held = match token.scopes {
        Scopes::Text(text) => engine.scopes(text),
        Scopes::Set(set) => set.clone(),
    };
    callable_rows(engine).filter_map(move |row| {
        let token = Token { kind: token.kind, scopes: Scopes::Set(&held) };
        let decision = match row.route {
            Some(route) => engine.decide_route(route.id(), Some(token), false),
            None => engine.decide_scope(row.scope.name(), Some(token), false),
        };
        allowed(decision)
    })
}

/// The tokens that may make a call: their positions, each with the decision that allows it.
pub fn who_may<'e, 't>(
    engine: &'e Engine,
    method: impl AsRef<[u8]>,
    target: impl AsRef<[u8]>,
    tokens: impl IntoIterator<Item = Token<'t>>,
) -> Vec<(usize, Allow<'e>)> {
    let (method, target) = (method.as_ref(), target.as_ref());
    let decide = |token| allowed(engine.decide(&call(method, target, token)));
    let tokens = tokens.into_iter().enumerate();
    tokens.filter_map(|(at, token)| Some((at, decide(token)?))).collect()
}

/// The scopes with which a user's token may make a call of this route: those of the owner's alternative, or just the scope.
/// Separated by one space.
pub(crate) fn needed(scope: Scope<'_>, requirement: Option<Requirement<'_>>) -> String {
    requirement.map_or_else(|| scope.name().to_owned(), |requirement| requirement.of_owner().to_string())
}

/// A request for a call. Bonus orbs don't affect scopes.
pub(crate) const fn call<'a>(method: &'a [u8], target: &'a [u8], token: Token<'a>) -> Request<'a> {
    Request { method, target, token: Some(token), allow_bonus_orbs_use: false }
}

const fn allowed(decision: Decision<'_>) -> Option<Allow<'_>> {
    match decision {
        Decision::Allow(allow) => Some(allow),
        Decision::Deny(_) => None,
    }
}
