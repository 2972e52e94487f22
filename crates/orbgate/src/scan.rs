//! Where the slashes, dots and unusual bytes of a short piece of a target are, as masks of bits.
//!
//! The one module of the core that may use `unsafe`: on x86-64 it reads 16 bytes at a time with
//! instructions that every such processor has. [`portable`] is its safe twin, for every other
//! processor; a property test holds the two together.
#![cfg_attr(
    target_arch = "x86_64",
    allow(unsafe_code, reason = "see each block; portable() is the safe twin")
)]

/// Most bytes that one mask covers.
pub(crate) const WINDOW: usize = 64;

/// Fewest bytes that can be read at a time.
pub(crate) const BLOCK: usize = 16;

/// What is where in a piece of 16 to 64 bytes: bit `i` speaks of byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// `/`
    pub slashes: u64,
    /// `.`
    pub dots: u64,
    /// Anything but letters, digits, `-`, `.`, `/` and `_`.
    pub unusual: u64,
}

/// Marks a piece of 16 to 64 bytes; shorter and longer ones get marks for the bytes that were read.
#[inline(always)]
pub(crate) fn marks(piece: &[u8]) -> Marks {
    let mut marks = Marks::default();
    // Four overlapping blocks cover any such piece: no loop whose end a processor would have to guess.
    for start in [0, 16, 32, 48] {
        let start = start.min(piece.len().saturating_sub(BLOCK));
        let Some((block, _)) = piece.get(start..).and_then(<[u8]>::split_first_chunk) else {
            continue;
        };
        let block = mark_block(block);
        marks.slashes |= block.slashes << (start & 63);
        marks.dots |= block.dots << (start & 63);
        marks.unusual |= block.unusual << (start & 63);
    }
    marks
}

/// Marks of one block, in the low 16 bits.
#[cfg(target_arch = "x86_64")]
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

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn mark_block(block: &[u8; BLOCK]) -> Marks {
    portable(block)
}

/// The safe twin: eight bytes at a time in ordinary words.
#[cfg(any(test, not(target_arch = "x86_64")))]
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
#[cfg(any(test, not(target_arch = "x86_64")))]
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the marks mean, byte by byte.
    fn plainly(piece: &[u8]) -> Marks {
        let mask = |of: &dyn Fn(u8) -> bool| {
            piece
                .iter()
                .enumerate()
                .fold(0, |mask, (at, byte)| mask | u64::from(of(*byte)) << at)
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
        fn both_ways_mark_what_is_there(piece in proptest::collection::vec(any::<u8>(), BLOCK..=WINDOW)) {
            prop_assert_eq!(marks(&piece), plainly(&piece));
            for block in piece.windows(BLOCK) {
                let block = block.try_into().unwrap();
                prop_assert_eq!(mark_block(block), portable(block));
            }
        }
    }
}
