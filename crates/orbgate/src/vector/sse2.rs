//! SSE2, which every x86-64 processor has. Its instructions take and give values: none touches memory.
#![allow(
    unsafe_code,
    reason = "calls of instructions; each says why the processor has it"
)]

use core::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x,
    _mm_set1_epi8, _mm_sub_epi8, _mm_subs_epu8,
};

use super::Processor;

/// Every processor of this kind; its registers have sixteen bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sse2;

impl Sse2 {
    /// This processor.
    pub(crate) const HERE: Self = Self;
}

impl Processor for Sse2 {
    type Vector = __m128i;

    const BYTES: usize = 16;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> Option<__m128i> {
        // Two halves that stand together: the compiler makes one load of them.
        let bytes: &[u8; 16] = bytes.get(at..)?.first_chunk()?;
        let [low, high] = bytes.as_chunks::<8>().0 else {
            return None;
        };
        let [low, high] = [low, high].map(|half| i64::from_le_bytes(*half));
        // SAFETY: SSE2 is part of x86-64.
        Some(unsafe { _mm_set_epi64x(high, low) })
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_set1_epi8(byte.cast_signed()) }
    }

    #[inline(always)]
    fn or(self, one: __m128i, other: __m128i) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_or_si128(one, other) }
    }

    #[inline(always)]
    fn and(self, one: __m128i, other: __m128i) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_min_epu8(one, other) }
    }

    #[inline(always)]
    fn outside(self, bytes: __m128i, low: u8, high: u8) -> __m128i {
        let (low, span) = (self.splat(low), self.splat(high.wrapping_sub(low)));
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_subs_epu8(_mm_sub_epi8(bytes, low), span) }
    }

    #[inline(always)]
    fn positions(self, bytes: __m128i, byte: u8) -> u64 {
        let byte = self.splat(byte);
        // SAFETY: SSE2 is part of x86-64.
        let bits = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, byte)) };
        u64::from(bits.cast_unsigned())
    }

    #[inline(always)]
    fn is_zero(self, bytes: __m128i) -> bool {
        self.positions(bytes, 0) == 0xffff
    }
}
