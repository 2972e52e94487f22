//! One issuer's attempts to fetch keys: the earlier ones, and the running one.

use core::fmt;
use core::time::Duration;

use super::discovery::Stage;
use super::when::Attempts;
use crate::opaque::{Opaque, Secret};

/// Identifies an attempt. A later attempt has a higher number, even if it is for another issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId(pub(super) u64);

impl AttemptId {
    /// The number, for an interface without types.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The attempt with this number. If no running attempt has the number, using it changes nothing.
    #[must_use]
    pub const fn of(number: u64) -> Self {
        Self(number)
    }
}

/// A URL to fetch without following redirects: with `GET`, or with `POST` if it has a [`post`](Fetch::post). In any case,
/// report the result to [`KeyCache::fetched`](crate::KeyCache::fetched).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetch {
    /// The attempt that needs it.
    pub attempt: AttemptId,
    /// `https`, or a loopback address.
    pub url: String,
    /// If the body is longer, stop reading and report [`FetchError::TooLarge`](crate::FetchError::TooLarge).
    pub max_bytes: usize,
    /// If the response hasn't arrived after this time, report [`FetchError::Timeout`](crate::FetchError::Timeout).
    pub timeout: Duration,
    /// A question about an opaque token, to send with `POST`. `None` means `GET`.
    pub post: Option<Post>,
}

/// A request to an introspection endpoint (RFC 7662 §2.1). It contains a token and a secret, so `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Post {
    authorization: Secret,
    body: String,
}

impl Post {
    /// The value of `Content-Type`.
    pub const CONTENT_TYPE: &'static str = "application/x-www-form-urlencoded";

    pub(super) fn new(authorization: Secret, token: &str) -> Self {
        Self { authorization, body: Opaque::body(token) }
    }

    /// The value of `Authorization`.
    #[must_use]
    pub fn authorization(&self) -> &str {
        self.authorization.reveal()
    }

    /// The body, in ASCII.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Post").finish_non_exhaustive()
    }
}

/// An attempt whose end a token must wait for: see [`KeyCache::is_over`](crate::KeyCache::is_over).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// The attempt.
    pub attempt: AttemptId,
    /// When the wait ends even without a report, on the clock of [`Now::monotonic`](crate::Now::monotonic).
    pub until: Duration,
}

#[derive(Debug, Default)]
pub(super) struct Schedule {
    pub(super) attempts: Attempts,
    pub(super) flight: Option<Flight>,
    /// An attempt that a rejected token has started. Nothing waits for it, so it delays no other attempt.
    pub(super) aside: Option<Flight>,
    /// The latest attempt that is over, if a token could wait for it.
    ended: Option<AttemptId>,
    /// The latest attempt that brought keys.
    brought: Option<AttemptId>,
}

#[derive(Debug)]
pub(super) struct Flight {
    pub(super) id: AttemptId,
    pub(super) until: Duration,
    pub(super) stage: Stage,
    pub(super) url: String,
    /// Whether the host is fetching it.
    pub(super) taken: bool,
    /// Its result might be older than the keys that were forgotten.
    pub(super) discarded: bool,
}

impl Flight {
    pub(super) const fn wait(&self) -> Wait {
        Wait { attempt: self.id, until: self.until }
    }

    /// What to fetch now, with the time that is left for it: at most `timeout`, because another thread may have read its clock
    /// before the attempt began.
    pub(super) fn fetch(&self, max_bytes: usize, now: Duration, timeout: Duration) -> Fetch {
        Fetch {
            attempt: self.id,
            url: self.url.clone(),
            max_bytes,
            timeout: self.until.saturating_sub(now).min(timeout),
            post: None,
        }
    }
}

impl Schedule {
    /// Whether an attempt that began after that one is over.
    pub(super) fn has_ended_since(&self, before: AttemptId) -> bool {
        self.ended.is_some_and(|ended| ended > before)
    }

    pub(super) fn flights(&mut self) -> impl Iterator<Item = &mut Flight> {
        self.flight.iter_mut().chain(&mut self.aside)
    }

    /// An attempt whose time is over.
    pub(super) fn late(&mut self, now: Duration) -> Option<AttemptId> {
        let late = self.flights().find(|flight| now >= flight.until);
        late.map(|flight| flight.id)
    }

    /// The attempt under way with this number.
    pub(super) fn flight_of(&mut self, id: AttemptId) -> Option<&mut Flight> {
        self.flights().find(|flight| flight.id == id)
    }

    /// An attempt is over. What it brought counts, unless it is discarded or a later attempt has brought keys.
    pub(super) fn end(&mut self, id: AttemptId, brings_keys: bool) -> bool {
        let is_it = |flight: &mut Flight| flight.id == id;
        let flight = self.flight.take_if(is_it).inspect(|flight| self.ended = Some(flight.id));
        let Some(flight) = flight.or_else(|| self.aside.take_if(is_it)) else {
            return false;
        };
        let counts = !flight.discarded && self.brought.is_none_or(|brought| brought < id);
        if counts && brings_keys {
            self.brought = Some(id);
        }
        counts
    }
}
