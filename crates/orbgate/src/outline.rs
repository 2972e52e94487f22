//! Finding a shape by its outline: the path with the values of its parameters left out, as in
//! `/voxies//run`. [`Wide`] makes that a handful of steps for a target of fewer than 128 bytes:
//!
//! 1. A *hint* for each segment, a few bits of a few of its bytes, says whether it can be a word there.
//! 2. What can be no word is a parameter's value and left out. The rest is looked up in a perfect hash of all
//!    outlines and compared whole, prefix and all. That is the first look, nearly always the only one.
//! 3. Where that is no outline, values may be words: the variants of parameters that templates of so many
//!    segments have are tried, the most specific first.

use crate::hash::{HINTS, hint_place, hint_salt, index, lanes, outline_hash, outline_key};
use crate::reason::Detail;
use crate::scan::Mask;
use crate::scan::wide::{BLOCK, PLACES, Wide};
use crate::tables::{Outline, Outlines};
use crate::terms::{MAX_SEGMENTS, Profile};

/// What is found of a target.
pub(crate) enum Found<'e, T> {
    /// What stands for the most specific template that fits.
    This(&'e T),
    /// The path is in order and nothing fits it.
    Nothing,
    /// The first rule that the target breaks.
    Malformed(Detail),
    /// This one needs a closer look.
    Closer,
}

/// What a first look finds.
pub(crate) enum First<'e, M> {
    /// The outline of the most specific template that fits.
    This(&'e Outline),
    /// The path is in order and nothing fits it.
    Nothing,
    /// Another outline than this one, if any.
    Other(Tried<'e, M>),
    /// This one needs a closer look.
    Closer,
}

/// What was looked for, and where.
pub(crate) struct Tried<'e, M> {
    segments: Segments<M>,
    words: u64,
    row: &'e Outline,
    /// Which variants of parameters fit besides, as bits.
    fitting: u64,
}

/// A target of fewer bytes than the mask has bits, in one or two blocks.
pub(crate) struct Target<'t, W: Wide, M> {
    wide: W,
    /// Up to the end of the path.
    bytes: &'t [u8],
    /// The same; slashes after the last.
    blocks: [W::Block; 2],
    /// Where the bytes are.
    path: M,
    /// Slashes, those after the last byte, too.
    slashes: M,
    /// Dots and slashes, those after the last byte, too.
    stops: M,
    /// Any bits where there is anything unusual.
    unusual: M,
}

impl<'t, W: Wide, M: Mask> Target<'t, W, M> {
    #[inline(always)]
    pub(crate) fn of(wide: W, bytes: &'t [u8]) -> Self {
        let blocks = Self::load(wide, bytes);
        let [low, high] = blocks;
        let (first, second) = (wide.marks(low), wide.marks(high));
        let path = before(wide, bytes.len());
        Self {
            wide,
            bytes,
            blocks,
            path,
            slashes: M::of(first.slashes, second.slashes),
            stops: M::of(first.stops, second.stops),
            unusual: M::of(first.unusual, second.unusual),
        }
    }

    #[inline(always)]
    fn load(wide: W, bytes: &[u8]) -> [W::Block; 2] {
        let low = wide.load(bytes);
        let high = match M::BITS {
            BLOCK => low,
            _ => wide.load(bytes.get(BLOCK..).unwrap_or_default()),
        };
        [low, high]
    }

    /// The byte after the last: a slash, where the last segment stops.
    #[inline(always)]
    fn end(&self) -> M {
        // One more than all the bits before it.
        M::NONE.minus(!self.path)
    }

    /// Whether anything is unusual, the first byte no slash, a segment empty (as after a slash at the end), or
    /// its first byte a dot.
    #[inline(always)]
    pub(crate) fn is_odd(&self) -> bool {
        let odd = (self.slashes & self.path).moved_on() & self.stops;
        let first = !self.slashes & M::bit(0);
        // One test: no processor can guess which of these it is.
        self.unusual | odd | first != M::NONE
    }

    /// Where the bytes are that are unusual.
    #[inline(always)]
    fn unusual_bytes(&self) -> M {
        let [low, high] = self.blocks;
        M::of(self.wide.unusual(low), self.wide.unusual(high))
    }

    /// P3 to P18 of an odd target; nothing if there is only a query in order, or a name like `.env`.
    #[inline(always)]
    pub(crate) fn read_odd<'e>(&mut self, profile: Profile) -> Option<Found<'e, Outline>> {
        let [low, high] = self.blocks;
        let (first, second) = (self.wide.oddities(low), self.wide.oddities(high));
        let all = self.path;
        let has = |first, second, part: M| u32::from(M::of(first, second) & part != M::NONE);
        let mut faults = has(first.invisible, second.invisible, all);
        faults |= has(first.hashes, second.hashes, all) << 1;
        // P6: the query is never looked at again.
        let questions = M::of(first.questions, second.questions) & all;
        if questions != M::NONE {
            self.bytes = self.bytes.get(..questions.first()).unwrap_or_default();
            self.blocks = Self::load(self.wide, self.bytes);
        }
        let path = before(self.wide, self.bytes.len());
        self.path = path;
        self.slashes |= !path;
        let slashes = self.slashes & path;
        let illegal = M::of(first.illegal, second.illegal) & path;
        faults |= has(first.backslashes, second.backslashes, path) << 3;
        // No branch on which byte it is: no processor can guess it.
        let first_illegal = illegal & !illegal.without_first();
        let is_matrix = has(first.semicolons, second.semicolons, first_illegal);
        let is_percent = has(first.percents, second.percents, first_illegal);
        faults |= is_matrix << 4 | is_percent << PERCENT;
        faults |= u32::from(illegal != M::NONE) << 6;
        faults |= u32::from(!slashes.has(0)) << 2;
        // P10 and P11; a slash alone is the root and has no segment.
        let begins = slashes.moved_on();
        let is_root = self.bytes.len() <= 1;
        let ends = slashes | self.end();
        faults |= u32::from(!is_root & (begins & ends != M::NONE)) << 7;
        let dots = self.stops & !self.slashes;
        faults |= u32::from(dots.runs_into(begins, ends.moved_back())) << 8;
        let first_fault = faults & faults.wrapping_neg();
        // Escapes are read one by one.
        let closer = u32::from(profile == Profile::EncodedParams) << PERCENT;
        if first_fault & closer != 0 {
            return Some(Found::Closer);
        }
        match FAULTS.get(index(faults.trailing_zeros())) {
            Some(detail) => Some(Found::Malformed(*detail)),
            None if is_root || self.unusual_bytes() & path != M::NONE => Some(Found::Closer),
            None => None,
        }
    }

    /// A first look at a target that is not odd, or not any more: with every segment a word that can be one.
    #[inline(always)]
    pub(crate) fn look<'e, const FOURS: usize>(&self, outlines: &'e Outlines) -> First<'e, M> {
        let Some(known) = outlines.hints.first() else {
            return First::Closer;
        };
        let [low, high] = outlines.below;
        let slashes = self.slashes & (M::of(low, high) & self.path | self.end());
        let count = slashes.count().wrapping_sub(1);
        if count > FOURS.wrapping_mul(4) {
            return First::Closer;
        }
        let segments = Segments { slashes, count };
        let hints = self.hints::<FOURS>(&segments);
        let fours = self.words::<FOURS>(known, hints, count);
        let Some(row) = self.row::<FOURS>(outlines, hints, count, fours) else {
            return First::Closer;
        };
        let [a, b, c, d] = fours;
        let words = a | b | c | d;
        let outline = self.outline::<FOURS>(&segments, words);
        // A perfect hash sends strangers to some slot: the whole outline is compared.
        if self.wide.are_same(outline, self.wide.whole(&row.text)) {
            return First::This(row);
        }
        // Where words are many and alike, this is the usual way.
        if !row.is_alone
            && let Some(row) = self.other(outlines, outline)
            && self.wide.are_same(outline, self.wide.whole(&row.text))
        {
            return First::This(row);
        }
        // A path of one block has neither too many segments nor an outline that is too long; outlines that no digest
        // tells apart were followed above.
        let are_many = (self.slashes & self.path).count() > MAX_SEGMENTS;
        if M::BITS > BLOCK && (are_many || !outlines.is_complete) {
            return First::Closer;
        }
        let Some(fitting) = self.fitting(outlines, count, words) else {
            return First::Closer;
        };
        // Nothing else has these hints, and no template with fewer words fits: nothing is left that case could
        // confuse (P21).
        if fitting == 0 && row.is_alone {
            return First::Nothing;
        }
        First::Other(Tried {
            segments,
            words,
            row,
            fitting,
        })
    }

    /// What is found where a first look did not find it: another row with the same hints, or values that are
    /// words.
    #[inline(always)]
    pub(crate) fn look_on<'e, const FOURS: usize>(
        &self,
        outlines: &'e Outlines,
        tried: &Tried<'e, M>,
    ) -> Found<'e, Outline> {
        let Tried {
            segments,
            words,
            row,
            fitting,
        } = tried;
        match self.follow::<FOURS>(outlines, row, segments, *words) {
            Found::Nothing => {}
            found => return found,
        }
        let used = before::<W, u64>(self.wide, segments.count);
        let hints = self.hints::<FOURS>(segments);
        let mut fitting = *fitting;
        while fitting != 0 {
            let variants = outlines.variants.get(segments.count);
            let variant = variants.and_then(|variants| variants.parameters.get(fitting.first()));
            let words = u64::from(variant.copied().unwrap_or_default()) ^ used;
            let Some(row) = self.row::<FOURS>(outlines, hints, segments.count, [words; 4]) else {
                return Found::Closer;
            };
            match self.follow::<FOURS>(outlines, row, segments, words) {
                Found::Nothing => {}
                found => return found,
            }
            fitting = fitting.without_first();
        }
        Found::Nothing
    }

    /// The hints of the segments, four to a word, and hints of nothing after the last.
    #[inline(always)]
    fn hints<const FOURS: usize>(&self, segments: &Segments<M>) -> [u64; PLACES / 4] {
        let wide = self.wide;
        let [low, high] = self.blocks;
        let folded = [wide.folded(low), wide.folded(high)];
        let hints = wide.hints::<M, FOURS>(folded, segments.slashes);
        let salt = hint_salt(segments.count);
        let mut fours = [wide.four::<0>(hints) ^ salt, 0, 0, 0];
        let [_, second, third, fourth] = &mut fours;
        if FOURS > 1 {
            *second = wide.four::<1>(hints) ^ salt;
        }
        if FOURS > 2 {
            *third = wide.four::<2>(hints) ^ salt;
            *fourth = wide.four::<3>(hints) ^ salt;
        }
        fours
    }

    /// The positions of the segments that can be words there, as bits, of every four segments apart: nothing waits
    /// for all of them.
    #[inline(always)]
    fn words<const FOURS: usize>(
        &self,
        known: &[u16; HINTS],
        hints: [u64; PLACES / 4],
        count: usize,
    ) -> [u64; PLACES / 4] {
        let [first, second, third, fourth] = hints;
        let inside = before::<W, u64>(self.wide, count);
        let mut words = [words_of(known, first, 1) & inside, 0, 0, 0];
        let [_, b, c, d] = &mut words;
        if FOURS > 1 {
            *b = words_of(known, second, 1 << 4) & inside;
        }
        if FOURS > 2 {
            *c = words_of(known, third, 1 << 8) & inside;
            *d = words_of(known, fourth, 1 << 12) & inside;
        }
        words
    }

    /// The only row that can have the outline with these words, or its hints.
    #[inline(always)]
    fn row<'e, const FOURS: usize>(
        &self,
        outlines: &'e Outlines,
        hints: [u64; PLACES / 4],
        count: usize,
        words: [u64; PLACES / 4],
    ) -> Option<&'e Outline> {
        let [first, second, third, fourth] = hints;
        let [a, b, c, d] = words;
        let mut key = [first & lanes(a), 0, 0, 0];
        let [_, rest @ ..] = &mut key;
        if FOURS > 1 {
            let [second_key, ..] = rest;
            *second_key = second & lanes(b >> 4);
        }
        if FOURS > 2 {
            let [_, third_key, fourth_key] = rest;
            *third_key = third & lanes(c >> 8);
            *fourth_key = fourth & lanes(d >> 12);
        }
        let rows = &outlines.rows;
        rows.probe(outline_hash(rows.seed, count, outline_key(key)))
    }

    /// The first 64 bytes of the outline with words at these positions, as bits, and parameters at all others. Those in
    /// rows are shorter, so one that goes on is none of them.
    #[inline(always)]
    fn outline<const FOURS: usize>(&self, segments: &Segments<M>, words: u64) -> W::Block {
        let parameters = words ^ before::<W, u64>(self.wide, segments.count);
        let slashes = segments.slashes;
        self.wide
            .without::<M, FOURS>(self.blocks, self.path, slashes, parameters)
    }

    /// Which variants of parameters fit besides, as bits; nothing if there are too many.
    #[inline(always)]
    fn fitting(&self, outlines: &Outlines, count: usize, words: u64) -> Option<u64> {
        let variants = outlines.variants.get(count)?;
        let used = before::<W, u64>(self.wide, count);
        let fitting = self.wide.supersets(&variants.parameters, words ^ used);
        (!variants.are_more).then_some(fitting.into())
    }

    /// Whether it is the outline of a row, but perhaps for capitals.
    #[inline(always)]
    fn is_folded(&self, outline: W::Block, row: &Outline) -> bool {
        let row = self.wide.folded(self.wide.whole(&row.text));
        self.wide.are_same(self.wide.folded(outline), row)
    }

    /// What is found in a row, or among others with the same hints.
    #[inline(always)]
    fn follow<'e, const FOURS: usize>(
        &self,
        outlines: &'e Outlines,
        row: &'e Outline,
        segments: &Segments<M>,
        words: u64,
    ) -> Found<'e, Outline> {
        let nothing = match outlines.is_complete {
            true => Found::Nothing,
            false => Found::Closer,
        };
        let outline = self.outline::<FOURS>(segments, words);
        let mut row = row;
        if !row.is_alone && !self.is_folded(outline, row) {
            match self.other(outlines, outline) {
                Some(other) => row = other,
                None => return Found::Closer,
            }
        }
        if self.is_folded(outline, row) {
            return match self.wide.are_same(outline, self.wide.whole(&row.text)) {
                true => Found::This(row),
                // Perhaps P21, which the tree knows about.
                false => Found::Closer,
            };
        }
        nothing
    }

    /// The only row that can have an outline whose hints are another's, too.
    #[inline(always)]
    fn other<'e>(&self, outlines: &'e Outlines, outline: W::Block) -> Option<&'e Outline> {
        let digest = self.wide.digest(self.wide.folded(outline));
        let others = &outlines.others;
        others.probe(outline_hash(others.seed, 0, [digest, 0]))
    }
}

/// The rules that a target can break, in their order.
const FAULTS: [Detail; 9] = [
    Detail::Byte,
    Detail::Fragment,
    Detail::Form,
    Detail::Backslash,
    Detail::MatrixParam,
    Detail::Percent,
    Detail::PathChar,
    Detail::EmptySegment,
    Detail::DotSegment,
];

/// The place of [`Detail::Percent`] among them.
const PERCENT: u32 = 5;

/// The segments below the prefix.
struct Segments<M> {
    /// The slashes before them, and the one after the last.
    slashes: M,
    count: usize,
}

/// The positions of four segments that can be words there, as bits; `first` is the first one's.
#[inline(always)]
fn words_of(known: &[u16; HINTS], four: u64, first: u64) -> u64 {
    let word = |lane: u32| {
        let hint = four.wrapping_shr(lane.wrapping_mul(u16::BITS));
        let positions = known.get(hint_place(hint)).copied();
        u64::from(positions.unwrap_or_default()) & first << lane
    };
    (word(0) | word(1)) | (word(2) | word(3))
}

/// The bits below `end`.
#[inline(always)]
fn before<W: Wide, M: Mask>(wide: W, end: usize) -> M {
    M::of(wide.before(end), wide.before(end.saturating_sub(BLOCK)))
}
