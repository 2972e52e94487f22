//! Decides what to do with each version of a set of files, without a file and without waiting.
//!
//! The files are read again at an interval. Kernel notifications would arrive sooner, but they miss common ways to
//! change a file: a mounted Kubernetes `ConfigMap` changes through a symbolic link two directories up, editors
//! rename a new file over the old one, and network file systems send no events. The files are small.
//!
//! A file that is being written in place can be valid at any moment, and a weaker policy, because its last routes
//! are missing. So a version must rest before it counts: for a time, however often it is read meanwhile. It can also
//! prove that it is complete.

use core::time::Duration;
use std::sync::Arc;

use crate::reload::ending::Ending;
use crate::reload::error::LoadError;

/// How long a version must rest if an operator waits for it and the interval is longer.
const SHORT_REST: Duration = Duration::from_secs(1);

/// The longest pause between two attempts to load a version.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// The shortest pause between two looks, for clocks that count milliseconds.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

/// Follows the versions of a policy file, or of several files that take effect together. The host reads the files and
/// [looks](Self::look) at them, after each [`pause`](Self::pause). It takes the time from a clock that is never set.
///
/// A version rests from the first look that saw its bytes until the next look that sees others: for the interval, for a
/// second at most if an operator waits, and not at all if each changed file has a valid seal. A signal neither restarts
/// nor shortens that.
#[derive(Debug)]
pub struct Follower {
    interval: Duration,
    ending: Ending,
    /// The version of the last look; `None` if a file couldn't be read.
    seen: Option<Seen>,
    /// The time of the last look.
    looked: Duration,
    /// The version that was checked last; `None` after a file couldn't be read.
    judged: Option<Judged>,
    /// An operator waits for a result.
    is_awaited: bool,
    /// It was reported that a file can't be read.
    is_lost: bool,
    /// The files could always be read, and no version became active or was rejected.
    is_new: bool,
}

/// The contents of each file.
type Texts = Arc<[Vec<u8>]>;

#[derive(Debug)]
struct Seen {
    texts: Texts,
    /// The first of the looks without another version between them.
    since: Duration,
    /// Each file that differs from the version that was checked last has a valid seal.
    is_whole: bool,
}

#[derive(Debug)]
struct Judged {
    texts: Texts,
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
    /// An operator waits, and this version is active already: read again what isn't in these files, such as secrets, and
    /// report which version is active.
    Unchanged,
    /// Report that a file can't be read. The active version stays.
    Unreadable,
}

impl Follower {
    /// Follows files of which no version has been checked.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self {
            interval,
            ending: Ending::default(),
            seen: None,
            looked: Duration::ZERO,
            judged: None,
            is_awaited: false,
            is_lost: false,
            is_new: true,
        }
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

    /// How long to wait before the next look, unless an operator requests it earlier.
    #[must_use]
    pub fn pause(&self) -> Duration {
        let due = match (&self.seen, self.verdict()) {
            (Some(seen), None) => seen.since.saturating_add(self.rest(seen)),
            (_, Some(Verdict::Later { at, .. })) => at,
            _ => return self.interval,
        };
        due.saturating_sub(self.looked).clamp(SHORTEST_PAUSE.min(self.interval), self.interval)
    }

    /// Whether the version of the last look is active.
    #[must_use]
    pub fn is_current(&self) -> bool {
        matches!(self.verdict(), Some(Verdict::Active))
    }

    /// Looks at the files as they are now; `None` for one that can't be read.
    ///
    /// An operator who requests a read (`is_told`) expects a result: a version that was rejected is checked again, and an
    /// active one is reported.
    pub fn look(&mut self, files: &[Option<&[u8]>], is_told: bool, now: Duration) -> Look {
        self.looked = now;
        let Some(texts) = files.iter().copied().collect::<Option<Vec<_>>>() else {
            // Once, until a version has been checked or an operator waits.
            let is_news = !self.is_lost || self.is_awaited || is_told;
            (self.seen, self.judged, self.is_awaited) = (None, None, false);
            (self.is_lost, self.is_new) = (true, false);
            return if is_news { Look::Unreadable } else { Look::Wait };
        };
        if !self.seen.as_ref().is_some_and(|seen| seen.texts.iter().eq(texts.iter().copied())) {
            self.seen = Some(Seen { is_whole: self.is_whole(&texts), texts: owned(&texts), since: now });
        }
        self.is_awaited |= is_told;
        let look = self.judge(now);
        self.is_awaited &= look == Look::Wait;
        look
    }

    fn judge(&mut self, now: Duration) -> Look {
        match self.verdict() {
            Some(Verdict::Active) if self.is_awaited => Look::Unchanged,
            Some(Verdict::Active) => Look::Wait,
            Some(Verdict::Refused) if !self.is_awaited => Look::Wait,
            Some(Verdict::Later { at, .. }) if at <= now || self.is_awaited => Look::Load,
            Some(Verdict::Later { .. }) => Look::Wait,
            Some(Verdict::Refused) | None => {
                let Some(seen) = &self.seen else { return Look::Wait };
                if now < seen.since.saturating_add(self.rest(seen)) {
                    return Look::Wait;
                }
                self.is_lost = false;
                self.judged(Verdict::Later { at: now, pause: None });
                Look::Load
            }
        }
    }

    fn rest(&self, seen: &Seen) -> Duration {
        match seen.is_whole {
            true => Duration::ZERO,
            false if self.is_awaited => self.interval.min(SHORT_REST),
            false => self.interval,
        }
    }

    /// The verdict about the version of the last look.
    fn verdict(&self) -> Option<Verdict> {
        let (seen, judged) = (self.seen.as_ref()?, self.judged.as_ref()?);
        let is_same = Arc::ptr_eq(&seen.texts, &judged.texts) || seen.texts == judged.texts;
        is_same.then_some(judged.verdict)
    }

    /// Whether each file is as it was checked last, or complete.
    fn is_whole(&self, texts: &[&[u8]]) -> bool {
        let before = self.judged.as_ref().map(|judged| &judged.texts).filter(|before| before.len() == texts.len());
        let is_same = |at: usize, text: &[u8]| before.and_then(|before| before.get(at)).is_some_and(|it| it == text);
        let mut texts = texts.iter().enumerate();
        texts.all(|(at, text)| is_same(at, text) || orbgate_yaml::has_valid_seal(text))
    }

    fn judged(&mut self, verdict: Verdict) {
        if let Some(seen) = &self.seen {
            self.judged = Some(Judged { texts: Arc::clone(&seen.texts), verdict });
        }
    }

    /// Records that the version of the last look became active.
    pub fn took(&mut self, ending: Ending) {
        (self.ending, self.is_new) = (self.ending.or(ending), false);
        self.judged(Verdict::Active);
    }

    /// Records that the version of the last look is rejected, until it changes or an operator requests a read.
    pub fn refused(&mut self) {
        self.is_new = false;
        self.judged(Verdict::Refused);
    }

    /// Records why the version of the last look didn't become active. If the next attempt might succeed, it is made after
    /// a pause.
    pub fn failed(&mut self, error: &LoadError, now: Duration) {
        if error.may_pass() { self.postponed(now) } else { self.refused() }
    }

    /// Records that the version of the last look can't be loaded now, and is tried again after a growing pause.
    pub fn postponed(&mut self, now: Duration) {
        let last = match self.verdict() {
            Some(Verdict::Later { pause, .. }) => pause,
            _ => None,
        };
        let pause = last.map_or(self.interval, |pause| pause.saturating_mul(2)).min(LONGEST_PAUSE);
        self.judged(Verdict::Later { at: now.saturating_add(pause), pause: Some(pause) });
    }
}

fn owned(texts: &[&[u8]]) -> Texts {
    texts.iter().map(|text| text.to_vec()).collect()
}
