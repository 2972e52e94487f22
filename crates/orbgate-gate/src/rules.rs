//! The settings of a gate, and its responses to denied requests.

use std::sync::Arc;

use orbgate::{Decision, Reason};

use crate::answer::{Answer, Denial};
use crate::challenge::{Challenge, Refusal};
use crate::credentials::{Credentials, Verified};
use crate::mcp::call::McpCall;
use crate::mcp::endpoint::Mcp;
use crate::mcp::target::METHOD;
use crate::metadata::Metadata;
use crate::public::PublicRoutes;

/// How a gate decides and responds. The defaults are the strictest settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// The `WWW-Authenticate` header of denials.
    pub challenge: Challenge,
    /// Denies every request with 403, so that callers can't distinguish an unknown route from a missing
    /// scope. [`Challenge::None`] also does this.
    pub flat_403: bool,
    /// Uses the method of the request line even if a header overrides it. This is only safe if nothing in the service
    /// follows such headers.
    pub ignore_method_override: bool,
    /// Routes that need no token.
    pub public: Option<Arc<PublicRoutes>>,
    /// Whether a CORS preflight request needs a token.
    pub cors_preflight: CorsPreflight,
    /// The MCP endpoint.
    pub mcp: Option<Arc<Mcp>>,
    /// The metadata of the protected resource, which the gate serves.
    pub metadata: Option<Arc<Metadata>>,
}

/// How a gate decides a CORS preflight, the request that a browser sends before a cross-origin one: `OPTIONS`
/// with `Origin` and `Access-Control-Request-Method`, and without a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it passes or it doesn't")]
pub enum CorsPreflight {
    /// Like any other request.
    #[default]
    Deny,
    /// Allowed like a public route, if the policy or the public routes declare the requested method for this path.
    Pass,
}

impl Rules {
    /// The strictest settings.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            challenge: Challenge::Minimal,
            flat_403: false,
            ignore_method_override: false,
            public: None,
            cors_preflight: CorsPreflight::Deny,
            mcp: None,
            metadata: None,
        }
    }

    /// The result for a request with this decision, which was for an MCP endpoint if there is a call.
    pub(crate) fn answer<'e, T: Verified>(
        &self,
        decision: Decision<'e>,
        credentials: Credentials<T>,
        mcp: Option<McpCall>,
    ) -> Answer<'e, T> {
        let refusal = Refusal::of(&decision, &credentials);
        let decision = match credentials.is_unproved() {
            true => decision.denying_unproved(),
            false if refusal.is_login() => decision.denying_login(),
            false => decision,
        };
        Answer {
            decision,
            denial: self.denial(&decision, &refusal, mcp.is_some()),
            misrouted: None,
            public: None,
            preflight: false,
            mcp,
            headers: Vec::new(),
            credentials,
        }
    }

    /// Whether each denial has the same status.
    pub(crate) fn is_flat(&self) -> bool {
        self.flat_403 || self.challenge == Challenge::None
    }

    /// The response to a denied request; `None` for an allow.
    fn denial(&self, decision: &Decision<'_>, refusal: &Refusal<'_, '_>, is_at_endpoint: bool) -> Option<Denial> {
        let Decision::Deny(deny) = decision else {
            return None;
        };
        let status = match self.is_flat() && deny.reason() != Reason::LedgerUnavailable {
            true => Reason::DEFAULT_STATUS,
            // Another token, or another way to send it, would do.
            false if refusal.is_proof() => Reason::InvalidToken.status().unwrap_or(Reason::DEFAULT_STATUS),
            false => deny.status(),
        };
        let methods = || {
            let route = deny.route();
            route.map(|route| {
                let sendable = route.methods().filter(|method| *method != METHOD);
                sendable.collect::<Vec<_>>().join(", ")
            })
        };
        let challenge = match self.mcp.as_deref().filter(|_| is_at_endpoint && !self.is_flat()) {
            Some(mcp) => matches!(status, 401 | 403).then(|| {
                let metadata = self.metadata.as_ref().map(|metadata| metadata.url());
                self.challenge.at_endpoint(refusal, mcp.scopes(), metadata).into()
            }),
            None => self.challenge.value(status, refusal),
        };
        Some(Denial {
            status,
            www_authenticate: challenge,
            allow: (status == 405).then(|| methods().unwrap_or_default()),
            ..Denial::default()
        })
    }
}
