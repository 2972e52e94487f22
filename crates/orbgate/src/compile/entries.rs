//! Helpers for all compile steps: ids, runs of entries, and the string pool.

use crate::tables::list::Span;
use crate::tables::seeded::{RandomSeed, SeededMap};
use crate::tables::{NONE, Run};

/// Names and templates, end to end. Equal names are stored once.
pub(super) struct TextPool<'t> {
    pub(super) all: String,
    spans: SeededMap<&'t str, Span>,
}

impl<'t> TextPool<'t> {
    /// A pool with room for this number of names.
    pub(super) fn with_room(names: usize) -> Self {
        Self { all: String::new(), spans: SeededMap::with_capacity_and_hasher(names, RandomSeed::default()) }
    }

    /// Adds a name, unless the pool has it.
    pub(super) fn span(&mut self, name: &'t str) -> Span {
        let Self { all, spans } = self;
        *spans.entry(name).or_insert_with(|| push(all, &[name]))
    }

    /// Adds a string that no other shares, given in parts.
    pub(super) fn push(&mut self, parts: &[&str]) -> Span {
        push(&mut self.all, parts)
    }
}

fn push(all: &mut String, parts: &[&str]) -> Span {
    let start = all.len();
    all.extend(parts.iter().copied());
    Span { start: id(start), length: id(all.len().saturating_sub(start)) }
}

/// The start of each group of entries that are stored end to end, from the number of entries in each group.
pub(super) fn runs(lengths: impl Iterator<Item = usize>) -> Vec<Run> {
    let mut start = 0_u32;
    let runs = lengths.map(|length| {
        let run = Run { start, length: id(length) };
        start = start.saturating_add(run.length);
        run
    });
    runs.collect()
}

/// A number of entries or bytes as an id. The limits on a policy keep every id far below 2³².
pub(super) fn id(count: usize) -> u32 {
    let id = u32::try_from(count);
    debug_assert!(id.is_ok(), "{count} is no id");
    id.unwrap_or(NONE)
}

/// The entry at this position.
pub(super) fn at<T: Copy + Default>(entries: &[T], position: usize) -> T {
    let entry = entries.get(position);
    debug_assert!(entry.is_some(), "a position of another table");
    entry.copied().unwrap_or_default()
}

/// Sets the entry at this position.
pub(super) fn set<T>(entries: &mut [T], position: usize, value: T) {
    let entry = entries.get_mut(position);
    debug_assert!(entry.is_some(), "a position of another table");
    if let Some(entry) = entry {
        *entry = value;
    }
}
