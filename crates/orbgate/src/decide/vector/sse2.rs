//! SSE2, which every x86-64 processor has. These instructions take and return values, and don't access memory.
#![allow(unsafe_code, reason = "calls of instructions; each says why the processor has it")]

use core::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    _mm_sub_epi8, _mm_subs_epu8,
};

use super::register::{Vector, halves};

/// Sixteen bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sse2(__m128i);

impl Vector for Sse2 {
    const BYTES: usize = 16;

    #[inline(always)]
    fn load(bytes: &[u8], at: usize) -> Option<Self> {
        let [low, high] = halves(bytes, at)?.map(u64::cast_signed);
        // SAFETY: SSE2 is part of x86-64.
        Some(Self(unsafe { _mm_set_epi64x(high, low) }))
    }

    #[inline(always)]
    fn splat(byte: u8) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_set1_epi8(byte.cast_signed()) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_or_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_min_epu8(self.0, other.0) })
    }

    #[inline(always)]
    fn outside(self, low: u8, high: u8) -> Self {
        let (Self(low), Self(span)) = (Self::splat(low), Self::splat(high.wrapping_sub(low)));
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_subs_epu8(_mm_sub_epi8(self.0, low), span) })
    }

    #[inline(always)]
    fn positions(self, byte: u8) -> u64 {
        let Self(byte) = Self::splat(byte);
        // SAFETY: SSE2 is part of x86-64.
        let bits = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0, byte)) };
        u64::from(bits.cast_unsigned())
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.positions(0) == 0xffff
    }
}
