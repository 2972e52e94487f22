//! An issuer for tests of services. It signs real tokens, which pass real verification.

use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use orbgate::TokenKind;
use orbgate_token::{TestClaims, TestIssuerError, TestRequest, TestServer};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Map, Value};

/// The native part of `orbgate.gate.testing.Issuer`. Times are seconds since 1970.
#[pyclass(frozen, module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct TestIssuer {
    server: TestServer,
}

#[pymethods]
impl TestIssuer {
    /// An issuer of this name. `options` are those of the command, and `claims` is a JSON object.
    #[new]
    fn new(name: &str, key_id: &str, options: Vec<(String, String)>, claims: &str) -> PyResult<Self> {
        let issuer = orbgate_token::TestIssuer::new(name).map_err(error)?.key_id(key_id);
        let mut stated = TestClaims::default();
        for (option, value) in options {
            stated = stated.set(&option, &value).map_err(error)?;
        }
        for (name, value) in object(claims)? {
            stated = stated.claim(&name, value).map_err(error)?;
        }
        Ok(Self { server: TestServer::new(issuer.claims(stated)) })
    }

    /// A configuration that trusts this issuer.
    fn tokens_yaml(&self) -> String {
        self.server.issuer().tokens_yaml()
    }

    /// Its key.
    fn jwks(&self) -> String {
        self.server.issuer().jwks()
    }

    /// A token with these scopes, and claims from a JSON object.
    fn token(&self, scopes: &str, claims: &str, now: u64) -> PyResult<String> {
        // The claims have the kind.
        Ok(self.server.issuer().token_with(TokenKind::Unknown, scopes, &object(claims)?, time(now)))
    }

    /// The status, headers and body of the response to a request.
    fn answer(
        &self,
        method: &str,
        target: &str,
        headers: Vec<(String, String)>,
        body: &[u8],
        now: u64,
    ) -> (u16, Vec<(&'static str, String)>, String) {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let answer = self.server.answer(&TestRequest { method, target, headers: &headers, body }, time(now));
        (answer.status, answer.headers, answer.body)
    }
}

fn object(json: &str) -> PyResult<Map<String, Value>> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(format!("claims: {error}")))
}

fn time(seconds: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap_or(UNIX_EPOCH)
}

fn error(error: TestIssuerError) -> PyErr {
    match error {
        TestIssuerError::NoKey => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}
