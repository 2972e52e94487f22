//! Begins and ends the attempts to fetch an issuer's keys, and applies their results.
//!
//! What a token does about the keys of its issuer (`Phase`):
//!
//! ```text
//!  Start ── fresh, or old with nothing to wait for ───────────▶ Current: verified with the keys that there are
//!    │                                                             ▲
//!    │ must be fetched, or the key is unknown                      │ new keys, its attempt is over, or its time is
//!    ▼                                                             │
//!  Stale { seen } ── waits for an attempt, and asks again ─────────┘
//! ```
//!
//! An attempt. An issuer has at most one that tokens wait for (`flight`), and one that a rejected token has started (`aside`):
//!
//! ```text
//!                 next_fetch       fetched: keys, or a failure
//!  begin ──▶ queued ────────▶ taken ──────────────────────────▶ over
//!               │             │ ▲ │                              ▲
//!               │             └─┘ │  fetched: where the keys are │
//!               └─────────────────┴── expire: not in time ───────┘
//! ```

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::attempt::{AttemptId, Flight, Schedule, Wait};
use super::discovery::{self, Stage};
use super::error::FetchError;
use super::places::{BRIEF, Ticket};
use super::snapshot::Snapshot;
use super::when::{Cause, Due, Times};
use super::{Asked, KeyCache, Phase};

impl KeyCache {
    /// Refreshes an issuer's keys: returns the attempt to wait for, or `None` if they are current or can't be refreshed.
    pub(super) fn refresh(&self, issuer: usize, progress: &mut Asked, now: Duration) -> Option<Wait> {
        let snapshot = self.snapshot.load();
        let seen = match progress.phase {
            Phase::Start => snapshot.generation(issuer),
            Phase::Stale { seen } => seen,
            Phase::Current => return None,
        };
        let cause = snapshot.cause(issuer);
        if matches!(progress.phase, Phase::Start) {
            let due = snapshot.due(issuer, now);
            // The keys may be used, or the issuer fails, so no token waits for another token's attempt.
            if due != Due::Now || snapshot.is_failing(issuer) {
                progress.phase = Phase::Current;
                let mut schedule = (due != Due::Not).then(|| self.lock(issuer)).flatten()?;
                self.expire(issuer, &mut schedule, now);
                let is_idle = schedule.flight.is_none();
                let wait = is_idle.then(|| self.begin(issuer, &mut schedule, cause, now));
                let wait = wait.flatten().filter(|_| due == Due::Now)?;
                return self.waits(issuer, progress, wait, now);
            }
        }
        progress.phase = Phase::Stale { seen };
        let wait = self.since(issuer, progress, Some(seen), cause, now);
        if wait.is_none() {
            progress.phase = Phase::Current;
        }
        wait
    }

    /// The attempt to wait for, unless the keys have changed since they were seen, or an attempt that began after the question is over.
    /// Begins an attempt if none is under way.
    pub(super) fn since(
        &self,
        issuer: usize,
        progress: &mut Asked,
        seen: Option<u64>,
        cause: Cause,
        now: Duration,
    ) -> Option<Wait> {
        let mut schedule = self.lock(issuer)?;
        self.expire(issuer, &mut schedule, now);
        let is_new = seen.is_some_and(|seen| self.snapshot.load().generation(issuer) != seen);
        let is_late = now.saturating_sub(progress.at) >= self.settings.timeout;
        if is_new || is_late || schedule.has_ended_since(progress.before) {
            return None;
        }
        let wait = self.under_way(issuer, &mut schedule, cause, now)?;
        drop(schedule);
        self.waits(issuer, progress, wait, now)
    }

    /// The attempt that is under way, or that begins now.
    pub(super) fn under_way(
        &self,
        issuer: usize,
        schedule: &mut Schedule,
        cause: Cause,
        now: Duration,
    ) -> Option<Wait> {
        self.expire(issuer, schedule, now);
        match &schedule.flight {
            Some(flight) => Some(flight.wait()),
            None => self.begin(issuer, schedule, cause, now),
        }
    }

    /// How long this token waits for an attempt; `None` if it doesn't.
    ///
    /// Anyone can send a token that waits, so each waits no longer than one attempt may take, and only a bounded number do. Past
    /// their share, tokens wait while the issuer may be about to answer: not if it failed before and took its time for that. One that
    /// failed at once answers the next attempt as soon, and may have its new key by then.
    fn waits(&self, issuer: usize, progress: &mut Asked, wait: Wait, now: Duration) -> Option<Wait> {
        let most = self.settings.max_waiting;
        let place = match progress.place.take() {
            Some(place) => place,
            None => self.places.enter(most, progress.holds_thread)?,
        };
        let is_failing = self.snapshot.load().is_failing_slowly(issuer);
        self.until(progress, place, wait, is_failing, now)
    }

    /// How long a token with this place waits for an attempt; `None` if it doesn't.
    pub(super) fn until(
        &self,
        progress: &mut Asked,
        place: Ticket,
        wait: Wait,
        is_failing: bool,
        now: Duration,
    ) -> Option<Wait> {
        let timeout = self.settings.timeout;
        let latest = match place.is_brief() {
            true if is_failing => return None,
            true => wait.until.saturating_sub(timeout.saturating_sub(BRIEF)),
            false => wait.until,
        };
        let until = latest.min(progress.at.saturating_add(timeout));
        if now >= until {
            return None;
        }
        progress.place = Some(place);
        Some(Wait { until, ..wait })
    }

    /// Begins an attempt, unless it is too early for one.
    fn begin(&self, issuer: usize, schedule: &mut Schedule, cause: Cause, now: Duration) -> Option<Wait> {
        let (rules, _) = self.verifier.named(issuer)?;
        if rules.jwks_file.is_some() || !schedule.attempts.may(cause, now, &self.settings) {
            return None;
        }
        let begun = self.begun.fetch_add(1, Ordering::SeqCst);
        let first = discovery::first(rules);
        let (stage, url) = first.clone().unwrap_or((Stage::Keys, String::new()));
        let place = match cause {
            Cause::Refused => &mut schedule.aside,
            Cause::NoKeys | Cause::Due | Cause::UnknownKey(_) => &mut schedule.flight,
        };
        let flight = place.insert(Flight {
            id: self.id(begun.saturating_add(1), issuer),
            until: now.saturating_add(self.settings.timeout),
            stage,
            url,
            taken: false,
            discarded: false,
        });
        let wait = flight.wait();
        if let Err(failure) = first {
            self.fail(issuer, schedule, wait.attempt, &failure, now);
            return None;
        }
        self.has_queued.store(true, Ordering::SeqCst);
        Some(wait)
    }

    /// The name of an attempt by its number among those of all issuers. The remainder is its issuer, so no search is needed.
    pub(super) fn id(&self, number: u64, issuer: usize) -> AttemptId {
        let number = number.saturating_mul(wide(self.schedules.len()));
        AttemptId(number.saturating_add(wide(issuer)))
    }

    /// Whose attempt it is.
    pub(super) fn issuer_of(&self, attempt: AttemptId) -> Option<usize> {
        let issuer = attempt.0.checked_rem(wide(self.schedules.len()))?;
        usize::try_from(issuer).ok()
    }

    /// Starts an attempt because a token of this issuer was rejected for its key or signature, unless one is under way.
    pub(super) fn refused(&self, issuer: usize, now: Duration) {
        let Some(mut schedule) = self.lock(issuer) else {
            return;
        };
        self.expire(issuer, &mut schedule, now);
        if schedule.flights().next().is_none() {
            self.begin(issuer, &mut schedule, Cause::Refused, now);
        }
    }

    /// Ends attempts whose time is over without a report.
    pub(super) fn expire(&self, issuer: usize, schedule: &mut Schedule, now: Duration) {
        while let Some(late) = schedule.late(now) {
            self.fail(issuer, schedule, late, &FetchError::Timeout, now);
        }
    }

    /// This attempt has failed: the keys stay, and the failure is noted.
    pub(super) fn fail(
        &self,
        issuer: usize,
        schedule: &mut Schedule,
        attempt: AttemptId,
        failure: &FetchError,
        now: Duration,
    ) {
        // Nothing waits for the other attempt, so it doesn't matter how long it took.
        let waited = schedule.flight.as_ref().filter(|flight| flight.id == attempt);
        let is_slow = waited.is_some_and(|flight| {
            let left = flight.until.saturating_sub(now);
            self.settings.timeout.saturating_sub(left) >= BRIEF.min(self.settings.timeout)
        });
        if schedule.end(attempt, false) {
            self.change(issuer, |next, _| {
                next.set_failure(issuer, Some(failure.clone()), is_slow);
            });
        }
    }

    /// The current state, without the keys of this issuer if they are too old to be used.
    pub(super) fn usable(&self, issuer: usize, now: Duration) -> Arc<Snapshot> {
        self.drop_keys(issuer, |times| times.are_over(now));
        self.snapshot.load_full()
    }

    /// Stops using an issuer's keys, if their times pass this test.
    pub(super) fn drop_keys(&self, issuer: usize, are_so: impl Fn(Times) -> bool) {
        let is_so = |snapshot: &Snapshot| snapshot.times(issuer).is_some_and(&are_so);
        if is_so(&self.snapshot.load()) {
            self.change(issuer, |next, name| {
                if is_so(next) {
                    next.remove(issuer, name);
                }
            });
        }
    }

    pub(super) fn change(&self, issuer: usize, change: impl Fn(&mut Snapshot, &str)) {
        let Some((_, name)) = self.verifier.named(issuer) else {
            return;
        };
        self.snapshot.rcu(|snapshot| {
            let mut next = Snapshot::clone(snapshot);
            change(&mut next, name);
            next
        });
    }

    /// An issuer's attempts. A thread that panicked has left them whole: each change is one assignment.
    pub(super) fn lock(&self, issuer: usize) -> Option<MutexGuard<'_, Schedule>> {
        let schedule = self.schedules.get(issuer)?;
        Some(schedule.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
