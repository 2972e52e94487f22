//! Finding a shape by its outline: the path with the values of its parameters left out, as in
//! `/voxies//run`. [`Wide`] makes that a handful of steps for a target of fewer than 128 bytes:
//!
//! 1. A *hint* for each segment, a few bits of a few of its bytes, says whether it can be a word there.
//! 2. What can be no word is a parameter's value and left out. The rest is looked up in a perfect hash of all
//!    outlines and compared whole, prefix and all. That is the first look, nearly always the only one.
//! 3. Where that is no outline, values may be words: the variants of parameters that templates of so many
//!    segments have are tried, the most specific first.

use crate::hash::{HINTS, hint_place, index, outline_hash, outline_key_rest};
use crate::reason::Detail;
use crate::scan::Mask;
use crate::scan::wide::{BLOCK, Wide};
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
        M::at(1, self.bytes.len())
    }

    /// Whether anything is unusual, the first byte no slash, a segment empty (as after a slash at the end), or
    /// its first byte a dot.
    #[inline(always)]
    pub(crate) fn is_odd(&self) -> bool {
        let odd = (self.slashes & self.path).moved_on() & self.stops;
        let first = !self.slashes & M::bit(0);
        self.unusual | odd | first != M::NONE
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
        let fault = faults.trailing_zeros();
        match FAULTS.get(index(fault)) {
            // Escapes are read one by one.
            Some(_) if profile == Profile::EncodedParams && fault == PERCENT => Some(Found::Closer),
            Some(detail) => Some(Found::Malformed(*detail)),
            None if is_root || self.unusual & path != M::NONE => Some(Found::Closer),
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
        // Of 64 bytes there are never too many segments.
        let are_many = M::BITS > BLOCK && (self.slashes & self.path).count() > MAX_SEGMENTS;
        if count > FOURS.wrapping_mul(4) || are_many {
            return First::Closer;
        }
        let segments = Segments {
            slashes,
            lasts: slashes.without_first().moved_back(),
            count,
        };
        let hints = self.hints(&segments);
        let words = self.words::<FOURS>(known, hints, count);
        let Some(row) = self.row::<FOURS>(outlines, hints, count, words) else {
            return First::Closer;
        };
        let Some(outline) = self.outline(&segments, words) else {
            return First::Closer;
        };
        // A perfect hash sends strangers to some slot: the whole outline is compared.
        if self.wide.are_same(outline, self.wide.whole(&row.text)) {
            return First::This(row);
        }
        let Some(fitting) = self.fitting(outlines, count, words) else {
            return First::Closer;
        };
        if fitting == 0 && row.is_alone && !self.is_folded(outline, row) {
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
        match self.follow(outlines, row, segments, *words) {
            Found::Nothing => {}
            found => return found,
        }
        let used = before::<W, u64>(self.wide, segments.count);
        let hints = self.hints(segments);
        let mut fitting = *fitting;
        while fitting != 0 {
            let variants = outlines.variants.get(segments.count);
            let variant = variants.and_then(|variants| variants.parameters.get(fitting.first()));
            let words = u64::from(variant.copied().unwrap_or_default()) ^ used;
            let Some(row) = self.row::<FOURS>(outlines, hints, segments.count, words) else {
                return Found::Closer;
            };
            match self.follow(outlines, row, segments, words) {
                Found::Nothing => {}
                found => return found,
            }
            fitting = fitting.without_first();
        }
        Found::Nothing
    }

    /// The hints of the segments, and one of none.
    #[inline(always)]
    fn hints(&self, segments: &Segments<M>) -> W::Hints {
        let [low, high] = self.blocks;
        let folded = [self.wide.folded(low), self.wide.folded(high)];
        let firsts = segments.slashes.moved_on();
        let lasts = segments.lasts;
        // Of a segment of one byte its slashes are the second ones: there are always two each.
        let pairs = [firsts | firsts.moved_on(), lasts | lasts.moved_back()];
        self.wide.hints(folded, pairs)
    }

    /// The positions of the segments that can be words there, as bits.
    #[inline(always)]
    fn words<const FOURS: usize>(
        &self,
        known: &[u16; HINTS],
        hints: W::Hints,
        count: usize,
    ) -> u64 {
        let wide = self.wide;
        let mut words = words_of(known, wide.four::<0>(hints), 1);
        if FOURS > 1 {
            words |= words_of(known, wide.four::<1>(hints), 1 << 4);
        }
        if FOURS > 2 {
            words |= words_of(known, wide.four::<2>(hints), 1 << 8);
            words |= words_of(known, wide.four::<3>(hints), 1 << 12);
        }
        words & before::<W, u64>(wide, count)
    }

    /// The only row that can have the outline with these words, or its hints.
    #[inline(always)]
    fn row<'e, const FOURS: usize>(
        &self,
        outlines: &'e Outlines,
        hints: W::Hints,
        count: usize,
        words: u64,
    ) -> Option<&'e Outline> {
        let wide = self.wide;
        let first = wide.four::<0>(hints) & lanes(wide, words);
        let second = || wide.four::<1>(hints) & lanes(wide, words >> 4);
        let third = || wide.four::<2>(hints) & lanes(wide, words >> 8);
        let fourth = || wide.four::<3>(hints) & lanes(wide, words >> 12);
        let key = match FOURS {
            1 => first,
            2 => first ^ outline_key_rest([second(), 0, 0]),
            _ => first ^ outline_key_rest([second(), third(), fourth()]),
        };
        let rows = &outlines.rows;
        rows.probe(outline_hash(rows.seed, count, key))
    }

    /// The outline with words at these positions, as bits, and parameters at all others; nothing if it does
    /// not fit.
    #[inline(always)]
    fn outline(&self, segments: &Segments<M>, words: u64) -> Option<W::Block> {
        // Each difference is the bytes from a slash on, without the last one.
        let parameters = words ^ before::<W, u64>(self.wide, segments.count);
        let slashes = self.spread(parameters, segments.slashes);
        let lasts = self.spread(parameters, segments.lasts);
        let values = lasts.minus(slashes).moved_on();
        if M::BITS > BLOCK && self.bytes.len().wrapping_sub(values.count()) > BLOCK {
            return None;
        }
        Some(self.wide.keep::<M>(self.blocks, self.path & !values))
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
    fn follow<'e>(
        &self,
        outlines: &'e Outlines,
        row: &'e Outline,
        segments: &Segments<M>,
        words: u64,
    ) -> Found<'e, Outline> {
        let Some(outline) = self.outline(segments, words) else {
            return Found::Closer;
        };
        let others = &outlines.others;
        let mut row = row;
        if !row.is_alone && !self.is_folded(outline, row) {
            let digest = self.wide.digest(self.wide.folded(outline));
            match others.probe(outline_hash(others.seed, 0, digest)) {
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
        match outlines.has_others {
            true => Found::Nothing,
            false => Found::Closer,
        }
    }

    /// The lowest bits, one for each mark, moved to where the marks are.
    #[inline(always)]
    fn spread(&self, bits: u64, marks: M) -> M {
        let [low, high] = marks.halves();
        let first = self.wide.spread(bits, low);
        if M::BITS == BLOCK {
            return M::of(first, 0);
        }
        let rest = bits.wrapping_shr(low.count_ones());
        M::of(first, self.wide.spread(rest, high))
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
    /// Their last bytes.
    lasts: M,
    count: usize,
}

/// Sixteen bits for each of the four lowest.
#[inline(always)]
fn lanes<W: Wide>(wide: W, words: u64) -> u64 {
    let lowest = wide.spread(words, 0x0001_0001_0001_0001);
    (lowest << 16).wrapping_sub(lowest)
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
