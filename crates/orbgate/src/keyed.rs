//! Hash maps over the texts of a policy: far cheaper than the standard library's own, and keyed with its random
//! numbers as those are, so that nobody can write a policy whose texts share a hash.

use core::hash::{BuildHasher, Hasher};
use std::collections::HashMap;
use std::hash::RandomState;

use crate::hash;

/// A map whose hashes nobody can foretell.
pub(crate) type KeyedMap<K, V> = HashMap<K, V, Key>;

/// What all hashes of a map start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key(u64);

impl Default for Key {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for Key {
    type Hasher = KeyedHasher;

    fn build_hasher(&self) -> KeyedHasher {
        KeyedHasher(self.0)
    }
}

/// The hash of the parts so far, which is the seed for the next.
#[derive(Debug)]
pub(crate) struct KeyedHasher(u64);

impl Hasher for KeyedHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash::scope_hash(self.0, bytes);
    }

    /// The end of a text, whose length is in its hash already.
    fn write_u8(&mut self, _: u8) {}

    fn write_u64(&mut self, number: u64) {
        self.0 = hash::scope_hash(self.0, &number.to_le_bytes());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(u64::try_from(number).unwrap_or(u64::MAX));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
