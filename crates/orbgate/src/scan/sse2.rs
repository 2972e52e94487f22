//! A block with SSE2, which every x86-64 processor has.
#![allow(
    unsafe_code,
    reason = "instructions that every such processor has; `portable` is the safe twin"
)]

use core::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_movemask_epi8,
    _mm_or_si128, _mm_set1_epi8,
};

use super::{BLOCK, Marks};

/// What is where.
#[inline(always)]
pub(super) fn marks(block: &[u8; BLOCK]) -> Marks {
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

/// What is where in four blocks.
#[inline(always)]
pub(super) fn marks_of_four(blocks: &[[u8; BLOCK]; 4]) -> [Marks; 4] {
    blocks.each_ref().map(marks)
}

/// Where the spaces are.
#[inline(always)]
pub(super) fn spaces(block: &[u8; BLOCK]) -> u64 {
    // SAFETY: SSE2 is part of every x86-64 processor, and the only read is the block itself.
    unsafe {
        let bytes = _mm_loadu_si128(block.as_ptr().cast());
        let same = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b' '.cast_signed()));
        u64::from(_mm_movemask_epi8(same).cast_unsigned())
    }
}
