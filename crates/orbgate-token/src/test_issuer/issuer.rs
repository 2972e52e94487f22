//! An issuer for tests. Its tokens are real and pass real verification.

use core::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::error::Unspecified;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orbgate::TokenKind;
use serde_json::{Map, Value, json};

use super::claims::{self, TestClaims, TestIssuerError};
use crate::config::error::ConfigError;
use crate::keys::{KeySet, KeySetError, Keys};
use crate::verifier::Verifier;

/// An issuer for tests of a service, with its own key. Don't use it in production: it issues a token to any
/// client that asks.
///
/// Without a network, pass [`verifier`](Self::verifier) and [`keys`](Self::keys) to your service. Or serve a
/// [`TestServer`](crate::TestServer) on a loopback address, as `orbgate token issue` does.
///
/// ```
/// use std::time::SystemTime;
/// use orbgate_token::TestIssuer;
///
/// let issuer = TestIssuer::new("https://issuer.test")?;
/// let now = SystemTime::now();
/// let token = issuer.token(orbgate::TokenKind::User, "read:orbs", now);
/// let verified = issuer.verifier()?.verify(token, &issuer.keys()?, now)?;
/// assert_eq!(verified.token(), orbgate::Token::user("read:orbs"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct TestIssuer {
    pub(super) url: String,
    key_id: String,
    pair: EcdsaKeyPair,
    pub(super) claims: TestClaims,
}

impl From<Unspecified> for TestIssuerError {
    fn from(_: Unspecified) -> Self {
        Self::NoKey
    }
}

impl TestIssuer {
    /// The audience of its tokens, unless its [`claims`](Self::claims) state another one.
    pub const AUDIENCE: &'static str = claims::AUDIENCE;

    /// Makes an issuer with this `iss` and a new key.
    ///
    /// # Errors
    ///
    /// Fails if the system provides no randomness.
    pub fn new(url: impl Into<String>) -> Result<Self, TestIssuerError> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING)?;
        Ok(Self { url: url.into(), key_id: "test".to_owned(), pair, claims: TestClaims::default() })
    }

    /// Sets what its tokens state.
    #[must_use]
    pub fn claims(mut self, claims: TestClaims) -> Self {
        self.claims = claims;
        self
    }

    /// Sets the `kid` of its key; `test` otherwise.
    #[must_use]
    pub fn key_id(mut self, key_id: impl Into<String>) -> Self {
        self.key_id = key_id.into();
        self
    }

    /// A configuration that trusts this issuer, as JSON, which is also YAML.
    #[must_use]
    pub fn tokens_yaml(&self) -> String {
        let kind = |name| json!([{ "claim": "token_kind", "equals": name }]);
        let issuer = json!({
            "issuer": self.url,
            "audience": self.claims.audience,
            "jwks_uri": format!("{}/jwks", self.url),
            "algorithms": ["ES256"],
            "kind": { "user": kind("user"), "organisation": kind("organisation") },
            "account": "subject",
        });
        json!({ "orbgate_token": 1, "issuers": [issuer] }).to_string()
    }

    /// A verifier that trusts this issuer.
    ///
    /// # Errors
    ///
    /// Fails if the URL is neither `https` nor on this machine.
    pub fn verifier(&self) -> Result<Verifier, ConfigError> {
        Verifier::from_yaml(&self.tokens_yaml())
    }

    /// Its key as a JWK set.
    #[must_use]
    pub fn jwks(&self) -> String {
        let mut key = jwk(&self.pair);
        if let Value::Object(key) = &mut key {
            key.insert("kid".to_owned(), json!(self.key_id));
        }
        json!({ "keys": [key] }).to_string()
    }

    /// Its key, for [`Verifier::verify`].
    ///
    /// # Errors
    ///
    /// Never fails in practice, because the key is valid.
    pub fn keys(&self) -> Result<Keys, KeySetError> {
        let keys = KeySet::from_jwks(self.jwks().as_bytes())?;
        Ok(Keys::new().with(&self.url, keys))
    }

    /// A token of this kind with these scopes, separated by spaces.
    #[must_use]
    pub fn token(&self, kind: TokenKind, scopes: &str, now: SystemTime) -> String {
        self.token_with(kind, scopes, &Map::new(), now)
    }

    /// A token with additional or changed claims. A claim whose value is null is left out.
    #[must_use]
    pub fn token_with(&self, kind: TokenKind, scopes: &str, changed: &Map<String, Value>, now: SystemTime) -> String {
        let claims = TestClaims { kind, ..self.claims.clone() };
        self.sign(&claims, scopes, changed, now)
    }

    pub(super) fn sign(
        &self,
        claims: &TestClaims,
        scopes: &str,
        changed: &Map<String, Value>,
        now: SystemTime,
    ) -> String {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let header = json!({ "alg": "ES256", "typ": "at+jwt", "kid": self.key_id });
        let parts = [header, claims.all(&self.url, scopes, changed, now)];
        let signed = parts.map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes());
        // Without randomness, the token has no signature and is rejected.
        let signature = signature.map(|signature| URL_SAFE_NO_PAD.encode(signature));
        let signature = signature.unwrap_or_default();
        format!("{signed}.{signature}")
    }
}

/// The public key on the curve P-256, with only its required members (RFC 7638 §3.2).
pub(super) fn jwk(pair: &EcdsaKeyPair) -> Value {
    // An uncompressed point: the byte 4, then both coordinates.
    let point = pair.public_key().as_ref();
    let coordinates = point.get(1..).and_then(|both| both.split_at_checked(32));
    let (x, y) = coordinates.unwrap_or_default();
    let [x, y] = [x, y].map(|coordinate| URL_SAFE_NO_PAD.encode(coordinate));
    json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y })
}

impl fmt::Debug for TestIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestIssuer").field("url", &self.url).finish_non_exhaustive()
    }
}
