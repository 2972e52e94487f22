//! A client whose tokens are bound to a key of its own.

use core::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::{SystemRandom, fill};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::claims::TestIssuerError;

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

/// A client with a key on the curve P-256, which makes DPoP proofs (RFC 9449) for tests. `Debug` shows only the thumbprint.
///
/// ```
/// use std::time::SystemTime;
/// use orbgate_token::{TestClaims, TestHolder, TestIssuer};
///
/// let holder = TestHolder::new()?;
/// let claims = TestClaims::default().set("jkt", &holder.thumbprint())?;
/// let issuer = TestIssuer::new("https://issuer.test")?.claims(claims);
/// let now = SystemTime::now();
/// let token = issuer.token(orbgate::TokenKind::User, "read:orbs", now);
/// let proof = holder.proof("GET", "https://api.test/orbs", Some(&token), None, now)?;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct TestHolder {
    pair: EcdsaKeyPair,
}

impl TestHolder {
    /// Makes a client with a new key.
    ///
    /// # Errors
    ///
    /// Fails if the system provides no randomness.
    pub fn new() -> Result<Self, TestIssuerError> {
        Ok(Self { pair: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING)? })
    }

    /// A client with the private key of a PEM file (PKCS #8), such as one from
    /// `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`.
    ///
    /// # Errors
    ///
    /// Fails if it isn't a key on the curve P-256 in this form.
    pub fn from_pem(text: &str) -> Result<Self, TestIssuerError> {
        let inner = text.trim().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
        let der = inner.and_then(|inner| STANDARD.decode(inner.split_ascii_whitespace().collect::<String>()).ok());
        let pair = der.and_then(|der| EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der).ok());
        let problem =
            "not a private key on the curve P-256 in PEM (PKCS #8), which begins with `-----BEGIN PRIVATE KEY-----`";
        Ok(Self { pair: pair.ok_or_else(|| TestIssuerError::option("key", problem))? })
    }

    /// Its private key, as [`from_pem`](Self::from_pem) reads it.
    ///
    /// # Errors
    ///
    /// Never fails in practice.
    pub fn to_pem(&self) -> Result<String, TestIssuerError> {
        let der = self.pair.to_pkcs8v1()?;
        let text = STANDARD.encode(der.as_ref());
        let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line)).collect();
        Ok(format!("{BEGIN}\n{}\n{END}\n", lines.join("\n")))
    }

    /// The thumbprint of its key (RFC 7638): the member `jkt` of the claim `cnf` of its tokens.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        // serde_json sorts the members.
        hash(self.jwk().to_string())
    }

    /// A proof for one request with this method to this URL, and with this token and this nonce of the server, if any.
    ///
    /// # Errors
    ///
    /// Fails if the system provides no randomness.
    pub fn proof(
        &self,
        method: &str,
        url: &str,
        token: Option<&str>,
        nonce: Option<&str>,
        now: SystemTime,
    ) -> Result<String, TestIssuerError> {
        let mut id = [0; 16];
        fill(&mut id)?;
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        // Query and fragment don't count (RFC 9449 §4.2).
        let url = url.split(['?', '#']).next().unwrap_or_default();
        let mut claims = json!({"htm": method, "htu": url, "iat": now, "jti": URL_SAFE_NO_PAD.encode(id)});
        let optional = [("ath", token.map(hash)), ("nonce", nonce.map(str::to_owned))];
        if let Value::Object(claims) = &mut claims {
            claims.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
        }
        let header = json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": self.jwk()});
        let signed = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes())?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn jwk(&self) -> Value {
        super::issuer::jwk(&self.pair)
    }
}

fn hash(text: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(text.as_ref()))
}

// Written by hand: it has a private key.
impl fmt::Debug for TestHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestHolder").field("thumbprint", &self.thumbprint()).finish_non_exhaustive()
    }
}
