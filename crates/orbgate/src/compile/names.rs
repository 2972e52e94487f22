//! Laying out the perfect hashes of scopes and methods, with phf's generator.
//!
//! It fills 99 of 100 slots, which for thousands of words and shapes would take most of the time of compiling:
//! `perfect` lays those out, for the same lookup.

use phf_generator::ptrhash;

use super::collect;
use crate::hash::{self, PerfectHash};
use crate::list::List;

/// Lays out entries so that each key's entry stands in the one slot that the key's hash leads to.
/// No two keys may be equal; slots that no key leads to hold the default entry.
pub(super) fn hash_names<K, T: Copy + Default>(
    keys: &[K],
    entries: &[T],
    hash: impl Fn(&K, u64) -> u64,
) -> PerfectHash<T> {
    if keys.is_empty() {
        // One empty slot, so that a probe always finds something to compare with.
        return PerfectHash {
            seed: 0,
            pilots: vec![0].into(),
            slots: vec![T::default()].into(),
        };
    }
    let state = ptrhash::generate_hash_with_hash_fn(keys, |key, seed| hash(key, *seed));
    let pilots: List<u32> = collect(state.pilots.iter().map(|byte| pilot(state.seed, *byte)));
    let mut slots = vec![T::default(); state.map.len().saturating_add(state.remap.len())];
    let mut is_taken = vec![false; slots.len()];
    let count = slots.len();
    for (key, entry) in keys.iter().zip(entries) {
        let hash = hash(key, state.seed);
        let pilot = pilots.get(hash::bucket(hash, pilots.len()));
        let slot = hash::slot(hash, pilot.copied().unwrap_or_default(), count);
        if let (Some(free), Some(taken)) = (slots.get_mut(slot), is_taken.get_mut(slot)) {
            // A lost key could let another route decide, so this must never go unseen. The generator's
            // version is pinned, because its layout is what the lookup computes.
            assert!(!*taken, "two keys of a perfect hash share a slot");
            *taken = true;
            *free = *entry;
        }
    }
    PerfectHash {
        seed: state.seed,
        pilots,
        slots: slots.into(),
    }
}

/// What phf's own lookup makes of a bucket's byte, done once here instead of at every probe.
fn pilot(seed: u64, byte: u8) -> u32 {
    let pilot = (seed ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
    let [a, b, c, d, halves @ ..] = pilot.to_le_bytes();
    u32::from_le_bytes([a, b, c, d]) ^ u32::from_le_bytes(halves)
}
