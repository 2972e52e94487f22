//! Builds the perfect hashes of literals, templates and scopes (hash and displace).

use core::cmp::Reverse;

use super::entries::{id, set};
use crate::tables::hash::{self, GOLDEN, MIXER, PerfectHash, Seed, mix};
use crate::tables::list::index;

/// No seed that was tried separates the strings of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unplaceable;

impl core::fmt::Display for Unplaceable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("no hash was found for the texts of this policy; rename a scope or a segment")
    }
}

/// The number of seeds to try. About one in two succeeds.
const SEEDS: u32 = 64;

/// The average number of keys per bucket. Smaller buckets take more memory; larger ones take longer to place.
const IN_BUCKET: usize = 2;

/// One seed of an endless series. `salt` comes from the policy's digest. An attacker can't choose strings that defeat
/// the seeds, because the seeds depend on all of the strings.
pub(super) fn nth_seed(salt: u64, number: u32) -> Seed {
    const fn odd(number: u64) -> u64 {
        mix(mix(number, GOLDEN) ^ number, MIXER) | 1
    }
    let start = salt.wrapping_add(u64::from(number).wrapping_mul(3));
    Seed([odd(start), odd(start.wrapping_add(1)), odd(start.wrapping_add(2))])
}

/// Places entries so that each key's hash leads to that key's entry. Unused slots hold the default entry.
///
/// This is the search of CHD: it places the largest buckets first, while most slots are free, and tries displacements
/// in sequence. The expected time is linear.
pub(super) fn perfect_hash<T: Copy + Default>(
    salt: u64,
    entries: &[T],
    hash: impl Fn(Seed, &T) -> u64,
) -> Result<PerfectHash<T>, Unplaceable> {
    let count = entries.len().saturating_add(entries.len() / 8);
    let masks = [entries.len() / IN_BUCKET, count].map(|count| mask(count.next_power_of_two()));
    let mut hashes = Vec::with_capacity(entries.len());
    for seed in (0..SEEDS).map(|number| nth_seed(salt, number)) {
        hashes.clear();
        hashes.extend(entries.iter().map(|entry| (hash(seed, entry), entry)));
        if let Some((displacements, slots)) = placed(&mut hashes, masks) {
            return Ok(PerfectHash { seed, displacements: displacements.into(), slots: slots.into(), masks });
        }
    }
    Err(Unplaceable)
}

/// The displacement of each bucket and the entry of each slot, or `None` if no displacements give every hash its own
/// slot.
fn placed<T: Copy + Default>(hashes: &mut [(u64, &T)], [buckets, slots]: [u32; 2]) -> Option<(Vec<u32>, Vec<T>)> {
    let bucket = |(hash, _): &(u64, &T)| hash::bucket(*hash, buckets);
    hashes.sort_unstable_by_key(bucket);
    let mut of_buckets: Vec<_> = hashes.chunk_by(|a, b| bucket(a) == bucket(b)).collect();
    of_buckets.sort_by_key(|of_bucket| Reverse(of_bucket.len()));
    let mut displacements = vec![0; index(buckets).saturating_add(1)];
    let mut placed = vec![None; index(slots).saturating_add(1)];
    for of_bucket in of_buckets {
        let mut tries = 0..=slots;
        let displacement = tries.find(|displacement| place(&mut placed, of_bucket, *displacement))?;
        *displacements.get_mut(bucket(of_bucket.first()?))? = displacement;
    }
    let slots = placed.into_iter().map(|entry| entry.copied().unwrap_or_default());
    Some((displacements, slots.collect()))
}

/// Places entries where a displacement sends their hashes, if all those slots are free and distinct.
fn place<'e, T>(slots: &mut [Option<&'e T>], entries: &[(u64, &'e T)], displacement: u32) -> bool {
    let mask = mask(slots.len());
    let mut place = |(hash, entry): &(u64, &'e T)| {
        let slot = slots.get_mut(hash::slot(*hash, displacement, mask));
        slot.filter(|slot| slot.is_none()).map(|slot| *slot = Some(*entry))
    };
    let free = entries.iter().map_while(&mut place).count();
    if free == entries.len() {
        return true;
    }
    for (hash, _) in entries.iter().take(free) {
        set(slots, hash::slot(*hash, displacement, mask), None);
    }
    false
}

/// The mask that keeps a number below a power of two.
fn mask(count: usize) -> u32 {
    id(count.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that every key leads to its entry, and that no other slot is used.
    #[track_caller]
    fn check(keys: &[u64]) {
        let table = perfect_hash(7, keys, |seed, key| seed.number(*key)).unwrap();
        for key in keys {
            assert_eq!(table.get(table.seed.number(*key)), Some(key));
        }
        let taken = table.slots.iter().filter(|key| **key != 0);
        assert_eq!(taken.count(), keys.len());
        let free = table.slots.len().saturating_sub(keys.len());
        assert!(free >= keys.len() / 8, "{free} free slots, {} keys", keys.len());
    }

    #[test]
    fn every_key_has_a_slot_of_its_own() {
        for count in (0..=300).chain([1_000, 20_000]) {
            check(&(1..=count).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn numbers_in_regular_series_are_laid_out() {
        for shift in [9, 17, 40] {
            let grid = (1..300_u64).flat_map(|a| (1..300).map(move |b| a << shift | b));
            check(&grid.collect::<Vec<_>>());
        }
    }

    #[test]
    fn keys_that_one_seed_cannot_tell_apart_get_another() {
        let first = nth_seed(7, 0);
        let hash = |seed: Seed, key: &u64| match seed.0 == first.0 {
            true => 0,
            false => seed.number(*key),
        };
        let table = perfect_hash(7, &[1_u64, 2, 3, 4], hash).unwrap();
        assert_eq!(table.get(hash(table.seed, &3)), Some(&3));
    }

    #[test]
    fn the_search_for_a_seed_ends() {
        let error = perfect_hash(7, &[1_u64, 2], |_, _| 0).err().unwrap();
        assert!(error.to_string().contains("rename"));
    }
}
