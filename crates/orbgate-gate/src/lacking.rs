//! What the token of a denied call lacks: scopes that its issuer gives, or what only a login gives (RFC 9470).

use orbgate::{Decision, Reason, Scope, is_earned};
use orbgate_token::Login;

use crate::credentials::{Credentials, Verified};

/// What the token of a denied call lacks, of the owner's alternative: it is enough, and never sends a client for an
/// administrator's scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lacking<'t> {
    /// The call isn't denied for its scopes.
    Nothing,
    /// The scopes of the alternative that a client can request, separated by spaces, whatever the token has of them.
    Scopes(String),
    /// Only earned scopes, which no client can request, and at least one that no login gives.
    Earned,
    /// Only earned scopes that this login gives.
    Login(Login<'t>),
}

impl<'t> Lacking<'t> {
    pub(crate) fn of<T: Verified>(decision: &Decision<'_>, credentials: &'t Credentials<T>) -> Self {
        let is_of_kind = match decision.reason().of_engine() {
            Reason::UserTokenRequired => true,
            Reason::ScopeMissing => false,
            _ => return Self::Nothing,
        };
        let scopes = credentials.token().map(|token| token.scopes);
        let lacks = |scope: &Scope<'_>| scopes.is_none_or(|scopes| !scope.is_among(scopes));
        let (earned, ordinary): (Vec<_>, Vec<_>) = needed(decision).partition(|scope| is_earned(scope.name()));
        if !ordinary.is_empty() && (is_of_kind || ordinary.iter().any(lacks)) {
            let names = ordinary.iter().map(Scope::name).collect::<Vec<_>>();
            return Self::Scopes(names.join(" "));
        }
        let Credentials::Token(token) = credentials else {
            return Self::Earned;
        };
        // A login replaces what the last one gave, so it must give those again that the token has.
        let of_login = |scope: &Scope<'_>| lacks(scope) || token.login(&[scope.name()]).is_some();
        let names = earned.iter().filter(|scope| of_login(scope)).map(Scope::name).collect::<Vec<_>>();
        match token.login(&names).filter(|_| !is_of_kind && !names.is_empty()) {
            Some(login) => Self::Login(login),
            None => Self::Earned,
        }
    }
}

/// The owner's alternative.
fn needed<'e>(decision: &Decision<'e>) -> impl Iterator<Item = Scope<'e>> + use<'e> {
    let alternative = decision.requirement().map(|requirement| requirement.of_owner());
    let owner = decision.scope().filter(|_| alternative.is_none());
    alternative.into_iter().flatten().chain(owner)
}
