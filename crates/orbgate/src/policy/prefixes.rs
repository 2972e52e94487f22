//! What paths start with, segment by segment: the one tree of templates, which everything asks that compares the
//! literals at one place.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use crate::tables::seeded::{RandomSeed, SeededMap};

/// Numbers what templates start with: 0 is nothing, and a segment leads from one number to the next. The names of
/// parameters say nothing.
#[derive(Debug)]
pub struct Prefixes<'t, P> {
    next: SeededMap<(usize, &'t str), usize>,
    /// After a prefix, by what literals have in common that are alike: the first of them, and its position.
    firsts: SeededMap<(usize, Cow<'t, str>), (&'t str, P)>,
    alike: fn(&str) -> Cow<'_, str>,
}

/// Where a segment leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next<'t, P> {
    /// The number of the prefix that ends in the segment.
    pub prefix: usize,
    /// Whether the segment is a literal that is new there.
    pub is_new: bool,
    /// For such a literal: the first one there that is alike, and its position.
    pub alike: Option<(&'t str, P)>,
}

impl<'t, P: Copy> Prefixes<'t, P> {
    /// No template yet, and room for this many. Literals are alike for which the function gives the same.
    #[must_use]
    pub fn with_room(templates: usize, alike: fn(&str) -> Cow<'_, str>) -> Self {
        let seed = RandomSeed::default();
        Self {
            next: SeededMap::with_capacity_and_hasher(templates, seed),
            firsts: SeededMap::with_capacity_and_hasher(templates, seed),
            alike,
        }
    }

    /// Goes on from a prefix by a segment of the template at this position.
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
        Next {
            prefix: next,
            is_new,
            alike,
        }
    }
}
