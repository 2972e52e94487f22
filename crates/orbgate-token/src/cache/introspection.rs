//! What an introspection endpoint is asked about: a limited number of tokens at once, and fewer while it fails.

use core::time::Duration;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::attempt::{AttemptId, Fetch, Post, Wait};
use super::error::FetchError;
use super::verdicts::Verdicts;
use crate::generations::Mark;
use crate::keys::KEY_SET_BYTES;
use crate::opaque::{Opaque, Secret};

/// How many tokens an endpoint is asked about at once. The others wait their turn.
const AT_ONCE: usize = 32;

/// After so many failures in a row, an endpoint gets no request for a while, and then one at a time. A single failure might be due to
/// the token, and any caller can invent one.
const FAILURES: u32 = 4;

#[derive(Debug)]
pub(super) struct Introspection {
    /// Shared with the cache of the next configuration, if the issuer's rules are the same.
    pub(super) verdicts: Arc<Mutex<Verdicts>>,
    asking: Mutex<Asking>,
}

#[derive(Debug, Default)]
pub(super) struct Asking {
    pub(super) flights: HashMap<AttemptId, Flight>,
    pub(super) by_mark: HashMap<Mark, AttemptId>,
    /// All of them, the oldest first; some may be over.
    pub(super) order: VecDeque<AttemptId>,
    /// Those that haven't been fetched yet; some may be over.
    pub(super) queue: VecDeque<AttemptId>,
    /// The credentials to ask with, as they were read last.
    authorization: Option<Secret>,
    /// How many are being fetched.
    sent: usize,
    /// How many have failed in a row.
    pub(super) failures: u32,
    rests_until: Duration,
    pub(super) failure: Option<FetchError>,
}

pub(super) struct Flight {
    pub(super) mark: Mark,
    pub(super) until: Duration,
    pub(super) sent: Option<Duration>,
    pub(super) token: Box<str>,
    /// What it brings may be older than what was forgotten.
    pub(super) discarded: bool,
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
    pub(super) fn ask_with(&self, authorization: Option<Secret>) {
        let mut asking = self.asking();
        if asking.authorization != authorization {
            asking.authorization = authorization;
            drop(asking);
            self.forget();
        }
    }

    /// A thread that panicked has left it whole: nothing in it panics.
    pub(super) fn asking(&self) -> MutexGuard<'_, Asking> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn verdicts(&self) -> MutexGuard<'_, Verdicts> {
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
    pub(super) const fn wait(&self, attempt: AttemptId) -> Wait {
        Wait { attempt, until: self.until }
    }
}

impl Asking {
    /// Ends attempts whose result wasn't reported in time.
    pub(super) fn expire(&mut self, now: Duration, retry: Duration) {
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

    pub(super) fn end(&mut self, id: AttemptId) {
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
    pub(super) fn fail(&mut self, failure: FetchError, now: Duration, retry: Duration) {
        self.failure = Some(failure);
        self.failures = self.failures.saturating_add(1);
        if self.is_failing() {
            self.rests_until = now.saturating_add(retry);
            for id in core::mem::take(&mut self.queue) {
                self.end(id);
            }
        }
    }

    pub(super) const fn is_failing(&self) -> bool {
        self.failures >= FAILURES
    }

    /// Whether one more token may be asked about.
    pub(super) fn may_begin(&self, now: Duration, most: usize) -> bool {
        match self.is_failing() {
            true => now >= self.rests_until && self.flights.is_empty(),
            false => self.flights.len() < most,
        }
    }

    /// Whether there is one to ask about now.
    pub(super) fn has_next(&self) -> bool {
        self.sent < AT_ONCE && !self.queue.is_empty()
    }

    /// The next one to ask about, within at most `timeout`.
    pub(super) fn next(&mut self, opaque: &Opaque, now: Duration, timeout: Duration) -> Option<Fetch> {
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
