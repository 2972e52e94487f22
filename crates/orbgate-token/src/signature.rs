//! A signature check that the calling program performs, if it isn't done in place.

use core::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use crate::algorithm::{Algorithm, can_be};
use crate::cache::refusals::{Refusal, Refusals};
use crate::claims::Stated;
use crate::error::TokenError;
use crate::keys::{Chosen, Keys};
use crate::proof::presented::{Kept, Presented};
use crate::proof::replays::Replays;
use crate::proof::unproved::{ProvedBy, Proving};
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
    /// The token, or the signed bytes of a proof.
    text: Box<[u8]>,
    /// How many bytes of the text are signed.
    signed: usize,
    signature: Vec<u8>,
    of: Of,
}

/// What is signed.
enum Of {
    Token(Box<OfToken>),
    /// The proof of a token that is valid.
    Proof(Box<ProvedBy>, Arc<Replays>),
}

struct OfToken {
    verifier: Verifier,
    issuer: usize,
    stated: Stated,
    /// The fingerprint of the token, if the program has hashed it.
    fingerprint: Option<Fingerprint>,
    /// Tells the cache of keys that the signature is wrong.
    refusal: Option<Refusal>,
    /// What the request presents, and the proofs that were used.
    presented: Option<Box<Kept>>,
    replays: Arc<Replays>,
}

/// What follows a signature that was checked: see [`SignatureCheck::proceed`].
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum Checked {
    /// The verdict.
    Verdict(Result<VerifiedToken, TokenError>),
    /// The token is bound to a key: also check the signature of its proof.
    CheckSignature(SignatureCheck),
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
            text: self.compact.token.into(),
            signed: self.compact.signed.len(),
            signature: self.compact.signature.clone(),
            of: Of::Token(Box::new(OfToken {
                verifier: self.verifier.clone(),
                issuer: self.index,
                stated: self.stated(),
                fingerprint: None,
                refusal: None,
                presented: None,
                replays: Arc::default(),
            })),
        })
    }
}

impl SignatureCheck {
    /// The same, for a token that the cache with these refusals has judged.
    pub(crate) fn of(mut self, refusals: &Arc<Refusals>) -> Self {
        if let Of::Token(of) = &mut self.of {
            of.refusal = Some(refusals.by(of.issuer));
        }
        self
    }

    /// The same, with what the request presents.
    pub(crate) fn presented(mut self, presented: &Presented<'_>, replays: &Arc<Replays>) -> Self {
        if let Of::Token(of) = &mut self.of {
            of.presented = presented.keep();
            of.replays = Arc::clone(replays);
        }
        self
    }

    /// The signature of a proof, of which all else is right.
    pub(crate) fn of_proof(by: Box<ProvedBy>, replays: &Arc<Replays>) -> Self {
        let proof = &by.proof;
        Self {
            algorithm: proof.key.algorithm(),
            key: Arc::clone(&proof.key.text),
            text: proof.message.clone(),
            signed: proof.message.len(),
            signature: proof.signature.clone(),
            of: Of::Proof(by, Arc::clone(replays)),
        }
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
        self.text.get(..self.signed).unwrap_or_default()
    }

    /// The signature.
    #[must_use]
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// The token, for a program that hashes it; of a proof, its signed bytes.
    #[must_use]
    pub const fn token(&self) -> &[u8] {
        &self.text
    }

    /// Sets the token's SHA-256 hash, or the first 8 bytes of it. Use it if the program's hash is faster than this
    /// crate's; for example, WebAssembly has no instructions for SHA-256. The hash names the token in logs, and doesn't
    /// affect the result. For a proof, it does nothing.
    #[must_use]
    pub fn hashed(mut self, hash: &[u8]) -> Self {
        if let Of::Token(of) = &mut self.of {
            of.fingerprint = Fingerprint::from_hash(hash);
        }
        self
    }

    /// The verified token, if its signature is valid, as the caller states, and its claims are valid now. Call
    /// [`KeyCache::next_fetch`](crate::KeyCache::next_fetch) afterwards, because a wrong signature can start a fetch.
    ///
    /// A token that is bound to the key of a proof is rejected: [`proceed`](Self::proceed) returns its second signature.
    ///
    /// # Errors
    ///
    /// [`TokenError::Signature`], or the first rule that the claims break.
    pub fn finish(self, is_right: bool, now: SystemTime) -> Result<VerifiedToken, TokenError> {
        match self.proceed(is_right, now) {
            Checked::Verdict(verdict) => verdict,
            Checked::CheckSignature(_) => Err(TokenError::ProofMissing),
        }
    }

    /// The same for a token that can be bound to a key of its holder: the verdict, or the second signature to check.
    pub fn proceed(self, is_right: bool, now: SystemTime) -> Checked {
        let of = match self.of {
            Of::Token(of) => of,
            Of::Proof(by, replays) => {
                let now = since_epoch(now);
                return Checked::Verdict(now.and_then(|now| by.finish(is_right, &replays, now)));
            }
        };
        if !is_right {
            if let Some(refusal) = &of.refusal {
                refusal.note();
            }
            return Checked::Verdict(Err(TokenError::Signature));
        }
        let OfToken { verifier, issuer, stated, fingerprint, presented, replays, .. } = *of;
        let proving = || {
            let now = since_epoch(now)?;
            let (issuer, name) = verifier.named(issuer).ok_or(TokenError::Issuer)?;
            let fingerprint = fingerprint.unwrap_or_else(|| Fingerprint::of(&self.text));
            let unproved = stated.judge(issuer, name, fingerprint, now)?;
            let claimed = verifier.claimed(issuer, &self.text, now);
            match presented {
                Some(kept) => kept.with(|presented| unproved.prove(presented, &claimed)),
                None => unproved.alone(&claimed).map(Proving::Done),
            }
        };
        match proving() {
            Ok(Proving::Done(token)) => Checked::Verdict(Ok(token)),
            Ok(Proving::Signature(by)) => Checked::CheckSignature(Self::of_proof(by, &replays)),
            Err(error) => Checked::Verdict(Err(error)),
        }
    }
}

impl fmt::Debug for SignatureCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureCheck").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}
