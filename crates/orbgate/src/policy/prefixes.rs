//! The prefixes of templates, segment by segment. Every check that compares literals at one position uses this
//! tree.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use crate::tables::seeded::{RandomSeed, SeededMap};

/// Numbers the prefixes of templates. 0 is the empty prefix, and a segment leads from one number to the next. The
/// names of parameters don't matter.
#[derive(Debug)]
pub struct Prefixes<'t, P> {
    next: SeededMap<(usize, &'t str), usize>,
    /// For each prefix and each class of similar literals: the first literal, and its position.
    firsts: SeededMap<(usize, Cow<'t, str>), (&'t str, P)>,
    alike: fn(&str) -> Cow<'_, str>,
}

/// The result of following a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next<'t, P> {
    /// The number of the prefix that ends in the segment.
    pub prefix: usize,
    /// Whether the segment is a literal that is new at this position.
    pub is_new: bool,
    /// For a new literal: the first similar literal at this position, and its location.
    pub alike: Option<(&'t str, P)>,
}

impl<'t, P: Copy> Prefixes<'t, P> {
    /// An empty tree with room for this many templates. Literals are similar if the function maps them to
    /// the same string.
    #[must_use]
    pub fn with_room(templates: usize, alike: fn(&str) -> Cow<'_, str>) -> Self {
        let seed = RandomSeed::default();
        Self {
            next: SeededMap::with_capacity_and_hasher(templates, seed),
            firsts: SeededMap::with_capacity_and_hasher(templates, seed),
            alike,
        }
    }

    /// Follows a segment of the template at this position from a prefix.
    pub fn next(&mut self, prefix: usize, segment: &'t str, position: P) -> Next<'t, P> {
        let is_literal = !segment.starts_with('{');
        let fresh = self.next.len().saturating_add(1);
        let name = if is_literal { segment } else { "{}" };
        let (next, is_new) = match self.next.entry((prefix, name)) {
            Entry::Occupied(known) => (*known.get(), false),
            Entry::Vacant(free) => (*free.insert(fresh), is_literal),
        };
        let mut alike = None;
        if is_new {
            match self.firsts.entry((prefix, (self.alike)(segment))) {
                Entry::Occupied(first) => alike = Some(*first.get()),
                Entry::Vacant(free) => drop(free.insert((segment, position))),
            }
        }
        Next { prefix: next, is_new, alike }
    }
}
