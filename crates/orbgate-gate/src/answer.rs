//! A gate's response to a request.

use std::borrow::Cow;

use orbgate::{Decision, Reason};
use orbgate_token::{TokenError, VerifiedToken};

use crate::challenge::with_dpop;
use crate::credentials::{Credentials, Verified};
use crate::mcp::call::McpCall;

/// The result for a request: its decision, and the response if it is denied.
///
/// If there is no [`denial`](Self::denial), pass the request to the service, with the result of
/// verifying its token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an answer that nobody reads protects nothing"]
#[non_exhaustive]
pub struct Answer<'e, T = VerifiedToken> {
    /// The decision: reason, route, scope and, for an allow, the charge.
    pub decision: Decision<'e>,
    /// The response to the caller; `None` for an allow. Only the gate's own [metadata](crate::Metadata) is allowed and has a
    /// response, which needs no service: check this before the decision.
    pub denial: Option<Denial>,
    /// The verified token, or why it was rejected.
    pub credentials: Credentials<T>,
    /// Set if the router chose a different route than the allowed one. Then the decision is a denial; count it as
    /// `orbgate_misrouted_total`.
    pub misrouted: Option<Misrouted<'e>>,
    /// The template of an allowed request that needs no token. It is needed because the decision names
    /// no route of the policy.
    pub public: Option<Box<str>>,
    /// The request is allowed only as a CORS preflight ([`CorsPreflight::Pass`](crate::CorsPreflight::Pass)), so a
    /// handler that takes other methods than `OPTIONS` must not run. A host that learns of the handler afterwards passes
    /// [`Matched::Unknown`](crate::Matched::Unknown) to [`Rules::routed`](crate::Rules::routed) for such a handler; one
    /// that knows it before leaves [`Request::origin`](crate::Request::origin) empty.
    pub preflight: bool,
    /// Set if the request is for an MCP endpoint.
    pub mcp: Option<McpCall>,
    /// What the service's response to an allowed request must have, if there is anything, instead of each of its own headers whose
    /// name starts with `access-control-`: what a browser needs, for a page of an MCP endpoint's [origins](crate::Mcp::origins).
    pub headers: ResponseHeaders,
}

/// Headers of a response: lower-case names with their values.
pub type ResponseHeaders = Vec<(&'static str, Cow<'static, str>)>;

/// A request that was allowed for one route, but that the router sent to another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "both sides of a comparison")]
pub struct Misrouted<'e> {
    /// The decision for the policy's route, which has no effect.
    pub allowed: Decision<'e>,
    /// The router's template; empty if the router didn't report it.
    pub matched: String,
}

impl<T> Answer<'_, T> {
    /// The same result for a request whose body allows bonus orbs: see
    /// [`allows_bonus_orbs`](crate::allows_bonus_orbs). Only the charge of an allow changes.
    pub const fn allowing_bonus_orbs(mut self) -> Self {
        self.decision = self.decision.allowing_bonus_orbs();
        self
    }

    /// With a challenge for DPoP with these algorithms, if it is a 401 that has a challenge.
    pub(crate) fn challenging_dpop(mut self, algorithms: &str) -> Self
    where
        T: Verified,
    {
        let refused = self.refused().and_then(TokenError::from_code);
        let is_login = self.decision.reason() == Reason::InsufficientUserAuthentication;
        let has_token = self.token().is_some() && !is_login;
        let challenge = self.denial.as_mut().filter(|denial| denial.status == 401);
        if let Some(value) = challenge.and_then(|denial| denial.www_authenticate.as_mut()) {
            *value = with_dpop(value, refused, has_token, algorithms).into();
        }
        self
    }

    /// The template that a router must have chosen, if it isn't that of the decision's route: of a public route or of an MCP
    /// endpoint.
    #[must_use]
    pub fn template(&self) -> Option<&str> {
        let endpoint = self.mcp.as_ref().map(|call| &*call.endpoint);
        endpoint.or(self.public.as_deref())
    }

    /// The verified token, if it is valid.
    #[must_use]
    pub const fn token(&self) -> Option<&T> {
        match &self.credentials {
            Credentials::Token(token) => Some(token),
            _ => None,
        }
    }

    /// Why the token was rejected: a code for logs and counters, which quotes nothing from the
    /// token.
    #[must_use]
    pub fn refused(&self) -> Option<&'static str>
    where
        T: Verified,
    {
        self.credentials.refused()
    }
}

/// The response to a denied request: a status, [`CACHE_CONTROL`](Self::CACHE_CONTROL), and other headers. Only at an MCP endpoint can
/// it have a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// The HTTP status.
    pub status: u16,
    /// The value of `WWW-Authenticate`.
    pub www_authenticate: Option<Cow<'static, str>>,
    /// The value of `Allow`.
    pub allow: Option<String>,
    /// The value of `Retry-After`, in seconds.
    pub retry_after: Option<u64>,
    /// The body, which is JSON.
    pub body: Option<Box<[u8]>>,
    /// More headers.
    pub headers: ResponseHeaders,
}

impl Denial {
    /// The value of `Cache-Control` of every denial, because caches can keep a 404 or a 405, and some keep a 403.
    pub const CACHE_CONTROL: &'static str = "no-store";

    /// The content type of the body, if there is one.
    #[must_use]
    pub fn content_type(&self) -> Option<&'static str> {
        self.body.as_ref().map(|_| "application/json")
    }
}
