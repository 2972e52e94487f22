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

use crate::config::error::ConfigError;
use crate::keys::{KeySet, KeySetError, Keys};
use crate::verifier::Verifier;

/// An issuer for tests of a service, with its own key. Don't use it in production: it issues a token to any
/// client that asks.
///
/// Without a network, pass [`verifier`](Self::verifier) and [`keys`](Self::keys) to your service. Or serve
/// [`response`](Self::response) on a loopback address, as `orbgate token issue` does.
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
    url: String,
    pair: EcdsaKeyPair,
}

/// No key could be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no randomness for a key")]
#[non_exhaustive]
pub struct TestIssuerError;

impl From<Unspecified> for TestIssuerError {
    fn from(_: Unspecified) -> Self {
        Self
    }
}

impl TestIssuer {
    /// The audience of its tokens.
    pub const AUDIENCE: &'static str = "https://service.test";

    /// Makes an issuer with this `iss` and a new key.
    ///
    /// # Errors
    ///
    /// Fails if the system provides no randomness.
    pub fn new(url: impl Into<String>) -> Result<Self, TestIssuerError> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING)?;
        let url = url.into();
        Ok(Self { url, pair })
    }

    /// A configuration that trusts this issuer, as JSON, which is also YAML.
    #[must_use]
    pub fn tokens_yaml(&self) -> String {
        let kind = |name| json!([{ "claim": "token_kind", "equals": name }]);
        let issuer = json!({
            "issuer": self.url,
            "audience": Self::AUDIENCE,
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
        // An uncompressed point: the byte 4, then both coordinates.
        let point = self.pair.public_key().as_ref();
        let coordinates = point.get(1..).and_then(|both| both.split_at_checked(32));
        let (x, y) = coordinates.unwrap_or_default();
        let [x, y] = [x, y].map(|coordinate| URL_SAFE_NO_PAD.encode(coordinate));
        json!({ "keys": [{ "kty": "EC", "crv": "P-256", "kid": "test", "x": x, "y": y }] }).to_string()
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

    /// A token of this kind with these scopes, separated by spaces. It expires in ten minutes.
    #[must_use]
    pub fn token(&self, kind: TokenKind, scopes: &str, now: SystemTime) -> String {
        self.token_with(kind, scopes, &Map::new(), now)
    }

    /// A token with additional or changed claims. A claim whose value is null is left out.
    #[must_use]
    pub fn token_with(&self, kind: TokenKind, scopes: &str, claims: &Map<String, Value>, now: SystemTime) -> String {
        let now = now.duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_secs();
        let usual = json!({
            "iss": self.url, "aud": Self::AUDIENCE, "sub": "subject", "client_id": "client", "iat": now,
            "exp": now.saturating_add(600), "token_kind": kind.as_str(), "scope": scopes,
        });
        let mut all: Map<_, _> = match usual {
            Value::Object(usual) => usual,
            _ => Map::new(),
        };
        all.extend(claims.clone());
        all.retain(|_, value| !value.is_null());
        let header = json!({ "alg": "ES256", "typ": "at+jwt", "kid": "test" });
        let parts = [header.to_string(), Value::Object(all).to_string()];
        let signed = parts.map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes());
        // Without randomness, the token has no signature and is rejected.
        let signature = signature.map(|signature| URL_SAFE_NO_PAD.encode(signature));
        let signature = signature.unwrap_or_default();
        format!("{signed}.{signature}")
    }

    /// The body of the response to `GET` for this target: `/tokens.yaml`, `/jwks` or
    /// `/token?kind=user&scope=read:orbs`. `None` is a 404.
    #[must_use]
    pub fn response(&self, target: &str, now: SystemTime) -> Option<String> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match path {
            "/tokens.yaml" => Some(format!("{}\n", self.tokens_yaml())),
            "/jwks" => Some(self.jwks()),
            "/token" => {
                let pairs = || query.split('&').filter_map(|pair| pair.split_once('='));
                let get = |name: &str| pairs().find(|(own, _)| *own == name).map(|(_, value)| value);
                let kind = TokenKind::from_name(get("kind").unwrap_or("user"));
                let scopes = get("scope").unwrap_or_default().replace('+', " ");
                let scopes = percent_encoding::percent_decode_str(&scopes).decode_utf8();
                Some(self.token(kind, &scopes.ok()?, now))
            }
            _ => None,
        }
    }
}

impl fmt::Debug for TestIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestIssuer").field("url", &self.url).finish_non_exhaustive()
    }
}
