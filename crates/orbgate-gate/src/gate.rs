//! The gate: rules and keys, which decide one request after another.

use core::borrow::Borrow;
use core::time::Duration;

use orbgate::Engine;
use orbgate_token::{AttemptId, Checked, Fetch, FetchError, Judged, KeyCache, Now, Presented, Response, Wait};

use crate::credentials::{Credentials, Verified};
use crate::next::Next;
use crate::request::Request;
use crate::rules::Rules;
use crate::step::{Checking, Held, Step, Waiting};

/// Rules and keys. A gate turns a request as received into a result, without I/O and without a clock.
///
/// Share one gate between all threads: it is `Send + Sync`, and no call waits for I/O or for a signature. The [crate's
/// page](crate) shows the loop that drives it.
#[derive(Debug)]
pub struct Gate<R = Rules, K = KeyCache> {
    rules: R,
    keys: K,
}

impl<R: Borrow<Rules>, K: Borrow<KeyCache>> Gate<R, K> {
    /// Starts a request that this engine decides.
    ///
    /// [`Gate::resume`] can be given a later engine; the engine of the last call decides. A request that is malformed
    /// regardless of its token is denied at once, without reading the token.
    pub fn ask<'e>(&self, engine: &'e Engine, request: &Request<'_>, now: Now) -> Step<'e> {
        let opened = self.rules().open(engine, request);
        // With the scheme `DPoP` only if a proof of it can be right.
        let presented = match self.keys().takes_proofs() {
            true => opened.presented(),
            false => opened.token().map(|token| (token, Presented::default())),
        };
        let (token, presented) = match presented {
            Ok(presented) => presented,
            Err(known) => return self.step(opened.decide(known)),
        };
        let mut progress = self.keys().ask(now.monotonic).holding_a_thread(request.holds_thread);
        match self.keys().judge_presented(token, &presented, &mut progress, now) {
            Judged::Verdict(verdict) => self.step(opened.decide(verdict.into())),
            Judged::Wait(wait) => {
                let (held, presented) = (Held::new(request), presented.keep());
                Step::Wait(Waiting { held, token: token.into(), presented, progress, wait })
            }
            Judged::CheckSignature(check) => Step::CheckSignature(Checking { held: Held::new(request), check }),
        }
    }

    /// Resumes a request after its wait is over.
    pub fn resume<'e>(&self, engine: &'e Engine, waiting: Waiting, now: Now) -> Step<'e> {
        let Waiting { held, token, presented, mut progress, .. } = waiting;
        let judged = match &presented {
            Some(kept) => kept.with(|presented| self.keys().judge_presented(&*token, presented, &mut progress, now)),
            None => self.keys().judge(&*token, &mut progress, now),
        };
        match judged {
            Judged::Verdict(verdict) => self.step(held.with(|request| self.decide(engine, request, verdict.into()))),
            Judged::Wait(wait) => Step::Wait(Waiting { held, token, presented, progress, wait }),
            Judged::CheckSignature(check) => Step::CheckSignature(Checking { held, check }),
        }
    }

    /// Resumes a request after the program has checked its signature. A token that is bound to the key of a proof is rejected:
    /// [`Gate::proceed`] returns its second signature.
    pub fn checked<'e>(&self, engine: &'e Engine, checking: Checking, is_right: bool, now: Now) -> Next<'e> {
        let verdict = checking.check.finish(is_right, now.time);
        self.challenged(checking.held.with(|request| self.decide(engine, request, verdict.into())))
    }

    /// The same for a token that can be bound to a key: the result, or the signature of its proof.
    pub fn proceed<'e>(&self, engine: &'e Engine, checking: Checking, is_right: bool, now: Now) -> Step<'e> {
        let Checking { held, check } = checking;
        match check.proceed(is_right, now.time) {
            Checked::Verdict(verdict) => self.step(held.with(|request| self.decide(engine, request, verdict.into()))),
            Checked::CheckSignature(check) => Step::CheckSignature(Checking { held, check }),
        }
    }

    fn step<'e>(&self, next: Next<'e>) -> Step<'e> {
        self.challenged(next).into()
    }

    /// With a challenge for DPoP in each 401 that has one, if a token can be bound to the key of a proof. A request whose body is
    /// read first takes it along.
    fn challenged<'e>(&self, next: Next<'e>) -> Next<'e> {
        if !self.keys().takes_dpop() {
            return next;
        }
        let algorithms = self.keys().dpop_algorithms();
        match next {
            Next::Answer(answer) => Next::Answer(answer.challenging_dpop(&algorithms)),
            Next::ReadBody(reading) => Next::ReadBody(reading.challenging_dpop(algorithms.into())),
        }
    }

    /// The next fetch, if there is one. Call it after each other call. See
    /// [`KeyCache::next_fetch`].
    pub fn next_fetch(&self, now: Duration) -> Option<Fetch> {
        self.keys().next_fetch(now)
    }

    /// Reports the result of a fetch, and returns the fetch that must follow it, if any. See
    /// [`KeyCache::fetched`].
    pub fn fetched(
        &self,
        attempt: AttemptId,
        result: Result<Response<'_>, FetchError>,
        now: Duration,
    ) -> Option<Fetch> {
        self.keys().fetched(attempt, result, now)
    }

    /// Whether the wait of a request is over.
    #[must_use]
    pub fn is_over(&self, wait: &Wait, now: Duration) -> bool {
        self.keys().is_over(wait, now)
    }

    /// Requests every issuer's keys. Call it at startup. See [`KeyCache::warm`].
    pub fn warm(&self, now: Duration) -> Vec<Wait> {
        self.keys().warm(now)
    }

    /// The keys, for revoking a key, forgetting an issuer's keys, and health checks.
    #[must_use]
    pub fn keys(&self) -> &KeyCache {
        self.keys.borrow()
    }
}

impl<R: Borrow<Rules>, K> Gate<R, K> {
    /// Makes a gate with these rules and keys. If another verifier checks the tokens, the keys are `()`.
    #[must_use]
    pub const fn new(rules: R, keys: K) -> Self {
        Self { rules, keys }
    }

    /// What follows for a request whose credentials were already verified, by this gate or by another verifier.
    ///
    /// A pure function. [Open](Rules::open) the request before another verifier checks its token, because the token of
    /// a malformed request isn't read.
    pub fn decide<'e, T: Verified>(
        &self,
        engine: &'e Engine,
        request: &Request<'_>,
        credentials: Credentials<T>,
    ) -> Next<'e, T> {
        self.rules().open(engine, request).decide(credentials)
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        self.rules.borrow()
    }
}
