//! NEON, which every 64-bit ARM processor has. Its instructions take and give values: none touches memory.
#![allow(
    unsafe_code,
    reason = "calls of instructions; each says why the processor has it"
)]

use core::arch::aarch64::{
    uint8x16_t, vandq_u8, vceqq_u8, vcombine_u8, vcreate_u8, vdupq_n_u8, vgetq_lane_u16, vmaxvq_u8,
    vminq_u8, vorrq_u8, vpaddq_u8, vqsubq_u8, vreinterpretq_u16_u8, vsubq_u8,
};

use super::Processor;

/// Every processor of this kind; its registers have sixteen bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon;

impl Neon {
    /// This processor.
    pub(crate) const HERE: Self = Self;
}

impl Processor for Neon {
    type Vector = uint8x16_t;

    const BYTES: usize = 16;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> Option<uint8x16_t> {
        // Two halves that stand together: the compiler makes one load of them.
        let bytes: &[u8; 16] = bytes.get(at..)?.first_chunk()?;
        let [low, high] = bytes.as_chunks::<8>().0 else {
            return None;
        };
        let [low, high] = [low, high].map(|half| u64::from_le_bytes(*half));
        // SAFETY: NEON is part of 64-bit ARM.
        Some(unsafe { vcombine_u8(vcreate_u8(low), vcreate_u8(high)) })
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> uint8x16_t {
        // SAFETY: NEON is part of 64-bit ARM.
        unsafe { vdupq_n_u8(byte) }
    }

    #[inline(always)]
    fn or(self, one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        // SAFETY: NEON is part of 64-bit ARM.
        unsafe { vorrq_u8(one, other) }
    }

    #[inline(always)]
    fn and(self, one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        // SAFETY: NEON is part of 64-bit ARM.
        unsafe { vminq_u8(one, other) }
    }

    #[inline(always)]
    fn outside(self, bytes: uint8x16_t, low: u8, high: u8) -> uint8x16_t {
        let (low, span) = (self.splat(low), self.splat(high.wrapping_sub(low)));
        // SAFETY: NEON is part of 64-bit ARM.
        unsafe { vqsubq_u8(vsubq_u8(bytes, low), span) }
    }

    #[inline(always)]
    fn positions(self, bytes: uint8x16_t, byte: u8) -> u64 {
        // Each byte keeps a bit of its own; three sums of neighbours leave two bytes of eight bits.
        let byte = self.splat(byte);
        // SAFETY: NEON is part of 64-bit ARM.
        let bits = unsafe {
            let bit = vcreate_u8(0x8040_2010_0804_0201);
            let bits = vandq_u8(vceqq_u8(bytes, byte), vcombine_u8(bit, bit));
            let pairs = vpaddq_u8(bits, bits);
            let fours = vpaddq_u8(pairs, pairs);
            let eights = vpaddq_u8(fours, fours);
            vgetq_lane_u16::<0>(vreinterpretq_u16_u8(eights))
        };
        u64::from(bits)
    }

    #[inline(always)]
    fn is_zero(self, bytes: uint8x16_t) -> bool {
        // SAFETY: NEON is part of 64-bit ARM.
        unsafe { vmaxvq_u8(bytes) == 0 }
    }
}
