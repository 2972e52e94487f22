//! Eight bytes in a 64-bit integer, for every processor without a file of its own.

use super::Processor;

/// Any processor; its registers have eight bytes, the first one lowest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Plain {
    /// This processor.
    #[cfg(any(
        orbgate_portable,
        not(any(target_arch = "x86_64", target_arch = "aarch64"))
    ))]
    pub(crate) const HERE: Self = Self;
}

const LOW_SEVEN: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const HIGHEST: u64 = 0x8080_8080_8080_8080;

const fn every(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Byte by byte: the highest bit is set where the lowest seven are at least this number, from 1 to 127.
const fn at_least(bytes: u64, low: u8) -> u64 {
    // No sum of two numbers below 128 carries into the next byte.
    (bytes & LOW_SEVEN).wrapping_add(every(0x80_u8.wrapping_sub(low))) & HIGHEST
}

impl Processor for Plain {
    type Vector = u64;

    const BYTES: usize = 8;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> Option<u64> {
        let bytes = bytes.get(at..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> u64 {
        every(byte)
    }

    #[inline(always)]
    fn or(self, one: u64, other: u64) -> u64 {
        one | other
    }

    #[inline(always)]
    fn and(self, one: u64, other: u64) -> u64 {
        // What is outside is the highest bit, and nothing else.
        one & other
    }

    #[inline(always)]
    fn outside(self, bytes: u64, low: u8, high: u8) -> u64 {
        // From 128 on a number is its lowest seven bits and the highest one.
        let at_least = |number: u8| match number {
            0 => HIGHEST,
            1..=0x7f => at_least(bytes, number) | bytes & HIGHEST,
            0x80 => bytes & HIGHEST,
            _ => at_least(bytes, number & 0x7f) & bytes,
        };
        let above = match high.checked_add(1) {
            Some(next) => at_least(next),
            None => 0,
        };
        (!at_least(low) | above) & HIGHEST
    }

    #[inline(always)]
    fn positions(self, bytes: u64, byte: u8) -> u64 {
        let differ = bytes ^ every(byte);
        let equal = !((differ & LOW_SEVEN).wrapping_add(LOW_SEVEN) | differ) & HIGHEST;
        // The eight highest bits, one beside the other.
        (equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }

    #[inline(always)]
    fn is_zero(self, bytes: u64) -> bool {
        bytes == 0
    }
}
