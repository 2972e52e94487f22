//! A signature check that the calling program performs, if it isn't done in place.

use core::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use crate::algorithm::{Algorithm, Family};
use crate::cache::refusals::{Refusal, Refusals};
use crate::claims::Stated;
use crate::error::TokenError;
use crate::keys::{Chosen, Keys};
use crate::verified::{Fingerprint, VerifiedToken};
use crate::verifier::{Opened, Verifier, since_epoch};

/// Every rule that precedes the signature is satisfied. Check the signature; [`finish`](Self::finish) then checks the
/// claims.
///
/// The issuer and the key allow the algorithm, and the key and the signature have a valid form and length. Check that
/// [`signature`](Self::signature) is a signature of [`message`](Self::message) by [`key`](Self::key) with
/// [`algorithm`](Self::algorithm) (RFC 7518 §3: ECDSA as two numbers, not as DER; PSS with a salt as long as the hash).
/// If the key can't be imported, pass `false`. `Debug` shows only the algorithm.
pub struct SignatureCheck {
    algorithm: Algorithm,
    key: Arc<str>,
    token: Box<[u8]>,
    /// How many bytes of the token are signed.
    signed: usize,
    signature: Vec<u8>,
    verifier: Verifier,
    issuer: usize,
    stated: Stated,
    /// The fingerprint of the token, if the program has hashed it.
    fingerprint: Option<Fingerprint>,
    /// Tells the cache of keys that the signature is wrong.
    refusal: Option<Refusal>,
}

impl Verifier {
    /// The signature of this token to check, if every earlier rule is satisfied with these keys. Use it in a program
    /// that checks signatures itself; no C library is needed.
    ///
    /// # Errors
    ///
    /// The first rule that the token breaks. [`TokenError::KeyUnknown`] might be resolved by
    /// fetching keys again.
    pub fn check(&self, token: impl AsRef<[u8]>, keys: &Keys, now: SystemTime) -> Result<SignatureCheck, TokenError> {
        let compact = self.parse(token.as_ref())?;
        self.open(&compact)?.check(keys, now)
    }
}

impl Opened<'_> {
    /// The signature check, if every earlier rule is satisfied.
    pub(crate) fn check(&self, keys: &Keys, now: SystemTime) -> Result<SignatureCheck, TokenError> {
        since_epoch(now)?;
        let Chosen { text, usage } = self.key(keys)?;
        if !can_be(usage.algorithm, &self.compact.signature, usage.signature_bytes) {
            return Err(TokenError::Signature);
        }
        Ok(SignatureCheck {
            algorithm: usage.algorithm,
            key: Arc::clone(text),
            token: self.compact.token.into(),
            signed: self.compact.signed.len(),
            signature: self.compact.signature.clone(),
            verifier: self.verifier.clone(),
            issuer: self.index,
            stated: self.stated(),
            fingerprint: None,
            refusal: None,
        })
    }
}

impl SignatureCheck {
    /// The same, for a token that the cache with these refusals has judged.
    pub(crate) fn of(mut self, refusals: &Arc<Refusals>) -> Self {
        self.refusal = Some(refusals.by(self.issuer));
        self
    }

    /// The algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The key as a JWK with only its required members (RFC 7638 §3). Equal keys have equal strings, so a program
    /// can cache imported keys.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The signed bytes.
    #[must_use]
    pub fn message(&self) -> &[u8] {
        self.token.get(..self.signed).unwrap_or_default()
    }

    /// The signature.
    #[must_use]
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// The token, for a program that hashes it.
    #[must_use]
    pub const fn token(&self) -> &[u8] {
        &self.token
    }

    /// Sets the token's SHA-256 hash, or the first 8 bytes of it. Use it if the program's hash is faster than this
    /// crate's; for example, WebAssembly has no instructions for SHA-256. The hash names the token in logs, and doesn't
    /// affect the result.
    #[must_use]
    pub fn hashed(mut self, hash: &[u8]) -> Self {
        self.fingerprint = Fingerprint::from_hash(hash);
        self
    }

    /// The verified token, if its signature is valid, as the caller states, and its claims are valid now. Call
    /// [`KeyCache::next_fetch`](crate::KeyCache::next_fetch) afterwards, because a wrong signature can start a fetch.
    ///
    /// # Errors
    ///
    /// [`TokenError::Signature`], or the first rule that the claims break.
    pub fn finish(self, is_right: bool, now: SystemTime) -> Result<VerifiedToken, TokenError> {
        let now = since_epoch(now)?;
        if !is_right {
            if let Some(refusal) = &self.refusal {
                refusal.note();
            }
            return Err(TokenError::Signature);
        }
        let (issuer, name) = self.verifier.named(self.issuer).ok_or(TokenError::Issuer)?;
        let fingerprint = self.fingerprint;
        let fingerprint = fingerprint.unwrap_or_else(|| Fingerprint::of(&self.token));
        self.stated.judge(issuer, name, fingerprint, now)
    }
}

/// Whether a string can be a signature by a key whose signatures have this many bytes.
///
/// ECDSA's numbers must not be 0: libraries have accepted such signatures for any message
/// (CVE-2022-21449).
pub(crate) fn can_be(algorithm: Algorithm, signature: &[u8], bytes: usize) -> bool {
    let is_ecdsa = matches!(algorithm.family(), Family::P256 | Family::P384 | Family::P521);
    let half = bytes.checked_div(2).unwrap_or(0);
    let is_zero = |number: &[u8]| number.iter().all(|byte| *byte == 0);
    signature.len() == bytes && !(is_ecdsa && signature.chunks(half.max(1)).any(is_zero))
}

impl fmt::Debug for SignatureCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureCheck").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}
