//! The literals of all templates by position, and the bits that each contributes to a template's key.

use super::entries::{TextPool, at, id, set};
use super::hashes::{Unplaceable, nth_seed, perfect_hash};
use super::templates::{PARAMETER, Templates};
use crate::tables::hash::{self, COMPARE_TEXT, Ends, PerfectHash, SEEN};
use crate::tables::list::index;
use crate::tables::terms::MAX_SEGMENTS;
use crate::tables::{COUNT, Literal, LiteralRow, Run, Spelling};

/// The longest string that its ends describe completely.
const ENDS_BYTES: usize = 16;

/// The literals by position. Literals that differ only in letter case count as one.
pub(super) struct Literals {
    pub(super) rows: Vec<LiteralRow>,
    pub(super) spellings: Vec<Spelling>,
    /// As in [`crate::tables::Tables::is_packed`].
    pub(super) is_packed: bool,
    /// As in [`crate::tables::Tables::fields`].
    pub(super) fields: Vec<u64>,
    /// By position, the entries that a lookup reads. If several literals have the same ends, only the first is listed.
    at: Vec<Vec<Literal>>,
    /// By the number of a spelling, from 1: the id of its literal.
    ids: Vec<u32>,
}

/// A literal as a template spells it.
struct Spelt<'t> {
    /// Its number among the spellings of all templates.
    number: u32,
    position: usize,
    text: &'t str,
    lengths: u32,
    /// The parts that the hash covers: the length, and the ends without letter case.
    seen: (u32, u64, u64),
}

impl Literals {
    /// The first `common` segments are the same in all templates, so they need no part.
    pub(super) fn of<'t>(salt: u64, templates: &Templates<'t>, common: usize, text: &mut TextPool<'t>) -> Self {
        let spelt = sorted(templates);
        let mut literals = Self {
            rows: Vec::with_capacity(spelt.len()),
            spellings: Vec::with_capacity(spelt.len()),
            is_packed: true,
            fields: Vec::new(),
            at: vec![Vec::new(); MAX_SEGMENTS],
            ids: vec![0; spelt.len().saturating_add(1)],
        };
        let mut counts = [0_u64; MAX_SEGMENTS];
        let mut positions = Vec::with_capacity(spelt.len());
        for seen_alike in spelt.chunk_by(|a, b| (a.position, a.seen) == (b.position, b.seen)) {
            let first = id(literals.rows.len());
            for of_literal in seen_alike.chunk_by(|a, b| a.text.eq_ignore_ascii_case(b.text)) {
                let position = of_literal.first().map_or(0, |spelt| spelt.position);
                let number = match counts.get_mut(position) {
                    Some(count) if position >= common => {
                        *count = count.saturating_add(1);
                        *count
                    }
                    _ => 0,
                };
                positions.push(position);
                literals.add(of_literal, number, text);
            }
            literals.add_seen(seen_alike, first);
        }
        literals.set_parts(salt, &positions, counts);
        literals
    }

    /// Adds a literal with its number at this position, and its spellings.
    fn add<'t>(&mut self, spelt: &[Spelt<'t>], number: u64, text: &mut TextPool<'t>) {
        let row = id(self.rows.len());
        let spellings = Run { start: id(self.spellings.len()), length: id(spelt.len()) };
        for spelt in spelt {
            self.spellings.push(Spelling { text: text.span(spelt.text), lengths: spelt.lengths });
            set(&mut self.ids, index(spelt.number), row);
        }
        self.rows.push(LiteralRow { part: number, spellings, alike: 0 });
    }

    /// Adds the lookup entry for spellings that the hash can't distinguish. Their literals were added last.
    fn add_seen(&mut self, alike: &[Spelt<'_>], first: u32) {
        let Some(spelt) = alike.first() else {
            return;
        };
        let count = id(self.rows.len()).saturating_sub(first);
        if let Some(row) = self.rows.get_mut(index(first)) {
            row.alike = count;
        }
        let mut ends = Ends::of(spelt.text.as_bytes());
        if alike.len() > 1 || spelt.text.len() > ENDS_BYTES {
            ends.head |= COMPARE_TEXT;
        }
        let (length, ..) = spelt.seen;
        if let Some(here) = self.at.get_mut(spelt.position) {
            here.push(Literal { part: 0, ends, length, id: first });
        }
    }

    /// Turns the numbers into parts. Each position gets its own bits, above those that count segments. If 64 bits
    /// aren't enough, parts are pseudorandom numbers whose sums rarely collide.
    fn set_parts(&mut self, salt: u64, positions: &[usize], counts: [u64; MAX_SEGMENTS]) {
        let mut offset = COUNT.count_ones();
        let mut offsets = Vec::with_capacity(counts.len());
        for count in counts {
            let width = u64::BITS.saturating_sub(count.leading_zeros());
            let ones = 1_u64.checked_shl(width).unwrap_or_default().wrapping_sub(1);
            offsets.push(offset);
            self.fields.push(ones.checked_shl(offset).unwrap_or_default());
            offset = offset.saturating_add(width);
        }
        self.is_packed = offset <= u64::BITS;
        for ((number, row), position) in (0..).zip(&mut self.rows).zip(positions) {
            let offset = at(&offsets, *position);
            row.part = match self.is_packed {
                true => row.part.checked_shl(offset).unwrap_or_default(),
                false => nth_seed(salt, u32::MAX).number(number),
            };
        }
        for literal in self.at.iter_mut().flatten() {
            literal.part = at(&self.rows, index(literal.id)).part;
        }
    }

    /// By position, the table that a lookup reads.
    pub(super) fn positions(
        &self,
        salt: u64,
        templates: &Templates<'_>,
    ) -> Result<[PerfectHash<Literal>; MAX_SEGMENTS], Unplaceable> {
        let lengths = templates.routes.iter().map(|route| route.segments.length);
        let longest = lengths.max().map_or(0, index);

        let hash = |seed: hash::Seed, literal: &Literal| seed.literal(literal.ends, literal.length);
        let mut positions = <[PerfectHash<Literal>; MAX_SEGMENTS]>::default();
        for (position, here) in positions.iter_mut().zip(&self.at).take(longest.saturating_add(1)) {
            *position = perfect_hash(salt, here, hash)?;
        }
        Ok(positions)
    }

    /// The part of a spelling; 0 for a parameter.
    pub(super) fn part_of(&self, number: u32) -> u64 {
        if number == PARAMETER {
            return 0;
        }
        let id = at(&self.ids, index(number));
        at(&self.rows, index(id)).part
    }
}

/// All spellings. Those that the hash can't distinguish are neighbours, and among them, those that differ
/// only in letter case.
fn sorted<'t>(templates: &Templates<'t>) -> Vec<Spelt<'t>> {
    let spelt = (1..).zip(&templates.literals).map(|(number, literal)| {
        let Ends { head, tail } = Ends::of(literal.text.as_bytes());
        Spelt {
            number,
            position: literal.position,
            text: literal.text,
            lengths: literal.lengths,
            seen: (id(literal.text.len()), head & SEEN, tail & SEEN),
        }
    });
    let mut spelt: Vec<_> = spelt.collect();
    let small = |text: &'t str| text.bytes().map(|byte| byte.to_ascii_lowercase());
    spelt.sort_unstable_by(|a, b| {
        let seen = (a.position, a.seen).cmp(&(b.position, b.seen));
        let texts = seen.then_with(|| small(a.text).cmp(small(b.text)));
        texts.then_with(|| a.text.cmp(b.text))
    });
    spelt
}
