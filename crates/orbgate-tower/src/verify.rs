//! From a bearer token to what is known of it: any verifier can be plugged in.

use core::fmt;
use core::future::{Future, ready};
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use orbgate::Token;
use orbgate_token::{Keys, TokenError, VerifiedToken, Verifier};

/// Verifies the bearer tokens of requests.
pub trait VerifyToken: Send + Sync + 'static {
    /// What is known of a token that is right. A service finds it in the request's extensions.
    type Verified: Verified;

    /// What is known of the token, which is the text after `Bearer`.
    ///
    /// # Errors
    ///
    /// Why it is refused: the caller gets a 401 and learns none of it.
    fn verify(&self, token: &str) -> impl Future<Output = Result<Self::Verified, Refused>> + Send;
}

/// What is known of a verified token.
pub trait Verified: Clone + Send + Sync + 'static {
    /// The token as an engine takes it.
    fn token(&self) -> Token<'_>;

    /// A name for the token in the audit, which must reveal nothing of the token: a hash, say.
    fn fingerprint(&self) -> Option<String> {
        None
    }
}

/// Why a token is refused: a code for logs and metrics, which quotes nothing of the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Refused {
    code: &'static str,
}

impl Refused {
    /// Refused for the reason of this code, such as `expired`. Use few different codes, because each is a series of
    /// a counter.
    #[must_use]
    pub const fn new(code: &'static str) -> Self {
        Self { code }
    }

    /// The code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        self.code
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)
    }
}

impl core::error::Error for Refused {}

impl From<TokenError> for Refused {
    fn from(error: TokenError) -> Self {
        Self::new(error.as_str())
    }
}

impl Verified for VerifiedToken {
    fn token(&self) -> Token<'_> {
        Self::token(self)
    }

    fn fingerprint(&self) -> Option<String> {
        Some(Self::fingerprint(self).to_string())
    }
}

/// A [`Verifier`] with keys that it already has: no network. Cheap to clone; the clones share their keys.
#[derive(Clone, Debug)]
pub struct KeyHolder {
    verifier: Verifier,
    keys: Arc<ArcSwap<Keys>>,
}

impl KeyHolder {
    /// Verifies under these keys.
    #[must_use]
    pub fn new(verifier: Verifier, keys: Keys) -> Self {
        let keys = Arc::new(ArcSwap::from_pointee(keys));
        Self { verifier, keys }
    }

    /// Replaces all keys at once.
    pub fn store(&self, keys: Keys) {
        self.keys.store(Arc::new(keys));
    }
}

impl VerifyToken for KeyHolder {
    type Verified = VerifiedToken;

    fn verify(&self, token: &str) -> impl Future<Output = Result<VerifiedToken, Refused>> + Send {
        let verified = self.verifier.verify(token, &self.keys.load(), now());
        ready(verified.map_err(Refused::from))
    }
}

#[cfg(feature = "fetch")]
impl VerifyToken for orbgate_token::KeyFetcher {
    type Verified = VerifiedToken;

    async fn verify(&self, token: &str) -> Result<VerifiedToken, Refused> {
        Ok(Self::verify(self, token, now()).await?)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the verifier takes the time as an argument; a server reads its clock"
)]
fn now() -> SystemTime {
    SystemTime::now()
}
