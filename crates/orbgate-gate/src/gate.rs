//! The gate: rules and keys, asked about one request after another.

use core::borrow::Borrow;
use core::time::Duration;

use orbgate::Engine;
use orbgate_token::{AttemptId, Fetch, FetchError, Judged, KeyCache, Now, Response, Wait};

use crate::answer::Answer;
use crate::credentials::{Credentials, Verified};
use crate::request::Request;
use crate::rules::Rules;
use crate::step::{Checking, Held, Step, Waiting};

/// Rules and keys: from a request as it came to its answer, without I/O and without a clock.
///
/// One for all threads: `Send + Sync`, and no call waits for I/O or for a signature. The [crate's page](crate) shows the loop
/// that drives it.
#[derive(Debug)]
pub struct Gate<R = Rules, K = KeyCache> {
    rules: R,
    keys: K,
}

impl<R: Borrow<Rules>, K: Borrow<KeyCache>> Gate<R, K> {
    /// Asks about a request, to be decided by this engine.
    ///
    /// The engine that the answer comes from decides: [`Gate::resume`] may be given a later one. A request that is malformed
    /// whatever its token is answered at once, and its token isn't read.
    pub fn ask<'e>(&self, engine: &'e Engine, request: &Request<'_>, now: Now) -> Step<'e> {
        let opened = self.rules().open(engine, request);
        let token = match opened.token() {
            Ok(token) => token,
            Err(known) => return Step::Answer(opened.decide(known)),
        };
        let asked = self.keys().ask(now.monotonic);
        let mut asked = asked.holding_a_thread(request.holds_thread);
        match self.keys().judge(token, &mut asked, now) {
            Judged::Verdict(verdict) => Step::Answer(opened.decide(verdict.into())),
            Judged::Wait(wait) => Step::Wait(Waiting {
                held: Held::new(request),
                token: token.into(),
                asked,
                wait,
            }),
            Judged::CheckSignature(check) => Step::CheckSignature(Checking {
                held: Held::new(request),
                check,
            }),
        }
    }

    /// Asks again about a request whose wait is over.
    pub fn resume<'e>(&self, engine: &'e Engine, waiting: Waiting, now: Now) -> Step<'e> {
        let Waiting {
            held,
            token,
            mut asked,
            ..
        } = waiting;
        match self.keys().judge(&*token, &mut asked, now) {
            Judged::Verdict(verdict) => {
                Step::Answer(self.decide(engine, &held.request(), verdict.into()))
            }
            Judged::Wait(wait) => Step::Wait(Waiting {
                held,
                token,
                asked,
                wait,
            }),
            Judged::CheckSignature(check) => Step::CheckSignature(Checking { held, check }),
        }
    }

    /// The answer, once the program has checked a signature.
    pub fn checked<'e>(
        &self,
        engine: &'e Engine,
        checking: Checking,
        is_right: bool,
        now: Now,
    ) -> Answer<'e> {
        let verdict = checking.check.finish(is_right, now.time);
        self.decide(engine, &checking.held.request(), verdict.into())
    }

    /// What to fetch next, if there is anything: ask after each call. See [`KeyCache::next_fetch`].
    pub fn next_fetch(&self, now: Duration) -> Option<Fetch> {
        self.keys().next_fetch(now)
    }

    /// What came of a fetch; returns what to fetch next for it. See [`KeyCache::fetched`].
    pub fn fetched(
        &self,
        attempt: AttemptId,
        result: Result<Response<'_>, FetchError>,
        now: Duration,
    ) -> Option<Fetch> {
        self.keys().fetched(attempt, result, now)
    }

    /// Whether what a request waits for is over.
    #[must_use]
    pub fn is_over(&self, wait: &Wait, now: Duration) -> bool {
        self.keys().is_over(wait, now)
    }

    /// Asks for every issuer's keys, at a start. See [`KeyCache::warm`].
    pub fn warm(&self, now: Duration) -> Vec<Wait> {
        self.keys().warm(now)
    }

    /// The keys: to revoke one, to forget an issuer's, and for health checks.
    #[must_use]
    pub fn keys(&self) -> &KeyCache {
        self.keys.borrow()
    }
}

impl<R: Borrow<Rules>, K> Gate<R, K> {
    /// Answers by these rules, with the tokens that these keys verify. If another verifier judges the tokens, the keys are `()`.
    #[must_use]
    pub const fn new(rules: R, keys: K) -> Self {
        Self { rules, keys }
    }

    /// The answer to a request with credentials that are judged already, by this gate or by another verifier.
    ///
    /// Pure. Before another verifier judges a token, [open](Rules::open) the request, because the token of a malformed one isn't read.
    pub fn decide<'e, T: Verified>(
        &self,
        engine: &'e Engine,
        request: &Request<'_>,
        credentials: Credentials<T>,
    ) -> Answer<'e, T> {
        self.rules().open(engine, request).decide(credentials)
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        self.rules.borrow()
    }
}
