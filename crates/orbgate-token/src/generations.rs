//! What was learnt lately, by a hash: a bounded amount of it, without a time or a position in a queue for each.

use core::time::Duration;
use std::collections::HashMap;

/// A SHA-256.
pub(crate) type Mark = [u8; 32];

/// Two generations, of which the older is forgotten as a whole: when half the time is over, or when the younger is full. So an entry is
/// known for half the time to all of it, and the latest half of all entries always.
#[derive(Debug)]
pub(crate) struct Generations<V> {
    half_life: Duration,
    /// The most entries of one generation, and their most bytes.
    half: usize,
    half_bytes: usize,
    begun: Duration,
    young: Generation<V>,
    old: Generation<V>,
}

#[derive(Debug)]
struct Generation<V> {
    entries: HashMap<Mark, V>,
    bytes: usize,
}

impl<V> Generation<V> {
    fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }
}

impl<V> Default for Generation<V> {
    fn default() -> Self {
        Self { entries: HashMap::new(), bytes: 0 }
    }
}

impl<V> Generations<V> {
    /// Room for that many entries, which together have that many bytes.
    pub(crate) fn new(half_life: Duration, most: usize, bytes: usize) -> Self {
        Self {
            half_life,
            half: most.div_ceil(2),
            half_bytes: bytes.div_ceil(2),
            begun: Duration::ZERO,
            young: Generation::default(),
            old: Generation::default(),
        }
    }

    pub(crate) fn get(&self, mark: &Mark) -> Option<&V> {
        let young = self.young.entries.get(mark);
        young.or_else(|| self.old.entries.get(mark))
    }

    /// Adds or replaces an entry. An entry that is larger than a whole generation isn't kept.
    pub(crate) fn put(&mut self, mark: Mark, value: V, bytes: usize, now: Duration) {
        if bytes > self.half_bytes {
            return;
        }
        let is_full = self.young.entries.len() >= self.half || self.young.bytes.saturating_add(bytes) > self.half_bytes;
        if is_full {
            self.age(now);
        }
        // What an entry had that is replaced here is counted on: it is gone soon.
        self.young.bytes = self.young.bytes.saturating_add(bytes);
        self.young.entries.insert(mark, value);
    }

    pub(crate) fn remove(&mut self, mark: &Mark) {
        self.young.entries.remove(mark);
        self.old.entries.remove(mark);
    }

    pub(crate) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.young.entries.len().saturating_add(self.old.entries.len())
    }

    /// Forgets what is too old. The young grow old when their time is over, not when they are asked for next: what is put in last
    /// would else live half the time longer than all of it.
    pub(crate) fn forget(&mut self, now: Duration) {
        let age = now.saturating_sub(self.begun);
        if age >= self.half_life.saturating_mul(2) {
            self.young.clear();
            self.age(now);
        } else if age >= self.half_life {
            self.age(self.begun.saturating_add(self.half_life));
        }
    }

    fn age(&mut self, begun: Duration) {
        core::mem::swap(&mut self.young, &mut self.old);
        self.young.clear();
        self.begun = begun;
    }
}
