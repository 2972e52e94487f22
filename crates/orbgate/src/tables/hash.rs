//! Perfect hashing: the hash of a key, and the one slot it can be in.
//!
//! An unknown key maps to an arbitrary slot, so a lookup compares the key in that slot in full.
#![allow(clippy::as_conversions, reason = "a hash is cut into its halves on purpose")]

use super::list::{List, index};

/// Slots for a known set of keys, each key with its own slot (hash and displace). Some bits of a hash choose
/// a displacement; the displacement and other bits choose the slot.
#[derive(Clone, Debug, Default)]
pub struct PerfectHash<T: 'static> {
    /// The multipliers of the hash.
    pub seed: Seed,
    /// The displacements; their number is a power of two.
    pub displacements: List<u32>,
    /// The slots; their number is a power of two. An unused slot holds the default entry.
    pub slots: List<T>,
    /// The numbers of displacements and slots, less one, so that lookups needn't compute them.
    pub masks: [u32; 2],
}

impl<T> PerfectHash<T> {
    /// The only entry whose key can have this hash. The caller must compare the key.
    #[inline(always)]
    pub(crate) fn get(&self, hash: u64) -> Option<&T> {
        let [buckets, slots] = self.masks;
        let displacement = *self.displacements.get(bucket(hash, buckets))?;
        self.slots.get(slot(hash, displacement, slots))
    }
}

/// The bucket of a hash. Bucket and slot use bits that depend on every byte of the key and on many bits of the seed.
/// The lowest bits depend on too few.
#[inline(always)]
pub(crate) const fn bucket(hash: u64, mask: u32) -> usize {
    index(hash.rotate_right(44) as u32 & mask)
}

/// The slot of a hash, given the displacement of its bucket.
#[inline(always)]
pub(crate) const fn slot(hash: u64, displacement: u32, mask: u32) -> usize {
    index(((hash >> 24) as u32 ^ displacement) & mask)
}

/// Odd multipliers, which select one hash function of a family.
///
/// In 64-bit products, carries only move upwards: keys that differ only in their highest bytes would share their
/// lower bits under every seed. So the products have 128 bits, and are folded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seed(pub [u64; 3]);

impl Seed {
    /// The hash of a literal.
    #[inline(always)]
    pub(crate) const fn literal(self, ends: Ends, length: u32) -> u64 {
        let Self([a, b, c]) = self;
        let ends = mix((ends.head & SEEN) ^ a, (ends.tail & SEEN) ^ b);
        ends.wrapping_add((length as u64).wrapping_mul(c))
    }

    /// The hash of a number, such as a template's key.
    #[inline(always)]
    pub(crate) const fn number(self, number: u64) -> u64 {
        let Self([a, b, _]) = self;
        mix(number ^ a, b)
    }

    /// The hash of a string of any length.
    pub(crate) fn text(self, text: &[u8]) -> u64 {
        let Self([seed, ..]) = self;
        text_hash(seed, text)
    }
}

/// How many methods have a column in a template. A policy can declare more; the rarer ones are searched.
pub(crate) const COLUMNS: usize = 8;

/// The methods that have a column. One multiplication maps a method to its column.
#[derive(Clone, Copy, Debug, Default)]
pub struct Methods {
    /// The multiplier for a method's letters. The highest bits of the product are the column.
    pub multiplier: u64,
    /// The methods by column.
    pub columns: [Method; COLUMNS],
}

impl Methods {
    /// The column of a method, if it has one.
    #[inline(always)]
    pub(crate) fn column(&self, method: &[u8]) -> Option<usize> {
        let method = Method::of(method)?;
        let column = method.column(self.multiplier);
        (*self.columns.get(column)? == method).then_some(column)
    }
}

/// A method of 2 to 8 letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Method {
    /// Four pairs of its bytes. In a method of fewer than eight bytes, the pairs overlap, so that together they
    /// contain every byte.
    pub letters: u64,
    /// Its length.
    pub length: usize,
}

impl Method {
    /// Reads a method without branching on its length, because no processor can predict the next method.
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
        Some(Self { letters: pair(0)? | pair(2)? << 16 | pair(4)? << 32 | pair(6)? << 48, length: bytes.len() })
    }

    /// The only column that this method can have.
    #[inline(always)]
    pub(crate) const fn column(self, multiplier: u64) -> usize {
        const SHIFT: u32 = u64::BITS - COLUMNS.ilog2();
        (self.letters.wrapping_mul(multiplier) >> SHIFT) as usize
    }
}

/// The two halves of a 128-bit product, folded into one.
#[inline(always)]
pub(crate) const fn mix(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    product as u64 ^ (product >> 64) as u64
}

/// Two odd constants, each with about as many ones as zeros.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
pub(crate) const MIXER: u64 = 0xd6e8_feb8_6659_fd93;

/// The first and the last eight bytes of a string, little-endian. They describe a string of up to 16 bytes
/// completely. If the string has fewer than eight bytes, each end is the whole string padded with zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The first eight bytes.
    pub head: u64,
    /// The last eight bytes.
    pub tail: u64,
}

/// In every byte, the bit that distinguishes a small letter from a capital. Characters other than letters can also
/// differ in this bit, so strings that are equal apart from these bits aren't always equal without regard to case.
pub(crate) const CASE: u64 = 0x2020_2020_2020_2020;

/// Set in a literal's head if equal ends don't prove a match: the literal has more than 16 bytes or more than one
/// spelling, or other literals have the same ends. It is the highest bit of a byte. No accepted byte has that bit, so
/// no segment matches the literal without a full comparison.
pub(crate) const COMPARE_TEXT: u64 = 0x80;

/// The bits that interning compares first, the same in every spelling of a literal.
pub(crate) const SEEN: u64 = !(CASE | COMPARE_TEXT);

impl Ends {
    /// The ends of a string.
    pub(crate) fn of(text: &[u8]) -> Self {
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(word)
        };
        let last = text.get(text.len().saturating_sub(8)..).unwrap_or(text);
        Self { head: word(text), tail: word(last) }
    }

    /// The bits in which two differ, in either end.
    #[inline(always)]
    pub(crate) const fn differ(self, other: Self) -> u64 {
        (self.head ^ other.head) | (self.tail ^ other.tail)
    }
}

/// The hash of a string of any length.
pub(crate) fn text_hash(seed: u64, text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let words = words.chain([u64::from_le_bytes(last)]);
    let hash = words.fold(seed, |hash, word| mix(hash ^ word, MIXER ^ seed));
    mix(hash ^ text.len() as u64, GOLDEN)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Seeds are odd. With these two, a multiplier made only of the mixer's bits, or of all bits, would lose the words.
    #[test]
    fn the_hash_of_a_text_depends_on_its_words_their_order_and_its_length() {
        for seed in [1, GOLDEN, !MIXER | 1, !0] {
            let pairs = ["read:one", "read:two", "write:to"].map(|a| [a, "read:one"]);
            let swapped = pairs.map(|[a, b]| [b, a]);
            let texts = pairs.into_iter().chain(swapped).map(|pair| pair.concat());
            let texts: BTreeSet<_> = texts.collect();
            // A string is padded with zeros, so only its length distinguishes it from a string that ends in zeros.
            let ends = (0..8).map(|zeros| "\0".repeat(zeros));
            let ends: Vec<_> = ends.collect();
            let texts = texts.iter().flat_map(|text| ends.iter().map(move |end| format!("{text}{end}")));
            let hashes: Vec<_> = texts.map(|text| text_hash(seed, text.as_bytes())).collect();
            let apart: BTreeSet<_> = hashes.iter().collect();
            assert_eq!(apart.len(), hashes.len(), "seed {seed:x}");
        }
    }
}
