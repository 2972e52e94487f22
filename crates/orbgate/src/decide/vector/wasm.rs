//! WebAssembly's vectors, if the module is built with `-C target-feature=+simd128`.

use core::arch::wasm32::{
    u8x16_bitmask, u8x16_eq, u8x16_min, u8x16_splat, u8x16_sub, u8x16_sub_sat, u64x2, v128, v128_any_true, v128_or,
};

use super::register::{Vector, halves};

/// Sixteen bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wasm(v128);

impl Vector for Wasm {
    const BYTES: usize = 16;

    #[inline(always)]
    fn load(bytes: &[u8], at: usize) -> Option<Self> {
        let [low, high] = halves(bytes, at)?;
        Some(Self(u64x2(low, high)))
    }

    #[inline(always)]
    fn splat(byte: u8) -> Self {
        Self(u8x16_splat(byte))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(v128_or(self.0, other.0))
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(u8x16_min(self.0, other.0))
    }

    #[inline(always)]
    fn outside(self, low: u8, high: u8) -> Self {
        let (Self(low), Self(span)) = (Self::splat(low), Self::splat(high.wrapping_sub(low)));
        Self(u8x16_sub_sat(u8x16_sub(self.0, low), span))
    }

    #[inline(always)]
    fn positions(self, byte: u8) -> u64 {
        u64::from(u8x16_bitmask(u8x16_eq(self.0, u8x16_splat(byte))))
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        !v128_any_true(self.0)
    }
}
