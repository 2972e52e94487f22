//! The check of a signature as a question to the program, where it is not done in place.

use core::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use crate::algorithm::{Algorithm, Family};
use crate::claims::Stated;
use crate::compact::Compact;
use crate::error::TokenError;
use crate::keys::{Chosen, Keys};
use crate::verified::{Fingerprint, VerifiedToken};
use crate::verifier::{Opened, Verifier, since_epoch};

/// Everything of a token is right but, perhaps, its signature and its claims: check the one, and
/// [`finish`](Self::finish) judges the other.
///
/// The algorithm is allowed for the issuer and the key, and key and signature have their right form and length. Check
/// that [`signature`](Self::signature) is that of [`message`](Self::message) by [`key`](Self::key) under
/// [`algorithm`](Self::algorithm) (RFC 7518 §3: ECDSA as two numbers, not as DER; PSS with a salt as long as the hash). If the
/// key cannot be imported, the answer is no. `Debug` shows the algorithm alone.
pub struct SignatureCheck {
    algorithm: Algorithm,
    key: Arc<str>,
    token: Box<[u8]>,
    /// How much of the token was signed.
    signed: usize,
    signature: Vec<u8>,
    verifier: Verifier,
    /// The index of the issuer.
    issuer: usize,
    stated: Stated,
    /// Of the token, if the program has hashed it.
    fingerprint: Option<Fingerprint>,
}

impl Verifier {
    /// The signature of this token to check, if everything else that comes before it is right under these keys. For a
    /// program that checks signatures itself; no C library is needed.
    ///
    /// # Errors
    ///
    /// The first rule that the token breaks. [`TokenError::KeyUnknown`] may go away with fresh keys.
    pub fn check(
        &self,
        token: impl AsRef<[u8]>,
        keys: &Keys,
        now: SystemTime,
    ) -> Result<SignatureCheck, TokenError> {
        let compact = Compact::parse(token.as_ref())?;
        self.open(&compact)?.check(keys, now)
    }
}

impl Opened<'_> {
    /// The check of the signature, if everything that comes before it is right.
    pub(crate) fn check(&self, keys: &Keys, now: SystemTime) -> Result<SignatureCheck, TokenError> {
        since_epoch(now)?;
        let Chosen { text, usage } = self.key(keys)?;
        if !can_be(
            usage.algorithm,
            &self.compact.signature,
            usage.signature_bytes,
        ) {
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
        })
    }
}

impl SignatureCheck {
    /// The algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The key, as a JWK with its required members alone (RFC 7638 §3): equal keys have equal texts, so a program
    /// can keep what it has imported.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What was signed.
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

    /// Says the token's SHA-256, or the 8 bytes that it begins with: for a program whose hash is faster than this crate's, as
    /// WebAssembly has no instructions for it. It names the token in logs, and no verdict rests on it.
    #[must_use]
    pub fn hashed(mut self, hash: &[u8]) -> Self {
        self.fingerprint = Fingerprint::from_hash(hash);
        self
    }

    /// What is known of the token, if its signature is right, as the caller says, and its claims at this time.
    ///
    /// # Errors
    ///
    /// [`TokenError::Signature`], or the first rule that the claims break.
    pub fn finish(self, is_right: bool, now: SystemTime) -> Result<VerifiedToken, TokenError> {
        let now = since_epoch(now)?;
        if !is_right {
            return Err(TokenError::Signature);
        }
        let (issuer, name) = self.verifier.named(self.issuer).ok_or(TokenError::Issuer)?;
        let fingerprint = self.fingerprint;
        let fingerprint = fingerprint.unwrap_or_else(|| Fingerprint::of(&self.token));
        self.stated.judge(issuer, name, fingerprint, now)
    }
}

/// Whether a text can be a signature by a key whose signatures have that many bytes.
///
/// ECDSA's numbers are not 0: libraries have accepted such signatures of anything (CVE-2022-21449).
pub(crate) fn can_be(algorithm: Algorithm, signature: &[u8], bytes: usize) -> bool {
    let is_ecdsa = matches!(
        algorithm.family(),
        Family::P256 | Family::P384 | Family::P521
    );
    let half = bytes.checked_div(2).unwrap_or(0);
    let is_zero = |number: &[u8]| number.iter().all(|byte| *byte == 0);
    signature.len() == bytes && !(is_ecdsa && signature.chunks(half.max(1)).any(is_zero))
}

impl fmt::Debug for SignatureCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureCheck")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
