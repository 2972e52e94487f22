//! The proofs that were used: each counts once.
#![expect(clippy::disallowed_types, reason = "a lock for a set of hashes, held for a look-up: no I/O and no signature")]

use core::hash::BuildHasher as _;
use core::num::NonZeroU64;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::confirmation::Hash;
use crate::error::TokenError;

/// How many proofs of one key are remembered at once, and how many of all keys.
const OF_KEY: u32 = 65_536;
const OF_ALL: usize = 1_048_576;

/// The DPoP proofs that were used, in the memory of one process. Each is remembered until it has expired, so it can't be used
/// again: a thief of a request gets nothing from it. A configuration that accepts proofs for longer accepts none that were issued
/// before one of the same issuer that is forgotten.
///
/// At most 65,536 are remembered for one key, and 1,048,576 for all, up to 200 MB. No key, no subject and no client has more of
/// them than there is room left for others, so one of them fills at most half, and 16 leave a seventeenth. If there is no room, a
/// proof is rejected, and none is forgotten.
#[derive(Debug, Default)]
pub struct Replays {
    memory: Mutex<Memory>,
    hasher: RandomState,
    refused: AtomicU64,
    /// How many of `refused` were logged.
    noticed: AtomicU64,
}

/// The use of a proof. Times are since 1970.
#[derive(Clone, Copy)]
pub(crate) struct Use<'a> {
    pub(crate) key: &'a Hash,
    pub(crate) id: &'a str,
    pub(crate) issued: Duration,
    /// After which it is no longer accepted.
    pub(crate) expires: Duration,
    /// The issuer of its token, and to whom it was issued.
    pub(crate) issuer: &'a str,
    pub(crate) subject: Option<&'a str>,
    pub(crate) client: Option<&'a str>,
}

#[derive(Debug, Default)]
struct Memory {
    used: HashSet<Mark>,
    /// How many of `used` each key, subject and client has.
    shares: HashMap<Share, u32>,
    /// Those of `used`, by the second after which they have expired.
    expiring: BTreeMap<u64, Vec<Entry>>,
    /// By issuer, the second in which the latest of its forgotten proofs was issued. Not by when they expired, because another
    /// configuration can accept the same proofs for longer.
    horizons: HashMap<u64, Option<u64>>,
    /// The latest of all issuers, for one that is new or has another name.
    horizon: Option<u64>,
}

#[derive(Debug)]
struct Entry {
    mark: Mark,
    shares: [Option<Share>; 3],
    issuer: u64,
    issued: u64,
}

/// The first half of a SHA-256, of a key's thumbprint and an id. Whoever makes two that are equal gains a rejection.
type Mark = [u8; 16];

/// A hash of a key, a subject or a client. Its seed is random, so no caller can choose to share another one's.
type Share = NonZeroU64;

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

    /// How many of them weren't returned by an earlier call.
    pub(crate) fn newly_refused(&self) -> u64 {
        let refused = self.refused();
        refused.saturating_sub(self.noticed.swap(refused, Ordering::Relaxed))
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

    /// Records the use of a proof, until it has expired.
    pub(crate) fn record(&self, used: &Use<'_>, now: Duration) -> Result<(), TokenError> {
        self.record_within(used, now, (OF_KEY, OF_ALL))
    }

    /// Whether this proof was used, and hasn't expired.
    pub(crate) fn knows(&self, key: &Hash, id: &str) -> bool {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        mark(key, id).is_some_and(|mark| memory.used.contains(&mark))
    }

    fn record_within(&self, used: &Use<'_>, now: Duration, (of_key, of_all): (u32, usize)) -> Result<(), TokenError> {
        let Use { key, id, issued, expires, issuer, subject, client } = *used;
        let mark = mark(key, id).ok_or(TokenError::ProofReplayed)?;
        let of_issuer = self.hasher.hash_one(issuer);
        let key = self.share(&key);
        // The same name at two issuers is two parties.
        let [subject, client] = [("subject", subject), ("client", client)]
            .map(|(of, name)| name.and_then(|name| self.share(&(of, issuer, name))));
        let shares = [key, subject, client];
        // A panic can't leave it inconsistent: nothing in it panics.
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.forget(now);
        if memory.used.contains(&mark) {
            return Err(TokenError::ProofReplayed);
        }
        // It might have been used: it expired while its signature was checked, the clock was ahead, or proofs count for longer now.
        let latest = memory.horizon;
        let horizon = *memory.horizons.entry(of_issuer).or_insert(latest);
        if horizon.is_some_and(|horizon| issued.as_secs() <= horizon) {
            return Err(TokenError::ProofTime);
        }
        let left = of_all.saturating_sub(memory.used.len());
        let count = |share: &Share| memory.shares.get(share).copied().unwrap_or_default();
        let is_full = |share: &Share| usize::try_from(count(share)).map_or(true, |count| count >= left);
        if key.is_some_and(|key| count(&key) >= of_key) || shares.iter().flatten().any(is_full) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(TokenError::ProofsFull);
        }
        memory.used.insert(mark);
        for share in shares.into_iter().flatten() {
            let count = memory.shares.entry(share).or_default();
            *count = count.saturating_add(1);
        }
        let entry = Entry { mark, shares, issuer: of_issuer, issued: issued.as_secs() };
        memory.expiring.entry(expires.as_secs()).or_default().push(entry);
        Ok(())
    }

    fn share(&self, of: &impl core::hash::Hash) -> Option<Share> {
        NonZeroU64::new(self.hasher.hash_one(of) | 1)
    }
}

fn mark(key: &Hash, id: &str) -> Option<Mark> {
    Sha256::new_with_prefix(key).chain_update(id).finalize().first_chunk().copied()
}

impl Memory {
    /// Forgets those that have expired. One that expires within this second is still remembered.
    fn forget(&mut self, now: Duration) {
        while let Some(first) = self.expiring.first_entry().filter(|first| *first.key() < now.as_secs()) {
            for Entry { mark, shares, issuer, issued } in first.remove() {
                self.used.remove(&mark);
                let horizon = self.horizons.entry(issuer).or_default();
                *horizon = (*horizon).max(Some(issued));
                self.horizon = self.horizon.max(Some(issued));
                for share in shares.into_iter().flatten() {
                    let left = self.shares.get(&share).map_or(0, |count| count.saturating_sub(1));
                    match left {
                        0 => drop(self.shares.remove(&share)),
                        left => drop(self.shares.insert(share, left)),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::{Replays, Use};
    use crate::error::TokenError;

    const FULL: Result<(), TokenError> = Err(TokenError::ProofsFull);

    const fn second(second: u64) -> Duration {
        Duration::from_secs(second)
    }

    /// A proof that is accepted for 100 seconds, of a token without a subject or a client.
    fn used<'a>(key: &'a [u8; 32], id: &'a str, issued: u64) -> Use<'a> {
        let (issued, expires) = (second(issued), second(issued.saturating_add(100)));
        Use { key, id, issued, expires, issuer: "a", subject: None, client: None }
    }

    #[test]
    fn a_proof_counts_once_until_it_has_expired() {
        let replays = Replays::new();
        let record = |key: u8, id: &str, now: u64| replays.record(&used(&[key; 32], id, 0), second(now));
        assert_eq!(record(1, "a", 0), Ok(()));
        for now in [0, 50, 99, 100] {
            assert_eq!(record(1, "a", now), Err(TokenError::ProofReplayed), "{now}");
        }
        assert_eq!(record(1, "b", 100), Ok(()));
        assert_eq!(record(2, "a", 100), Ok(()));
        assert_eq!(replays.len(), 3);
        assert_eq!(replays.record(&used(&[1; 32], "a", 200), second(101)), Ok(()));
        assert_eq!(replays.len(), 1);
        assert_eq!(replays.refused(), 0);
    }

    /// The time can be later when it is recorded than when it was compared, and a clock can be ahead and come back.
    #[test]
    fn what_might_have_been_used_before_is_refused() {
        let replays = Replays::new();
        let record = |id: &str, issued: u64, now: u64| replays.record(&used(&[1; 32], id, issued), second(now));
        assert_eq!(record("a", 0, 0), Ok(()));
        assert_eq!(record("a", 0, 101), Err(TokenError::ProofTime));
        assert_eq!(record("b", 100, 101), Ok(()));
        assert_eq!(record("c", 8_900, 5_000), Ok(()));
        assert_eq!(record("b", 100, 102), Err(TokenError::ProofTime));
        assert_eq!(record("d", 101, 102), Ok(()));
    }

    /// Whatever a reload makes of the time for which proofs are accepted, and of the issuer's name: no proof counts twice. Every
    /// sequence of three configurations, with a use of the same proof at each.
    #[test]
    fn no_configuration_accepts_a_forgotten_proof() {
        let times = [0, 59, 60, 61, 120, 121, 300, 360, 361];
        let ages = [60, 120, 360];
        for at in 0..ages.len().pow(3) {
            let ages = [0, 1, 2].map(|place| ages[at / 3_usize.pow(place) % 3]);
            for issuers in [["a", "a", "a"], ["a", "b", "b"], ["a", "b", "a"]] {
                for (middle, last) in times.into_iter().flat_map(|middle| times.map(|last| (middle, middle + last))) {
                    let replays = Replays::new();
                    let record = |place: usize, now: u64| {
                        let (issuer, expires) = (issuers[place], 1_000 + ages[place]);
                        let of_other = Use { issuer: "other", ..used(&[2; 32], "other", now) };
                        let _ = replays.record(&of_other, second(now));
                        let is_accepted = now <= expires;
                        let proof = Use { issuer, expires: second(expires), ..used(&[1; 32], "a", 1_000) };
                        is_accepted && replays.record(&proof, second(now)).is_ok()
                    };
                    let uses = [record(0, 1_000), record(1, 1_000 + middle), record(2, 1_000 + last)];
                    assert_eq!(uses, [true, false, false], "{ages:?} {issuers:?} {middle} {last}");
                }
            }
        }
    }

    /// The horizon of one issuer isn't another's, whose proofs count for longer.
    #[test]
    fn an_issuer_that_allows_slow_clocks_keeps_them() {
        let replays = Replays::new();
        let slow = |id: &'static str, issued: u64, now: u64| {
            let proof = Use { issuer: "slow", expires: second(issued + 360), ..used(&[1; 32], id, issued) };
            replays.record(&proof, second(now))
        };
        assert_eq!(slow("first", 1_000, 1_000), Ok(()));
        assert_eq!(replays.record(&used(&[2; 32], "fast", 1_100), second(1_100)), Ok(()));
        assert_eq!(slow("late", 1_050, 1_300), Ok(()));
        assert_eq!(replays.len(), 2);
    }

    #[test]
    fn a_key_whose_share_is_full_takes_no_room_from_others() {
        let replays = Replays::new();
        let record = |key: u8, id: u32, now: u64| {
            replays.record_within(&used(&[key; 32], &id.to_string(), now), second(now), (3, 8))
        };
        assert_eq!([0, 1, 2, 3, 4].map(|id| record(1, id, 0)), [Ok(()), Ok(()), Ok(()), FULL, FULL]);
        assert_eq!(record(1, 0, 0), Err(TokenError::ProofReplayed));
        // Of the 5 that are left, one key gets no more than it leaves.
        assert_eq!([0, 1, 2, 3].map(|id| record(2, id, 0)), [Ok(()), Ok(()), Ok(()), FULL]);
        assert_eq!([0, 1].map(|id| record(3, id, 0)), [Ok(()), FULL]);
        assert_eq!((replays.refused(), replays.len()), (4, 7));
        assert_eq!((replays.newly_refused(), replays.newly_refused()), (4, 0));
        assert_eq!([3, 4, 5, 6].map(|id| record(1, id, 101)), [Ok(()), Ok(()), Ok(()), FULL]);
        assert_eq!(replays.len(), 3);
    }

    /// An adversary with any number of keys, as one client, one subject, or several of both.
    #[test]
    fn others_are_served_whatever_an_adversary_fills() {
        let names = ["0", "1", "2", "3", "4", "5", "6", "7"];
        for parties in [1, 2, 8] {
            for (has_subject, has_client) in [(true, true), (true, false), (false, true)] {
                let replays = Replays::new();
                let mut id = 0_u32;
                let mut record = |key: u32, subject: Option<&str>, client: Option<&str>| {
                    id += 1;
                    let (mut of_key, id) = ([0; 32], id.to_string());
                    of_key[..4].copy_from_slice(&key.to_be_bytes());
                    let proof = Use { subject, client, ..used(&of_key, &id, 0) };
                    replays.record_within(&proof, second(0), (64, 1_024))
                };
                for key in 0..4_096 {
                    for name in &names[..parties] {
                        let _ = record(key, Some(*name).filter(|_| has_subject), Some(*name).filter(|_| has_client));
                    }
                }
                let left = 1_024 / (u32::try_from(parties).unwrap() + 1);
                for served in 0..left / 2 {
                    assert_eq!(record(9_999, Some("ada"), Some("other")), if served < 64 { Ok(()) } else { FULL });
                }
                assert!(replays.refused() > 1_000, "the adversary is refused");
            }
        }
    }

    /// The same name at another issuer, or as the other of subject and client, is another party.
    #[test]
    fn parties_are_told_apart() {
        let replays = Replays::new();
        let record = |key: u8, issuer, subject, client| {
            let key = [key; 32];
            let proof = Use { issuer, subject, client, ..used(&key, "a", 0) };
            replays.record_within(&proof, second(0), (64, 5))
        };
        assert_eq!(record(1, "a", Some("x"), None), Ok(()));
        assert_eq!(record(2, "a", Some("x"), None), Ok(()));
        assert_eq!(record(3, "a", Some("x"), None), Ok(()));
        assert_eq!(record(4, "a", Some("x"), None), FULL);
        assert_eq!(record(4, "b", Some("x"), None), Ok(()));
        assert_eq!(record(5, "a", None, Some("x")), Ok(()));
        assert_eq!((replays.refused(), replays.len()), (1, 5));
    }
}
