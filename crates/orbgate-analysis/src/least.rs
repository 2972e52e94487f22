//! Finds the least set of scopes for a list of calls.

use std::collections::HashMap;

use orbgate::{Decision, Deny, Engine, Reason, Request, Scope, Scopes, Token, TokenKind};

use crate::questions::call;

/// The least set of scopes with which a token of some kind can make a list of calls.
///
/// It is irreducible: if any scope is removed, the call that is its evidence is denied. A route with alternatives is
/// exempt: the set has the scopes of the owner's, even if others of its scopes are enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeastScopes<'e> {
    /// The scopes, in the order of the calls that first need them.
    pub needs: Vec<Need<'e>>,
    /// The calls that no scope allows, grouped by their denials, in the order of the first call of each
    /// group.
    pub refusals: Vec<Refusal<'e>>,
    /// The position of each scope in `needs`.
    positions: HashMap<&'e str, usize>,
}

/// A required scope, and the evidence for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Need<'e> {
    /// The scope.
    pub scope: Scope<'e>,
    /// The position of the first call that needs it.
    pub evidence: usize,
    /// The number of calls that need it.
    pub calls: usize,
}

/// Calls that no scope allows, all with the same denial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal<'e> {
    /// The position of the first of these calls.
    pub call: usize,
    /// The denial.
    pub deny: Deny<'e>,
    /// The number of calls.
    pub calls: usize,
}

/// Finds the least set of scopes for calls, each a method and a target, made with a token of this kind.
/// Makes one decision per call.
///
/// ```
/// use orbgate::{Engine, TokenKind};
///
/// let calls = [
///     ("GET", "/api/v1/external/voxies"),
///     ("GET", "/api/v1/external/voxies/7"),
///     ("POST", "/api/v1/external/voxies"),
///     ("GET", "/nowhere"),
/// ];
/// let least = orbgate_analysis::least_scopes(Engine::external(), TokenKind::User, calls);
/// let needs: Vec<_> = least.needs.iter().map(|need| (need.scope.name(), need.evidence, need.calls)).collect();
/// assert_eq!(needs, [("read:voxies", 0, 2), ("write:voxies", 2, 1)]);
/// assert_eq!((least.refusals[0].call, least.refusals[0].calls), (3, 1));
/// ```
pub fn least_scopes<M: AsRef<[u8]>, T: AsRef<[u8]>>(
    engine: &Engine,
    kind: TokenKind,
    calls: impl IntoIterator<Item = (M, T)>,
) -> LeastScopes<'_> {
    let mut least = LeastScopes::default();
    for (at, (method, target)) in calls.into_iter().enumerate() {
        least.add(engine, kind, at, method, target);
    }
    least
}

impl<'e> LeastScopes<'e> {
    /// Adds a call whose position is `at`. All calls must use the same engine. A call without a kind has no
    /// token.
    pub fn add(
        &mut self,
        engine: &'e Engine,
        kind: impl Into<Option<TokenKind>>,
        at: usize,
        method: impl AsRef<[u8]>,
        target: impl AsRef<[u8]>,
    ) {
        let request = Request {
            token: kind.into().map(without_scopes),
            ..call(method.as_ref(), target.as_ref(), Token::user(""))
        };
        let scopes = match needed(engine.decide(&request)) {
            Ok(scopes) => scopes,
            Err(deny) => return self.refuse(at, deny),
        };
        for scope in scopes {
            let position = *self.positions.entry(scope.name()).or_insert(self.needs.len());
            match self.needs.get_mut(position) {
                Some(need) => need.calls = need.calls.saturating_add(1),
                None => self.needs.push(Need { scope, evidence: at, calls: 1 }),
            }
        }
    }

    /// There are few distinct denials: one for each route and reason.
    fn refuse(&mut self, at: usize, deny: Deny<'e>) {
        match self.refusals.iter_mut().find(|refusal| refusal.deny == deny) {
            Some(refusal) => refusal.calls = refusal.calls.saturating_add(1),
            None => self.refusals.push(Refusal { call: at, deny, calls: 1 }),
        }
    }
}

/// The scopes that a token of this kind needs for a call; none if it needs none. If the route has alternatives, those of
/// the owner's.
///
/// # Errors
///
/// The denial of a call that no scope allows.
pub fn scopes_needed<'e>(
    engine: &'e Engine,
    kind: TokenKind,
    method: impl AsRef<[u8]>,
    target: impl AsRef<[u8]>,
) -> Result<Vec<Scope<'e>>, Deny<'e>> {
    needed(engine.decide(&call(method.as_ref(), target.as_ref(), without_scopes(kind))))
}

/// The scope that a token of this kind needs for a decision by scope, without a route; none if it needs none.
///
/// # Errors
///
/// The denial, if no scope changes it.
pub fn scopes_needed_by_name(
    engine: &Engine,
    kind: TokenKind,
    scope: impl AsRef<[u8]>,
) -> Result<Vec<Scope<'_>>, Deny<'_>> {
    needed(engine.decide_scope(scope, Some(without_scopes(kind)), false))
}

const fn without_scopes(kind: TokenKind) -> Token<'static> {
    Token { kind, scopes: Scopes::Text(b"") }
}

/// Denies a token without scopes. The denial names what the route needs.
fn needed(decision: Decision<'_>) -> Result<Vec<Scope<'_>>, Deny<'_>> {
    match decision {
        Decision::Allow(_) => Ok(Vec::new()),
        Decision::Deny(deny) => match (deny.reason(), deny.scope()) {
            (Reason::ScopeMissing, Some(scope)) => {
                let requirement = decision.requirement();
                Ok(requirement.map_or_else(|| vec![scope], |requirement| requirement.of_owner().collect()))
            }
            _ => Err(deny),
        },
    }
}
