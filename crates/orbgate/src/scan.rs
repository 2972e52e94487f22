//! Where the slashes, dots and unusual bytes of a short piece of a target are, as masks of bits.
//!
//! The one module of the core that may use `unsafe`: on x86-64 it reads 16 bytes at a time with
//! instructions that every such processor has. [`portable`] is its safe twin, for every other
//! processor; a property test holds the two together.
#![allow(
    clippy::as_conversions,
    reason = "places in a piece are far below 2³², and so are numbers of bits"
)]
#![cfg_attr(
    target_arch = "x86_64",
    allow(unsafe_code, reason = "see each block; portable() is the safe twin")
)]

use core::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// Fewest bytes that can be read at a time.
pub(crate) const BLOCK: usize = 16;

/// What is where in a piece of a target: bit `i` speaks of byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks<M> {
    /// `/`
    pub slashes: M,
    /// `.`
    pub dots: M,
    /// Anything but letters, digits, `-`, `.`, `/` and `_`.
    pub unusual: M,
}

/// Marks a piece of at least 16 bytes, and at most as many as the mask has bits.
#[inline(always)]
pub(crate) fn marks<M: Mask>(piece: &[u8]) -> Marks<M> {
    let (mut slashes, mut dots, mut unusual) = (M::NONE, M::NONE, M::NONE);
    // Overlapping blocks, always as many as fill the mask: no loop whose end a processor has to guess.
    for start in (0..M::BITS).step_by(BLOCK) {
        let start = start.min(piece.len().saturating_sub(BLOCK));
        let Some((block, _)) = piece.get(start..).and_then(<[u8]>::split_first_chunk) else {
            continue;
        };
        let block = mark_block(block);
        slashes |= M::at(block.slashes, start);
        dots |= M::at(block.dots, start);
        unusual |= M::at(block.unusual, start);
    }
    Marks {
        slashes,
        dots,
        unusual,
    }
}

/// The eight bytes at a place of a piece of at least eight, little-endian; the last eight where they
/// would not fit.
#[inline(always)]
pub(crate) fn word_at(piece: &[u8], place: usize) -> u64 {
    let Some(last) = piece.len().checked_sub(8) else {
        return 0;
    };
    let place = place.min(last);
    let from = piece.get(place..).unwrap_or_default();
    match from.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => 0,
    }
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
            fn has(self, place: usize) -> bool {
                self.wrapping_shr(place as u32) & 1 == 1
            }
        }
    )*};
}

mask! { u64 u128 }

/// Marks of one block, in the low 16 bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn mark_block(block: &[u8; BLOCK]) -> Marks<u64> {
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

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn mark_block(block: &[u8; BLOCK]) -> Marks<u64> {
    portable(block)
}

/// The safe twin: eight bytes at a time in ordinary words.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn portable(block: &[u8; BLOCK]) -> Marks<u64> {
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
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn mark_word(word: u64) -> Marks<u64> {
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the marks mean, byte by byte.
    fn plainly<M: Mask>(piece: &[u8]) -> Marks<M> {
        let mask = |of: &dyn Fn(u8) -> bool| {
            let bits = piece
                .iter()
                .enumerate()
                .map(|(at, byte)| M::at(u64::from(of(*byte)), at));
            bits.fold(M::NONE, |mask, bit| mask | bit)
        };
        Marks {
            slashes: mask(&|byte| byte == b'/'),
            dots: mask(&|byte| byte == b'.'),
            unusual: mask(&|byte| !byte.is_ascii_alphanumeric() && !b"-./_".contains(&byte)),
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

    proptest! {
        #[test]
        fn both_ways_mark_what_is_there(piece in proptest::collection::vec(any::<u8>(), BLOCK..=128)) {
            prop_assert_eq!(marks::<u128>(&piece), plainly(&piece));
            if piece.len() <= 64 {
                prop_assert_eq!(marks::<u64>(&piece), plainly(&piece));
            }
            for block in piece.windows(BLOCK) {
                let block = block.try_into().unwrap();
                prop_assert_eq!(mark_block(block), portable(block));
            }
        }
    }
}
