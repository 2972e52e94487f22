//! What a gate answers, and what is known of a token.

use std::time::UNIX_EPOCH;

use orbgate_gate::Credentials;
use orbgate_token::VerifiedToken;
use pyo3::prelude::*;

use crate::decision::Decision;
use crate::policy::Policy;
use crate::terms;

/// The answer to a request: its decision, and what to do about it.
///
/// True where the request is allowed. `status` and the headers are what to answer otherwise, without a body.
#[pyclass(frozen, module = "orbgate.gate")]
#[derive(Debug)]
pub(crate) struct Answer {
    #[pyo3(get)]
    decision: Py<Decision>,
    /// The policy that decided.
    #[pyo3(get)]
    pub(crate) policy: Py<Policy>,
    is_allow: bool,
    denial: Option<orbgate_gate::Denial>,
    credentials: Credentials<VerifiedToken>,
    misrouted: Option<String>,
    public: Option<Box<str>>,
    /// The method that a browser asks about before a cross-origin request, if that passes without a token.
    requested_method: Option<Box<[u8]>>,
}

#[pymethods]
impl Answer {
    /// The HTTP status of a denial; None on an allow.
    #[getter]
    fn status(&self) -> Option<u16> {
        self.denial.as_ref().map(|denial| denial.status)
    }

    /// The headers of a denial: `WWW-Authenticate` and `Allow`, where it has them.
    #[getter]
    fn headers(&self) -> Vec<(&'static str, &str)> {
        let denial = self.denial.iter();
        let headers = denial.flat_map(|denial| {
            let challenge = denial.www_authenticate.as_deref();
            let challenge = challenge.map(|value| ("WWW-Authenticate", value));
            let allow = denial.allow.as_deref().map(|value| ("Allow", value));
            [challenge, allow].into_iter().flatten()
        });
        headers.collect()
    }

    /// What is known of the token, if it is right.
    #[getter]
    fn token(&self) -> Option<BearerToken> {
        let token = self.credentials.clone().verified();
        token.map(|token| BearerToken { token })
    }

    /// Why the token is refused: a code for logs and counters, which quotes nothing of it.
    #[getter]
    fn refused(&self) -> Option<&'static str> {
        self.credentials.refused()
    }

    /// The template of the route that the router has taken instead of the allowed one; "" where it did not say.
    #[getter]
    fn misrouted(&self) -> Option<&str> {
        self.misrouted.as_deref()
    }

    /// The template of an allowed request that needs no token; None on any other.
    #[getter]
    fn public_template(&self) -> Option<&str> {
        self.public.as_deref()
    }

    const fn __bool__(&self) -> bool {
        self.is_allow
    }
}

impl Answer {
    /// A gate's answer under this policy.
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
            credentials: answer.credentials,
            misrouted: answer.misrouted.map(|misrouted| misrouted.matched),
            requested_method: requested_method
                .filter(|_| answer.public.is_some())
                .map(Into::into),
            public: answer.public,
        })
    }

    /// The values of `Access-Control-Request-Method` that its decision needs.
    pub(crate) fn requested_method(&self) -> Vec<&[u8]> {
        self.requested_method.as_deref().into_iter().collect()
    }

    /// What is known of the caller.
    pub(crate) const fn credentials(&self) -> &Credentials<VerifiedToken> {
        &self.credentials
    }
}

/// A token whose signature, issuer, audience, times and type are right. Nothing shows the token itself.
#[pyclass(frozen, module = "orbgate.gate")]
#[derive(Debug)]
pub(crate) struct BearerToken {
    token: VerifiedToken,
}

#[pymethods]
impl BearerToken {
    /// Whose token it is.
    #[getter]
    fn kind(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        terms::kind_member(py, self.token.kind())
    }

    /// The scopes, with one space between two.
    #[getter]
    const fn scopes(&self) -> &str {
        self.token.scopes()
    }

    /// Who issued it: the configured text.
    #[getter]
    fn issuer(&self) -> &str {
        self.token.issuer()
    }

    /// Whom it is about (`sub`).
    #[getter]
    fn subject(&self) -> Option<&str> {
        self.token.subject()
    }

    /// The client that it was issued to.
    #[getter]
    fn client(&self) -> Option<&str> {
        self.token.client()
    }

    /// Who acts for the subject (`act`). For the audit alone.
    #[getter]
    fn actor(&self) -> Option<&str> {
        self.token.actor()
    }

    /// Its own name (`jti`).
    #[getter]
    fn id(&self) -> Option<&str> {
        self.token.id()
    }

    /// When it expires, in seconds since 1970.
    #[getter]
    fn expires(&self) -> f64 {
        let since = self.token.expires().duration_since(UNIX_EPOCH);
        since.map_or(0.0, |since| since.as_secs_f64())
    }

    /// A name that reveals nothing of the token, for logs.
    #[getter]
    fn fingerprint(&self) -> String {
        self.token.fingerprint().to_string()
    }

    fn __repr__(&self) -> String {
        let (kind, fingerprint) = (self.token.kind().as_str(), self.token.fingerprint());
        format!("<BearerToken {kind} {fingerprint}>")
    }
}
