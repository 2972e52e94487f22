//! Whether a store can trust its clock. A clock that leaps ahead would end grants and holds for good that haven't ended, so nothing is
//! done at such a time until an operator accepts it. Only stores ask: the rules take whatever time they are given.

use crate::error::Error;
use crate::value::Millis;

/// How far the clock may be ahead of the time that has passed since a store compared it before: an hour.
const RUNNING: Millis = milliseconds(3_600_000);

/// The same at the start, when it is compared with what the ledger has seen: 30 days.
const START: Millis = milliseconds(30 * 86_400_000);

/// How far the clock may be behind and still be right, because no two clocks run equally fast: a minute.
const DRIFT: Millis = milliseconds(60_000);

/// 2026-01-01. No ledger is older than this program, but machines without a battery begin with such a time.
const OLDEST: Millis = milliseconds(1_767_225_600_000);

const fn milliseconds(number: u64) -> Millis {
    match Millis::new(number) {
        Ok(time) => time,
        Err(_) => Millis::MAX,
    }
}

/// What a store knows of its clock. INVARIANT: a clock that goes back doesn't change it, so one that returns doesn't leap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Watch {
    /// Nothing before the first look, and while the ledger is empty.
    known: Option<Known>,
    /// The last reset that this store has read of.
    reset: Option<Millis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    /// The latest time that was right.
    time: Millis,
    /// What the steady clock was then.
    steady: Millis,
    /// How far the clock may be ahead of it.
    most: Millis,
}

/// What the rows of a store tell about the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// The time of the account that moved orbs last.
    pub(crate) newest: Option<Millis>,
    /// The time that an operator accepted last, also by a reset.
    pub(crate) accepted: Option<Millis>,
    /// The time of the last reset.
    pub(crate) reset: Option<Millis>,
}

/// A clock that is too far ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leap {
    /// The time that it would have without the leap; at the start, at least.
    pub(crate) from: Millis,
    /// The last time that was right.
    last: Millis,
    to: Millis,
    is_start: bool,
}

impl Known {
    /// The time that has come since, by the steady clock.
    fn now(self, steady: Millis) -> Millis {
        let passed = steady.minus(self.steady).unwrap_or_default();
        self.time.plus(passed).unwrap_or(Millis::MAX)
    }

    fn latest(self, steady: Millis) -> Millis {
        self.now(steady).plus(self.most).unwrap_or(Millis::MAX)
    }
}

impl Watch {
    /// Looks at the clock. `steady` is another clock, which never leaps; without one, every time is right. `told` reads the
    /// store: at the start, and while the clock is too far ahead or is behind, when an operator might have accepted it.
    pub(crate) fn look<E>(
        &mut self,
        now: Millis,
        steady: Option<Millis>,
        told: impl FnOnce() -> Result<Told, E>,
    ) -> Result<Result<(), Leap>, E> {
        let Some(steady) = steady else {
            return Ok(Ok(()));
        };
        let is_behind = |known: Known| now.plus(RUNNING).is_some_and(|later| later < known.now(steady));
        let is_usual = |known: Known| !is_behind(known) && now <= known.latest(steady);
        if !self.known.is_some_and(is_usual) {
            let told = told()?;
            let time = match self.known {
                None => told.newest.max(told.accepted),
                // What was right before the reset isn't any more.
                Some(known) if is_behind(known) => told.reset.filter(|reset| self.reset != Some(*reset)),
                // An older time was accepted for another leap.
                Some(known) => told.accepted.filter(|accepted| *accepted > known.now(steady)),
            };
            self.reset = told.reset;
            self.known = time.map(|time| Known { time, steady, most: START }).or(self.known);
        }
        let Some(known) = self.known else {
            return Ok(Ok(()));
        };
        let expected = known.now(steady);
        if now > known.latest(steady) {
            let (from, last, is_start) = (expected, known.time, known.most == START);
            return Ok(Err(Leap { from, last, to: now, is_start }));
        }
        if now.plus(DRIFT).is_none_or(|later| later >= expected) {
            self.known = Some(Known { time: now, steady, most: RUNNING });
        }
        Ok(Ok(()))
    }

    /// The time for whoever only reads: without a leap.
    pub(crate) fn without_leap<E>(
        &mut self,
        now: Millis,
        steady: Option<Millis>,
        told: impl FnOnce() -> Result<Told, E>,
    ) -> Result<Millis, E> {
        Ok(self.look(now, steady, told)?.map_or_else(|leap| leap.from, |()| now))
    }
}

impl Leap {
    pub(crate) fn error(self) -> Error {
        let (from, last, to) = (self.from.rfc3339(), self.last.rfc3339(), self.to.rfc3339());
        let (what, example) = match self.is_start {
            true => (
                format!(
                    "the clock is at {to}, over 30 days after the newest entry or the time that was accepted last, {last}"
                ),
                "after a pause, or with a restored backup",
            ),
            false => (format!("the clock has jumped from {from} to {to}"), "after the machine was suspended"),
        };
        Error::Clock(format!(
            "{what}, so nothing was done: if it is right, as {example}, run `orbgate orbs clock --accept` on this ledger; otherwise set it"
        ))
    }
}

/// Before accounts are brought back to this time.
pub(crate) fn is_possible(now: Millis, steady: Option<Millis>) -> Result<(), Error> {
    if steady.is_some() && now < OLDEST {
        let message = format!("the clock is at {}, which is before any ledger: set it first", now.rfc3339());
        return Err(Error::Clock(message));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "a test stops at its first surprise")]
mod tests {
    use super::{Leap, Told, Watch, milliseconds};
    use crate::value::Millis;

    const HOUR: u64 = 3_600_000;
    const DAY: u64 = 24 * HOUR;
    /// 2026-12-01.
    const FIRST: u64 = 1_796_083_200_000;

    fn at(time: u64) -> Millis {
        milliseconds(FIRST + time)
    }

    /// Looks at each of these: the clock, the steady clock, what the store says, and whether the clock is right.
    fn looks(steps: &[(u64, u64, Told, bool)]) {
        let mut watch = Watch::default();
        for (step, (now, steady, told, is_right)) in steps.iter().enumerate() {
            let looked = watch.look(at(*now), Some(milliseconds(*steady)), || Ok::<_, ()>(*told)).unwrap();
            assert_eq!(looked.is_ok(), *is_right, "step {step}: {looked:?}");
        }
    }

    fn newest(time: u64) -> Told {
        Told { newest: Some(at(time)), ..Told::default() }
    }

    fn accepted(newest: u64, time: u64) -> Told {
        Told { accepted: Some(at(time)), ..self::newest(newest) }
    }

    fn reset(time: u64) -> Told {
        Told { reset: Some(at(time)), ..accepted(time, time) }
    }

    #[test]
    fn a_leap_is_over_an_hour_or_at_the_start_over_30_days() {
        looks(&[(30 * DAY, 0, newest(0), true)]);
        looks(&[(30 * DAY + 1, 0, newest(0), false)]);
        looks(&[(0, 0, newest(0), true), (HOUR, 0, newest(0), true), (2 * HOUR + 1, 0, newest(0), false)]);
        // Time that passes is no leap, however much.
        looks(&[(0, 0, newest(0), true), (90 * DAY + HOUR, 90 * DAY, newest(0), true)]);
        looks(&[(0, 0, newest(0), true), (90 * DAY + HOUR + 1, 90 * DAY, newest(0), false)]);
        // One that is slower is right, too, for however long.
        let slow: Vec<_> = (0..200).map(|step| (step * DAY - step * 50_000, step * DAY, newest(0), true)).collect();
        looks(&slow);
        looks(&[&slow[..], &[(200 * DAY, 199 * DAY, newest(0), false)]].concat());
        // It can be mended by itself.
        looks(&[(0, 0, newest(0), true), (2 * HOUR, 1, newest(0), false), (2, 2, newest(0), true)]);
    }

    #[test]
    fn a_clock_that_returns_does_not_leap() {
        // A machine without a battery begins with an old time, until it is told the right one.
        let old = FIRST - DAY;
        let mut watch = Watch::default();
        for now in [Millis::ZERO, milliseconds(old), at(20 * DAY)] {
            assert_eq!(watch.look(now, Some(Millis::ZERO), || Ok::<_, ()>(newest(0))), Ok(Ok(())));
        }
        looks(&[(50 * DAY, 0, newest(50 * DAY), true), (0, 0, newest(0), true), (50 * DAY, 0, newest(0), true)]);
    }

    #[test]
    fn an_empty_ledger_has_nothing_to_lose() {
        looks(&[(0, 0, Told::default(), true), (900 * DAY, 0, Told::default(), true), (0, 0, Told::default(), true)]);
        looks(&[(0, 0, Told::default(), true), (90 * DAY, 0, newest(0), false)]);
    }

    #[test]
    fn what_an_operator_accepts_is_right_for_that_leap() {
        let leap = 90 * DAY;
        // While it runs, and at the start.
        looks(&[
            (0, 0, newest(0), true),
            (leap, 1, newest(0), false),
            (leap, 2, accepted(0, leap), true),
            (2 * leap, 3, accepted(0, leap), false),
        ]);
        looks(&[(leap, 0, accepted(0, leap), true), (leap + HOUR + 1, 0, accepted(0, leap), false)]);
        looks(&[(leap, 0, newest(0), false), (leap, 1, accepted(0, leap), true)]);
        // Nobody needed this one, so it isn't for a later leap.
        looks(&[(0, 0, newest(0), true), (DAY, DAY, newest(0), true), (9 * DAY, DAY + 1, accepted(0, HOUR), false)]);
        looks(&[(DAY, 0, newest(0), true), (HOUR, 1, accepted(0, HOUR), true), (DAY, 2, accepted(0, HOUR), true)]);
    }

    #[test]
    fn after_a_reset_what_was_right_before_is_a_leap() {
        let leap = 90 * DAY;
        looks(&[
            (leap, 0, newest(leap), true),
            (5, 1, newest(leap), true),
            (6, 2, reset(6), true),
            (leap, 3, reset(6), false),
            (9, 4, reset(6), true),
        ]);
        // One that was read at the start counts no more.
        looks(&[
            (0, 0, reset(0), true),
            (DAY, DAY, reset(0), true),
            (0, DAY, reset(0), true),
            (DAY, DAY, reset(0), true),
        ]);
    }

    #[test]
    fn a_given_clock_may_leap() {
        let mut watch = Watch::default();
        for now in [0, 900 * DAY, 5] {
            assert_eq!(watch.look(at(now), None, || Err(())), Ok(Ok(())));
        }
    }

    #[test]
    fn a_reader_is_told_the_time_without_the_leap() {
        let mut watch = Watch::default();
        let mut read = |now, steady| watch.without_leap(at(now), Some(milliseconds(steady)), || Ok::<_, ()>(newest(0)));
        assert_eq!([read(7, 0), read(90 * DAY, 5), read(14, 6)], [Ok(at(7)), Ok(at(12)), Ok(at(14))]);
    }

    #[test]
    fn an_error_says_what_to_do() {
        let of = |is_start| Leap { from: at(0), last: at(0), to: at(365 * DAY), is_start }.error().to_string();
        assert_eq!(
            of(false),
            "the clock has jumped from 2026-12-01T00:00:00.000Z to 2027-12-01T00:00:00.000Z, so nothing was done: if it is right, as \
             after the machine was suspended, run `orbgate orbs clock --accept` on this ledger; otherwise set it"
        );
        assert_eq!(
            of(true),
            "the clock is at 2027-12-01T00:00:00.000Z, over 30 days after the newest entry or the time that was accepted last, \
             2026-12-01T00:00:00.000Z, so nothing was done: if it is right, as after a pause, or with a restored backup, run \
             `orbgate orbs clock --accept` on this ledger; otherwise set it"
        );
    }
}
