//! Asks introspection endpoints about tokens: about a limited number at once, and less often while an endpoint fails.

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use super::attempt::{AttemptId, Fetch, Post, Wait};
use super::discovery::Response;
use super::error::FetchError;
use super::verdicts::{NEGATIVE, Verdicts};
use super::{Asked, Judged, KeyCache, Now};
use crate::claims::Stated;
use crate::config::ConfigError;
use crate::error::TokenError;
use crate::generations::Mark;
use crate::keys::KEY_SET_BYTES;
use crate::opaque::{Opaque, Secret, SecretSource};
use crate::verified::{Fingerprint, VerifiedToken};
use crate::verifier::since_epoch;

/// How many tokens an endpoint is asked about at once. The others wait their turn.
const AT_ONCE: usize = 32;

/// After so many failures in a row, an endpoint gets no request for a while, and then one at a time. A single failure might be due to
/// the token, and any caller can invent one.
const FAILURES: u32 = 4;

/// The introspection of one issuer's tokens.
#[derive(Debug)]
pub(super) struct Introspection {
    /// Shared with the cache of the next configuration, if the issuer's rules are the same.
    pub(super) verdicts: Arc<Mutex<Verdicts>>,
    asking: Mutex<Asking>,
}

/// The tokens that are asked about.
#[derive(Debug, Default)]
struct Asking {
    flights: HashMap<AttemptId, Flight>,
    by_mark: HashMap<Mark, AttemptId>,
    /// All of them, the oldest first; some may be over.
    order: VecDeque<AttemptId>,
    /// Those that haven't been fetched yet; some may be over.
    queue: VecDeque<AttemptId>,
    /// The credentials to ask with, as they were read last.
    authorization: Option<Secret>,
    /// How many are being fetched.
    sent: usize,
    /// How many have failed in a row.
    failures: u32,
    rests_until: Duration,
    failure: Option<FetchError>,
}

struct Flight {
    mark: Mark,
    until: Duration,
    sent: Option<Duration>,
    token: Box<str>,
    /// What it brings may be older than what was forgotten.
    discarded: bool,
}

// Written by hand: it has a token.
impl core::fmt::Debug for Flight {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Flight").field("until", &self.until).finish_non_exhaustive()
    }
}

impl Introspection {
    pub(super) fn new(opaque: &Opaque) -> Self {
        Self {
            verdicts: Arc::new(Mutex::new(Verdicts::new(opaque.max_cache))),
            asking: Mutex::new(Asking { authorization: opaque.authorization.clone(), ..Asking::default() }),
        }
    }

    /// Asks with these credentials from now on. Others may be another client's, which gets other answers.
    fn ask_with(&self, authorization: Option<Secret>) {
        let mut asking = self.asking();
        if asking.authorization != authorization {
            asking.authorization = authorization;
            drop(asking);
            self.forget();
        }
    }

    /// A thread that panicked has left it whole: nothing in it panics.
    fn asking(&self) -> MutexGuard<'_, Asking> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn verdicts(&self) -> MutexGuard<'_, Verdicts> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the endpoint failed lately.
    pub(super) fn failure(&self) -> Option<FetchError> {
        self.asking().failure.clone()
    }

    /// Forgets everything that the endpoint has said. Returns the latest attempt that is under way, whose answer is discarded.
    pub(super) fn forget(&self) -> Option<Wait> {
        let mut asking = self.asking();
        self.verdicts().clear();
        (asking.failures, asking.rests_until) = (0, Duration::ZERO);
        let flights = asking.flights.values_mut();
        flights.for_each(|flight| flight.discarded = true);
        let (id, flight) = asking.flights.iter().max_by_key(|(id, _)| **id)?;
        Some(flight.wait(*id))
    }
}

impl Flight {
    const fn wait(&self, attempt: AttemptId) -> Wait {
        Wait { attempt, until: self.until }
    }
}

impl Asking {
    /// Ends attempts whose result wasn't reported in time.
    fn expire(&mut self, now: Duration, retry: Duration) {
        while let Some(id) = self.order.front().copied() {
            match self.flights.get(&id) {
                Some(flight) if flight.until > now => return,
                // The endpoint hasn't been asked, so it hasn't failed.
                Some(flight) if flight.sent.is_none() => self.end(id),
                Some(_) => {
                    self.end(id);
                    self.fail(FetchError::Timeout, now, retry);
                }
                None => {}
            }
            self.order.pop_front();
        }
    }

    fn end(&mut self, id: AttemptId) {
        let Some(flight) = self.flights.remove(&id) else {
            return;
        };
        if flight.sent.is_some() {
            self.sent = self.sent.saturating_sub(1);
        }
        // Another one may be about the same token, if this one is discarded.
        if self.by_mark.get(&flight.mark) == Some(&id) {
            self.by_mark.remove(&flight.mark);
        }
    }

    /// The endpoint has failed. If it did so again and again, those that are not asked about yet are given up.
    fn fail(&mut self, failure: FetchError, now: Duration, retry: Duration) {
        self.failure = Some(failure);
        self.failures = self.failures.saturating_add(1);
        if self.is_failing() {
            self.rests_until = now.saturating_add(retry);
            for id in core::mem::take(&mut self.queue) {
                self.end(id);
            }
        }
    }

    const fn is_failing(&self) -> bool {
        self.failures >= FAILURES
    }

    /// Whether one more token may be asked about.
    fn may_begin(&self, now: Duration, most: usize) -> bool {
        match self.is_failing() {
            true => now >= self.rests_until && self.flights.is_empty(),
            false => self.flights.len() < most,
        }
    }

    /// Whether there is one to ask about now.
    fn has_next(&self) -> bool {
        self.sent < AT_ONCE && !self.queue.is_empty()
    }

    /// The next one to ask about, within at most `timeout`.
    fn next(&mut self, opaque: &Opaque, now: Duration, timeout: Duration) -> Option<Fetch> {
        while self.has_next() {
            let id = self.queue.pop_front()?;
            let Some(flight) = self.flights.get_mut(&id) else {
                continue;
            };
            flight.sent = Some(now);
            self.sent = self.sent.saturating_add(1);
            return Some(Fetch {
                attempt: id,
                url: opaque.endpoint.clone(),
                max_bytes: KEY_SET_BYTES,
                timeout: flight.until.saturating_sub(now).min(timeout),
                post: Some(Post::new(self.authorization.clone()?, &flight.token)),
            });
        }
        None
    }
}

impl KeyCache {
    /// The locations of all clients' secrets, in the order in which [`KeyCache::read_secrets`] reads them.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretSource> {
        self.verifier.secrets()
    }

    /// Reads the secrets for introspection endpoints again, because they can change while a program runs. If a secret has
    /// changed, all responses of its endpoint are forgotten.
    ///
    /// # Errors
    ///
    /// The same as those of [`Verifier::with_secrets`](crate::Verifier::with_secrets). On an error, all secrets stay unchanged.
    pub fn read_secrets(
        &self,
        mut read: impl FnMut(&SecretSource) -> std::io::Result<Vec<u8>>,
    ) -> Result<(), ConfigError> {
        let (mut found, mut diagnostics) = (Vec::new(), Vec::new());
        let mut files = Vec::new();
        for issuer in 0..self.introspections.len() {
            let Some((of, opaque)) = self.introspection(issuer) else {
                let rules = self.verifier.named(issuer).map(|(rules, _)| rules);
                if let Some((rules, file)) = rules.and_then(|rules| Some((rules, rules.jwks_file.as_ref()?))) {
                    match file.read(&rules.key_rules, &mut read) {
                        Ok(keys) => files.push((issuer, keys)),
                        Err(diagnostic) => diagnostics.push(diagnostic),
                    }
                }
                continue;
            };
            let mut opaque = opaque.clone();
            opaque.authorization = None;
            match opaque.read_secret(&mut read) {
                Ok(()) => found.push((of, opaque.authorization)),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        if !diagnostics.is_empty() {
            return Err(ConfigError::of_secrets(diagnostics));
        }
        for (of, authorization) in found {
            of.ask_with(authorization);
        }
        for (issuer, keys) in files {
            self.change(issuer, |next, name| next.put(issuer, name, Arc::clone(&keys), None));
        }
        Ok(())
    }

    /// The introspection of an issuer's tokens, if they are opaque.
    pub(super) fn introspection(&self, issuer: usize) -> Option<(&Introspection, &Opaque)> {
        let of = self.introspections.get(issuer)?.as_ref()?;
        let (rules, _) = self.verifier.named(issuer)?;
        Some((of, rules.opaque.as_ref()?))
    }

    /// What is known of a token that its issuer is asked about.
    pub(super) fn introspect(&self, issuer: usize, token: &[u8], asked: &mut Asked, now: Now) -> Judged {
        let mark: Mark = Sha256::digest(token).into();
        let verdict = match self.said(issuer, &mark, asked.at, now) {
            Some(verdict) => verdict,
            None => match core::str::from_utf8(token) {
                Ok(token) => match self.answer(issuer, mark, token, asked, now.monotonic) {
                    Some(wait) => return Judged::Wait(wait),
                    None => Err(TokenError::Unanswered),
                },
                Err(_) => Err(TokenError::NotCompact),
            },
        };
        Judged::Verdict(verdict)
    }

    /// What the endpoint has said, if it is new enough: it was asked after this question, or not too long ago.
    fn said(&self, issuer: usize, mark: &Mark, asked: Duration, now: Now) -> Option<Result<VerifiedToken, TokenError>> {
        let (of, opaque) = self.introspection(issuer)?;
        let (active, refused) = of.verdicts().get(mark, now.monotonic);
        let is_new = |sent: Duration, longest: Duration| sent >= asked || now.monotonic.saturating_sub(sent) < longest;
        let negative = NEGATIVE.min(opaque.max_cache);
        let active = active.and_then(|said| {
            let verdict = self.verdict(issuer, mark, &said.stated, now.time);
            let longest = match &verdict {
                Ok(token) if now.time < token.expires() => opaque.max_cache,
                Ok(_) => Duration::ZERO,
                Err(_) => negative,
            };
            is_new(said.sent, longest).then_some(verdict)
        });
        active.or_else(|| {
            let (sent, error) = refused?;
            let longest = match error {
                TokenError::Unanswered => self.settings.retry,
                _ => negative,
            };
            is_new(sent, longest).then_some(Err(error))
        })
    }

    /// Checks the claims again, by the rules for any other token.
    fn verdict(
        &self,
        issuer: usize,
        mark: &Mark,
        stated: &Stated,
        now: SystemTime,
    ) -> Result<VerifiedToken, TokenError> {
        let (rules, name) = self.verifier.named(issuer).ok_or(TokenError::Issuer)?;
        let fingerprint = Fingerprint::from_hash(mark).ok_or(TokenError::Clock)?;
        let stated = stated.clone();
        stated.judge(rules, name, fingerprint, since_epoch(now)?)
    }

    /// What to wait for until the endpoint answers; `None` if it isn't asked about this token now.
    fn answer(&self, issuer: usize, mark: Mark, token: &str, asked: &mut Asked, now: Duration) -> Option<Wait> {
        let timeout = self.settings.timeout;
        let (of, _) = self.introspection(issuer)?;
        if now.saturating_sub(asked.at) >= timeout {
            return None;
        }
        // Tokens that wait for keys have places of their own, which no flood of opaque tokens takes.
        let most = self.settings.max_waiting.div_ceil(2);
        let place = match asked.place.take() {
            Some(place) => place,
            None => self.asking_places.enter(most, asked.holds_thread)?,
        };
        let mut asking = of.asking();
        asking.expire(now, self.settings.retry);
        let known = asking.by_mark.get(&mark).copied();
        let known = known.and_then(|id| Some((id, asking.flights.get(&id)?)));
        let wait = match known.filter(|(_, flight)| !flight.discarded) {
            Some((id, flight)) => flight.wait(id),
            None => {
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                if !asking.may_begin(now, most) {
                    return None;
                }
                let begun = self.begun.fetch_add(1, Ordering::SeqCst);
                let id = self.id(begun.saturating_add(1), issuer);
                let flight = Flight {
                    mark,
                    until: now.saturating_add(timeout),
                    sent: None,
                    token: token.into(),
                    discarded: false,
                };
                let wait = flight.wait(id);
                asking.order.push_back(id);
                asking.queue.push_back(id);
                asking.by_mark.insert(mark, id);
                asking.flights.insert(id, flight);
                wait
            }
        };
        if asking.has_next() {
            self.has_queued.store(true, Ordering::SeqCst);
        }
        let is_failing = asking.is_failing();
        drop(asking);
        self.until(asked, place, wait, is_failing, now)
    }

    /// The next token to ask an issuer's endpoint about.
    pub(super) fn next_question(&self, issuer: usize, now: Duration) -> Option<Fetch> {
        let (of, opaque) = self.introspection(issuer)?;
        let mut asking = of.asking();
        asking.expire(now, self.settings.retry);
        let fetch = asking.next(opaque, now, self.settings.timeout)?;
        self.has_queued.store(true, Ordering::SeqCst);
        Some(fetch)
    }

    /// What an endpoint has answered, or why it did not.
    pub(super) fn answered(
        &self,
        issuer: usize,
        attempt: AttemptId,
        result: Result<Response<'_>, FetchError>,
        now: Duration,
    ) -> Option<()> {
        let retry = self.settings.retry;
        let (of, _) = self.introspection(issuer)?;
        let mut asking = of.asking();
        asking.expire(now, retry);
        let flight = asking.flights.get(&attempt)?;
        let (mark, sent) = (flight.mark, flight.sent?);
        drop(asking);
        // Read before the lock is taken: it may be a long text.
        let answer = result.and_then(|response| match response.status {
            200 if response.body.len() > KEY_SET_BYTES => Err(FetchError::TooLarge),
            200 => match self.verifier.answered(response.body, Some(issuer)) {
                // Such as a firewall's page.
                Err(TokenError::BadClaims) => Err(FetchError::NotJson),
                answered => Ok(answered),
            },
            status => Err(FetchError::Status(status)),
        });
        let mut asking = of.asking();
        let flight = asking.flights.get(&attempt)?;
        let (said, failure) = match answer {
            Ok(answered) => (answered.map(|(_, _, stated)| stated), None),
            Err(failure) => (Err(TokenError::Unanswered), Some(failure)),
        };
        // Before its attempt is over, so that those who wait for it find it.
        if !flight.discarded {
            of.verdicts().put(mark, sent, said, now);
        }
        asking.end(attempt);
        match failure {
            Some(failure) if !failure.is_of_token() => asking.fail(failure, now, retry),
            failure => (asking.failures, asking.failure) = (0, failure),
        }
        if asking.has_next() {
            self.has_queued.store(true, Ordering::SeqCst);
        }
        Some(())
    }

    /// Whether an attempt of this issuer's endpoint is under way.
    pub(super) fn is_asking(&self, issuer: usize, attempt: AttemptId) -> bool {
        let of = self.introspection(issuer);
        of.is_some_and(|(of, _)| of.asking().flights.contains_key(&attempt))
    }
}
