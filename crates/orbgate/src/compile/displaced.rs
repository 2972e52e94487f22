//! Laying out a hash that is looked up with shifts: hash and displace, the largest buckets first.

use super::perfect::{Layout, Way, lay_out};
use crate::hash::DisplacedHash;

/// Lays out entries so that each key's entry stands in the one slot that the key's hash leads to.
/// No two keys may be equal; slots that no key leads to hold the default entry. The expected time is linear: about
/// every second seed leads to a layout, as two keys of a bucket that share a slot share one whatever the displacement.
pub(super) fn displaced_hash<K, T: Copy + Default>(
    keys: &[K],
    entries: &[T],
    hash: impl Fn(&K, u64) -> u64,
) -> DisplacedHash<T> {
    let slots = keys.len().saturating_add(keys.len() / 8);
    let slots = slots.next_power_of_two().max(2);
    let buckets = (keys.len() / 2).next_power_of_two().max(2);
    // Its slots take no room.
    let empty = DisplacedHash {
        seed: 0,
        bucket_shift: shift(buckets),
        slot_shift: shift(slots),
        displacements: vec![0; buckets].into(),
        slots: vec![(); slots].into(),
    };
    let Layout {
        seed,
        pilots,
        slots,
    } = lay_out(&empty, keys, entries, hash);
    DisplacedHash {
        seed,
        bucket_shift: empty.bucket_shift,
        slot_shift: empty.slot_shift,
        displacements: pilots.into(),
        slots: slots.into(),
    }
}

/// How far 32 bits are shifted to be below a power of two.
const fn shift(count: usize) -> u32 {
    u32::BITS.saturating_sub(count.ilog2())
}

impl Way for DisplacedHash<()> {
    fn buckets(&self) -> usize {
        self.displacements.len()
    }

    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn bucket(&self, hash: u64) -> usize {
        Self::bucket(self, hash)
    }

    fn slot(&self, hash: u64, displacement: u32) -> usize {
        Self::slot(self, hash, displacement)
    }

    fn pilots(&self) -> impl Iterator<Item = u32> {
        // Only the bits that are not shifted out make a difference.
        let displacements = 0..super::id(self.slots.len());
        displacements.map(|displacement| displacement.wrapping_shl(self.slot_shift))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;
    use crate::hash;

    proptest! {
        #[test]
        fn every_key_is_found_and_nothing_lost(keys in btree_set(any::<u64>(), 0..700)) {
            let keys: Vec<_> = keys.into_iter().collect();
            let hash = |key: &u64, seed| hash::outline_hash(seed, 3, [*key, 0]);
            let entries: Vec<_> = keys.iter().map(|key| Some(*key)).collect();
            let table = displaced_hash(&keys, &entries, hash);
            for key in &keys {
                prop_assert_eq!(table.probe(hash(key, table.seed)), Some(&Some(*key)));
            }
            prop_assert_eq!(table.slots.iter().flatten().count(), keys.len());
        }
    }
}
