//! A gate's result, and verified tokens.

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use orbgate_gate::{Credentials, Denial, McpCall, ResponseHeaders};
use orbgate_token::VerifiedToken;
use pyo3::prelude::*;

use crate::decision::Decision;
use crate::policy::Policy;
use crate::terms;

/// The result for a request: its decision, and the response if it is denied.
///
/// True if the request is allowed. Otherwise, respond with `status`, `headers` and `body`.
#[pyclass(frozen, module = "orbgate.gate")]
#[derive(Debug)]
pub(crate) struct Answer {
    #[pyo3(get)]
    decision: Py<Decision>,
    /// The policy that made the decision.
    #[pyo3(get)]
    pub(crate) policy: Py<Policy>,
    is_allow: bool,
    denial: Option<Denial>,
    /// Of the response to an allowed request.
    headers: ResponseHeaders,
    credentials: Credentials<VerifiedToken>,
    misrouted: Option<String>,
    public: Option<Box<str>>,
    preflight: bool,
    /// What is known of a request to an MCP endpoint.
    pub(crate) call: Option<McpCall>,
    /// The method that a CORS preflight asks about.
    requested_method: Option<Box<[u8]>>,
}

#[pymethods]
impl Answer {
    // cargo xtask codes: answer
    /// The status of the response to a denied request; None for an allow.
    #[getter]
    fn status(&self) -> Option<u16> {
        self.denial.as_ref().map(|denial| denial.status)
    }

    /// The request is allowed only as a preflight, so run only a handler of `OPTIONS`.
    #[getter]
    const fn preflight(&self) -> bool {
        self.preflight
    }

    /// Why the token is rejected, such as `expired`, only for logs and counters.
    #[getter]
    fn refused(&self) -> Option<&'static str> {
        self.credentials.refused()
    }

    /// What the router chose instead of the allowed route; empty if it is unknown. Count it.
    #[getter]
    fn misrouted(&self) -> Option<&str> {
        self.misrouted.as_deref()
    }

    /// The template of an allowed request that needs no token.
    #[getter]
    fn public_template(&self) -> Option<&str> {
        self.public.as_deref()
    }

    /// The verified token; absent without a valid token.
    #[getter]
    fn token(&self) -> Option<BearerToken> {
        BearerToken::of(&self.credentials)
    }

    /// The response's body, if it has one: JSON, such as the metadata of the resource at a 200.
    #[getter]
    fn body(&self) -> &[u8] {
        self.denial.as_ref().and_then(|denial| denial.body.as_deref()).unwrap_or_default()
    }

    // end of answer
    /// The headers of a denial: `Cache-Control`, and possibly `WWW-Authenticate`, `Allow` and `Retry-After`. Of an allow: what the
    /// service's response must have, in place of its own headers that begin with `access-control-`.
    #[getter]
    fn headers(&self) -> Vec<(&'static str, Cow<'_, str>)> {
        let denial = self.denial.iter();
        let headers = denial.flat_map(|denial| {
            let challenge = denial.www_authenticate.as_deref();
            let challenge = challenge.map(|value| ("WWW-Authenticate", value.into()));
            let allow = denial.allow.as_deref().map(|value| ("Allow", value.into()));
            let retry_after = denial.retry_after.map(|value| ("Retry-After", value.to_string().into()));
            let content_type = denial.content_type().map(|value| ("Content-Type", value.into()));
            let more = denial.headers.iter().map(borrowed);
            let is_own = denial.headers.iter().all(|(name, _)| *name != "cache-control");
            let fixed = is_own.then(|| ("Cache-Control", Denial::CACHE_CONTROL.into()));
            [fixed, challenge, allow, retry_after, content_type].into_iter().flatten().chain(more)
        });
        headers.chain(self.headers.iter().map(borrowed)).collect()
    }

    /// The target of the operation that an MCP request calls, such as `/mcp/tools/call/refund`; None if no route can declare it.
    #[getter]
    fn operation(&self) -> Option<&str> {
        self.call.as_ref()?.target()
    }

    /// Why an MCP request can't be decided: a code for logs.
    #[getter]
    fn fault(&self) -> Option<&'static str> {
        self.call.as_ref()?.fault().map(|fault| fault.as_str())
    }

    /// Whether the request is for an MCP endpoint.
    #[getter]
    const fn is_mcp(&self) -> bool {
        self.call.is_some()
    }

    const fn __bool__(&self) -> bool {
        self.is_allow
    }
}

impl Answer {
    /// A gate's result with this policy.
    pub(crate) fn of(
        policy: &Bound<'_, Policy>,
        answer: orbgate_gate::Answer<'_>,
        requested_method: Option<&[u8]>,
    ) -> PyResult<Self> {
        let py = policy.py();
        let decision = Decision::of(py, &policy.get().names, &answer.decision);
        Ok(Self {
            is_allow: answer.decision.is_allow() && answer.denial.is_none(),
            decision: Py::new(py, decision)?,
            policy: policy.clone().unbind(),
            denial: answer.denial,
            headers: answer.headers,
            credentials: answer.credentials,
            misrouted: answer.misrouted.map(|misrouted| misrouted.matched),
            requested_method: requested_method.filter(|_| answer.preflight).map(Into::into),
            public: answer.public,
            call: answer.mcp,
            preflight: answer.preflight,
        })
    }

    /// The values of `Access-Control-Request-Method` that the decision needs.
    pub(crate) fn requested_method(&self) -> Vec<&[u8]> {
        self.requested_method.as_deref().into_iter().collect()
    }

    /// The credentials of the request.
    pub(crate) const fn credentials(&self) -> &Credentials<VerifiedToken> {
        &self.credentials
    }
}

/// A token whose signature, issuer, audience, times and type are valid. The token itself is never
/// shown.
#[pyclass(frozen, module = "orbgate.gate")]
#[derive(Debug)]
pub(crate) struct BearerToken {
    token: VerifiedToken,
}

impl BearerToken {
    fn of(credentials: &Credentials<VerifiedToken>) -> Option<Self> {
        credentials.clone().verified().map(|token| Self { token })
    }
}

fn borrowed<'h>((name, value): &'h (&'static str, Cow<'static, str>)) -> (&'static str, Cow<'h, str>) {
    (name, Cow::Borrowed(value))
}

fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[pymethods]
impl BearerToken {
    // cargo xtask codes: token
    /// Its kind: "user" or "organisation".
    #[getter]
    fn kind(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        terms::kind_member(py, self.token.kind())
    }

    /// Its scopes, separated by single spaces.
    #[getter]
    const fn scopes(&self) -> &str {
        self.token.scopes()
    }

    /// The issuer.
    #[getter]
    fn issuer(&self) -> &str {
        self.token.issuer()
    }

    /// The subject (`sub`).
    #[getter]
    fn subject(&self) -> Option<&str> {
        self.token.subject()
    }

    /// The client that the token was issued to.
    #[getter]
    fn client(&self) -> Option<&str> {
        self.token.client()
    }

    /// The party that acts for the subject (`act`).
    #[getter]
    fn actor(&self) -> Option<&str> {
        self.token.actor()
    }

    /// The token's own id (`jti`).
    #[getter]
    fn id(&self) -> Option<&str> {
        self.token.id()
    }

    /// An id that reveals nothing about the token: 16 hexadecimal digits.
    #[getter]
    fn fingerprint(&self) -> String {
        self.token.fingerprint().to_string()
    }

    /// When the token expires, in seconds since 1970.
    #[getter]
    fn expires(&self) -> f64 {
        seconds(self.token.expires())
    }

    // end of token
    fn __repr__(&self) -> String {
        let (kind, fingerprint) = (self.token.kind().as_str(), self.token.fingerprint());
        format!("<BearerToken {kind} {fingerprint}>")
    }
}
