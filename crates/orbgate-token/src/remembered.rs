//! Remembers recently checked signatures. Whether a key has signed given bytes never changes.
#![expect(
    clippy::disallowed_types,
    reason = "a lock for two sets of hashes, held for a look-up: no I/O and no signature"
)]

use core::time::Duration;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::generations::Generations;

/// Half the longest time that a signature is remembered.
const HALF_LIFE: Duration = Duration::from_secs(30);

/// The most recent valid signatures: a bounded number, each for at most a minute.
///
/// Nothing else is remembered, so every rule except the signature is checked again for each request (security
/// requirement T16). Only a token with a valid signature adds an entry.
#[derive(Debug)]
pub(crate) struct Remembered {
    /// By the SHA-256 of a token and of the key that signed it.
    known: Mutex<Generations<()>>,
}

impl Remembered {
    /// Remembers up to this number of signatures; `None` if it is 0.
    pub(crate) fn at_most(most: usize) -> Option<Self> {
        (most > 0).then(|| Self { known: Mutex::new(Generations::new(HALF_LIFE, most, usize::MAX)) })
    }

    /// Whether a signature is valid: either remembered, or checked now.
    pub(crate) fn knows_or(&self, hash: Sha256, now: Duration, check: impl FnOnce() -> bool) -> bool {
        let mark = hash.finalize().into();
        if self.with(now, |known| known.get(&mark).is_some()) {
            return true;
        }
        let is_right = check();
        if is_right {
            self.with(now, |known| known.put(mark, (), 0, now));
        }
        is_right
    }

    fn with<T>(&self, now: Duration, act: impl FnOnce(&mut Generations<()>) -> T) -> T {
        // A panic can't leave them inconsistent, because each change is complete.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.forget(now);
        act(&mut known)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use sha2::{Digest as _, Sha256};

    use super::Remembered;

    /// Whether it is remembered, tested with a check that always fails.
    fn knows(remembered: &Remembered, text: &str, second: u64) -> bool {
        let hash = Sha256::new_with_prefix(text);
        remembered.knows_or(hash, Duration::from_secs(second), || false)
    }

    fn put(remembered: &Remembered, text: &str, second: u64) {
        let hash = Sha256::new_with_prefix(text);
        assert!(remembered.knows_or(hash, Duration::from_secs(second), || true));
    }

    #[test]
    fn what_was_right_is_known_for_half_a_minute_to_a_minute() {
        for begin in [0, 7, 29, 31, 1000] {
            let remembered = Remembered::at_most(100).unwrap();
            put(&remembered, "some other", 0);
            put(&remembered, "a", begin);
            for second in begin..begin + 30 {
                assert!(knows(&remembered, "a", second), "{begin} {second}");
            }
            assert!(!knows(&remembered, "a", begin + 60), "{begin}");
            assert!(!knows(&remembered, "b", begin), "{begin}");
        }
        let unasked = Remembered::at_most(100).unwrap();
        put(&unasked, "a", 0);
        assert!(!knows(&unasked, "a", 60));
    }

    /// The limit applies however rarely it is looked up, and however often other tokens are looked
    /// up meanwhile.
    #[test]
    fn nothing_is_known_for_longer_than_a_minute() {
        for begin in [0, 7, 29, 31, 1000] {
            for first in 0..60 {
                for others in [0, 1, 3] {
                    let remembered = Remembered::at_most(4).unwrap();
                    put(&remembered, "some other", 0);
                    put(&remembered, "a", begin);
                    for other in 0..others {
                        put(&remembered, &other.to_string(), begin + first);
                    }
                    knows(&remembered, "a", begin + first);
                    for second in 60..90 {
                        let is_known = knows(&remembered, "a", begin + second);
                        assert!(!is_known, "{begin} {first} {others} {second}");
                    }
                }
            }
        }
    }

    /// A clock that goes backwards, as one thread's clock can compared with another's, never makes an unchecked
    /// signature valid.
    #[test]
    fn a_clock_that_goes_back_makes_nothing_known() {
        let remembered = Remembered::at_most(4).unwrap();
        put(&remembered, "a", 1_000);
        for second in [999, 0, 1_029, 500] {
            assert!(knows(&remembered, "a", second));
            assert!(!knows(&remembered, "b", second));
        }
        assert!(!knows(&remembered, "a", 1_060));
        assert!(!knows(&remembered, "a", 0));
    }

    #[test]
    fn what_was_wrong_is_not_remembered() {
        let remembered = Remembered::at_most(100).unwrap();
        assert!(!knows(&remembered, "a", 0));
        assert!(!knows(&remembered, "a", 0));
    }

    #[test]
    fn there_are_no_more_than_may_be_and_the_latest_half_is_kept() {
        assert!(Remembered::at_most(0).is_none());
        for most in [1, 2, 3, 10, 101] {
            let remembered = Remembered::at_most(most).unwrap();
            for number in 0..250 {
                put(&remembered, &number.to_string(), 0);
                let known = (0..=number).filter(|number| knows(&remembered, &number.to_string(), 0));
                let known: Vec<usize> = known.collect();
                assert!(known.len() <= most + 1, "{most}: {}", known.len());
                let latest = (number + 1).saturating_sub(most.div_ceil(2))..=number;
                assert!(latest.into_iter().all(|number| known.contains(&number)), "{most}: {number}");
            }
        }
    }
}
