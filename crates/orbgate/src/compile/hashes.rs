//! Laying out the perfect hashes: hash and displace for literals, templates and methods; phf's generator for scopes.

use core::cell::Cell;
use core::cmp::Reverse;

use phf_generator::ptrhash;

use super::Unplaceable;
use crate::hash::{self, GOLDEN, MIXER, PerfectHash, ScopeIds, Seed, mix};
use crate::list::List;

/// How many seeds are tried. About one in two leads to a layout.
const SEEDS: u32 = 64;

/// Keys in a bucket, on average: fewer take more memory, more take longer to send to free slots.
const IN_BUCKET: usize = 2;

/// One seed of an endless series. `salt` is of the policy's digest: nobody can choose the texts of a policy against seeds that
/// depend on all of them.
pub(super) fn nth_seed(salt: u64, number: u32) -> Seed {
    const fn odd(number: u64) -> u64 {
        mix(mix(number, GOLDEN) ^ number, MIXER) | 1
    }
    let start = salt.wrapping_add(u64::from(number).wrapping_mul(3));
    Seed([
        odd(start),
        odd(start.wrapping_add(1)),
        odd(start.wrapping_add(2)),
    ])
}

/// Lays out entries so that each key's entry stands in the one slot that the key's hash leads to. Slots that no key leads
/// to hold the default entry.
///
/// This is the search of CHD: the buckets with most keys come first, while most slots are free, and displacements are tried
/// one after the other. The expected time is linear.
pub(super) fn perfect_hash<K, T: Copy + Default>(
    salt: u64,
    keys: &[K],
    entries: &[T],
    hash: impl Fn(Seed, &K) -> u64,
) -> Result<PerfectHash<T>, Unplaceable> {
    let count = keys.len().saturating_add(keys.len() / 8);
    let count = count.next_power_of_two();
    let buckets = (keys.len() / IN_BUCKET).next_power_of_two();
    let mut hashes = vec![0; keys.len()];
    for seed in (0..SEEDS).map(|number| nth_seed(salt, number)) {
        for (of_key, key) in hashes.iter_mut().zip(keys) {
            *of_key = hash(seed, key);
        }
        let Some(displacements) = displacements(&hashes, buckets, count) else {
            continue;
        };
        let mut table = PerfectHash {
            seed,
            displacements: displacements.into(),
            slots: List::from(Vec::new()),
        };
        let mut slots = vec![T::default(); count];
        for (of_key, entry) in hashes.iter().zip(entries) {
            let displacement = table.displacements.get(hash::bucket(*of_key, buckets));
            let slot = displacement.map(|displacement| hash::slot(*of_key, *displacement, count));
            if let Some(slot) = slot.and_then(|slot| slots.get_mut(slot)) {
                *slot = *entry;
            }
        }
        table.slots = slots.into();
        return Ok(table);
    }
    Err(Unplaceable)
}

/// The displacement of each bucket, if they send every hash to a slot of its own.
fn displacements(hashes: &[u64], buckets: usize, slots: usize) -> Option<Vec<u32>> {
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable_by_key(|hash| hash::bucket(*hash, buckets));
    let of_buckets = sorted.chunk_by(|a, b| hash::bucket(*a, buckets) == hash::bucket(*b, buckets));
    let mut of_buckets: Vec<&[u64]> = of_buckets.collect();
    of_buckets.sort_by_key(|of_bucket| Reverse(of_bucket.len()));
    let mut displacements = vec![0; buckets];
    let mut is_taken = vec![false; slots];
    for of_bucket in of_buckets {
        let mut tries = 0..super::id(slots);
        let found = tries.find(|displacement| take(&mut is_taken, of_bucket, *displacement))?;
        *displacements.get_mut(hash::bucket(*of_bucket.first()?, buckets))? = found;
    }
    Some(displacements)
}

/// Takes the slots to which a displacement sends these hashes, if all are free and no two the same.
fn take(is_taken: &mut [bool], hashes: &[u64], displacement: u32) -> bool {
    let slots = is_taken.len();
    let mut taken = |hash: u64, is: bool| {
        let slot = is_taken.get_mut(hash::slot(hash, displacement, slots));
        slot.is_none_or(|slot| core::mem::replace(slot, is))
    };
    let free = hashes.iter().take_while(|hash| !taken(**hash, true));
    let free = free.count();
    if free == hashes.len() {
        return true;
    }
    hashes.iter().take(free).for_each(|hash| {
        taken(*hash, false);
    });
    false
}

/// Lays out the ids of scopes, which are sorted by name, with phf's generator.
pub(super) fn scope_ids(salt: u64, names: &[&[u8]]) -> Result<ScopeIds, Unplaceable> {
    if names.is_empty() {
        // One slot, so that a look-up always finds something to compare with.
        return Ok(ScopeIds {
            seed: 0,
            pilots: vec![0].into(),
            slots: vec![0].into(),
        });
    }
    // The generator would try seeds for ever. After so many it gets hashes that it can always lay out, and fails here.
    let tries = Cell::new(0_usize);
    let limit = names.len().saturating_mul(hash::index(SEEDS));
    let keys: Vec<_> = (0_u64..).zip(names).collect();
    let state = ptrhash::generate_hash_with_hash_fn(&keys, |(number, name), seed| {
        tries.set(tries.get().saturating_add(1));
        match tries.get() > limit {
            true => hash::scope_hash(*seed ^ salt, &number.to_le_bytes()),
            false => hash::scope_hash(*seed ^ salt, name),
        }
    });
    let pilots: Vec<u32> = state
        .pilots
        .iter()
        .map(|byte| pilot(state.seed, *byte))
        .collect();
    let mut slots = vec![0; state.map.len().saturating_add(state.remap.len())];
    let mut is_taken = vec![false; slots.len()];
    let count = slots.len();
    for (id, name) in (0..).zip(names) {
        let hash = hash::scope_hash(state.seed ^ salt, name);
        let pilot = pilots.get(hash::pilot_bucket(hash, pilots.len()));
        let slot = hash::pilot_slot(hash, pilot.copied().ok_or(Unplaceable)?, count);
        let (Some(free), Some(taken)) = (slots.get_mut(slot), is_taken.get_mut(slot)) else {
            return Err(Unplaceable);
        };
        if core::mem::replace(taken, true) {
            return Err(Unplaceable);
        }
        *free = id;
    }
    Ok(ScopeIds {
        seed: state.seed ^ salt,
        pilots: pilots.into(),
        slots: slots.into(),
    })
}

/// What phf's own look-up makes of a bucket's byte, done once here instead of at every look-up.
fn pilot(seed: u64, byte: u8) -> u32 {
    let pilot = (seed ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
    let [a, b, c, d, halves @ ..] = pilot.to_le_bytes();
    u32::from_le_bytes([a, b, c, d]) ^ u32::from_le_bytes(halves)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every key leads to its entry, and no slot but theirs is taken.
    #[track_caller]
    fn check(keys: &[u64]) {
        let table = perfect_hash(7, keys, keys, |seed, key| seed.number(*key)).unwrap();
        for key in keys {
            assert_eq!(table.get(table.seed.number(*key)), Some(key));
        }
        let taken = table.slots.iter().filter(|key| **key != 0);
        assert_eq!(taken.count(), keys.len());
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
        let table = perfect_hash(7, &[1, 2, 3, 4], &[1_u64, 2, 3, 4], hash).unwrap();
        assert_eq!(table.get(hash(table.seed, &3)), Some(&3));
    }

    #[test]
    fn the_search_for_a_seed_ends() {
        let found = perfect_hash(7, &[1, 2], &[1_u64, 2], |_, _| 0);
        assert!(found.is_err());
        assert!(scope_ids(7, &[b"same", b"same"]).is_err());
    }
}
