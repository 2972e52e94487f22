//! Builds the perfect hashes of literals, templates and scopes (hash and displace).

use core::ops::Range;

use super::entries::{at, id, set};
use crate::tables::NONE;
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
        hashes.extend(entries.iter().map(|entry| hash(seed, entry)));
        if let Some((displacements, slots)) = placed(&hashes, masks) {
            let slots = slots.iter().map(|entry| entries.get(index(*entry)).copied().unwrap_or_default());
            let (displacements, slots) = (displacements.into(), slots.collect::<Vec<_>>().into());
            return Ok(PerfectHash { seed, displacements, slots, masks });
        }
    }
    Err(Unplaceable)
}

/// The displacement of each bucket and the number of the hash in each slot, or `None` if no displacements give every
/// hash its own slot.
fn placed(hashes: &[u64], [buckets, slots]: [u32; 2]) -> Option<(Vec<u32>, Vec<u32>)> {
    let bucket_of = hashes.iter().map(|hash| id(hash::bucket(*hash, buckets)));
    let by_bucket = Groups::of(&bucket_of.collect::<Vec<_>>(), buckets);
    // Those of a bucket are neighbours, because each is read for every displacement that is tried.
    let hashes = by_bucket.members.iter().map(|member| (at(hashes, index(*member)), *member));
    let hashes: Vec<_> = hashes.collect();
    let lengths = (0..=buckets).map(|bucket| id(by_bucket.group(bucket).len()));
    let longest = lengths.clone().max().unwrap_or_default();
    // The longest buckets first, and of equal length in order.
    let shorter_by = lengths.map(|length| longest.saturating_sub(length));
    let by_length = Groups::of(&shorter_by.collect::<Vec<_>>(), longest);
    let mut displacements = vec![0; index(buckets).saturating_add(1)];
    let mut placed = vec![NONE; index(slots).saturating_add(1)];
    for bucket in &by_length.members {
        let of_bucket = hashes.get(by_bucket.group(*bucket)).unwrap_or_default();
        let mut tries = 0..=slots;
        let displacement = tries.find(|displacement| place(&mut placed, of_bucket, *displacement))?;
        set(&mut displacements, index(*bucket), displacement);
    }
    Some((displacements, placed))
}

/// Numbered items in groups, each with a number up to `last`. The items of a group are in order.
struct Groups {
    /// Where each group ends.
    ends: Vec<u32>,
    members: Vec<u32>,
}

impl Groups {
    /// Takes the group of each item.
    fn of(groups: &[u32], last: u32) -> Self {
        let mut ends = vec![0_u32; index(last).saturating_add(1)];
        for group in groups {
            let length = at(&ends, index(*group));
            set(&mut ends, index(*group), length.saturating_add(1));
        }
        let mut start = 0_u32;
        for end in &mut ends {
            // Where the group starts, for now: each member moves it by one.
            (*end, start) = (start, start.saturating_add(*end));
        }
        let mut members = vec![0; groups.len()];
        for (member, group) in (0..).zip(groups) {
            let end = at(&ends, index(*group));
            set(&mut members, index(end), member);
            set(&mut ends, index(*group), end.saturating_add(1));
        }
        Self { ends, members }
    }

    /// Where the members of a group are.
    fn group(&self, group: u32) -> Range<usize> {
        let start = group.checked_sub(1).map_or(0, |before| at(&self.ends, index(before)));
        index(start)..index(at(&self.ends, index(group)))
    }
}

/// Places hashes where a displacement sends them, if all those slots are free and distinct.
fn place(slots: &mut [u32], hashes: &[(u64, u32)], displacement: u32) -> bool {
    let mask = mask(slots.len());
    let mut place = |(hash, member): &(u64, u32)| {
        let slot = slots.get_mut(hash::slot(*hash, displacement, mask));
        slot.filter(|slot| **slot == NONE).map(|slot| *slot = *member)
    };
    let free = hashes.iter().map_while(&mut place).count();
    if free == hashes.len() {
        return true;
    }
    for (hash, _) in hashes.iter().take(free) {
        set(slots, hash::slot(*hash, displacement, mask), NONE);
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
