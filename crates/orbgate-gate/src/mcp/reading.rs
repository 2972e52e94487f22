//! A request to an MCP endpoint whose body names its operation.

use std::sync::Arc;

use orbgate_token::VerifiedToken;

use crate::credentials::Credentials;

/// A request to an MCP endpoint with a valid token: its operation is in the body. Read it, and pass both to
/// [`Rules::decide_body`](crate::Rules::decide_body). Until then nothing is decided, so one that is dropped is denied.
#[derive(Debug)]
#[must_use = "a request that is not answered is not protected"]
pub struct Reading<T = VerifiedToken> {
    /// The endpoint's template.
    pub(super) endpoint: Box<str>,
    /// The router's template if it isn't the endpoint's; empty if the router didn't report one.
    pub(super) taken: Option<Box<str>>,
    pub(super) most_bytes: usize,
    /// The origin of the page that sends it, one of the endpoint's.
    pub(super) page: Option<Box<str>>,
    pub(super) credentials: Credentials<T>,
    /// The algorithms of a challenge for DPoP, if a token can be bound to the key of a proof.
    pub(super) dpop: Option<Arc<str>>,
}

impl<T> Reading<T> {
    /// A 401 challenges for DPoP with these algorithms.
    pub(crate) fn challenging_dpop(self, algorithms: Arc<str>) -> Self {
        Self { dpop: Some(algorithms), ..self }
    }

    /// The most bytes of the body to read.
    #[must_use]
    pub const fn most_bytes(&self) -> usize {
        self.most_bytes
    }

    /// The verified token.
    #[must_use]
    pub const fn credentials(&self) -> &Credentials<T> {
        &self.credentials
    }
}
