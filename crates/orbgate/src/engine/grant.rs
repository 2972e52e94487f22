//! The two steps that put a scope into a token, and which step is missing for a denied call (specification §5.4
//! and §5.5).

use super::Engine;
use crate::codes;
use crate::decide::decision::Decision;
use crate::decide::token::{ScopeSet, Scopes};
use crate::listing::Scope;
use crate::tables::reason::Reason;
use crate::tables::terms::is_earned;

/// The two steps by which an application gets scopes: it declares them, and it requests them. A token has a scope
/// only if both steps were done.
///
/// Decisions read only the token, and the HTTP response is still a bare 403. Use a grant to explain to users
/// why a token lacks the scope that a call needs.
///
/// ```
/// use orbgate::{Engine, Grant, MissingStep, Request, Token};
///
/// let decision = Engine::external().decide(&Request {
///     method: b"POST",
///     target: b"/api/v1/external/voxies",
///     token: Some(Token::user("read:voxies")),
///     allow_bonus_orbs_use: false,
/// });
/// let grant = Grant::new("read:voxies write:voxies", "read:voxies");
/// assert_eq!(grant.missing_step(&decision, "read:voxies"), Some(MissingStep::NotRequested));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant<'a> {
    /// The scopes declared in the Permissions tab of the application, in the developer console; `None` if
    /// they aren't known.
    pub declared: Option<Scopes<'a>>,
    /// The scopes requested in the `scope` parameter of the authorization request; `None` if they aren't known.
    pub requested: Option<Scopes<'a>>,
}

impl<'a> Grant<'a> {
    /// A grant in which both steps are known. Pass the scopes as a string, as bytes, or as a
    /// [`ScopeSet`].
    #[must_use]
    pub fn new(declared: impl Into<Scopes<'a>>, requested: impl Into<Scopes<'a>>) -> Self {
        Self { declared: Some(declared.into()), requested: Some(requested.into()) }
    }

    /// Whether a token that is issued now has the scope; `None` if the known steps don't determine it, as for each scope that
    /// [must be earned](is_earned).
    #[must_use]
    pub fn carries(&self, scope: Scope<'_>) -> Option<bool> {
        let (declared, requested) = self.steps(scope);
        both(declared, requested).filter(|_| !is_earned(scope.name()))
    }

    /// The engine's scopes that a token issued now has; `None` if a step isn't known. Visits every scope of the policy.
    ///
    /// ```
    /// # use orbgate::{Engine, Grant};
    /// let engine = Engine::external();
    /// let grant = Grant::new("read:orbs write:vox", "openid write:vox read:vox");
    /// assert_eq!(grant.scopes(engine), Some(engine.scopes("write:vox")));
    /// ```
    #[must_use]
    pub fn scopes(&self, engine: &Engine) -> Option<ScopeSet> {
        self.declared.and(self.requested)?;
        let all = engine.scope_table();
        let carried = all.filter(|scope| self.carries(*scope) == Some(true));
        Some(engine.scope_set(carried.map(|scope| scope.name())))
    }

    /// The missing step for a denied call, given the scopes of its token. It is about the scope that the call needs. If
    /// the route needs more or other than one scope, it is about those scopes of the
    /// [owner's alternative](crate::Requirement::of_owner) that the token lacks: `both` also if one isn't declared and
    /// another isn't requested, `not_earned` if all of them [must be earned](is_earned). `None` if the call was allowed, or
    /// denied for a reason that neither step can change.
    #[must_use]
    pub fn missing_step<'t>(&self, decision: &Decision<'_>, held: impl Into<Scopes<'t>>) -> Option<MissingStep> {
        match decision.reason() {
            Reason::UserTokenRequired => Some(MissingStep::TokenKind),
            Reason::ScopeMissing => {
                let (scope, held) = (decision.scope()?, held.into());
                let Some(requirement) = decision.requirement() else {
                    return Some(self.step([scope].into_iter()));
                };
                Some(self.step(requirement.of_owner().filter(|scope| !scope.is_among(held))))
            }
            _ => None,
        }
    }

    /// The step that is missing for these scopes, which a token lacks.
    fn step<'e>(&self, lacking: impl Iterator<Item = Scope<'e>>) -> MissingStep {
        let (mut steps, mut is_earned_lacking) = (None, false);
        for scope in lacking {
            if is_earned(scope.name()) {
                is_earned_lacking = true;
                continue;
            }
            let (declared, requested) = self.steps(scope);
            let so_far = steps.unwrap_or((Some(true), Some(true)));
            steps = Some((both(so_far.0, declared), both(so_far.1, requested)));
        }
        match steps {
            Some(steps) => step(steps),
            None if is_earned_lacking => MissingStep::NotEarned,
            None => MissingStep::TokenOlder,
        }
    }

    /// Whether each step was done for the scope, if known.
    fn steps(&self, scope: Scope<'_>) -> Steps {
        let done = |step: Option<Scopes<'_>>| Some(scope.is_among(step?));
        (done(self.declared), done(self.requested))
    }
}

/// Whether each step was done for a scope, if known.
type Steps = (Option<bool>, Option<bool>);

/// Whether both are so, if known.
const fn both(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// The step that is missing.
const fn step(steps: Steps) -> MissingStep {
    match steps {
        (Some(false), Some(false)) => MissingStep::Both,
        (Some(false), _) => MissingStep::NotDeclared,
        (_, Some(false)) => MissingStep::NotRequested,
        (Some(true), Some(true)) => MissingStep::TokenOlder,
        _ => MissingStep::NotKnown,
    }
}

codes! {
    /// The missing step for a denied call. Strings are frozen: a later release can add one, but never renames or
    /// removes one.
    #[non_exhaustive]
    pub enum MissingStep {
        NotDeclared: "not_declared", "the scope is not declared in the Permissions tab of the application";
        NotRequested: "not_requested",
            "the scope is not requested in the `scope` parameter of the authorization request";
        Both: "both",
            "the scope is not declared in the Permissions tab of the application, and not requested in the \
                 `scope` parameter of the authorization request";
        TokenOlder: "token_older", "the scope is granted, but the token is older: a new one will carry it";
        /// Specification §5.6.
        TokenKind: "token_kind", "the scope applies only to a user's token, even where it is granted";
        NotKnown: "not_known", "the scope is not declared, or not requested, or granted after the token was issued";
        NotEarned: "not_earned",
            "the scope must be earned: no application can request it, and a gate gives it to tokens that pass its tests \
                 (`derive` in the token configuration)";
    }
}

crate::texts! { MissingStep }
