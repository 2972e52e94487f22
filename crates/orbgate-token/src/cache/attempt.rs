//! One issuer's attempts: those of before, and the one that is under way.

use core::fmt;
use core::time::Duration;

use super::discovery::Stage;
use super::when::Attempts;
use crate::opaque::{Opaque, Secret};

/// The name of an attempt: later ones have higher numbers, also across issuers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId(pub(super) u64);

impl AttemptId {
    /// The number, for an interface without types.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The attempt of this number. A number that no attempt under way has is harmless.
    #[must_use]
    pub const fn of(number: u64) -> Self {
        Self(number)
    }
}

/// One URL to fetch, by `GET` or as its [`Fetch::post`] says, without following a redirect. Report what came of it to
/// [`KeyCache::fetched`](crate::KeyCache::fetched), in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetch {
    /// The attempt that needs it.
    pub attempt: AttemptId,
    /// `https`, or an address of this very machine.
    pub url: String,
    /// A longer body is [`FetchError::TooLarge`](crate::FetchError::TooLarge); stop reading there.
    pub max_bytes: usize,
    /// What is not there after this time is [`FetchError::Timeout`](crate::FetchError::Timeout).
    pub timeout: Duration,
    /// What to send by `POST`: a question about a token. Without it, `GET` it.
    pub post: Option<Post>,
}

/// What is sent to an introspection endpoint (RFC 7662, section 2.1). It has a token and a secret, so `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Post {
    authorization: Secret,
    body: String,
}

impl Post {
    /// The value of `Content-Type`.
    pub const CONTENT_TYPE: &'static str = "application/x-www-form-urlencoded";

    pub(super) fn new(authorization: Secret, token: &str) -> Self {
        Self {
            authorization,
            body: Opaque::body(token),
        }
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

/// Wait until this attempt is over: see [`KeyCache::is_over`](crate::KeyCache::is_over).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// The attempt.
    pub attempt: AttemptId,
    /// When it is over even if nobody has reported its end, on the clock of [`Now::monotonic`](crate::Now::monotonic).
    pub until: Duration,
}

/// One issuer's attempts.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    pub(super) attempts: Attempts,
    pub(super) flight: Option<Flight>,
    /// The latest attempt that is over.
    pub(super) ended: Option<AttemptId>,
}

/// An attempt that is under way.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) id: AttemptId,
    pub(super) until: Duration,
    pub(super) stage: Stage,
    pub(super) url: String,
    /// Somebody fetches it.
    pub(super) taken: bool,
    /// What it brings may be older than the keys that were forgotten.
    pub(super) discarded: bool,
}

impl Flight {
    pub(super) const fn wait(&self) -> Wait {
        Wait {
            attempt: self.id,
            until: self.until,
        }
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

    /// The attempt under way, if it is this one.
    pub(super) fn flight_of(&mut self, id: AttemptId) -> Option<&mut Flight> {
        self.flight.as_mut().filter(|flight| flight.id == id)
    }

    /// The attempt under way is over; what it brought counts unless it is discarded.
    pub(super) fn end(&mut self) -> bool {
        let Some(flight) = self.flight.take() else {
            return false;
        };
        self.ended = Some(flight.id);
        !flight.discarded
    }
}
