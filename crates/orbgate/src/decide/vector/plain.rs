//! Eight bytes in a 64-bit integer, for architectures without a file of their own.

use super::register::Vector;

/// Eight bytes, the first in the lowest position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain(u64);

const LOW_SEVEN: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const HIGHEST: u64 = 0x8080_8080_8080_8080;

const fn every(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// For each byte, sets the highest bit if the lowest seven are at least `low`, which is from 1 to 127.
const fn at_least(bytes: u64, low: u8) -> u64 {
    // No sum of two numbers below 128 carries into the next byte.
    (bytes & LOW_SEVEN).wrapping_add(every(0x80_u8.wrapping_sub(low))) & HIGHEST
}

impl Vector for Plain {
    const BYTES: usize = 8;

    #[inline(always)]
    fn load(bytes: &[u8], at: usize) -> Option<Self> {
        let bytes = bytes.get(at..)?.first_chunk()?;
        Some(Self(u64::from_le_bytes(*bytes)))
    }

    #[inline(always)]
    fn splat(byte: u8) -> Self {
        Self(every(byte))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // `outside` sets only the highest bit of a byte.
        Self(self.0 & other.0)
    }

    #[inline(always)]
    fn outside(self, low: u8, high: u8) -> Self {
        let Self(bytes) = self;
        // A number from 128 on has the highest bit set, and is compared by its lowest seven.
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
        Self((!at_least(low) | above) & HIGHEST)
    }

    #[inline(always)]
    fn positions(self, byte: u8) -> u64 {
        let differ = self.0 ^ every(byte);
        let equal = !((differ & LOW_SEVEN).wrapping_add(LOW_SEVEN) | differ) & HIGHEST;
        // The eight highest bits, gathered side by side.
        (equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0 == 0
    }
}
