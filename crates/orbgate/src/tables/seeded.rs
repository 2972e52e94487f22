//! Hash maps over the strings of a policy. They are far cheaper than the standard library's, and use its random
//! seeds, so that an attacker can't write a policy whose strings collide.

use core::hash::{BuildHasher, Hasher};
use std::collections::HashMap;
use std::hash::RandomState;

use super::hash;

/// A map with unpredictable hashes.
pub(crate) type SeededMap<K, V> = HashMap<K, V, RandomSeed>;

/// The seed of all hashes of a map.
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

/// The hash so far, which is the seed for the next part.
#[derive(Debug)]
pub(crate) struct SeededHasher(u64);

impl Hasher for SeededHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash::text_hash(self.0, bytes);
    }

    /// Ignores the byte that ends a string, because the hash already includes the length.
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
