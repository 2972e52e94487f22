//! Hash maps over the texts of a policy: far cheaper than the standard library's own, and seeded with its random
//! numbers as those are, so that nobody can write a policy whose texts have one hash.

use core::hash::{BuildHasher, Hasher};
use std::collections::HashMap;
use std::hash::RandomState;

use super::hash;

/// A map whose hashes nobody can foretell.
pub(crate) type SeededMap<K, V> = HashMap<K, V, RandomSeed>;

/// What all hashes of a map start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomSeed(u64);

impl Default for RandomSeed {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for RandomSeed {
    type Hasher = SeededHasher;

    fn build_hasher(&self) -> SeededHasher {
        SeededHasher(self.0)
    }
}

/// The hash of the parts so far, which is the seed for the next.
#[derive(Debug)]
pub(crate) struct SeededHasher(u64);

impl Hasher for SeededHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash::text_hash(self.0, bytes);
    }

    /// The end of a text, whose length is in its hash already.
    fn write_u8(&mut self, _: u8) {}

    fn write_u64(&mut self, number: u64) {
        self.0 = hash::mix(self.0 ^ number, hash::GOLDEN);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(u64::try_from(number).unwrap_or(u64::MAX));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
