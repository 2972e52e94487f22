//! Reading bytes many at a time: a target's slashes, dots and unusual bytes as masks of bits, the words
//! of its segments, and the pieces of a scope text.
//!
//! The one module of the core that may use `unsafe`: on x86-64 it reads 16 bytes at a time with
//! instructions that every such processor has, and [`Window::words`] reads eight without a slice's
//! checks. The masks have safe twins, for every other processor (and for this one with
//! `--cfg orbgate_portable`, which measures and tests them); property tests hold each to its twin or to
//! the same read byte by byte. [`avx512`] reads 64 at a time where the processor can; [`wide`] has its
//! safe twin (`--cfg orbgate_narrow` leaves it out).
#![allow(
    clippy::as_conversions,
    reason = "places in a piece are far below 2³², and so are numbers of bits"
)]
#![cfg_attr(
    target_arch = "x86_64",
    allow(unsafe_code, reason = "see each block; the masks have safe twins")
)]

#[cfg(all(target_arch = "x86_64", not(any(orbgate_portable, orbgate_narrow))))]
pub(crate) mod avx512;
pub(crate) mod wide;

use core::ops::{BitAnd, BitOr, BitOrAssign, Not};

use wide::Steps;

/// Fewest bytes that can be read at a time.
const BLOCK: usize = 16;

/// A piece of a target: at least 16 bytes, at most as many as the mask has bits.
#[derive(Clone, Copy)]
pub(crate) struct Window<'t, M> {
    bytes: &'t [u8],
    /// Where the path ends, within the bytes.
    end: usize,
    slashes: M,
    dots: M,
}

impl<'t, M: Mask> Window<'t, M> {
    /// Looks at every byte once. `None` for a piece that is too short or too long, and for one with
    /// unusual bytes: anything but letters, digits, `-`, `.`, `/` and `_`, up to a query that is in order.
    #[inline(always)]
    pub(crate) fn of(bytes: &'t [u8]) -> Option<Self> {
        if bytes.len() < BLOCK || bytes.len() > M::BITS {
            return None;
        }
        let (mut slashes, mut dots, mut unusual) = (M::NONE, M::NONE, 0);
        // Overlapping blocks, always as many as fill the mask: no loop whose end a processor has to guess.
        for start in (0..M::BITS).step_by(BLOCK) {
            let start = start.min(bytes.len().saturating_sub(BLOCK));
            let block = bytes.get(start..).and_then(<[u8]>::first_chunk)?;
            let block = mark_block(block);
            slashes |= M::at(block.slashes, start);
            dots |= M::at(block.dots, start);
            unusual |= block.unusual;
        }
        let mut end = bytes.len();
        if unusual != 0 {
            end = query_start(bytes)?;
            slashes = slashes & M::before(end);
            dots = dots & M::before(end);
        }
        Some(Self {
            bytes,
            end,
            slashes,
            dots,
        })
    }

    /// Where the path ends.
    #[inline(always)]
    pub(crate) const fn end(&self) -> usize {
        self.end
    }

    /// Where the slashes are.
    #[inline(always)]
    pub(crate) const fn slashes(&self) -> M {
        self.slashes
    }

    /// Whether a segment is empty (as after a slash at the end), or starts with a dot.
    #[inline(always)]
    pub(crate) fn has_odd_segment(&self) -> bool {
        let odd = self.slashes.moved_on() & (self.slashes | self.dots);
        odd != M::NONE || self.slashes.has(self.end.wrapping_sub(1))
    }

    /// Whether a segment is empty.
    pub(crate) fn has_empty_segment(&self) -> bool {
        let empty = self.slashes.moved_on() & self.slashes;
        empty != M::NONE || self.slashes.has(self.end.wrapping_sub(1))
    }

    /// A segment.
    pub(crate) fn segment(&self, start: usize, stop: usize) -> Option<&'t [u8]> {
        self.bytes.get(start..stop)
    }

    /// The first and the last eight bytes up to `stop`, which ends the path at the latest: `first` from
    /// `start` on, or the same as `last` where it would reach beyond `stop`.
    ///
    /// Where fewer than eight bytes stand before `stop`, `last` is the window's first eight.
    #[inline(always)]
    #[allow(
        unsafe_code,
        reason = "what a slice would check twice for each segment is plain here"
    )]
    pub(crate) fn words(&self, start: usize, stop: usize) -> (u64, u64) {
        let before = stop.min(self.end).saturating_sub(8);
        let word = |place: usize| {
            // SAFETY: place <= before, and before + 8 <= end <= bytes.len() or before is 0, and there
            // are at least 16 bytes. They may stand anywhere (`read_unaligned`).
            let word = unsafe {
                self.bytes
                    .as_ptr()
                    .add(place)
                    .cast::<[u8; 8]>()
                    .read_unaligned()
            };
            u64::from_le_bytes(word)
        };
        (word(start.min(before)), word(before))
    }
}

/// Where a query starts that is in order, if it is the first that is unusual and not the first of all.
#[cold]
fn query_start(bytes: &[u8]) -> Option<usize> {
    let start = usual(bytes, |_| {});
    let query = bytes.get(start..)?;
    if query.first() != Some(&b'?') {
        return None;
    }
    let is_in_order = query.iter().fold(true, |fine, byte| fine & is_query(*byte));
    (is_in_order && start > 0).then_some(start)
}

/// Visits the slashes of bytes of any number, up to the first that is unusual, and says where that is.
#[inline(always)]
pub(crate) fn usual(bytes: &[u8], mut visit: impl FnMut(usize)) -> usize {
    let mut at = 0_usize;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let marks = mark_block(block);
        // The bit above the block ends it where nothing is unusual.
        let usual = (marks.unusual | 1 << BLOCK).trailing_zeros() as usize;
        let mut slashes = marks.slashes & u64::before(usual);
        while slashes != 0 {
            visit(at.saturating_add(slashes.first()));
            slashes = slashes.without_first();
        }
        at = at.saturating_add(usual);
        if usual < BLOCK {
            return at;
        }
    }
    for byte in bytes.get(at..).unwrap_or_default() {
        if !is_usual(*byte) {
            break;
        }
        if *byte == b'/' {
            visit(at);
        }
        at = at.saturating_add(1);
    }
    at
}

/// How texts are searched.
pub(crate) trait Search: Copy {
    /// Whether one of the pieces between the spaces of a text is exactly these bytes, which have no space.
    fn has_piece(self, text: &[u8], piece: &[u8]) -> bool;

    /// Takes steps, apart from those around it where that is of use.
    fn aside<S: Steps<Self>>(self, steps: S) -> S::Result;
}

/// With the registers that every processor has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow;

impl Search for Narrow {
    #[inline(always)]
    fn has_piece(self, text: &[u8], piece: &[u8]) -> bool {
        has_piece(text, piece)
    }

    #[inline(always)]
    fn aside<S: Steps<Self>>(self, steps: S) -> S::Result {
        steps.take(self)
    }
}

impl<W: wide::Wide> Search for W {
    #[inline(always)]
    fn has_piece(self, text: &[u8], piece: &[u8]) -> bool {
        wide::has_piece(self, text, piece)
    }

    #[inline(always)]
    fn aside<S: Steps<Self>>(self, steps: S) -> S::Result {
        self.apart(steps)
    }
}

/// Whether one of the pieces between the spaces of a text is exactly these bytes, which have no space.
///
/// A mask of the spaces says at once where a piece of the right length starts, which is rarely more
/// than once: no branch on how many pieces there are, or how long they are.
#[inline(always)]
fn has_piece(text: &[u8], piece: &[u8]) -> bool {
    const WINDOW: usize = 64;
    let length = piece.len();
    if text.len() < BLOCK || !(1..WINDOW / 2).contains(&length) {
        let mut pieces = text.split(|byte| *byte == b' ');
        return length > 0 && pieces.any(|other| other == piece);
    }
    let mut start = 0_usize;
    loop {
        let window = text.get(start..).unwrap_or_default();
        let is_last = window.len() <= WINDOW;
        // The last window reaches back, so that there are always enough bytes to read.
        let base = if is_last {
            text.len().saturating_sub(WINDOW)
        } else {
            start
        };
        let window = text.get(base..).unwrap_or_default();
        let window = window.get(..WINDOW).unwrap_or(window);
        let spaces = spaces(window);
        let is_start = base
            .checked_sub(1)
            .is_none_or(|before| text.get(before) == Some(&b' '));
        let starts = spaces << 1 | u64::from(is_start);
        // The bit after the last byte of the text ends a piece, too; it can be the 65th.
        let end = if is_last {
            1_u128 << (window.len() & 127)
        } else {
            0
        };
        let ends = (u128::from(spaces) | end) >> (length & 127);
        let mut found = starts & ends as u64;
        while found != 0 {
            let at = found.first();
            if window.get(at..at.saturating_add(length)) == Some(piece) {
                return true;
            }
            found = found.without_first();
        }
        if is_last {
            return false;
        }
        // A piece that starts here did not end in this window.
        start = base.saturating_add(WINDOW).saturating_sub(length);
    }
}

/// Where the spaces are in 16 to 64 bytes.
#[inline(always)]
fn spaces(bytes: &[u8]) -> u64 {
    let mut spaces = 0;
    for start in [0, 16, 32, 48] {
        let start = start.min(bytes.len().saturating_sub(BLOCK));
        if let Some(block) = bytes.get(start..).and_then(<[u8]>::first_chunk) {
            spaces |= u64::at(spaces_of_block(block), start);
        }
    }
    spaces
}

#[cfg(all(target_arch = "x86_64", not(orbgate_portable)))]
#[inline(always)]
#[allow(unsafe_code, reason = "the safe twin is below")]
fn spaces_of_block(block: &[u8; BLOCK]) -> u64 {
    use core::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    // SAFETY: SSE2 is part of every x86-64 processor, and the only read is the block itself.
    unsafe {
        let bytes = _mm_loadu_si128(block.as_ptr().cast());
        let same = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b' '.cast_signed()));
        u64::from(_mm_movemask_epi8(same).cast_unsigned())
    }
}

#[cfg(any(orbgate_portable, not(target_arch = "x86_64")))]
#[inline(always)]
fn spaces_of_block(block: &[u8; BLOCK]) -> u64 {
    portable_spaces(block)
}

/// The safe twin.
#[cfg(any(test, orbgate_portable, not(target_arch = "x86_64")))]
fn portable_spaces(block: &[u8; BLOCK]) -> u64 {
    let bits = block.iter().enumerate();
    bits.fold(0, |mask, (at, byte)| {
        mask | u64::from(*byte == b' ') << (at & 63)
    })
}

/// What is where in a block: bit `i` speaks of byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    /// `/`
    slashes: u64,
    /// `.`
    dots: u64,
    /// Anything that is not usual.
    unusual: u64,
}

/// What nearly all bytes of a path are.
const USUAL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-./_";

/// Letters, digits, `-`, `.`, `/` and `_`.
const fn is_usual(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/' | b'_')
}

/// `/` and the characters that RFC 3986 allows raw in a path, but for `;` and `%`.
#[inline(always)]
pub(crate) fn is_plain(byte: u8) -> bool {
    CLASSES.get(usize::from(byte)) == Some(&true)
}

/// Which bytes are plain.
static CLASSES: [bool; 256] = {
    let mut classes = [false; 256];
    let mut rest = PLAIN;
    while let [byte, tail @ ..] = rest {
        #[allow(
            clippy::indexing_slicing,
            clippy::as_conversions,
            reason = "evaluated by the compiler, which refuses an index out of range"
        )]
        {
            classes[*byte as usize] = true;
        }
        rest = tail;
    }
    classes
};

const PLAIN: &[u8] =
    b"/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,=:@";

/// Any byte of a query: visible ASCII, but for `#`.
pub(crate) const fn is_query(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'#'
}

/// One bit for each byte of a piece.
pub(crate) trait Mask:
    Copy + PartialEq + BitAnd<Output = Self> + BitOr<Output = Self> + BitOrAssign + Not<Output = Self>
{
    /// No bit.
    const NONE: Self;
    /// How many bits there are.
    const BITS: usize;

    /// A block's bits, moved to where the block starts.
    fn at(block: u64, start: usize) -> Self;

    /// The bits of one block or two.
    fn of(first: u64, second: u64) -> Self;

    /// The bits of the first block and of the second.
    fn halves(self) -> [u64; 2];

    /// `self - other`, without the bits that do not fit.
    fn minus(self, other: Self) -> Self;

    /// How many bits are set.
    fn count(self) -> usize;

    /// Whether a run of bits that starts at one of `starts` ends at one of `stops`.
    fn runs_into(self, starts: Self, stops: Self) -> bool;

    /// The bits before `end`, which is one of the mask or the next after it.
    fn before(end: usize) -> Self;

    /// One bit, or none past the last.
    fn bit(place: usize) -> Self;

    /// Where the first bit is, or how many bits there are.
    fn first(self) -> usize;

    /// All but the first bit.
    fn without_first(self) -> Self;

    /// Every bit one further on.
    fn moved_on(self) -> Self;

    /// Every bit one further back.
    fn moved_back(self) -> Self;

    /// Whether there is a bit at a place.
    fn has(self, place: usize) -> bool;
}

macro_rules! mask {
    ($($word:ident)*) => {$(
        impl Mask for $word {
            const NONE: Self = 0;
            const BITS: usize = Self::BITS as usize;

            #[inline(always)]
            fn at(block: u64, start: usize) -> Self {
                Self::from(block).wrapping_shl(start as u32)
            }

            #[inline(always)]
            fn of(first: u64, second: u64) -> Self {
                (u128::from(second) << 64 | u128::from(first)) as Self
            }

            #[inline(always)]
            fn halves(self) -> [u64; 2] {
                [self as u64, (self as u128 >> 64) as u64]
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn count(self) -> usize {
                self.count_ones() as usize
            }

            #[inline(always)]
            fn runs_into(self, starts: Self, stops: Self) -> bool {
                // The carry of the addition goes through each such run and clears it.
                let cleared = self & !self.wrapping_add(self & starts);
                cleared & stops != 0
            }

            #[inline(always)]
            fn before(end: usize) -> Self {
                match end {
                    end if end < <Self as Mask>::BITS => Self::MAX.wrapping_shl(end as u32) ^ Self::MAX,
                    _ => Self::MAX,
                }
            }

            #[inline(always)]
            fn bit(place: usize) -> Self {
                Self::from(place < <Self as Mask>::BITS).wrapping_shl(place as u32)
            }

            #[inline(always)]
            fn first(self) -> usize {
                self.trailing_zeros() as usize
            }

            #[inline(always)]
            fn without_first(self) -> Self {
                self & self.wrapping_sub(1)
            }

            #[inline(always)]
            fn moved_on(self) -> Self {
                self << 1
            }

            #[inline(always)]
            fn moved_back(self) -> Self {
                self >> 1
            }

            #[inline(always)]
            fn has(self, place: usize) -> bool {
                self.wrapping_shr(place as u32) & 1 == 1
            }
        }
    )*};
}

mask! { u64 u128 }

/// Marks of one block, in the low 16 bits.
#[cfg(all(target_arch = "x86_64", not(orbgate_portable)))]
#[inline(always)]
fn mark_block(block: &[u8; BLOCK]) -> Marks {
    use core::arch::x86_64::{
        __m128i, _mm_add_epi8, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_movemask_epi8,
        _mm_or_si128, _mm_set1_epi8,
    };
    // SAFETY: these are SSE2 instructions, which every x86-64 processor has. The only memory read is
    // the block, 16 bytes that may stand anywhere (`loadu`).
    unsafe {
        let mask = |of: __m128i| u64::from(_mm_movemask_epi8(of).cast_unsigned() & 0xffff);
        let same = |bytes, byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed()));
        // Moves the range to the bottom of the signed bytes: one addition, one comparison.
        let within = |bytes, first: u8, count: u8| {
            let to_bottom = 0x80_u8.wrapping_sub(first).cast_signed();
            let limit = 0x80_u8.wrapping_add(count).cast_signed();
            _mm_cmplt_epi8(
                _mm_add_epi8(bytes, _mm_set1_epi8(to_bottom)),
                _mm_set1_epi8(limit),
            )
        };
        let bytes = _mm_loadu_si128(block.as_ptr().cast());
        let letters = within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'a', 26);
        let digits_and_marks = within(bytes, b'-', 13);
        let usual = _mm_or_si128(_mm_or_si128(letters, digits_and_marks), same(bytes, b'_'));
        Marks {
            slashes: mask(same(bytes, b'/')),
            dots: mask(same(bytes, b'.')),
            unusual: mask(usual) ^ 0xffff,
        }
    }
}

#[cfg(any(orbgate_portable, not(target_arch = "x86_64")))]
#[inline(always)]
fn mark_block(block: &[u8; BLOCK]) -> Marks {
    portable(block)
}

/// The safe twin: eight bytes at a time in ordinary words.
#[cfg(any(test, orbgate_portable, not(target_arch = "x86_64")))]
#[inline(always)]
fn portable(block: &[u8; BLOCK]) -> Marks {
    let half = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let (low, high) = (half(block.first_chunk()), half(block.last_chunk()));
    let (low, high) = (mark_word(low), mark_word(high));
    Marks {
        slashes: low.slashes | high.slashes << 8,
        dots: low.dots | high.dots << 8,
        unusual: low.unusual | high.unusual << 8,
    }
}

/// Marks of eight bytes, in the low 8 bits.
#[cfg(any(test, orbgate_portable, not(target_arch = "x86_64")))]
#[inline(always)]
fn mark_word(word: u64) -> Marks {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    // The top bit of each byte says whether its lower seven bits are at least `limit`; the sums stay
    // within their bytes.
    let at_least = |limit: u8| {
        ((word & !TOPS).wrapping_add(ONES.wrapping_mul(u64::from(0x80_u8.wrapping_sub(limit)))))
            & TOPS
    };
    let ascii = !word & TOPS;
    let within = |first: u8, after: u8| at_least(first) & !at_least(after) & ascii;
    // Gathers the eight top bits at the top of the product.
    let mask = |tops: u64| (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let capitals_and_small = within(b'A', b'Z' + 1) | within(b'a', b'z' + 1);
    let usual = capitals_and_small | within(b'-', b'9' + 1) | within(b'_', b'_' + 1);
    Marks {
        slashes: mask(within(b'/', b'/' + 1)),
        dots: mask(within(b'.', b'.' + 1)),
        unusual: mask(usual) ^ 0xff,
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    reason = "a test stops at its first surprise"
)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_classed_as_rfc_3986_has_it() {
        for byte in 0..=u8::MAX {
            let sub_delims_and_more = b"!$&'()*+,=:@-._~/".contains(&byte);
            assert_eq!(
                is_plain(byte),
                byte.is_ascii_alphanumeric() || sub_delims_and_more,
                "{byte:#x}"
            );
        }
    }

    /// What the marks mean, byte by byte.
    fn plainly(block: &[u8]) -> Marks {
        let mask = |of: &dyn Fn(u8) -> bool| {
            let bits = block.iter().enumerate();
            bits.fold(0, |mask, (at, byte)| mask | u64::from(of(*byte)) << at)
        };
        Marks {
            slashes: mask(&|byte| byte == b'/'),
            dots: mask(&|byte| byte == b'.'),
            unusual: mask(&|byte| !is_usual(byte)),
        }
    }

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=u8::MAX {
            for at in 0..BLOCK {
                let mut block = [b'x'; BLOCK];
                block[at] = byte;
                assert_eq!(mark_block(&block), plainly(&block), "{byte:#x} at {at}");
                assert_eq!(portable(&block), plainly(&block), "{byte:#x} at {at}");
            }
        }
    }

    /// A window against the same read byte by byte.
    fn check<M: Mask + core::fmt::Debug>(bytes: &[u8]) {
        let path = bytes.split(|byte| *byte == b'?').next().unwrap_or_default();
        let query = &bytes[path.len()..];
        let is_plain = (BLOCK..=M::BITS).contains(&bytes.len())
            && path.iter().all(|byte| is_usual(*byte))
            && query.iter().all(|byte| is_query(*byte))
            && !path.is_empty();
        let Some(window) = Window::<M>::of(bytes) else {
            assert!(!is_plain, "{bytes:?}");
            return;
        };
        assert!(is_plain, "{bytes:?}");
        assert_eq!(window.end(), path.len());
        let at = |of: u8| {
            let places = path.iter().enumerate().filter(|(_, byte)| **byte == of);
            places.fold(M::NONE, |mask, (at, _)| mask | M::bit(at))
        };
        assert_eq!(window.slashes, at(b'/'));
        assert_eq!(window.dots, at(b'.'));
        let segments = || path.split(|byte| *byte == b'/').skip(1);
        let odd = segments().any(|segment| segment.is_empty() || segment[0] == b'.');
        assert_eq!(window.has_odd_segment(), odd, "{bytes:?}");
        assert_eq!(window.has_empty_segment(), segments().any(<[u8]>::is_empty));
        for start in 0..bytes.len() {
            for stop in start..=path.len() {
                let (first, last) = window.words(start, stop);
                if stop >= 8 {
                    assert_eq!(last.to_le_bytes(), bytes[stop - 8..stop]);
                    let from = start.min(stop - 8);
                    assert_eq!(first.to_le_bytes(), bytes[from..from + 8]);
                }
            }
            // Whatever is asked for, nothing outside is read.
            let _ = window.words(start, usize::MAX);
        }
    }

    proptest! {
        #[test]
        fn usual_bytes_are_followed_to_their_end(bytes in "[a-z/.]{0,40}[a-z/.~?]{0,40}") {
            let bytes = bytes.as_bytes();
            let mut slashes = Vec::new();
            let end = usual(bytes, |slash| slashes.push(slash));
            prop_assert_eq!(end, bytes.iter().position(|byte| !is_usual(*byte)).unwrap_or(bytes.len()));
            prop_assert!(slashes.into_iter().eq((0..end).filter(|at| bytes[*at] == b'/')));
        }

        #[test]
        fn a_window_shows_what_is_there(
            bytes in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..130),
                "(/[a-z0-9._-]{0,12}){0,12}(\\?[!-~]{0,20})?".prop_map(String::into_bytes),
                "[a-zA-Z/.]{16,128}".prop_map(String::into_bytes),
            ],
        ) {
            check::<u64>(&bytes);
            check::<u128>(&bytes);
        }

        #[test]
        fn pieces_are_found_as_split_finds_them(
            pieces in proptest::collection::vec("[ab ]{0,3}|[a-c:]{0,40}|scope:[0-9]{1,2}", 0..30),
            other in "[ab]{0,2}|scope:[0-9]{1,2}|[a-c:]{28,36}",
            which: proptest::sample::Index,
        ) {
            let text = pieces.join(" ");
            let mut asked = vec![other.as_bytes()];
            if !pieces.is_empty() {
                asked.push(pieces[which.index(pieces.len())].as_bytes());
            }
            asked.extend(text.as_bytes().split(|byte| *byte == b' '));
            for piece in asked.into_iter().filter(|piece| !piece.contains(&b' ')) {
                let mut split = text.as_bytes().split(|byte| *byte == b' ');
                let expected = !piece.is_empty() && split.any(|other| other == piece);
                prop_assert_eq!(has_piece(text.as_bytes(), piece), expected, "{:?} in {:?}", piece, text);
            }
        }

        #[test]
        fn both_ways_mark_what_is_there(block: [u8; BLOCK]) {
            prop_assert_eq!(spaces_of_block(&block), portable_spaces(&block));
            prop_assert_eq!(mark_block(&block), portable(&block));
            prop_assert_eq!(mark_block(&block), plainly(&block));
        }
    }
}
