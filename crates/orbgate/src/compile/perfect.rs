//! Laying out a perfect hash: a pilot for each bucket of keys, that sends them to free slots.
//!
//! The buckets with most keys come first, while most slots are free; pilots are tried one after the other.
//! This is the search of CHD and PTHash. Pilots have all the bits that a lookup uses, so that nothing has to be
//! taken back, and the few slots beyond the number of keys stay: lookups need no second table.

use core::cmp::Reverse;

use crate::hash::{self, PerfectHash};

/// Keys in a bucket, on average: fewer take more memory, more take longer to send to free slots.
const IN_BUCKET: usize = 2;

/// For so many keys, one slot more: the last buckets find free ones soon.
const FREE_SLOT: usize = 30;

/// Lays out entries so that each key's entry stands in the one slot that the key's hash leads to.
/// No two keys may be equal; slots that no key leads to hold the default entry.
pub(super) fn perfect_hash<K, T: Copy + Default>(
    keys: &[K],
    entries: &[T],
    hash: impl Fn(&K, u64) -> u64,
) -> PerfectHash<T> {
    let slots = keys.len().saturating_add(keys.len().div_ceil(FREE_SLOT));
    let way = Reduced {
        buckets: keys.len().div_ceil(IN_BUCKET).saturating_add(3),
        // With a power of two, keys whose hashes start alike would share a slot whatever the pilot.
        slots: slots.saturating_add(slots.is_power_of_two().into()).max(1),
    };
    let Layout {
        seed,
        pilots,
        slots,
    } = lay_out(&way, keys, entries, hash);
    PerfectHash {
        seed,
        pilots: pilots.into(),
        slots: slots.into(),
    }
}

/// The way of a lookup from a hash to a slot.
pub(super) trait Way {
    fn buckets(&self) -> usize;
    fn slots(&self) -> usize;
    fn bucket(&self, hash: u64) -> usize;
    /// The slot of a hash whose bucket has this pilot.
    fn slot(&self, hash: u64, pilot: u32) -> usize;
    /// The pilots to try, before another seed is.
    fn pilots(&self) -> impl Iterator<Item = u32>;
}

/// By multiplication: any number of buckets and slots.
struct Reduced {
    buckets: usize,
    slots: usize,
}

impl Way for Reduced {
    fn buckets(&self) -> usize {
        self.buckets
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn bucket(&self, hash: u64) -> usize {
        hash::bucket(hash, self.buckets)
    }

    fn slot(&self, hash: u64, pilot: u32) -> usize {
        hash::slot(hash, pilot, self.slots)
    }

    fn pilots(&self) -> impl Iterator<Item = u32> {
        // A small table has no more than its slots to offer.
        let count = self.slots.saturating_mul(8).clamp(64, 1 << 16);
        // Lookups look at the highest bits, which consecutive numbers do not change.
        let golden = |number: u32| number.wrapping_mul(0x9e37_79b9);
        (0..).take(count).map(golden)
    }
}

/// Where everything stands.
pub(super) struct Layout<T> {
    pub(super) seed: u64,
    /// Of each bucket.
    pub(super) pilots: Vec<u32>,
    pub(super) slots: Vec<T>,
}

/// A layout in which each key has a slot of its own.
pub(super) fn lay_out<K, T: Copy + Default>(
    way: &impl Way,
    keys: &[K],
    entries: &[T],
    hash: impl Fn(&K, u64) -> u64,
) -> Layout<T> {
    let seeds = (1..).map(|number: u64| number.wrapping_mul(hash::K0));
    let mut layouts = seeds.filter_map(|seed| {
        let hashes: Vec<u64> = keys.iter().map(|key| hash(key, seed)).collect();
        pilots(way, &hashes).map(|pilots| (seed, hashes, pilots))
    });
    let (seed, hashes, pilots) = layouts.next().unwrap_or_default();
    let mut slots = vec![T::default(); way.slots()];
    for (hash, entry) in hashes.iter().zip(entries) {
        let pilot = pilots.get(way.bucket(*hash)).copied();
        let slot = way.slot(*hash, pilot.unwrap_or_default());
        if let Some(slot) = slots.get_mut(slot) {
            *slot = *entry;
        }
    }
    Layout {
        seed,
        pilots,
        slots,
    }
}

/// The pilot of each bucket, if they send every hash to a slot of its own.
fn pilots(way: &impl Way, hashes: &[u64]) -> Option<Vec<u32>> {
    let sorted = by_bucket(way, hashes);
    let of_buckets = sorted.chunk_by(|a, b| way.bucket(*a) == way.bucket(*b));
    let mut of_buckets: Vec<&[u64]> = of_buckets.collect();
    of_buckets.sort_by_key(|of_bucket| Reverse(of_bucket.len()));
    let mut pilots = vec![0; way.buckets()];
    let mut is_taken = vec![false; way.slots()];
    for of_bucket in of_buckets {
        let mut tries = way.pilots();
        let found = tries.find(|pilot| take(way, &mut is_taken, of_bucket, *pilot))?;
        let first = of_bucket.first()?;
        *pilots.get_mut(way.bucket(*first))? = found;
    }
    Some(pilots)
}

/// The hashes, those of a bucket together.
fn by_bucket(way: &impl Way, hashes: &[u64]) -> Vec<u64> {
    let mut places = vec![0_usize; way.buckets().saturating_add(1)];
    for hash in hashes {
        if let Some(behind) = places.get_mut(way.bucket(*hash).saturating_add(1)) {
            *behind = behind.saturating_add(1);
        }
    }
    let mut start = 0_usize;
    for place in &mut places {
        start = start.saturating_add(*place);
        *place = start;
    }
    let mut sorted = vec![0; hashes.len()];
    for hash in hashes {
        let place = places.get_mut(way.bucket(*hash));
        let place = place.map(|place| core::mem::replace(place, place.saturating_add(1)));
        if let Some(free) = place.and_then(|place| sorted.get_mut(place)) {
            *free = *hash;
        }
    }
    sorted
}

/// Takes the slots to which a pilot sends these hashes, if all are free and no two the same.
fn take(way: &impl Way, is_taken: &mut [bool], hashes: &[u64], pilot: u32) -> bool {
    let take_slot = |hash: &&u64| {
        let taken = is_taken.get_mut(way.slot(**hash, pilot));
        taken.is_some_and(|taken| !core::mem::replace(taken, true))
    };
    let free = hashes.iter().take_while(take_slot).count();
    if free == hashes.len() {
        return true;
    }
    for hash in hashes.iter().take(free) {
        if let Some(taken) = is_taken.get_mut(way.slot(*hash, pilot)) {
            *taken = false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::perfect_hash;
    use crate::hash::shape_hash;

    /// Every key leads to its entry, and no slot but theirs is taken.
    #[track_caller]
    fn check(keys: &[u64], hash: impl Fn(&u64, u64) -> u64) {
        let table = perfect_hash(keys, keys, &hash);
        for key in keys {
            assert_eq!(table.probe(hash(key, table.seed)), Some(key));
        }
        let taken = table.slots.iter().filter(|key| **key != 0);
        assert_eq!(taken.count(), keys.len());
    }

    #[test]
    fn every_key_has_a_slot_of_its_own() {
        for count in (0..=300).chain([1_000, 20_000]) {
            let keys: Vec<u64> = (1..=count).collect();
            check(&keys, |key, seed| shape_hash(seed, *key));
        }
    }

    #[test]
    fn keys_that_one_seed_cannot_tell_apart_get_another() {
        let keys = [1, 2, 3, 4];
        let first = perfect_hash(&keys, &keys, |key, seed| shape_hash(seed, *key)).seed;
        check(&keys, |key, seed| match seed == first {
            true => 0,
            false => shape_hash(seed, *key),
        });
    }
}
