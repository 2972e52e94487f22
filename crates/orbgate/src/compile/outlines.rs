//! The shapes by their outlines: what a path looks like with the values of its parameters left out.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use super::displaced::displaced_hash;
use super::shapes::ShapeOf;
use super::templates::{PARAMETER, Templates};
use crate::hash::{self, HINTS};
use crate::keyed::KeyedMap;
use crate::list::Span;
use crate::scan::wide::{BLOCK, PLACES};
use crate::tables::{Outline, Outlines, RouteRow, Shape, Variants};

/// The outlines of the shapes that have one; `entries` has the shapes as they are looked up.
pub(super) fn outlines(
    templates: &Templates<'_>,
    shapes: &[ShapeOf],
    entries: &[Shape],
    routes: &[RouteRow],
    common: usize,
    prefix: Span,
) -> Outlines {
    let segments = |shape: &ShapeOf| templates.segments(shape.segments);
    let known = || {
        let below = shapes
            .iter()
            .map(|shape| segments(shape).get(common..).unwrap_or_default());
        below.filter(|numbers| numbers.len() <= PLACES)
    };
    let depth = known().map(<[_]>::len).max();
    let words = Hints::of(templates);
    let prefix = u128::MAX
        .checked_shl(prefix.length)
        .unwrap_or(0)
        .to_le_bytes();
    let mut below = prefix
        .as_chunks()
        .0
        .iter()
        .map(|half| u64::from_le_bytes(*half));
    let lengths = templates.literals.iter().fold(0, |lengths, literal| {
        let bit = 1_u64.checked_shl(super::id(literal.text.len()));
        lengths | bit.unwrap_or(0)
    });
    let mut outlines = Outlines {
        lengths,
        hints: vec![hints(&words, known())].into(),
        depth: super::id(depth.unwrap_or_default().div_ceil(4)),
        below: [(); 2].map(|()| below.next().unwrap_or_default()),
        variants: variants(known()).into(),
        rows: displaced_hash(&[], &[], |(), _| 0),
        others: displaced_hash(&[], &[], |(), _| 0),
        is_complete: true,
    };
    let all = shapes.iter().zip(entries).filter_map(|(shape, entry)| {
        let (key, text) = outline(templates, &words, segments(shape), common)?;
        let scope = |id| routes.get(hash::index(id)).map(|route| route.scope);
        let has_amount = |id| {
            let route = templates.routes.get(hash::index(id));
            route.is_some_and(|route| route.rule.orbs().is_some())
        };
        let outline = Outline {
            text,
            routes: entry.columns,
            scopes: entry.columns.map(|route| scope(route).unwrap_or_default()),
            first_route: entry.first_route,
            has_amounts: entry.columns.into_iter().any(has_amount),
            is_alone: true,
        };
        Some((key, outline))
    });
    let count = hash_rows(&mut outlines, all);
    let with_segments = shapes.iter().filter(|shape| shape.segments.length > 0);
    outlines.is_complete &= count == with_segments.count();
    outlines
}

/// What the hash of outlines sees of one: the number of segments, and their hints.
type Key = (usize, [u64; 2]);

/// The outlines by the hints of their words, and those that share them by their text; how many there are.
fn hash_rows(outlines: &mut Outlines, all: impl Iterator<Item = (Key, Outline)>) -> usize {
    let mut keys = Vec::new();
    let mut rows: Vec<Outline> = Vec::new();
    let mut others = Vec::new();
    let mut first_of = KeyedMap::default();
    for (key, outline) in all {
        match first_of.entry(key) {
            Entry::Vacant(free) => {
                free.insert(rows.len());
                keys.push(key);
                rows.push(outline);
            }
            Entry::Occupied(first) => {
                if let Some(first) = rows.get_mut(*first.get()) {
                    first.is_alone = false;
                }
                others.push(outline);
            }
        }
    }
    let count = rows.len().saturating_add(others.len());
    outlines.rows = displaced_hash(&keys, &rows, |(count, key), seed| {
        hash::outline_hash(seed, *count, *key)
    });
    let mut order: Vec<_> = others.iter().map(digest).zip(0_usize..).collect();
    order.sort_unstable();
    let clear = order.chunk_by(|(a, _), (b, _)| a == b);
    let clear = clear.filter_map(|same| match same {
        [(digest, place)] => Some((*digest, *others.get(*place)?)),
        _ => None,
    });
    let (digests, rows): (Vec<_>, Vec<_>) = clear.unzip();
    outlines.is_complete &= rows.len() == others.len();
    outlines.others = displaced_hash(&digests, &rows, |digest, seed| {
        hash::outline_hash(seed, 0, [*digest, 0])
    });
    count
}

/// The digest of an outline's text, without regard to case.
fn digest(outline: &Outline) -> u64 {
    hash::digest(outline.text.map(|byte| byte | 0x20))
}

/// The outline of a shape, with its key; of the root and of what does not fit there is none.
fn outline(
    templates: &Templates<'_>,
    words: &Hints,
    segments: &[u32],
    common: usize,
) -> Option<(Key, [u8; BLOCK])> {
    let below = segments.get(common..).unwrap_or_default();
    if segments.is_empty() || below.len() > PLACES {
        return None;
    }
    let mut block = [0; BLOCK];
    let mut free = block.as_mut_slice();
    for number in segments {
        let text = templates
            .literal(*number)
            .map_or("", |literal| literal.text);
        let (slash, behind) = free.split_first_mut()?;
        *slash = b'/';
        let (own, behind) = behind.split_at_mut_checked(text.len())?;
        own.copy_from_slice(text.as_bytes());
        free = behind;
    }
    // One that goes on after the block must not look like this one.
    free.first()?;
    let mut hints = [0; PLACES / 4];
    for (position, number) in below.iter().enumerate() {
        let hint = words.get(*number, position, below.len());
        if let Some(word) = hints.get_mut(position / 4) {
            let shift = super::id(position % 4).wrapping_mul(16);
            *word |= u64::from(hint).wrapping_shl(shift);
        }
    }
    let key = (below.len(), hash::outline_key(hints));
    Some((key, block))
}

/// The positions by hint.
fn hints<'s>(words: &Hints, shapes: impl Iterator<Item = &'s [u32]>) -> [u16; HINTS] {
    let mut hints = [0; HINTS];
    for numbers in shapes {
        for (position, number) in numbers.iter().enumerate() {
            if *number == PARAMETER {
                continue;
            }
            let hint = words.get(*number, position, numbers.len());
            if let Some(positions) = hints.get_mut(hash::hint_place(hint.into())) {
                *positions |= 1_u16.wrapping_shl(super::id(position));
            }
        }
    }
    hints
}

/// The hints of the literals, by their numbers.
struct Hints(Vec<u16>);

impl Hints {
    fn of(templates: &Templates<'_>) -> Self {
        let literals = templates.literals.iter();
        let literals = literals.map(|literal| hint(literal.text.as_bytes()));
        Self(core::iter::once(0).chain(literals).collect())
    }

    /// The hint of a literal at a position below the prefix, where there are so many; 0 of a parameter.
    fn get(&self, number: u32, position: usize, count: usize) -> u16 {
        let hint = self.0.get(hash::index(number)).copied();
        let salt = hash::hint_salt(count).to_le_bytes();
        let salt = salt.as_chunks().0.get(position % 4).copied();
        match number {
            PARAMETER => 0,
            _ => hint.unwrap_or_default() ^ u16::from_le_bytes(salt.unwrap_or_default()),
        }
    }
}

/// The hint of a literal, as a path has it after a slash.
fn hint(literal: &[u8]) -> u16 {
    let folded = |byte: Option<&u8>| byte.copied().unwrap_or(b'/') | 0x20;
    let first = |place: usize| folded(literal.get(place));
    let last = |place: usize| folded(literal.iter().rev().nth(place));
    hash::hint([first(0), first(1)], [last(1), last(0)])
}

/// By the number of segments, where there are parameters.
fn variants<'s>(shapes: impl Iterator<Item = &'s [u32]>) -> Vec<Variants> {
    let mut sets = vec![BTreeSet::new(); PLACES.saturating_add(1)];
    for numbers in shapes {
        let parameters = (0_u32..).zip(numbers).fold(0, |set, (position, number)| {
            set | u16::from(*number == PARAMETER).wrapping_shl(position)
        });
        if let Some(sets) = sets.get_mut(numbers.len()) {
            // The first position counts most, and a literal before a parameter.
            sets.insert(parameters.reverse_bits());
        }
    }
    let variants = sets.into_iter().map(|sets| {
        let mut variants = Variants {
            are_more: sets.len() > PLACES,
            ..Variants::default()
        };
        let slots = variants.parameters.iter_mut().zip(sets);
        slots.for_each(|(slot, set)| *slot = set.reverse_bits());
        variants
    });
    variants.collect()
}
