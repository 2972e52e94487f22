//! A DPoP proof (RFC 9449 §4), checked in the order in which a caller has the least choice of what happens.

use core::time::Duration;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::confirmation::{Hash, hash};
use super::presented::Presented;
use super::rules::ProofRules;
use super::url::PublicUrl;
use crate::algorithm::{Algorithm, can_be};
use crate::claim_test::date;
use crate::compact::{decode, has_extension, parts};
use crate::error::TokenError;
use crate::json::{JsonError, Member, Object};
use crate::jwk::{ProofKey, required_members};

/// A longer proof is rejected unread.
const BYTES: usize = 8_192;

/// A longer `jti` is rejected.
const ID_BYTES: usize = 256;

/// How old a proof can be, apart from the allowance for clocks.
pub(super) const AGE: Duration = Duration::from_secs(60);

/// A proof of which everything is right but perhaps its signature.
pub(crate) struct Proof {
    pub(crate) key: ProofKey,
    pub(crate) thumbprint: Hash,
    pub(crate) id: Box<str>,
    /// When it was issued.
    pub(crate) issued: Duration,
    /// After which it is no longer accepted.
    pub(crate) expires: Duration,
    /// The signed bytes.
    pub(crate) message: Box<[u8]>,
    pub(crate) signature: Vec<u8>,
}

/// What a proof must be for.
pub(crate) struct Wanted<'a> {
    pub(crate) rules: &'a ProofRules,
    pub(crate) urls: &'a [PublicUrl],
    pub(crate) skew: Duration,
    pub(crate) token: &'a [u8],
    pub(crate) jkt: Hash,
}

impl Proof {
    /// Reads the only proof of a request, and checks all of it but the signature.
    pub(crate) fn open(presented: &Presented<'_>, wanted: &Wanted<'_>, now: Duration) -> Result<Self, TokenError> {
        let [proof] = presented.dpop else {
            return Err(TokenError::ProofMissing);
        };
        if proof.len() > BYTES {
            return Err(TokenError::ProofForm);
        }
        let (message, [header, payload, signature]) = parts(proof).ok_or(TokenError::ProofForm)?;
        let [header, payload, signature] = [header, payload, signature].map(|part| decode(part).ok());
        let (Some(header), Some(payload), Some(signature)) = (header, payload, signature) else {
            return Err(TokenError::ProofForm);
        };
        let header = object(&header)?;
        let jwk = match header.get("jwk") {
            Some(Member::Other(jwk @ Value::Object(_))) => jwk,
            _ => return Err(TokenError::ProofForm),
        };
        let text = required_members(jwk).ok_or(TokenError::ProofKey)?;
        let thumbprint: Hash = Sha256::digest(&text).into();
        if thumbprint != wanted.jkt {
            return Err(TokenError::ProofBinding);
        }
        let algorithm = header.text("alg").and_then(Algorithm::from_name);
        let algorithm =
            algorithm.filter(|algorithm| !algorithm.is_hmac() && wanted.rules.algorithms.contains(algorithm));
        let key = ProofKey::admit(jwk, &text, algorithm).map_err(|_| TokenError::ProofKey)?;
        if header.text("typ") != Some("dpop+jwt") || has_extension(&header) {
            return Err(TokenError::ProofType);
        }
        let Some(key) = key else {
            return Err(TokenError::ProofAlgorithm);
        };
        let claims = object(&payload)?;
        if claims.text("htm").map(str::as_bytes) != Some(presented.method) {
            return Err(TokenError::ProofMethod);
        }
        let htu = claims.text("htu").unwrap_or_default();
        if !wanted.urls.iter().any(|url| url.has(htu, presented.target)) {
            return Err(TokenError::ProofUrl);
        }
        let issued = match claims.get("iat") {
            Some(Member::Other(value)) => date(value),
            _ => None,
        };
        let issued = issued.ok_or(TokenError::ProofTime)?;
        let expires = issued.saturating_add(AGE).saturating_add(wanted.skew);
        if issued > now.saturating_add(wanted.skew) || now > expires {
            return Err(TokenError::ProofTime);
        }
        let id = claims.text("jti").filter(|id| !id.is_empty() && id.len() <= ID_BYTES);
        let id = id.ok_or(TokenError::ProofId)?;
        let of_token: Hash = Sha256::digest(wanted.token).into();
        if claims.text("ath").and_then(hash) != Some(of_token) {
            return Err(TokenError::ProofToken);
        }
        if !can_be(key.algorithm(), &signature, key.signature_bytes()) {
            return Err(TokenError::ProofSignature);
        }
        Ok(Self { key, thumbprint, id: id.into(), issued, expires, message: message.into(), signature })
    }

    /// Whether its signature is right.
    #[cfg(feature = "aws-lc-rs")]
    pub(crate) fn is_signed(&self) -> bool {
        self.key.verifies(&self.message, &self.signature)
    }
}

fn object(text: &[u8]) -> Result<Object<'_>, TokenError> {
    Object::parse(text).map_err(|error| match error {
        JsonError::NotAnObject | JsonError::DuplicateMember => TokenError::ProofForm,
    })
}
