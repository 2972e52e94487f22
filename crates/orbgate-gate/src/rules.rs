//! What is decided of a request, and what its caller is told: pure functions.

use orbgate::{Decision, Detail, Engine, Reason, Token};

use crate::answer::{Answer, Denial};
use crate::challenge::{Challenge, Refusal};
use crate::credentials::Credentials;
use crate::matched::Misrouted;
use crate::method::is_overridden;
use crate::request::Request;
use crate::upgrade::lists_h2c;

/// How a gate decides and answers; the defaults are the strict ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// What a denied caller is told in `WWW-Authenticate`.
    pub challenge: Challenge,
    /// Answers every denial with 403, so that a caller cannot tell an unknown route from a missing scope.
    /// [`Challenge::None`] does so by itself.
    pub flat_403: bool,
    /// Decides by the method of the request line even if a header overrides it. Only safe if nothing follows such headers.
    pub ignore_method_override: bool,
}

/// A decision, and how the router disagrees with what would have been allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two results of one function")]
pub struct Decided<'e, 'r> {
    /// The decision.
    pub decision: Decision<'e>,
    /// What was allowed, but by another route than the router's.
    pub misrouted: Option<Misrouted<'e, 'r>>,
}

impl Rules {
    /// The strict ones.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            challenge: Challenge::Minimal,
            flat_403: false,
            ignore_method_override: false,
        }
    }

    /// The decision about a request with this token. If the engine allows it by another route than the router's, the request is
    /// denied as one without a route.
    pub fn decide<'e, 'r>(
        &self,
        engine: &'e Engine,
        request: &Request<'r>,
        token: Option<Token<'_>>,
    ) -> Decided<'e, 'r> {
        let decision = self.decide_unrouted(engine, request, token);
        match request.matched.instead_of(&decision) {
            None => Decided {
                decision,
                misrouted: None,
            },
            misrouted => Decided {
                decision: engine.decide_scope("", token, false),
                misrouted,
            },
        }
    }

    /// The token to verify. This comes first: then a verifier judges the token, and then [`Rules::decide`] decides.
    ///
    /// # Errors
    ///
    /// Not an error: what is known without a verifier. A request that is malformed whatever its token is denied without waiting
    /// for keys, so its token isn't read: an upgrade to `h2c`, an overridden method, or a method or target that no policy accepts.
    pub fn token<'r, T>(
        &self,
        engine: &Engine,
        request: &Request<'r>,
    ) -> Result<&'r str, Credentials<T>> {
        let decision = self.decide_unrouted(engine, request, None);
        match decision.reason() {
            Reason::MalformedRequest => Err(Credentials::None),
            _ => Credentials::bearer(request.authorization.iter().copied()),
        }
    }

    fn decide_unrouted<'e>(
        &self,
        engine: &'e Engine,
        request: &Request<'_>,
        token: Option<Token<'_>>,
    ) -> Decision<'e> {
        if lists_h2c(request.upgrade) {
            return engine.deny_malformed(Detail::Upgrade);
        }
        if !self.ignore_method_override && is_overridden(request.header_names) {
            return engine.deny_malformed(Detail::Method);
        }
        engine.decide(&orbgate::Request {
            method: request.method,
            target: request.target,
            token,
            allow_bonus_orbs_use: request.allow_bonus_orbs_use,
        })
    }

    /// The answer to a request that is decided, by what is known of its caller.
    pub fn answer<'e, T>(
        &self,
        decided: Decided<'e, '_>,
        credentials: Credentials<T>,
    ) -> Answer<'e, T> {
        let Decided {
            decision,
            misrouted,
        } = decided;
        Answer {
            decision,
            denial: self.denial(&decision, credentials.is_readable()),
            refused: credentials.refused(),
            misrouted: misrouted.map(|misrouted| misrouted.matched.to_owned()),
            token: match credentials {
                Credentials::Token(token) => Some(token),
                _ => None,
            },
        }
    }

    /// What the caller of a denied request is told; `None` for an allow.
    ///
    /// An `Authorization` that could not be read is said to be so: `credentials_are_readable` is false for
    /// [`Credentials::Unreadable`](crate::Credentials::Unreadable).
    #[must_use]
    pub fn denial(
        &self,
        decision: &Decision<'_>,
        credentials_are_readable: bool,
    ) -> Option<Denial> {
        let Decision::Deny(deny) = decision else {
            return None;
        };
        let flat = self.flat_403 || self.challenge == Challenge::None;
        let status = match flat {
            true => Reason::DEFAULT_STATUS,
            false => deny.status(),
        };
        let refusal = match credentials_are_readable || deny.reason() != Reason::InvalidToken {
            true => Refusal::Decision(decision),
            false => Refusal::Header,
        };
        let methods = || {
            let route = deny.route();
            route.map(|route| route.methods().collect::<Vec<_>>().join(", "))
        };
        Some(Denial {
            status,
            www_authenticate: self.challenge.value(status, refusal),
            allow: (status == 405).then(|| methods().unwrap_or_default()),
        })
    }
}
