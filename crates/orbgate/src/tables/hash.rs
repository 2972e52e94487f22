//! Perfect hashing: the hash of a key, and the one slot it can be in.
//!
//! An unknown key maps to an arbitrary slot, so a lookup compares the key in that slot in full.
#![allow(
    clippy::as_conversions,
    reason = "a hash is cut into its halves on purpose"
)]

use super::list::{List, index};

/// Slots for a known set of keys, no two of which share one: hash and displace. Some bits of a hash choose a
/// displacement; other bits and the displacement choose the slot.
#[derive(Clone, Debug, Default)]
pub struct PerfectHash<T: 'static> {
    /// The multipliers of the hash.
    pub seed: Seed,
    /// A power of two of them.
    pub displacements: List<u32>,
    /// A power of two of them; an unused slot holds the default entry.
    pub slots: List<T>,
    /// One less than there are displacements and slots, so that no look-up has to compute it.
    pub masks: [u32; 2],
}

impl<T> PerfectHash<T> {
    /// The only entry whose key can have this hash; the caller compares the key.
    #[inline(always)]
    pub(crate) fn get(&self, hash: u64) -> Option<&T> {
        let [buckets, slots] = self.masks;
        let displacement = *self.displacements.get(bucket(hash, buckets))?;
        self.slots.get(slot(hash, displacement, slots))
    }
}

/// The bucket of a hash. Bucket and slot take bits that depend on every byte of the key and on many bits of the seed:
/// the lowest bits depend on too few.
#[inline(always)]
pub(crate) const fn bucket(hash: u64, mask: u32) -> usize {
    index(hash.rotate_right(44) as u32 & mask)
}

/// The slot of a hash whose bucket has this displacement.
#[inline(always)]
pub(crate) const fn slot(hash: u64, displacement: u32, mask: u32) -> usize {
    index(((hash >> 24) as u32 ^ displacement) & mask)
}

/// Odd multipliers, which choose one hash of a family.
///
/// In products of 64 bits carries go upwards only: keys that differ in their highest bytes alone would share their
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

    /// The hash of a number, as a template's key.
    #[inline(always)]
    pub(crate) const fn number(self, number: u64) -> u64 {
        let Self([a, b, _]) = self;
        mix(number ^ a, b)
    }

    /// The hash of a text of any length.
    pub(crate) fn text(self, text: &[u8]) -> u64 {
        let Self([seed, ..]) = self;
        text_hash(seed, text)
    }
}

/// How many methods have a column in a template. A policy with more is legal; its rarer ones are searched.
pub(crate) const COLUMNS: usize = 8;

/// The methods that have a column, which one product gives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Methods {
    /// What the letters of a method are multiplied with: the highest bits are its column.
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
    /// Four pairs of its bytes, which overlap in a method of fewer than eight: so the pairs have every byte of it.
    pub letters: u64,
    /// Its length.
    pub length: usize,
}

impl Method {
    /// Reads a method without a branch on its length, because no processor can predict which method comes next.
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
        Some(Self {
            letters: pair(0)? | pair(2)? << 16 | pair(4)? << 32 | pair(6)? << 48,
            length: bytes.len(),
        })
    }

    /// The only column that a method can have.
    #[inline(always)]
    pub(crate) const fn column(self, multiplier: u64) -> usize {
        const SHIFT: u32 = u64::BITS - COLUMNS.ilog2();
        (self.letters.wrapping_mul(multiplier) >> SHIFT) as usize
    }
}

/// The product of two numbers, both halves of it in one.
#[inline(always)]
pub(crate) const fn mix(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    product as u64 ^ (product >> 64) as u64
}

/// Two odd constants with about as many ones as zeros.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
pub(crate) const MIXER: u64 = 0xd6e8_feb8_6659_fd93;

/// The first and the last eight bytes of a text, little-endian: they are all of a text of up to 16 bytes. If it has
/// fewer than eight, each is the whole text, and zeros after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The first eight.
    pub head: u64,
    /// The last eight.
    pub tail: u64,
}

/// The bit in which a small letter differs from a capital one, in every byte. Characters that are no letters can
/// differ in it, too: texts that are equal except for these bits may still not be the same without regard to case.
pub(crate) const CASE: u64 = 0x2020_2020_2020_2020;

/// Set in a literal's head where equal ends are not enough: it has more than 16 bytes or more than one spelling, or
/// other literals have the same ends. It is the highest bit of a byte, which no accepted byte has, so no segment equals
/// the literal without a comparison of the texts.
pub(crate) const COMPARE_TEXT: u64 = 0x80;

/// The bits that interning looks at first, the same in every spelling of a literal.
pub(crate) const SEEN: u64 = !(CASE | COMPARE_TEXT);

impl Ends {
    /// The ends of a text by itself.
    pub(crate) fn of(text: &[u8]) -> Self {
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word.iter_mut()
                .zip(bytes)
                .for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(word)
        };
        let last = text.get(text.len().saturating_sub(8)..).unwrap_or(text);
        Self {
            head: word(text),
            tail: word(last),
        }
    }

    /// The bits in which two differ, in either of their ends.
    #[inline(always)]
    pub(crate) const fn differ(self, other: Self) -> u64 {
        (self.head ^ other.head) | (self.tail ^ other.tail)
    }
}

/// The hash of a text of any length.
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

    /// Seeds are odd. With these two, a multiplier of only the mixer's bits, or of all bits, would forget the words.
    #[test]
    fn the_hash_of_a_text_depends_on_its_words_their_order_and_its_length() {
        for seed in [1, GOLDEN, !MIXER | 1, !0] {
            let pairs = ["read:one", "read:two", "write:to"].map(|a| [a, "read:one"]);
            let swapped = pairs.map(|[a, b]| [b, a]);
            let texts = pairs.into_iter().chain(swapped).map(|pair| pair.concat());
            let texts: BTreeSet<_> = texts.collect();
            // A text is filled up with zeros: only its length tells it from one that ends in them.
            let ends = (0..8).map(|zeros| "\0".repeat(zeros));
            let ends: Vec<_> = ends.collect();
            let texts = texts
                .iter()
                .flat_map(|text| ends.iter().map(move |end| format!("{text}{end}")));
            let hashes: Vec<_> = texts.map(|text| text_hash(seed, text.as_bytes())).collect();
            let apart: BTreeSet<_> = hashes.iter().collect();
            assert_eq!(apart.len(), hashes.len(), "seed {seed:x}");
        }
    }
}
