//! What the token of a denied call lacks: scopes that its issuer gives, or what only a login gives (RFC 9470).

use orbgate::{Decision, Reason, Scope, TokenKind, is_earned};
use orbgate_token::Login;

use crate::credentials::{Credentials, Verified};

/// What the token of a denied call lacks, of the owner's alternative: it is enough, and never sends a client for an
/// administrator's scope.
pub(crate) enum Lacking<'e, 't> {
    /// The call isn't denied for its scopes.
    Nothing,
    /// Scopes that a client can request.
    Scopes(Needed<'e>),
    /// Only earned scopes, which no client can request, and at least one that no login of the caller gives.
    Earned,
    /// Only earned scopes that a token has which is bound to a key.
    Proof,
    /// Only earned scopes that this login gives.
    Login(Login<'t>),
}

/// The scopes of the owner's alternative.
pub(crate) struct Needed<'e>(Decision<'e>);

impl<'e> Needed<'e> {
    fn scopes(&self) -> impl Iterator<Item = Scope<'e>> + use<'e> {
        let alternative = self.0.requirement().map(|requirement| requirement.of_owner());
        let owner = self.0.scope().filter(|_| alternative.is_none());
        alternative.into_iter().flatten().chain(owner)
    }

    fn requestable(&self) -> impl Iterator<Item = Scope<'e>> + use<'e> {
        self.scopes().filter(|scope| !is_earned(scope.name()))
    }

    /// Those that a client can request, separated by spaces, whatever the token has of them.
    pub(crate) fn names(&self) -> String {
        let mut names = String::new();
        for scope in self.requestable() {
            names.push_str(if names.is_empty() { "" } else { " " });
            names.push_str(scope.name());
        }
        names
    }
}

impl<'e, 't> Lacking<'e, 't> {
    pub(crate) fn of<T: Verified>(decision: &Decision<'e>, credentials: &'t Credentials<T>) -> Self {
        let is_of_kind = match decision.reason().of_engine() {
            Reason::UserTokenRequired => true,
            Reason::ScopeMissing => false,
            _ => return Self::Nothing,
        };
        let (token, needed) = (credentials.token(), Needed(*decision));
        let lacks = |scope: &Scope<'_>| token.is_none_or(|token| !scope.is_among(token.scopes));
        if needed.requestable().any(|scope| is_of_kind || lacks(&scope)) {
            return Self::Scopes(needed);
        }
        let Credentials::Token(verified) = credentials else { return Self::Earned };
        let lacked: Vec<_> = needed.scopes().filter(lacks).map(|scope| scope.name()).collect();
        if !is_of_kind && verified.lacks_proof(&lacked) {
            return Self::Proof;
        }
        // Only a user can log in.
        if is_of_kind || token.is_none_or(|token| token.kind != TokenKind::User) {
            return Self::Earned;
        }
        // A login replaces what the last one gave, so it must give those again that the token has.
        let of_login = |scope: &Scope<'_>| lacks(scope) || verified.login(&[scope.name()]).is_some();
        let earned = needed.scopes().filter(|scope| is_earned(scope.name()) && of_login(scope));
        let names: Vec<_> = earned.map(|scope| scope.name()).collect();
        verified.login(&names).filter(|_| !names.is_empty()).map_or(Self::Earned, Self::Login)
    }
}
