//! Finding a shape by its outline: the path with the values of its parameters left out, as in
//! `/voxies//run`. [`Wide`] makes that a handful of steps for a target of up to 128 bytes:
//!
//! 1. A *hint* for each segment, a few bits of a few of its bytes, says whether it can be a word there.
//! 2. What can be no word is a parameter's value and left out. The rest is looked up in a perfect hash of all
//!    outlines and compared whole, prefix and all.
//! 3. Where that is no outline, values may be words: the variants of parameters that templates of so many
//!    segments have are tried, the most specific first.

use crate::hash::{HINTS, hint_place, index, outline_hash, outline_key_rest};
use crate::reason::Detail;
use crate::scan::Mask;
use crate::scan::wide::{BLOCK, PLACES, Wide};
use crate::tables::{NONE, Outlines, Shape, Tables};
use crate::terms::{MAX_SEGMENTS, Profile};

/// What is found.
pub(crate) enum Found<'e> {
    /// The most specific shape that fits.
    Shape(&'e Shape),
    /// The path is in order and no shape fits it.
    Nothing,
    /// The first rule that the target breaks.
    Malformed(Detail),
    /// This one needs a closer look.
    Closer,
}

/// The shape of a target of at most as many bytes as the mask has bits.
#[inline(always)]
pub(crate) fn find<'e, W: Wide, M: Mask>(wide: W, tables: &'e Tables, target: &[u8]) -> Found<'e> {
    if target.is_empty() || target.len() > M::BITS {
        return Found::Closer;
    }
    let mut target = Target::<W, M>::of(wide, target);
    if target.is_odd()
        && let Some(found) = target.read_odd(tables.profile)
    {
        return found;
    }
    if tables.outlines.depth < 2 {
        return target.look_up::<false>(tables);
    }
    target.look_up::<true>(tables)
}

/// A target in one or two blocks.
struct Target<'t, W: Wide, M> {
    wide: W,
    /// Up to the end of the path.
    bytes: &'t [u8],
    /// The same; zeros after the last.
    blocks: [W::Block; 2],
    slashes: M,
    dots: M,
    unusual: M,
}

impl<'t, W: Wide, M: Mask> Target<'t, W, M> {
    #[inline(always)]
    fn of(wide: W, bytes: &'t [u8]) -> Self {
        let blocks = Self::load(wide, bytes);
        let [low, high] = blocks;
        let (first, second) = (wide.marks(low), wide.marks(high));
        Self {
            wide,
            bytes,
            blocks,
            slashes: M::of(first.slashes, second.slashes),
            dots: M::of(first.dots, second.dots),
            unusual: M::of(first.unusual, second.unusual) & before(wide, bytes.len()),
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

    /// The last byte of the path.
    #[inline(always)]
    fn last(&self) -> M {
        M::at(1, self.bytes.len().wrapping_sub(1))
    }

    /// Whether anything is unusual, the first byte no slash, a segment empty (as after a slash at the end), or
    /// its first byte a dot.
    #[inline(always)]
    fn is_odd(&self) -> bool {
        let begins = self.slashes.moved_on();
        let odd = begins & (self.slashes | self.dots) | self.slashes & self.last();
        let first = !self.slashes & M::bit(0);
        self.unusual | odd | first != M::NONE
    }

    /// P3 to P18 of an odd target; nothing if there is only a query in order, or a name like `.env`.
    #[inline(always)]
    fn read_odd<'e>(&mut self, profile: Profile) -> Option<Found<'e>> {
        let [low, high] = self.blocks;
        let (first, second) = (self.wide.oddities(low), self.wide.oddities(high));
        let all = before(self.wide, self.bytes.len());
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
        self.slashes = self.slashes & path;
        self.dots = self.dots & path;
        let illegal = M::of(first.illegal, second.illegal) & path;
        faults |= has(first.backslashes, second.backslashes, path) << 3;
        faults |= u32::from(illegal != M::NONE) << 4;
        let in_path = match self.bytes.get(illegal.first()) {
            Some(b';') => Detail::MatrixParam,
            Some(b'%') => Detail::Percent,
            _ => Detail::PathChar,
        };
        faults |= u32::from(!self.slashes.has(0)) << 2;
        // P10 and P11; a slash alone is the root and has no segment.
        let begins = self.slashes.moved_on();
        let is_root = self.bytes.len() <= 1;
        let empty = begins & self.slashes | self.slashes & self.last();
        faults |= u32::from(!is_root & (empty != M::NONE)) << 5;
        let stops = self.slashes.moved_back() | self.last();
        faults |= u32::from(self.dots.runs_into(begins, stops)) << 6;
        let details = [
            Detail::Byte,
            Detail::Fragment,
            Detail::Form,
            Detail::Backslash,
            in_path,
            Detail::EmptySegment,
            Detail::DotSegment,
        ];
        match details.get(index(faults.trailing_zeros())) {
            // Escapes are read one by one.
            Some(Detail::Percent) if profile == Profile::EncodedParams => Some(Found::Closer),
            Some(detail) => Some(Found::Malformed(*detail)),
            None if is_root || self.unusual & path != M::NONE => Some(Found::Closer),
            None => None,
        }
    }

    #[inline(always)]
    fn look_up<'e, const DEEP: bool>(&self, tables: &'e Tables) -> Found<'e> {
        let outlines = &tables.outlines;
        let Some(hints) = outlines.hints.first() else {
            return Found::Closer;
        };
        let [low, high] = outlines.below;
        let slashes = self.slashes & M::of(low, high);
        let lasts = slashes.without_first().moved_back() | self.last();
        let count = slashes.count();
        // Of 64 bytes there are never too many segments.
        let are_many = M::BITS > BLOCK && self.slashes.count() > MAX_SEGMENTS;
        if count > PLACES || are_many {
            return Found::Closer;
        }
        let segments = Segments {
            slashes,
            lasts,
            count,
            hints: self.hints(slashes, lasts),
        };
        let words = segments.words::<DEEP>(self.wide, hints);
        match self.try_out::<DEEP>(outlines, &segments, words) {
            Try::Shape(shape) => Found::Shape(shape),
            Try::Nothing => self.try_others::<DEEP>(outlines, &segments, words),
            Try::Closer => Found::Closer,
        }
    }

    /// The hints of the segments between slashes and last bytes.
    #[inline(always)]
    fn hints(&self, slashes: M, lasts: M) -> W::Hints {
        let firsts = slashes.moved_on();
        let seconds = lasts.moved_back();
        // Of a segment of one byte the slash stands for both others.
        let single = lasts & firsts;
        let thirds = (lasts & !single).moved_back().moved_back() | single.moved_back();
        let [low, high] = self.blocks;
        let folded = [self.wide.folded(low), self.wide.folded(high)];
        self.wide.hints(folded, [firsts, thirds, seconds, lasts])
    }

    /// What is found where values are words.
    #[inline(always)]
    fn try_others<'e, const DEEP: bool>(
        &self,
        outlines: &'e Outlines,
        segments: &Segments<W, M>,
        words: u64,
    ) -> Found<'e> {
        let Some(variants) = outlines.variants.get(segments.count) else {
            return Found::Closer;
        };
        if variants.are_more {
            return Found::Closer;
        }
        let used = before::<W, u64>(self.wide, segments.count);
        let mut fitting = u64::from(self.wide.supersets(&variants.parameters, words ^ used));
        while fitting != 0 {
            let variant = variants.parameters.get(fitting.first());
            let words = u64::from(variant.copied().unwrap_or_default()) ^ used;
            match self.try_out::<DEEP>(outlines, segments, words) {
                Try::Shape(shape) => return Found::Shape(shape),
                Try::Closer => return Found::Closer,
                Try::Nothing => {}
            }
            fitting = fitting.without_first();
        }
        Found::Nothing
    }

    /// What is found with words at these positions, as bits, and parameters at all others.
    #[inline(always)]
    fn try_out<'e, const DEEP: bool>(
        &self,
        outlines: &'e Outlines,
        segments: &Segments<W, M>,
        words: u64,
    ) -> Try<'e> {
        let rows = &outlines.rows;
        let key = segments.key::<DEEP>(self.wide, words);
        let Some(slot) = rows.slot(outline_hash(rows.seed, segments.count, key)) else {
            return Try::Closer;
        };
        let row = (rows.slots.get(slot), outlines.shapes.get(slot));
        let (Some(row), Some(shape)) = row else {
            return Try::Closer;
        };
        // Each difference is the bytes from a slash on, without the last one.
        let parameters = words ^ before::<W, u64>(self.wide, segments.count);
        let slashes = self.spread(parameters, segments.slashes);
        let lasts = self.spread(parameters, segments.lasts);
        let values = lasts.minus(slashes).moved_on();
        if M::BITS > BLOCK && self.bytes.len().wrapping_sub(values.count()) > BLOCK {
            return Try::Closer;
        }
        // A perfect hash sends strangers to some slot: the whole outline is compared.
        let outline = self.wide.keep::<M>(self.blocks, !values);
        let other = self.wide.whole(&row.text);
        if self.wide.are_same(outline, other) {
            return Try::Shape(shape);
        }
        // Perhaps P21, which the tree knows about.
        let folded = self.wide.folded(outline);
        if self.wide.are_same(folded, self.wide.folded(other)) {
            return Try::Closer;
        }
        // Perhaps another one with the same hints. Of very many the hash of words knows better.
        let mut at = slot;
        for _ in 0..LONGEST_CHAIN {
            let next = outlines.next.get(at).map_or(NONE, |next| *next);
            let Some(row) = outlines.others.get(index(next)) else {
                return Try::Nothing;
            };
            at = rows.slots.len().saturating_add(index(next));
            let other = self.wide.whole(&row.text);
            if self.wide.are_same(folded, self.wide.folded(other)) {
                let is_same = self.wide.are_same(outline, other);
                let shape = outlines.shapes.get(at).filter(|_| is_same);
                return shape.map_or(Try::Closer, Try::Shape);
            }
        }
        Try::Closer
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

/// How many outlines with the same hints are compared one after the other.
const LONGEST_CHAIN: usize = 8;

/// What one try finds.
enum Try<'e> {
    /// The shape.
    Shape(&'e Shape),
    /// There is no such outline.
    Nothing,
    /// This one needs a closer look.
    Closer,
}

/// The segments below the prefix.
struct Segments<W: Wide, M> {
    /// The slashes before them.
    slashes: M,
    /// Their last bytes.
    lasts: M,
    count: usize,
    hints: W::Hints,
}

impl<W: Wide, M: Mask> Segments<W, M> {
    /// The positions of those that can be words there, as bits.
    #[inline(always)]
    fn words<const DEEP: bool>(&self, wide: W, known: &[u16; HINTS]) -> u64 {
        let mut words = words_of(known, wide.four::<0>(self.hints), 1);
        if DEEP {
            words |= words_of(known, wide.four::<1>(self.hints), 1 << 4);
            words |= words_of(known, wide.four::<2>(self.hints), 1 << 8);
            words |= words_of(known, wide.four::<3>(self.hints), 1 << 12);
        }
        words & before::<W, u64>(wide, self.count)
    }

    /// The key of the outline with these words.
    #[inline(always)]
    fn key<const DEEP: bool>(&self, wide: W, words: u64) -> u64 {
        let first = wide.four::<0>(self.hints) & lanes(wide, words);
        if !DEEP {
            return first;
        }
        first
            ^ outline_key_rest([
                wide.four::<1>(self.hints) & lanes(wide, words >> 4),
                wide.four::<2>(self.hints) & lanes(wide, words >> 8),
                wide.four::<3>(self.hints) & lanes(wide, words >> 12),
            ])
    }
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
    let (mut words, mut bit) = (0, first);
    let four = four.to_le_bytes();
    for hint in four.as_chunks().0 {
        let positions = known.get(hint_place(u16::from_le_bytes(*hint))).copied();
        words |= u64::from(positions.unwrap_or_default()) & bit;
        bit <<= 1;
    }
    words
}

/// The bits below `end`.
#[inline(always)]
fn before<W: Wide, M: Mask>(wide: W, end: usize) -> M {
    M::of(wide.before(end), wide.before(end.saturating_sub(BLOCK)))
}
