//! The proofs that were used: each counts once.
#![expect(clippy::disallowed_types, reason = "a lock for a set of hashes, held for a look-up: no I/O and no signature")]

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::confirmation::Hash;
use crate::error::TokenError;

/// How many proofs of one key are remembered at once, and how many of all keys.
const OF_KEY: u32 = 65_536;
const OF_ALL: usize = 1_048_576;

/// The DPoP proofs that were used, in the memory of one process. Each is remembered until it has expired, so it can't be used
/// again: a thief of a request gets nothing from it.
///
/// At most 65,536 are remembered for one key, and 1,048,576 for all, about 100 MB. If there is no room, a proof is rejected,
/// and none is forgotten: a key whose share is full doesn't affect others, though 16 of them fill the whole.
#[derive(Debug, Default)]
pub struct Replays {
    memory: Mutex<Memory>,
    refused: AtomicU64,
}

#[derive(Debug, Default)]
struct Memory {
    used: HashSet<Mark>,
    /// How many of `used` each key has.
    of_key: HashMap<Hash, u32>,
    /// Those of `used`, by the second after which they have expired.
    expiring: BTreeMap<u64, Vec<(Mark, Hash)>>,
    /// Of those that were forgotten, the latest such second.
    forgotten: Option<u64>,
}

/// The first half of a SHA-256, of a key's thumbprint and an id. Whoever makes two that are equal gains a rejection.
type Mark = [u8; 16];

impl Replays {
    /// Nothing is remembered yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many proofs were rejected because there was no room.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// How many proofs are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).used.len()
    }

    /// Whether no proof is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Records the use of a proof by this key, until it has expired. Times are since 1970.
    pub(crate) fn record(&self, key: &Hash, id: &str, expires: Duration, now: Duration) -> Result<(), TokenError> {
        self.record_within(key, id, (expires, now), (OF_KEY, OF_ALL))
    }

    /// Whether this proof was used, and hasn't expired.
    pub(crate) fn knows(&self, key: &Hash, id: &str) -> bool {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        mark(key, id).is_some_and(|mark| memory.used.contains(&mark))
    }

    fn record_within(
        &self,
        key: &Hash,
        id: &str,
        (expires, now): (Duration, Duration),
        (of_key, of_all): (u32, usize),
    ) -> Result<(), TokenError> {
        let mark = mark(key, id).ok_or(TokenError::ProofReplayed)?;
        // A panic can't leave it inconsistent: nothing in it panics.
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.forget(now);
        if memory.used.contains(&mark) {
            return Err(TokenError::ProofReplayed);
        }
        // It might have been used: it expired while its signature was checked, or the clock was ahead.
        if memory.forgotten.is_some_and(|forgotten| expires.as_secs() <= forgotten) {
            return Err(TokenError::ProofTime);
        }
        let used = memory.of_key.get(key).copied().unwrap_or_default();
        if used >= of_key || memory.used.len() >= of_all {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(TokenError::ProofsFull);
        }
        memory.used.insert(mark);
        memory.of_key.insert(*key, used.saturating_add(1));
        memory.expiring.entry(expires.as_secs()).or_default().push((mark, *key));
        Ok(())
    }
}

fn mark(key: &Hash, id: &str) -> Option<Mark> {
    Sha256::new_with_prefix(key).chain_update(id).finalize().first_chunk().copied()
}

impl Memory {
    /// Forgets those that have expired. One that expires within this second is still remembered.
    fn forget(&mut self, now: Duration) {
        while let Some(first) = self.expiring.first_entry().filter(|first| *first.key() < now.as_secs()) {
            self.forgotten = self.forgotten.max(Some(*first.key()));
            for (mark, key) in first.remove() {
                self.used.remove(&mark);
                let left = self.of_key.get(&key).map_or(0, |count| count.saturating_sub(1));
                match left {
                    0 => drop(self.of_key.remove(&key)),
                    left => drop(self.of_key.insert(key, left)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::Replays;
    use crate::error::TokenError;

    const fn second(second: u64) -> Duration {
        Duration::from_secs(second)
    }

    #[test]
    fn a_proof_counts_once_until_it_has_expired() {
        let replays = Replays::new();
        let record = |key: u8, id: &str, now: u64| replays.record(&[key; 32], id, second(100), second(now));
        assert_eq!(record(1, "a", 0), Ok(()));
        for now in [0, 50, 99, 100] {
            assert_eq!(record(1, "a", now), Err(TokenError::ProofReplayed), "{now}");
        }
        assert_eq!(record(1, "b", 100), Ok(()));
        assert_eq!(record(2, "a", 100), Ok(()));
        assert_eq!(replays.len(), 3);
        assert_eq!(replays.record(&[1; 32], "a", second(300), second(101)), Ok(()));
        assert_eq!(replays.len(), 1);
        assert_eq!(replays.refused(), 0);
    }

    /// The time can be later when it is recorded than when it was compared, and a clock can be ahead and come back.
    #[test]
    fn what_might_have_been_used_before_is_refused() {
        let replays = Replays::new();
        let record = |id: &str, expires: u64, now: u64| replays.record(&[1; 32], id, second(expires), second(now));
        assert_eq!(record("a", 100, 0), Ok(()));
        assert_eq!(record("a", 100, 101), Err(TokenError::ProofTime));
        assert_eq!(record("b", 200, 101), Ok(()));
        assert_eq!(record("c", 9_000, 5_000), Ok(()));
        assert_eq!(record("b", 200, 102), Err(TokenError::ProofTime));
        assert_eq!(record("d", 201, 102), Ok(()));
    }

    #[test]
    fn a_key_whose_share_is_full_takes_no_room_from_others() {
        let replays = Replays::new();
        let record = |key: u8, id: u32, now: u64| {
            replays.record_within(&[key; 32], &id.to_string(), (second(now + 100), second(now)), (3, 7))
        };
        let full = Err(TokenError::ProofsFull);
        assert_eq!([0, 1, 2, 3, 4].map(|id| record(1, id, 0)), [Ok(()), Ok(()), Ok(()), full, full]);
        assert_eq!(record(1, 0, 0), Err(TokenError::ProofReplayed));
        assert_eq!([0, 1, 2, 3].map(|id| record(2, id, 0)), [Ok(()), Ok(()), Ok(()), full]);
        // The whole is bounded, too.
        assert_eq!([0, 1].map(|id| record(3, id, 0)), [Ok(()), full]);
        assert_eq!((replays.refused(), replays.len()), (4, 7));
        assert_eq!([3, 4, 5, 6].map(|id| record(1, id, 101)), [Ok(()), Ok(()), Ok(()), full]);
        assert_eq!(replays.len(), 3);
    }
}
