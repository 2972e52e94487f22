//! Perfect hashing: the hash of a key, and the one slot it can stand in.
//!
//! A key's hash picks a bucket, the bucket's pilot picks the slot; phf's generator finds the pilots of names
//! (`compile::names`), `compile::perfect` those of large tables. A stranger lands in some slot too, so whoever
//! probes compares the key it finds there in full.
#![allow(
    clippy::as_conversions,
    reason = "the hash takes the halves of wider integers apart on purpose"
)]

use core::fmt;

use crate::list::List;
use crate::scan::{Mask, Window};
use crate::tables::COLUMNS;

/// Slots for a known set of keys, no two of which share one.
pub struct PerfectHash<T: 'static> {
    /// Found with the pilots; every hash of this table starts from it.
    pub seed: u64,
    /// One for each bucket: what sends the bucket's keys to free slots.
    pub pilots: List<u32>,
    /// The entries; a slot that no key owns holds one that equals no key.
    pub slots: List<T>,
}

impl<T> PerfectHash<T> {
    /// The only entry that can have a key of this hash; the caller compares the key.
    #[inline(always)]
    pub(crate) fn probe(&self, hash: u64) -> Option<&T> {
        self.slots.get(self.slot(hash)?)
    }

    /// The only slot that can have a key of this hash; nothing where there is no hash, only slots.
    #[inline(always)]
    pub(crate) fn slot(&self, hash: u64) -> Option<usize> {
        let pilot = *self.pilots.get(bucket(hash, self.pilots.len()))?;
        Some(slot(hash, pilot, self.slots.len()))
    }
}

impl<T: fmt::Debug> fmt::Debug for PerfectHash<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slots.fmt(f)
    }
}

/// The same, with as many slots and buckets as make a shift of what is a multiplication above: for the one table
/// that a decision waits for. phf's generator never makes such a table, so `compile` displaces the keys itself.
pub struct DisplacedHash<T: 'static> {
    /// Every hash of this table starts from it.
    pub seed: u64,
    /// How far the lower half of a hash is shifted to be a bucket.
    pub bucket_shift: u32,
    /// How far the upper half of a hash is shifted to be a slot, once it is displaced.
    pub slot_shift: u32,
    /// One for each bucket: what sends the bucket's keys to free slots.
    pub displacements: List<u32>,
    /// The entries; a slot that no key owns holds one that equals no key.
    pub slots: List<T>,
}

impl<T> DisplacedHash<T> {
    /// The only entry that can have a key of this hash; the caller compares the key.
    #[inline(always)]
    pub(crate) fn probe(&self, hash: u64) -> Option<&T> {
        let displacement = *self.displacements.get(self.bucket(hash))?;
        self.slots.get(self.slot(hash, displacement))
    }

    /// The bucket of a key.
    #[inline(always)]
    pub(crate) const fn bucket(&self, hash: u64) -> usize {
        index((hash as u32).wrapping_shr(self.bucket_shift))
    }

    /// The slot of a key whose bucket is displaced so far.
    #[inline(always)]
    pub(crate) const fn slot(&self, hash: u64, displacement: u32) -> usize {
        let place = (hash >> 32) as u32 ^ displacement;
        index(place.wrapping_shr(self.slot_shift))
    }
}

impl<T: fmt::Debug> fmt::Debug for DisplacedHash<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slots.fmt(f)
    }
}

/// The bucket of a key.
#[inline(always)]
pub(crate) const fn bucket(hash: u64, buckets: usize) -> usize {
    reduce(hash as u32, buckets)
}

/// The slot of a key whose bucket has this pilot.
#[inline(always)]
pub(crate) const fn slot(hash: u64, pilot: u32, slots: usize) -> usize {
    reduce((hash >> 32) as u32 ^ pilot, slots)
}

/// Spreads 32 bits over `0..limit` with a multiplication instead of a division. The engine's tables
/// never have more than 2³² entries.
#[inline(always)]
const fn reduce(hash: u32, limit: usize) -> usize {
    ((hash as u64).wrapping_mul(limit as u64) >> 32) as usize
}

/// An id or length of the tables as an index. They are 32 bits wide and so is `usize` at least.
#[inline(always)]
pub(crate) const fn index(id: u32) -> usize {
    id as usize
}

/// The product of two words folded onto itself: every input bit reaches every output bit.
#[inline(always)]
const fn mix(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    product as u64 ^ (product >> 64) as u64
}

/// Two odd constants with about as many ones as zeros.
pub(crate) const K0: u64 = 0x9e37_79b9_7f4a_7c15;
const K1: u64 = 0xd6e8_feb8_6659_fd93;

/// The parts of a byte string that its hash and its comparison read first. Up to 16 bytes they are
/// the whole string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The first 8 bytes, little-endian; of a shorter string the same as `last`.
    pub first: u64,
    /// The last 8 bytes; of a shorter string all of it, with zeros in front.
    pub last: u64,
}

/// Sets the bit that tells a small letter from a capital. Of other characters it makes pairs equal
/// that are not (`@` and a backtick), so strings that are equal once folded are only likely to be
/// equal without regard to case.
pub(crate) const FOLD: u64 = 0x2020_2020_2020_2020;

impl Ends {
    /// The ends of a byte string.
    #[inline(always)]
    pub(crate) fn of(bytes: &[u8]) -> Self {
        match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => Self {
                first: u64::from_le_bytes(*first),
                last: u64::from_le_bytes(*last),
            },
            _ => {
                let bytes = bytes.iter();
                let short = bytes.fold(0, |word, byte| word >> 8 | u64::from(*byte) << 56);
                Self {
                    first: short,
                    last: short,
                }
            }
        }
    }

    /// The ends of the segment from `start` to `stop`, read without a branch on its length. Of fewer
    /// than eight bytes the eight up to `stop` are read, and what stands before `start` is masked out.
    ///
    /// `ROOM` says that `stop` is at least 8; without it, what is missing in front is shifted in.
    #[inline(always)]
    pub(crate) fn within<M: Mask, const ROOM: bool>(
        window: &Window<'_, M>,
        start: usize,
        stop: usize,
    ) -> Self {
        let missing = if ROOM {
            0
        } else {
            8_usize.saturating_sub(stop).wrapping_mul(8) as u32
        };
        let mask = MASKS.get(stop.wrapping_sub(start).min(8));
        let mask = mask.copied().unwrap_or_default();
        let (first, last) = window.words(start, stop);
        Self {
            first: first.wrapping_shl(missing) & mask,
            last: last.wrapping_shl(missing) & mask,
        }
    }

    /// The same for every spelling that differs only in case.
    #[inline(always)]
    pub(crate) const fn folded(self) -> Self {
        Self {
            first: self.first | FOLD,
            last: self.last | FOLD,
        }
    }
}

/// The last so many bytes of a word.
const MASKS: [u64; 9] = {
    const ALL: u64 = u64::MAX;
    [
        0,
        ALL << 56,
        ALL << 48,
        ALL << 40,
        ALL << 32,
        ALL << 24,
        ALL << 16,
        ALL << 8,
        ALL,
    ]
};

/// Length and position of a literal in one number: positions count in steps of `POSITION`.
#[inline(always)]
pub(crate) const fn tag(length: usize, position: usize) -> u32 {
    (length as u32).wrapping_add((position as u32).wrapping_mul(POSITION))
}

/// One position further, in a tag. No segment has as many bytes.
pub(crate) const POSITION: u32 = 1 << 16;

/// The hash of a literal at a position of a path, without regard to case.
///
/// Only its ends are read: long literals that differ in the middle alone share a slot, see
/// `others` in `tables::WordRow`.
#[inline(always)]
pub(crate) const fn word_hash(seed: u64, tag: u32, ends: Ends) -> u64 {
    let Ends { first, last } = ends.folded();
    let tagged = last ^ (tag as u64).wrapping_mul(K0);
    // The seed is in both factors: no key can make one of them zero for every seed.
    mix(first ^ seed, tagged.wrapping_add(seed))
}

/// The hash of a scope token: eight bytes at a time, its length at the end.
pub(crate) fn scope_hash(seed: u64, bytes: &[u8]) -> u64 {
    let words = bytes.chunks(8).map(|chunk| Ends::of(chunk).last);
    let hash = words.fold(seed, |hash, word| mix(hash ^ word, K1 ^ seed));
    mix(hash ^ bytes.len() as u64, K0)
}

/// The hash of a shape's key.
#[inline(always)]
pub(crate) const fn shape_hash(seed: u64, key: u64) -> u64 {
    // Keys come in long regular series, which one product would not break up.
    mix(mix(key ^ seed, K1), K0)
}

/// How far the first bytes of a hint are moved, where letters and digits differ in their lowest bits.
pub(crate) const HINT_SHIFT: u32 = 3;

/// Sixteen bits about a segment, from four of its bytes in lower case: the first two and the last two, where a
/// slash stands for what it does not have. Equal segments have equal hints; most others differ, most of all
/// in the highest bits.
pub(crate) const fn hint([first, second]: [u8; 2], lasts: [u8; 2]) -> u16 {
    let firsts = u16::from_le_bytes([first << HINT_SHIFT, second << HINT_SHIFT]);
    firsts.wrapping_add(u16::from_le_bytes(lasts))
}

/// What the hints of a path of so many segments below the prefix are combined with (by exclusive or), four at a
/// time: a word of paths of another length is none there.
#[inline(always)]
pub(crate) const fn hint_salt(count: usize) -> u64 {
    const FOUR: u64 = 0x7c15_7c15_7c15_7c15;
    (count as u64).wrapping_mul(FOUR)
}

/// How many bits of a hint a table of hints tells apart.
const HINT_BITS: u32 = 13;

/// How many hints such a table has.
pub(crate) const HINTS: usize = 1 << HINT_BITS;

/// The place of a hint, the lowest sixteen bits, in such a table.
#[inline(always)]
pub(crate) const fn hint_place(hint: u64) -> usize {
    (hint >> (u16::BITS - HINT_BITS)) as usize & (HINTS - 1)
}

/// Sixteen ones for each of the four lowest bits.
#[inline(always)]
pub(crate) fn lanes(bits: u64) -> u64 {
    LANES.get(bits as usize & 15).copied().unwrap_or_default()
}

/// The same as a table, which is faster than to compute it.
static LANES: [u64; 16] = {
    let mut all = [0; 16];
    let mut bits = 0;
    while bits < 16 {
        // Four copies, each so far along that another bit is the lowest of its lane.
        let copies = (bits as u64).wrapping_mul(1 | 1 << 15 | 1 << 30 | 1 << 45);
        #[allow(
            clippy::indexing_slicing,
            reason = "evaluated by the compiler, which refuses an index out of range"
        )]
        {
            all[bits] = (copies & 0x0001_0001_0001_0001).wrapping_mul(0xffff);
        }
        bits += 1;
    }
    all
};

/// The hints of an outline's words, four to a word of the processor, with zeros for parameters: the first four,
/// and all others in one.
#[inline(always)]
pub(crate) const fn outline_key([a, b, c, d]: [u64; 4]) -> [u64; 2] {
    [a, b ^ c.wrapping_mul(K1) ^ d.wrapping_mul(K1 ^ K0)]
}

/// What the words of 32 bits of a block are added to for its digest, in pairs.
pub(crate) const DIGEST_KEYS: [u64; 8] = {
    const fn key(number: u64) -> u64 {
        mix(number, K1)
    }
    [
        key(1),
        key(2),
        key(3),
        key(4),
        key(5),
        key(6),
        key(7),
        key(8),
    ]
};

/// The sum of the products of neighbours (NH, of RFC 4418): different blocks hardly ever have the same one.
pub(crate) fn digest(block: [u8; 64]) -> u64 {
    let words = block.as_chunks().0.iter().zip(DIGEST_KEYS);
    words.fold(0, |sum, (word, key)| {
        let (word, upper) = (u64::from_le_bytes(*word), u64::from(u32::MAX) << 32);
        // Two additions of 32 bits side by side.
        let low = word.wrapping_add(key) & !upper;
        let high = (word & upper).wrapping_add(key & upper) >> 32;
        u64::wrapping_add(sum, low.wrapping_mul(high))
    })
}

/// The hash of an outline of `count` segments.
#[inline(always)]
pub(crate) const fn outline_hash(seed: u64, count: usize, key: [u64; 2]) -> u64 {
    let [first, rest] = key;
    // The seed is in both factors: no key can make one of them zero for every seed.
    mix(
        first ^ seed.wrapping_add(hint_salt(count)),
        rest ^ (seed ^ K1),
    )
}

/// The hash of a method.
#[inline(always)]
pub(crate) const fn method_hash(seed: u64, method: Method) -> u64 {
    mix(method.letters ^ seed, K0 ^ method.length as u64)
}

const METHOD_SHIFT: u32 = u64::BITS - COLUMNS.ilog2();

/// The only column that can be of the method with this word.
#[inline(always)]
pub(crate) const fn method_column(factor: u64, word: u64) -> usize {
    (word.wrapping_mul(factor) >> METHOD_SHIFT) as usize
}

/// A method of 2 to 8 letters in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Method {
    /// Four pairs of its bytes, which overlap in a method of fewer than 8: all of it is in there.
    pub letters: u64,
    /// Its length.
    pub length: u8,
}

impl Method {
    /// A method in one word; `None` where it does not fit. Reads it without a branch on its length,
    /// because no processor can guess which method comes next.
    #[inline(always)]
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let last = bytes.len().wrapping_sub(2);
        if last > 6 {
            return None;
        }
        let pair = |at: usize| {
            let pair = bytes.get(at.min(last)..).and_then(<[u8]>::first_chunk);
            pair.map(|pair| u64::from(u16::from_le_bytes(*pair)))
        };
        let letters = pair(0)? | pair(2)? << 16 | pair(4)? << 32 | pair(6)? << 48;
        let length = bytes.len() as u8;
        Some(Self { letters, length })
    }
}
