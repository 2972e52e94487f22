//! The shapes by their outlines: what a path looks like with the values of its parameters left out.

use std::collections::{BTreeMap, BTreeSet};

use super::perfect::perfect_hash;
use super::shapes::ShapeOf;
use crate::hash::{self, HINTS};
use crate::list::Span;
use crate::scan::wide::{BLOCK, PLACES};
use crate::tables::{NONE, Outline, Outlines, RouteRow, Shape, Variants};

/// The outlines of the shapes that have one; `entries` has the shapes as they are looked up.
pub(super) fn outlines(
    shapes: &[ShapeOf],
    entries: &[Shape],
    routes: &[RouteRow],
    common: usize,
    prefix: Span,
) -> Outlines {
    let known = || {
        let below = shapes
            .iter()
            .map(|shape| shape.literals.get(common..).unwrap_or_default());
        below.filter(|literals| literals.len() <= PLACES)
    };
    let depth = known().map(<[_]>::len).max();
    let prefix = u128::MAX
        .checked_shl(prefix.length)
        .unwrap_or(0)
        .to_le_bytes();
    let mut below = prefix
        .as_chunks()
        .0
        .iter()
        .map(|half| u64::from_le_bytes(*half));
    let mut outlines = Outlines {
        hints: vec![hints(known())].into(),
        depth: super::id(depth.unwrap_or_default().div_ceil(4)),
        below: [(); 2].map(|()| below.next().unwrap_or_default()),
        variants: variants(known()).into(),
        rows: perfect_hash(&[], &[], |(), _| 0),
        others: Vec::new().into(),
    };
    hash_rows(&mut outlines, shapes, entries, routes, common);
    outlines
}

/// The outlines by the hints of their words, with those that share them in a chain.
fn hash_rows(
    outlines: &mut Outlines,
    shapes: &[ShapeOf],
    entries: &[Shape],
    routes: &[RouteRow],
    common: usize,
) {
    let mut chains: BTreeMap<(usize, u64), Vec<Outline>> = BTreeMap::new();
    for (shape, entry) in shapes.iter().zip(entries) {
        if let Some((key, text)) = outline(shape, common) {
            let scope = |route| routes.get(hash::index(route)).map(|route| route.scope);
            let outline = Outline {
                text,
                routes: entry.columns,
                scopes: entry.columns.map(|route| scope(route).unwrap_or_default()),
                first_route: entry.first_route,
                next: NONE,
            };
            chains.entry(key).or_default().push(outline);
        }
    }
    let keys: Vec<_> = chains.keys().copied().collect();
    let mut rows = Vec::with_capacity(chains.len());
    let mut others: Vec<Outline> = Vec::new();
    for chain in chains.into_values() {
        // From the last on, so that each knows the next.
        let row = chain.into_iter().rev().reduce(|next, outline| {
            let place = super::id(others.len());
            others.push(next);
            Outline {
                next: place,
                ..outline
            }
        });
        rows.extend(row);
    }
    outlines.rows = perfect_hash(&keys, &rows, |(count, key), seed| {
        hash::outline_hash(seed, *count, *key)
    });
    outlines.others = others.into();
}

/// The outline of a shape, with its key; of the root and of what does not fit there is none.
fn outline(shape: &ShapeOf, common: usize) -> Option<((usize, u64), [u8; BLOCK])> {
    let below = shape.literals.get(common..).unwrap_or_default();
    if shape.literals.is_empty() || below.len() > PLACES {
        return None;
    }
    let literals = shape.literals.iter();
    let text = literals.fold(String::new(), |text, literal| {
        text + "/" + literal.as_deref().unwrap_or_default()
    });
    let mut block = [0; BLOCK];
    block
        .get_mut(..text.len())?
        .copy_from_slice(text.as_bytes());
    let mut hints = [0; PLACES / 4];
    for (position, literal) in below.iter().enumerate() {
        if let (Some(word), Some(literal)) = (hints.get_mut(position / 4), literal) {
            let shift = super::id(position % 4).wrapping_mul(16);
            *word |= u64::from(hint(literal.as_bytes())).wrapping_shl(shift);
        }
    }
    let [first, rest @ ..] = hints;
    let key = (below.len(), first ^ hash::outline_key_rest(rest));
    Some((key, block))
}

/// The positions by hint.
fn hints<'s>(shapes: impl Iterator<Item = &'s [Option<String>]>) -> [u16; HINTS] {
    let mut hints = [0; HINTS];
    for literals in shapes {
        for (position, literal) in (0_u32..).zip(literals) {
            let Some(literal) = literal else { continue };
            let place = hash::hint_place(hint(literal.as_bytes()).into());
            if let Some(positions) = hints.get_mut(place) {
                *positions |= 1_u16.wrapping_shl(position);
            }
        }
    }
    hints
}

/// The hint of a literal, as a path has it after a slash.
fn hint(literal: &[u8]) -> u16 {
    let folded = |byte: Option<&u8>| byte.copied().unwrap_or(b'/') | 0x20;
    let first = |place: usize| folded(literal.get(place));
    let last = |place: usize| folded(literal.iter().rev().nth(place));
    hash::hint([first(0), first(1)], [last(1), last(0)])
}

/// By the number of segments, where there are parameters.
fn variants<'s>(shapes: impl Iterator<Item = &'s [Option<String>]>) -> Vec<Variants> {
    let mut sets = vec![BTreeSet::new(); PLACES.saturating_add(1)];
    for literals in shapes {
        let parameters = (0_u32..).zip(literals).fold(0, |set, (position, literal)| {
            set | u16::from(literal.is_none()).wrapping_shl(position)
        });
        if let Some(sets) = sets.get_mut(literals.len()) {
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
