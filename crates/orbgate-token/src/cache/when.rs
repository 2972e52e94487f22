//! When keys are fetched: a pure function of what is known and the time, which counts from any fixed moment.

use core::time::Duration;
use std::collections::HashMap;

use super::settings::FetchSettings;
use crate::verified::Fingerprint;

/// When an issuer's keys were fetched, and how long they are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) fetched: Duration,
    /// From here on, a token starts a fetch.
    ahead: Duration,
    /// From here on, a token waits for one.
    stale: Duration,
    /// From here on, the keys are not used.
    end: Duration,
}

/// What a token does about its issuer's keys before it is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Nothing: they are fresh.
    Not,
    /// It starts a fetch, and uses the keys that there are.
    Soon,
    /// It waits for a fetch.
    Now,
}

impl Times {
    /// `None` where the clock cannot express these times.
    pub(super) fn new(fetched: Duration, ttl: Duration, settings: &FetchSettings) -> Option<Self> {
        let stale = fetched.checked_add(ttl)?;
        let ahead = ttl.checked_mul(u32::from(settings.ahead_percent))?.checked_div(100)?;
        Some(Self { fetched, ahead: fetched.checked_add(ahead)?, stale, end: stale.checked_add(settings.max_stale)? })
    }

    /// What to do while the issuer answers.
    pub(super) fn due(&self, now: Duration) -> Due {
        self.due_at(now, self.stale)
    }

    /// What to do while the issuer fails: no call waits for it as long as its keys may be used.
    pub(super) fn due_while_failing(&self, now: Duration) -> Due {
        self.due_at(now, self.end)
    }

    fn due_at(&self, now: Duration, waits_from: Duration) -> Due {
        if now < self.ahead {
            Due::Not
        } else if now < waits_from {
            Due::Soon
        } else {
            Due::Now
        }
    }

    /// Whether the keys are too old to be used at all.
    pub(super) fn are_over(&self, now: Duration) -> bool {
        now >= self.end
    }
}

/// Why a fetch is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// There are no keys, so every token of the issuer is rejected.
    NoKeys,
    /// The keys are due.
    Due,
    /// A token names a key that the issuer did not have; any client can write such a token.
    UnknownKey(Fingerprint),
    /// No key fits a token, or its signature is wrong: the issuer might have another key under the same name now. Any client
    /// can write such a token, so none waits for the attempt.
    Refused,
}

/// The attempts to fetch an issuer's keys so far.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    last: Option<Duration>,
    /// The last attempt for [`Cause::Refused`]. No other attempt depends on it.
    refused: Option<Duration>,
    /// When each of the attempts of the budget can be made again.
    spent: Vec<Duration>,
    /// When the issuer was asked for a `kid` that it did not have.
    missing: HashMap<Fingerprint, Duration>,
}

/// How many missing `kid`s are remembered at most.
const MISSING: usize = 1024;

impl Attempts {
    /// Whether an attempt may be made now; if so, it counts as made.
    pub(super) fn may(&mut self, cause: Cause, now: Duration, settings: &FetchSettings) -> bool {
        let rested = |last: Option<Duration>, pause| last.is_none_or(|last| now.saturating_sub(last) >= pause);
        let may = match cause {
            Cause::NoKeys => rested(self.last, settings.retry),
            Cause::Due => rested(self.last, settings.cooldown),
            Cause::UnknownKey(kid) => !self.is_missing(kid, now, settings) && self.spend(now, settings),
            Cause::Refused => rested(self.refused, settings.cooldown),
        };
        match cause {
            _ if !may => {}
            Cause::Refused => self.refused = Some(now),
            Cause::NoKeys | Cause::Due | Cause::UnknownKey(_) => self.last = Some(now),
        }
        may
    }

    /// Takes one attempt from the budget: `burst` of them at once, and as many, evenly, in every cooldown.
    fn spend(&mut self, now: Duration, settings: &FetchSettings) -> bool {
        self.spent.retain(|back| *back > now);
        let burst = usize::try_from(settings.burst).unwrap_or(usize::MAX);
        let latest = self.spent.last().copied().unwrap_or(now);
        let step = settings.cooldown.checked_div(settings.burst);
        let back = step.and_then(|step| latest.checked_add(step));
        match back.filter(|_| self.spent.len() < burst) {
            Some(back) => {
                self.spent.push(back);
                true
            }
            None => false,
        }
    }

    /// Whether the issuer was asked for this `kid` within a cooldown. It must not be remembered longer,
    /// because the issuer's next key may have this `kid`.
    fn is_missing(&self, kid: Fingerprint, now: Duration, settings: &FetchSettings) -> bool {
        self.missing.get(&kid).is_some_and(|at| now.saturating_sub(*at) < settings.cooldown)
    }

    /// Notes that the issuer was asked for a key after that time, and did not have it. Does so only if the
    /// last attempt began after that time and brought the known keys: an earlier one cannot know of a key
    /// that came later.
    pub(super) fn note_missing(
        &mut self,
        kid: Fingerprint,
        asked_at: Duration,
        known: Option<Times>,
        settings: &FetchSettings,
    ) {
        let Some((last, known)) = self.last.zip(known) else {
            return;
        };
        if last < asked_at || known.fetched < last {
            return;
        }
        if self.missing.len() >= MISSING {
            let age = |at: &Duration| known.fetched.saturating_sub(*at);
            self.missing.retain(|_, at| age(at) < settings.cooldown);
        }
        if self.missing.len() < MISSING {
            self.missing.insert(kid, known.fetched);
        }
    }

    /// Forgets all attempts, so that the next one may be made at once.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::{Attempts, Cause, Due, FetchSettings, Fingerprint, MISSING, Times};

    const SETTINGS: FetchSettings = FetchSettings { burst: 4, ..FetchSettings::DEFAULT };

    struct Clock(Duration);

    impl Clock {
        fn new() -> Self {
            Self(Duration::from_secs(1_000))
        }

        fn after(&self, time: Duration) -> Duration {
            self.0.checked_add(time).unwrap()
        }

        fn at(&self, seconds: u64) -> Duration {
            self.after(Duration::from_secs(seconds))
        }
    }

    fn kid(number: u64) -> Fingerprint {
        Fingerprint::of(&number.to_be_bytes())
    }

    #[test]
    fn keys_are_fetched_ahead_and_waited_for_when_they_are_old() {
        let clock = Clock::new();
        let times = Times::new(clock.at(0), Duration::from_secs(600), &SETTINGS).unwrap();
        let table = [
            (0, false, Due::Not),
            (479, true, Due::Not),
            (480, false, Due::Soon),
            (599, false, Due::Soon),
            (600, false, Due::Now),
            (600, true, Due::Soon),
            (4199, true, Due::Soon),
            (4200, true, Due::Now),
        ];
        for (at, failing, due) in table {
            let actual = match failing {
                true => times.due_while_failing(clock.at(at)),
                false => times.due(clock.at(at)),
            };
            assert_eq!(actual, due, "{at} {failing}");
        }
        assert!(!times.are_over(clock.at(4199)) && times.are_over(clock.at(4200)));
    }

    #[test]
    fn unknown_keys_have_a_budget() {
        let (clock, mut attempts) = (Clock::new(), Attempts::default());
        // A drip of forged tokens, one a second: the burst at once, and then one every 7.5 s.
        let made = |attempts: &mut Attempts, from: u64, to: u64| {
            let may = |at: &u64| attempts.may(Cause::UnknownKey(kid(*at)), clock.at(*at), &SETTINGS);
            (from..to).filter(may).collect::<Vec<_>>()
        };
        assert_eq!(made(&mut attempts, 0, 50), [0, 1, 2, 3, 8, 15, 23, 30, 38, 45]);
        // After a while without attempts the whole burst is there again.
        assert_eq!(made(&mut attempts, 300, 308), [300, 301, 302, 303]);
        // The number of attempts in 300 s does not depend on the number of tokens.
        let mut attempts = Attempts::default();
        let all = (0..10_000_u32).filter(|number| {
            let at = clock.after(Duration::from_millis(30).saturating_mul(*number));
            attempts.may(Cause::UnknownKey(kid(u64::from(*number))), at, &SETTINGS)
        });
        assert_eq!(all.count(), 4 + 39);
    }

    #[test]
    fn a_missing_key_is_forgotten_after_a_cooldown() {
        let (clock, mut attempts) = (Clock::new(), Attempts::default());
        let next = kid(7);
        let fetched = |at| Times::new(clock.at(at), Duration::from_secs(600), &SETTINGS);
        assert!(attempts.may(Cause::UnknownKey(next), clock.at(0), &SETTINGS));
        attempts.note_missing(next, clock.at(0), fetched(0), &SETTINGS);
        for at in 1..30 {
            assert!(!attempts.may(Cause::UnknownKey(next), clock.at(at), &SETTINGS), "{at}");
        }
        assert!(attempts.may(Cause::UnknownKey(next), clock.at(30), &SETTINGS));
        // The issuer may have a key now that it lacked in an earlier attempt.
        attempts.note_missing(kid(8), clock.at(31), fetched(30), &SETTINGS);
        assert!(attempts.may(Cause::UnknownKey(kid(8)), clock.at(31), &SETTINGS));
    }

    /// Only an attempt that began after the question, and brought the keys that are known, tells that a key is missing.
    #[test]
    fn a_key_is_missing_only_if_the_last_attempt_could_know_it() {
        let clock = Clock::new();
        for (asked_at, last, fetched, is_noted) in
            [(10, 10, 10, true), (10, 11, 12, true), (10, 9, 12, false), (10, 11, 9, false), (10, 11, 10, false)]
        {
            let mut attempts = Attempts::default();
            assert!(attempts.may(Cause::NoKeys, clock.at(last), &SETTINGS));
            let known = Times::new(clock.at(fetched), Duration::from_secs(600), &SETTINGS);
            attempts.note_missing(kid(1), clock.at(asked_at), known, &SETTINGS);
            let is_missing = attempts.is_missing(kid(1), clock.at(fetched), &SETTINGS);
            assert_eq!(is_missing, is_noted, "{asked_at} {last} {fetched}");
        }
    }

    #[test]
    fn of_many_missing_keys_those_of_before_make_room() {
        let (clock, mut attempts) = (Clock::new(), Attempts::default());
        let mut note = |numbers: core::ops::Range<u64>, at| {
            assert!(attempts.may(Cause::NoKeys, clock.at(at), &SETTINGS));
            let known = Times::new(clock.at(at), Duration::from_secs(600), &SETTINGS);
            for number in numbers {
                attempts.note_missing(kid(number), clock.at(at), known, &SETTINGS);
            }
            let is_noted = |number| attempts.is_missing(kid(number), clock.at(at), &SETTINGS);
            (attempts.missing.len(), is_noted(5_000))
        };
        assert_eq!(note(0..2_000, 0), (MISSING, false));
        assert_eq!(note(5_000..5_001, 29), (MISSING, false));
        assert_eq!(note(5_000..5_001, 30), (1, true));
    }

    /// Forgeries have a budget of their own: they take nothing from the others, nor the others from them.
    #[test]
    fn wrong_signatures_have_a_budget_of_their_own() {
        let (clock, mut attempts) = (Clock::new(), Attempts::default());
        let made = (0..10_000_u32).filter(|number| {
            let at = clock.after(Duration::from_millis(9).saturating_mul(*number));
            attempts.may(Cause::Refused, at, &SETTINGS)
        });
        assert_eq!(made.collect::<Vec<_>>(), [0, 3_334, 6_668], "one in 30 s");
        let unknown = (0..10).filter(|number| attempts.may(Cause::UnknownKey(kid(*number)), clock.at(90), &SETTINGS));
        assert_eq!(unknown.count(), 4);
        assert!(attempts.may(Cause::Refused, clock.at(91), &SETTINGS));
        let mut attempts = Attempts::default();
        assert!(attempts.may(Cause::Refused, clock.at(0), &SETTINGS));
        assert!(attempts.may(Cause::Due, clock.at(0), &SETTINGS));
        assert!(!attempts.may(Cause::Refused, clock.at(29), &SETTINGS));
    }

    #[test]
    fn without_keys_attempts_are_closer() {
        let (clock, mut attempts) = (Clock::new(), Attempts::default());
        let made = (0..10).filter(|at| attempts.may(Cause::NoKeys, clock.at(*at), &SETTINGS));
        assert_eq!(made.count(), 10, "retry is 1 s");
        let made = (10..100).filter(|at| attempts.may(Cause::Due, clock.at(*at), &SETTINGS));
        assert_eq!(made.collect::<Vec<_>>(), [39, 69, 99]);
    }
}
