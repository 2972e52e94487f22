//! Which template fits a path.
//!
//! Each segment is interned: looked up, with its position, in the perfect hash of literals. What is found adds its part to
//! the key; what is no literal adds nothing. The key is looked up in the perfect hash of templates, and nearly always that is
//! all. If not, a parameter's value is a literal elsewhere, or nothing fits: the tuples are tried, the most specific first
//! (tuple space search).
//!
//! [`find`] is the fast path. It recognises a target that no rule is about and that is spelt as the templates are; whatever
//! else it meets it leaves to [`find_exactly`].

#![allow(
    clippy::as_conversions,
    reason = "numbers of a few bits, and the lowest byte of a word, in the hot loop"
)]

use core::hint::select_unpredictable;

use crate::hash::{CASE, Ends, index};
use crate::reason::Detail;
use crate::tables::{
    COMPARE_TEXT, COUNT, Literal, LiteralRow, NONE, POSITION, Spelling, Tables, Template, Tuple,
    slice, tag,
};
use crate::target::{Decoded, Path, reserved};
use crate::terms::{MAX_SEGMENT_BYTES, MAX_SEGMENTS};
use crate::vector::{BLOCK, Baseline, Processor, Words, end_in_block, positions_in_block};

/// What the fast path finds.
#[derive(Clone, Copy)]
pub(crate) enum Found<'e> {
    /// This template is the most specific that fits.
    Template(&'e Template),
    /// No template fits.
    Nothing,
    /// Something is not simple.
    Unknown,
}

/// A path of fewer bytes is copied into so many.
const SHORTEST: usize = 16;

/// What the fast path looks a template up by.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    key: u64,
    is_below_prefix: bool,
}

/// Looks for the template of a path, if everything about it is simple.
#[inline(always)]
pub(crate) fn find<'e>(processor: impl Processor, tables: &'e Tables, path: &[u8]) -> Found<'e> {
    find_by(tables, key(processor, tables, path))
}

/// The key of a path. `None` where something is not simple.
#[inline(always)]
pub(crate) fn key<P: Processor>(processor: P, tables: &Tables, path: &[u8]) -> Option<Key> {
    match path.len() {
        length @ 32.. => key_in_blocks(processor, P::IN_BLOCK, tables, path, length),
        // In halves, because a register may have 32 bytes; two of them are enough.
        length @ SHORTEST..32 => {
            key_in_blocks(Baseline::HERE, Baseline::IN_BLOCK / 2, tables, path, length)
        }
        _ => key_of_short(tables, path),
    }
}

#[inline(never)]
fn key_of_short(tables: &Tables, path: &[u8]) -> Option<Key> {
    let mut padded = [b'-'; SHORTEST];
    padded
        .iter_mut()
        .zip(path)
        .for_each(|(to, from)| *to = *from);
    key_in_blocks(
        Baseline::HERE,
        Baseline::IN_BLOCK / 4,
        tables,
        &padded,
        path.len(),
    )
}

/// The key of the path that is the first `length` bytes. Its blocks, if there is more than one, are whole ones of so many
/// registers.
#[inline(always)]
fn key_in_blocks<P: Processor>(
    processor: P,
    registers: usize,
    tables: &Tables,
    bytes: &[u8],
    length: usize,
) -> Option<Key> {
    let below_prefix = below_prefix(tables, bytes, length);
    if below_prefix.is_none() && (bytes.first() != Some(&b'/') || !tables.is_packed) {
        return None;
    }
    let mut walk = Walk {
        tables,
        bytes,
        words: Words::of(bytes)?,
        key: 0,
        position: tables.prefix.segments.wrapping_mul(POSITION),
    };
    let mut start = below_prefix.unwrap_or(1);
    let mut base = start;
    while base <= length {
        let slashes = slashes(processor, registers, bytes, base)?;
        // The last segment ends where the path does.
        let end = end_in_block(length, base);
        let mut ends = slashes & end.wrapping_sub(1) | end;
        while ends != 0 {
            let end = base.wrapping_add(index(ends.trailing_zeros()));
            walk.intern(start, end)?;
            start = end.wrapping_add(1);
            ends &= ends.wrapping_sub(1);
        }
        base = base.wrapping_add(BLOCK);
    }
    let count = walk.position / POSITION;
    (index(count) <= MAX_SEGMENTS).then_some(Key {
        key: walk.key | u64::from(count),
        is_below_prefix: below_prefix.is_some(),
    })
}

/// The template of a key.
#[inline(always)]
pub(crate) fn find_by(tables: &Tables, key: Option<Key>) -> Found<'_> {
    match key {
        None => Found::Unknown,
        Some(Key {
            is_below_prefix: false,
            ..
        }) => Found::Nothing,
        Some(Key { key, .. }) => match tables.template(key) {
            Some(template) => Found::Template(template),
            None => find_in_tuples(tables, key),
        },
    }
}

/// Where the first segment below the prefix starts. `None` where the path does not start with the prefix.
#[inline(always)]
fn below_prefix(tables: &Tables, bytes: &[u8], length: usize) -> Option<usize> {
    let prefix = &tables.prefix;
    let below = index(prefix.text.length);
    let head = u128::from_le_bytes(*bytes.first_chunk()?);
    let is_head = head & prefix.head_mask == prefix.head;
    // Up to 32 bytes, the first and the last 16 are all.
    let is_there = match below {
        0..=16 => is_head,
        17..=32 => {
            let tail = bytes.get(below.wrapping_sub(16)..);
            let tail = tail.and_then(<[u8]>::first_chunk);
            is_head && tail.is_some_and(|tail| u128::from_le_bytes(*tail) == prefix.tail)
        }
        _ => is_head && bytes.starts_with(tables.text.bytes(prefix.text)),
    };
    (is_there && below <= length).then_some(below)
}

/// Where the slashes of a block are, as bits. `None` where a byte is reserved.
#[inline(always)]
fn slashes<P: Processor>(processor: P, registers: usize, bytes: &[u8], base: usize) -> Option<u64> {
    let mut all = processor.splat(0);
    let slashes = positions_in_block(processor, registers, bytes, base, |bytes| {
        all = processor.or(all, reserved(processor, bytes));
        processor.positions(bytes, b'/')
    });
    slashes.filter(|_| processor.is_zero(all))
}

/// The segments so far.
struct Walk<'e, 't> {
    tables: &'e Tables,
    bytes: &'t [u8],
    words: Words<'t>,
    key: u64,
    position: u32,
}

impl Walk<'_, '_> {
    /// Interns the next segment. `None` where it is not simple.
    #[inline(always)]
    fn intern(&mut self, start: usize, end: usize) -> Option<()> {
        let tables = self.tables;
        let length = end.wrapping_sub(start);
        // Neither empty nor too long.
        if length.wrapping_sub(1) >= MAX_SEGMENT_BYTES {
            return None;
        }
        let ends = self.ends(start, end, length)?;
        // Perhaps nothing but dots.
        if ends.head as u8 == b'.' {
            return None;
        }
        let tag = self.position.wrapping_add(length as u32);
        self.position = self.position.wrapping_add(POSITION);
        let literal = tables
            .literals
            .get(tables.literals.seed.literal(ends, tag))?;
        let differ = literal.ends.differ(ends);
        let differ_in_tag = literal.tag ^ tag;
        let is_same = differ | u64::from(differ_in_tag) == 0;
        // Without a branch: no processor can guess whether a segment is a literal.
        self.key |= select_unpredictable(is_same, literal.part, 0);
        let unlike = (differ & !CASE) | u64::from(differ_in_tag & !COMPARE_TEXT);
        // One test, because no processor can guess either part of it.
        if unlike | u64::from(is_same) == 0 {
            self.key |= compare_text(tables, literal, self.bytes.get(start..end)?)?;
        }
        Some(())
    }

    /// The ends of a segment. Eight bytes that end with the path's eighth or a later one can be read at once; a shorter
    /// segment is what is left of them when what stands before it is shifted out.
    #[inline(always)]
    fn ends(&self, start: usize, end: usize, length: usize) -> Option<Ends> {
        let up_to_eight = length.min(8);
        let (head, tail) = match self.bytes.get(..end)?.last_chunk() {
            Some(tail) => (
                self.words
                    .at(start.wrapping_add(up_to_eight).wrapping_sub(8)),
                u64::from_le_bytes(*tail),
            ),
            None => {
                let first = self
                    .words
                    .at(0)
                    .wrapping_shl((end as u32).wrapping_mul(8).wrapping_neg());
                (first, first)
            }
        };
        // By 8 bits for each byte that a word has too many.
        let shift = (up_to_eight as u32).wrapping_mul(8).wrapping_neg();
        Some(Ends {
            head: head.wrapping_shr(shift),
            tail: tail.wrapping_shr(shift),
        })
    }
}

/// The part of a literal whose ends are those of a segment, but perhaps for the case of letters. `None` where the two are
/// not simply the same.
#[inline(never)]
fn compare_text(tables: &Tables, literal: &Literal, segment: &[u8]) -> Option<u64> {
    let row = tables.literal_rows.get(index(literal.id))?;
    let [spelling] = slice(&tables.spellings, row.spellings) else {
        return None;
    };
    let is_same = row.alike == 1 && tables.text.bytes(spelling.text) == segment;
    is_same.then_some(literal.part)
}

/// The most specific template that fits where some of the literals of a path are values of parameters.
#[inline(never)]
fn find_in_tuples(tables: &Tables, key: u64) -> Found<'_> {
    let count = (key & COUNT) as u32;
    let mut literals = 1_u32.wrapping_shl(tables.prefix.segments).wrapping_sub(1);
    for (position, field) in (0..count).zip(tables.fields.iter()) {
        literals |= u32::from(key & field != 0).wrapping_shl(position);
    }
    // The tuple of all of them was tried first.
    let mut tuples = tables
        .tuples_of(count, literals)
        .filter(|tuple| tuple.literals != literals);
    let found = tuples.find_map(|tuple| tables.template(key & (tuple.fields | COUNT)));
    found.map_or(Found::Nothing, Found::Template)
}

impl Tables {
    /// The template of this key.
    #[inline(always)]
    fn template(&self, key: u64) -> Option<&Template> {
        let template = self.templates.get(self.templates.seed.number(key))?;
        (template.key == key).then_some(template)
    }

    /// The tuples of templates of so many segments that have no literal elsewhere than here, the most specific first
    /// (rule P20).
    fn tuples_of(&self, count: u32, literals: u32) -> impl Iterator<Item = &Tuple> {
        let run = self.tuple_runs.get(index(count));
        let tuples = slice(&self.tuples, run.copied().unwrap_or_default());
        tuples
            .iter()
            .filter(move |tuple| tuple.literals & !literals == 0)
    }

    /// A literal at this position, whatever the case of its letters.
    fn literal(&self, position: u32, segment: &[u8]) -> Option<&LiteralRow> {
        let ends = Ends::of(segment);
        let tag = tag(u32::try_from(segment.len()).ok()?, position);
        let literal = self.literals.get(self.literals.seed.literal(ends, tag))?;
        if literal.ends.differ(ends) & !CASE != 0 || literal.tag & !COMPARE_TEXT != tag {
            return None;
        }
        let start = index(literal.id);
        let alike = index(self.literal_rows.get(start)?.alike);
        let rows = self.literal_rows.get(start..start.checked_add(alike)?)?;
        let text = |row: &LiteralRow| {
            let spelling = slice(&self.spellings, row.spellings).first();
            spelling.map_or(&[][..], |spelling| self.text.bytes(spelling.text))
        };
        let at =
            rows.binary_search_by(|row| in_small_letters(text(row)).cmp(in_small_letters(segment)));
        rows.get(at.ok()?)
    }
}

fn in_small_letters(text: &[u8]) -> impl Iterator<Item = u8> {
    text.iter().map(u8::to_ascii_lowercase)
}

/// The most specific template that fits an accepted path (rule P20), `None` where none fits, or the rule that the path breaks
/// beside this policy (P19, P21).
pub(crate) fn find_exactly<'e>(
    tables: &'e Tables,
    path: &Path<'_>,
) -> Result<Option<&'e Template>, Detail> {
    let segments = path.segments();
    let count = u32::try_from(segments.len()).unwrap_or(NONE);
    let this_length = 1_u32.wrapping_shl(count.wrapping_sub(1));
    let mut parts = [0_u64; MAX_SEGMENTS];
    let mut literals = 0_u32;
    for ((position, segment), part) in (0..).zip(segments).zip(&mut parts) {
        let decoded = Decoded::of(segment);
        let text = decoded.as_ref().map_or(*segment, Decoded::as_bytes);
        let Some(row) = tables.literal(position, text) else {
            continue;
        };
        let mut spellings = slice(&tables.spellings, row.spellings).iter();
        let is_spelt_so = |spelling: &Spelling| {
            spelling.lengths & this_length != 0 && tables.text.bytes(spelling.text) == text
        };
        if decoded.is_some() && spellings.any(is_spelt_so) {
            return Err(Detail::NonCanonicalLiteral);
        }
        *part = row.part;
        literals |= 1_u32.wrapping_shl(position);
    }
    let mut is_ambiguous = false;
    for tuple in tables.tuples_of(count, literals) {
        let own = |position: u32| tuple.literals.wrapping_shr(position) & 1 == 1;
        let parts = (0..).zip(&parts).filter(|(position, _)| own(*position));
        let key = parts.fold(u64::from(count), |key, (_, part)| key.wrapping_add(*part));
        let Some(template) = tables.template(key) else {
            continue;
        };
        match fit(tables, template, tuple, segments) {
            Fit::Exact if is_ambiguous => return Err(Detail::AmbiguousCase),
            Fit::Exact => return Ok(Some(template)),
            Fit::ButForCase => is_ambiguous = true,
            Fit::Not => {}
        }
    }
    Ok(None)
}

/// How a template fits a path.
enum Fit {
    Exact,
    /// Only without regard to the case of letters, once escapes are decoded.
    ButForCase,
    Not,
}

/// Compares a path with the text of a template of as many segments, which has this tuple.
fn fit(tables: &Tables, template: &Template, tuple: &Tuple, path: &[&[u8]]) -> Fit {
    let routes = tables.template_routes.get(index(template.id));
    let route = routes.and_then(|routes| tables.routes.get(index(routes.start)));
    let text = route.map_or(&[][..], |route| tables.text.bytes(route.template));
    let mut fit = Fit::Exact;
    let own = text.split(|byte| *byte == b'/').skip(1);
    for ((position, own), segment) in (0..).zip(own).zip(path) {
        let is_literal = own.first() != Some(&b'{');
        if is_literal != (tuple.literals.wrapping_shr(position) & 1 == 1) {
            return Fit::Not;
        }
        if !is_literal || own == *segment {
            continue;
        }
        let decoded = Decoded::of(segment);
        let decoded = decoded.as_ref().map_or(*segment, Decoded::as_bytes);
        if !own.eq_ignore_ascii_case(decoded) {
            return Fit::Not;
        }
        fit = Fit::ButForCase;
    }
    fit
}

#[cfg(test)]
mod tests {
    use super::{Found, find};
    use crate::engine::Engine;
    use crate::vector::{Baseline, Plain, Processor};

    /// The template that the fast path alone finds.
    fn found<P: Processor>(processor: P, path: &str) -> Option<u64> {
        match find(processor, &Engine::external().tables, path.as_bytes()) {
            Found::Template(template) => Some(template.key),
            Found::Nothing | Found::Unknown => None,
        }
    }

    /// Tests of decisions cannot see whether a target took the slow way for nothing.
    #[test]
    fn simple_targets_take_the_fast_path() {
        for route in Engine::external().routes() {
            for value in [
                "7",
                "12345678",
                "b9c1-1111_2222.3333-444455556666",
                &"x".repeat(200),
            ] {
                let segment = |segment| match str::starts_with(segment, '{') {
                    true => value,
                    false => segment,
                };
                let path: Vec<_> = route.template().split('/').map(segment).collect();
                let path = path.join("/");
                let baseline = found(Baseline::HERE, &path);
                assert!(baseline.is_some(), "{path}");
                assert_eq!(found(Plain, &path), baseline, "{path}");
                #[cfg(all(target_arch = "x86_64", not(any(orbgate_portable, orbgate_baseline))))]
                if let Some(avx2) = crate::vector::Avx2::detect() {
                    assert_eq!(found(avx2, &path), baseline, "{path}");
                }
            }
        }
    }
}
