//! Which issuers' tokens were rejected for their key or signature since the last look: a flag for each issuer, because any client can
//! send such a token, and because a program that checks signatures itself reports them only to the check.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use crate::error::TokenError;

/// A flag for each issuer.
#[derive(Debug)]
pub(crate) struct Refusals {
    any: AtomicBool,
    issuers: Box<[AtomicBool]>,
}

/// Notes that one issuer's token was rejected.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    of: Arc<Refusals>,
    issuer: usize,
}

impl Refusals {
    pub(super) fn of(issuers: usize) -> Self {
        let flag = || AtomicBool::new(false);
        Self { any: flag(), issuers: core::iter::repeat_with(flag).take(issuers).collect() }
    }

    /// Notes this result for a token of the issuer, if another key could have changed it.
    pub(super) fn note(&self, issuer: usize, error: Option<&TokenError>) {
        use TokenError::{KeyAmbiguous, KeyIdMissing, KeyMismatch, Signature};
        // An unknown key isn't among them, because its token waits for an attempt.
        if let (Some(Signature | KeyMismatch | KeyIdMissing | KeyAmbiguous), Some(flag)) =
            (error, self.issuers.get(issuer))
        {
            flag.store(true, Ordering::SeqCst);
            self.any.store(true, Ordering::SeqCst);
        }
    }

    /// Whether [`Refusals::take`] might return an issuer.
    pub(super) fn has_any(&self) -> bool {
        self.any.load(Ordering::SeqCst)
    }

    /// The issuers of such tokens since the last call.
    pub(super) fn take(&self) -> impl Iterator<Item = usize> {
        let any = self.has_any() && self.any.swap(false, Ordering::SeqCst);
        let flags = any.then(|| self.issuers.iter().enumerate()).into_iter().flatten();
        flags
            .filter(|(_, flag)| flag.load(Ordering::SeqCst) && flag.swap(false, Ordering::SeqCst))
            .map(|(issuer, _)| issuer)
    }

    pub(crate) fn by(self: &Arc<Self>, issuer: usize) -> Refusal {
        Refusal { of: Arc::clone(self), issuer }
    }
}

impl Refusal {
    /// The signature was wrong.
    pub(crate) fn note(&self) {
        self.of.note(self.issuer, Some(&TokenError::Signature));
    }
}
