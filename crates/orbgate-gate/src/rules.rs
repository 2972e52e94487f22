//! The settings of a gate, and what it tells the caller of a denied request.

use std::sync::Arc;

use orbgate::{Decision, Reason};

use crate::answer::{Answer, Denial};
use crate::challenge::{Challenge, Refusal};
use crate::credentials::Credentials;
use crate::public::PublicRoutes;

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
    /// Routes that need no token.
    pub public: Option<Arc<PublicRoutes>>,
    /// Whether a browser's question before a cross-origin request needs a token.
    pub cors_preflight: CorsPreflight,
}

/// How a gate decides the request that a browser sends before a cross-origin one: `OPTIONS` with `Origin` and
/// `Access-Control-Request-Method`, and without a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it passes or it doesn't")]
pub enum CorsPreflight {
    /// As any other request.
    #[default]
    Deny,
    /// It passes as a public route does, if the policy or the public routes declare the method that it asks about for this path.
    Pass,
}

impl Rules {
    /// The strict ones.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            challenge: Challenge::Minimal,
            flat_403: false,
            ignore_method_override: false,
            public: None,
            cors_preflight: CorsPreflight::Deny,
        }
    }

    /// The answer to a request with this decision.
    pub(crate) fn answer<'e, T>(
        &self,
        decision: Decision<'e>,
        credentials: Credentials<T>,
    ) -> Answer<'e, T> {
        Answer {
            decision,
            denial: self.denial(&decision, credentials.is_readable()),
            misrouted: None,
            public: None,
            credentials,
        }
    }

    /// What the caller of a denied request is told; `None` for an allow.
    ///
    /// An `Authorization` that could not be read is said to be so: `credentials_are_readable` is false for
    /// [`Credentials::Unreadable`](crate::Credentials::Unreadable).
    fn denial(&self, decision: &Decision<'_>, credentials_are_readable: bool) -> Option<Denial> {
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
