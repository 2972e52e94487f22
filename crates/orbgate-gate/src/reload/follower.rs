//! Decides what to do with each version of a policy file, without a file and without waiting.
//!
//! The file is read again at an interval. Kernel notifications would arrive sooner, but they miss common ways to
//! change a policy: a mounted Kubernetes `ConfigMap` changes through a symbolic link two directories up, editors
//! rename a new file over the old one, and network file systems send no events. A policy is small.
//!
//! A file that is being written in place can be a valid policy at any moment, and a weaker one, because its last routes
//! are missing. So a version must rest before it counts, and it can mark its end.

use core::time::Duration;

use super::{Ending, LoadError};

/// How long a version must rest if an operator waits for it and the interval is longer.
const SHORT_REST: Duration = Duration::from_secs(1);

/// The longest pause between two attempts to load a version.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// Follows the versions of a policy file. The host reads the file and [looks](Self::look) at it, after each
/// [`pause`](Self::pause). It takes the time from a clock that is never set.
#[derive(Debug)]
pub struct Follower {
    interval: Duration,
    ending: Ending,
    /// The version that was checked last; `None` after the file couldn't be read.
    judged: Option<Judged>,
    /// A version that must be read again before it is checked.
    resting: Option<Vec<u8>>,
    /// An operator waits for a result.
    is_awaited: bool,
    /// It was reported that the file can't be read.
    is_lost: bool,
    /// The file could always be read, and no version became active or was rejected.
    is_new: bool,
}

#[derive(Debug)]
struct Judged {
    text: Vec<u8>,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug)]
enum Verdict {
    Active,
    Refused,
    /// It failed, but the next attempt might succeed. The next pause is twice this one.
    Later {
        at: Duration,
        pause: Option<Duration>,
    },
}

/// What to do after a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a host must handle each")]
pub enum Look {
    /// Nothing.
    Wait,
    /// Load this version, and state how that ended: [`took`](Follower::took), [`refused`](Follower::refused) or
    /// [`postponed`](Follower::postponed).
    Load,
    /// Report that the file can't be read. The active version stays.
    Unreadable,
}

impl Follower {
    /// Follows a file of which no version has been checked.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        let (ending, is_awaited, is_lost, is_new) = (Ending::default(), false, false, true);
        Self { interval, ending, judged: None, resting: None, is_awaited, is_lost, is_new }
    }

    /// Whether the next version is the first, and no operator waits for it.
    pub(super) const fn is_quiet(&self) -> bool {
        self.is_new && !self.is_awaited
    }

    /// How the active versions so far marked their end.
    #[must_use]
    pub const fn ending(&self) -> Ending {
        self.ending
    }

    /// How long to wait before the next look.
    #[must_use]
    pub fn pause(&self) -> Duration {
        if self.is_awaited { self.interval.min(SHORT_REST) } else { self.interval }
    }

    /// Whether the version that was checked last is active, and no other version waits.
    #[must_use]
    pub fn is_current(&self) -> bool {
        let is_active = |judged: &Judged| matches!(judged.verdict, Verdict::Active);
        self.resting.is_none() && self.judged.as_ref().is_some_and(is_active)
    }

    /// Looks at the file as it is now; `None` if it can't be read.
    ///
    /// An operator who requests a read (`is_told`) expects a result: a version that was rejected is checked again, and a
    /// sealed one, which is complete, needn't rest.
    pub fn look(&mut self, text: Option<&[u8]>, is_told: bool, now: Duration) -> Look {
        let Some(text) = text else {
            (self.resting, self.judged, self.is_awaited) = (None, None, false);
            // Once, until a version has been checked.
            let is_news = !self.is_lost || is_told;
            (self.is_lost, self.is_new) = (true, false);
            return if is_news { Look::Unreadable } else { Look::Wait };
        };
        if is_told {
            self.judged.take_if(|judged| matches!(judged.verdict, Verdict::Refused));
            self.resting = orbgate_yaml::is_sealed(text).then(|| text.to_vec());
        }
        let look = self.judge(text, now);
        self.is_awaited = (self.is_awaited || is_told) && self.resting.is_some();
        look
    }

    fn judge(&mut self, text: &[u8], now: Duration) -> Look {
        let judged = self.judged.as_ref().filter(|judged| judged.text == text);
        if let Some(Judged { verdict, .. }) = judged {
            self.resting = None;
            return match verdict {
                Verdict::Later { at, .. } if *at <= now => Look::Load,
                _ => Look::Wait,
            };
        }
        if self.resting.as_deref() != Some(text) {
            self.resting = Some(text.to_vec());
            return Look::Wait;
        }
        self.resting = None;
        self.judged(text, Verdict::Later { at: now, pause: None });
        Look::Load
    }

    fn judged(&mut self, text: &[u8], verdict: Verdict) {
        self.is_lost = false;
        self.judged = Some(Judged { text: text.to_vec(), verdict });
    }

    /// Records a version that became active.
    pub fn took(&mut self, text: &[u8], ending: Ending) {
        (self.ending, self.is_new) = (self.ending.or(ending), false);
        self.judged(text, Verdict::Active);
    }

    /// Records why a version is rejected. If the next attempt might succeed, it is made after a pause.
    pub fn refused(&mut self, text: &[u8], error: &LoadError, now: Duration) {
        match error.may_pass() {
            true => self.postponed(text, now),
            false => {
                self.is_new = false;
                self.judged(text, Verdict::Refused);
            }
        }
    }

    /// Records that a version can't be loaded now, and is tried again after a growing pause.
    pub fn postponed(&mut self, text: &[u8], now: Duration) {
        let last = self.judged.as_ref().and_then(|judged| match judged.verdict {
            Verdict::Later { pause, .. } => pause,
            Verdict::Active | Verdict::Refused => None,
        });
        let pause = last.map_or(self.interval, |pause| pause.saturating_mul(2)).min(LONGEST_PAUSE);
        self.judged(text, Verdict::Later { at: now.saturating_add(pause), pause: Some(pause) });
    }
}
