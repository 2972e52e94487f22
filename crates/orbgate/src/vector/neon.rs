//! NEON, which every 64-bit ARM processor has: the compiler knows, so its instructions are safe to call.

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
        let [low, high] = [low, high].map(|half| vcreate_u8(u64::from_le_bytes(*half)));
        Some(vcombine_u8(low, high))
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> uint8x16_t {
        vdupq_n_u8(byte)
    }

    #[inline(always)]
    fn or(self, one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        vorrq_u8(one, other)
    }

    #[inline(always)]
    fn and(self, one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        vminq_u8(one, other)
    }

    #[inline(always)]
    fn outside(self, bytes: uint8x16_t, low: u8, high: u8) -> uint8x16_t {
        let above_low = vsubq_u8(bytes, vdupq_n_u8(low));
        vqsubq_u8(above_low, vdupq_n_u8(high.wrapping_sub(low)))
    }

    #[inline(always)]
    fn positions(self, bytes: uint8x16_t, byte: u8) -> u64 {
        // Each byte keeps a bit of its own; three sums of neighbours leave two bytes of eight bits.
        let bit = vcreate_u8(0x8040_2010_0804_0201);
        let bits = vandq_u8(vceqq_u8(bytes, vdupq_n_u8(byte)), vcombine_u8(bit, bit));
        let pairs = vpaddq_u8(bits, bits);
        let fours = vpaddq_u8(pairs, pairs);
        let eights = vpaddq_u8(fours, fours);
        u64::from(vgetq_lane_u16::<0>(vreinterpretq_u16_u8(eights)))
    }

    #[inline(always)]
    fn is_zero(self, bytes: uint8x16_t) -> bool {
        vmaxvq_u8(bytes) == 0
    }
}
