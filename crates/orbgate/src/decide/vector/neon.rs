//! NEON, which every 64-bit ARM processor has. These instructions take and return values, and don't access memory.
#![allow(unsafe_code, reason = "calls of instructions; each says why the processor has it")]

use core::arch::aarch64::{
    uint8x16_t, vandq_u8, vceqq_u8, vcombine_u8, vcreate_u8, vdupq_n_u8, vgetq_lane_u64, vmaxvq_u8, vminq_u8, vorrq_u8,
    vpaddq_u8, vqsubq_u8, vreinterpretq_u64_u8, vsubq_u8,
};

use super::register::{Vector, halves};

/// Sixteen bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(uint8x16_t);

impl Vector for Neon {
    const BYTES: usize = 16;

    #[inline(always)]
    fn load(bytes: &[u8], at: usize) -> Option<Self> {
        let [low, high] = halves(bytes, at)?;
        // SAFETY: NEON is part of 64-bit ARM.
        Some(Self(unsafe { vcombine_u8(vcreate_u8(low), vcreate_u8(high)) }))
    }

    #[inline(always)]
    fn splat(byte: u8) -> Self {
        // SAFETY: NEON is part of 64-bit ARM.
        Self(unsafe { vdupq_n_u8(byte) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: NEON is part of 64-bit ARM.
        Self(unsafe { vorrq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: NEON is part of 64-bit ARM.
        Self(unsafe { vminq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn outside(self, low: u8, high: u8) -> Self {
        let (Self(low), Self(span)) = (Self::splat(low), Self::splat(high.wrapping_sub(low)));
        // SAFETY: NEON is part of 64-bit ARM.
        Self(unsafe { vqsubq_u8(vsubq_u8(self.0, low), span) })
    }

    #[inline(always)]
    fn positions(self, byte: u8) -> u64 {
        positions([self; 4], byte) & 0xffff
    }

    #[inline(always)]
    fn positions_in_block(byte: u8, mut read: impl FnMut(usize) -> Option<(Self, u32)>) -> Option<u64> {
        let [(a, to_a), (b, to_b), (c, to_c), (d, to_d)] = [read(0)?, read(16)?, read(32)?, read(48)?];
        let bits = positions([a, b, c, d], byte);
        let of = |shift: u32, turn: u32| (bits >> shift & 0xffff).rotate_left(turn);
        Some(of(0, to_a) | of(16, to_b) | of(32, to_c) | of(48, to_d))
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        // SAFETY: NEON is part of 64-bit ARM.
        unsafe { vmaxvq_u8(self.0) == 0 }
    }
}

/// Each byte keeps its own bit; three pairwise sums leave two bytes of eight bits for each register.
#[inline(always)]
fn positions(registers: [Neon; 4], byte: u8) -> u64 {
    let Neon(byte) = Neon::splat(byte);
    // SAFETY: NEON is part of 64-bit ARM.
    unsafe {
        let bit = vcreate_u8(0x8040_2010_0804_0201);
        let [a, b, c, d] = registers.map(|it| vandq_u8(vceqq_u8(it.0, byte), vcombine_u8(bit, bit)));
        let quarters = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)))
    }
}
