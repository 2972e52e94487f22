//! A valid token whose sender hasn't proved yet that it is the token's holder.

use core::time::Duration;
use std::time::SystemTime;

use super::confirmation::Confirmation;
use super::dpop::{Proof, Wanted};
use super::presented::{Certificate, Presented};
use super::replays::{Replays, Use};
use super::url::PublicUrl;
use crate::bearer::Scheme;
use crate::error::TokenError;
use crate::issuer::Issuer;
use crate::verified::VerifiedToken;

/// A valid token, which only its holder can use. Nothing else makes a [`VerifiedToken`], so no caller can skip the proof.
pub(crate) struct Unproved {
    token: VerifiedToken,
    confirmation: Confirmation,
}

/// What a proof is compared with, apart from the request.
#[derive(Clone, Copy)]
pub(crate) struct Claimed<'a> {
    pub(crate) issuer: &'a Issuer,
    pub(crate) urls: &'a [PublicUrl],
    pub(crate) token: &'a [u8],
    pub(crate) now: Duration,
}

/// A token that is proved, or whose proof is right if its signature is.
pub(crate) enum Proving {
    Done(VerifiedToken),
    Signature(Box<ProvedBy>),
}

/// A token, and the proof whose signature is to be checked.
pub(crate) struct ProvedBy {
    token: VerifiedToken,
    pub(crate) proof: Proof,
    /// Whether the proof is one that was used.
    repeats: bool,
}

impl Unproved {
    pub(crate) const fn new(token: VerifiedToken, confirmation: Confirmation) -> Self {
        Self { token, confirmation }
    }

    /// When the token expires.
    pub(crate) const fn expires(&self) -> SystemTime {
        self.token.expires()
    }

    /// The token if it needs no proof, for a caller that shows none.
    pub(crate) fn alone(self, claimed: &Claimed<'_>) -> Result<VerifiedToken, TokenError> {
        match self.prove(&Presented::default(), claimed)? {
            Proving::Done(token) => Ok(token),
            Proving::Signature(_) => Err(TokenError::ProofMissing),
        }
    }

    /// The token with what the request shows, but for the signature of a proof.
    pub(crate) fn prove(self, presented: &Presented<'_>, claimed: &Claimed<'_>) -> Result<Proving, TokenError> {
        let Self { token, confirmation } = self;
        let Confirmation { jkt, x5t } = confirmation;
        let is_dpop = presented.scheme == Scheme::Dpop;
        let Some(rules) = &claimed.issuer.proof else {
            return if is_dpop { Err(TokenError::Scheme) } else { Ok(Proving::Done(token)) };
        };
        if presented.has_several() {
            return Err(TokenError::ProofMissing);
        }
        // Not as the other: a bound token would be a plain one for whoever ignores proofs.
        if jkt.is_some() != is_dpop {
            return Err(TokenError::Scheme);
        }
        if rules.is_required && confirmation.is_none() {
            return Err(TokenError::Unbound);
        }
        if x5t.is_some_and(|x5t| presented.certificate.as_ref().map(Certificate::hash) != Some(x5t)) {
            return Err(TokenError::Certificate);
        }
        let Some(jkt) = jkt else {
            return Ok(Proving::Done(token));
        };
        let skew = claimed.issuer.skew;
        let wanted = Wanted { rules, urls: claimed.urls, skew, token: claimed.token, jkt };
        let proof = Proof::open(presented, &wanted, claimed.now)?;
        Ok(Proving::Signature(Box::new(ProvedBy { token, proof, repeats: presented.repeats })))
    }
}

impl Proving {
    /// The token, if the proof's signature is right and it is the first use of the proof.
    #[cfg(feature = "aws-lc-rs")]
    pub(crate) fn finish(self, replays: &Replays, now: Duration) -> Result<VerifiedToken, TokenError> {
        match self {
            Self::Done(token) => Ok(token),
            Self::Signature(by) => {
                let is_signed = by.proof.is_signed();
                by.finish(is_signed, replays, now)
            }
        }
    }
}

impl ProvedBy {
    /// The same for a signature that was checked. Only then the proof is recorded, and at the end of all.
    pub(crate) fn finish(self, is_signed: bool, replays: &Replays, now: Duration) -> Result<VerifiedToken, TokenError> {
        if !is_signed {
            return Err(TokenError::ProofSignature);
        }
        let Proof { thumbprint: key, id, issued, expires, .. } = &self.proof;
        let used = Use {
            key,
            id,
            issued: *issued,
            expires: *expires,
            issuer: self.token.issuer(),
            subject: self.token.subject(),
            client: self.token.client(),
        };
        match self.repeats {
            true if replays.knows(key, id) => {}
            true => return Err(TokenError::ProofReplayed),
            false => replays.record(&used, now)?,
        }
        Ok(self.token)
    }
}
