//! The check of a signature as a question to the program, where it is not done in place.

use core::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use crate::algorithm::{Algorithm, Family};
use crate::claims::Claims;
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
    pub(crate) algorithm: Algorithm,
    pub(crate) key: Arc<str>,
    pub(crate) message: Box<[u8]>,
    pub(crate) signature: Box<[u8]>,
    pub(crate) verifier: Verifier,
    /// The place of the issuer.
    pub(crate) issuer: usize,
    pub(crate) claims: Claims,
    pub(crate) fingerprint: Fingerprint,
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
        self.open(token.as_ref())?.check(keys, now)
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
            message: self.compact.signed.into(),
            signature: self.compact.signature.as_slice().into(),
            verifier: self.verifier.clone(),
            issuer: self.index,
            claims: self.claims.clone(),
            fingerprint: Fingerprint::of(self.token),
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
    pub const fn message(&self) -> &[u8] {
        &self.message
    }

    /// The signature.
    #[must_use]
    pub const fn signature(&self) -> &[u8] {
        &self.signature
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
        issuer.judge(&self.claims, name, self.fingerprint, now)
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
