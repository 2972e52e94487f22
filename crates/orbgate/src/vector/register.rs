//! What a processor's file says of its registers, and two registers as one.
#![allow(clippy::as_conversions, reason = "the halves of an integer")]

/// A register of bytes.
pub(crate) trait Vector: Copy {
    /// How many bytes it has: 8, 16 or 32.
    const BYTES: usize;

    /// The bytes from `at` on; `None` if there are too few.
    fn load(bytes: &[u8], at: usize) -> Option<Self>;

    /// The same byte everywhere.
    fn splat(byte: u8) -> Self;

    /// The bitwise or.
    fn or(self, other: Self) -> Self;

    /// A byte is zero where that of either is, if both come from [`outside`](Vector::outside).
    fn and(self, other: Self) -> Self;

    /// A byte is zero where it is from `low` to `high`, and another number elsewhere.
    fn outside(self, low: u8, high: u8) -> Self;

    /// Bit `i` is set where byte `i` is this one.
    fn positions(self, byte: u8) -> u64;

    /// Whether every byte is zero.
    fn is_zero(self) -> bool;
}

/// Sixteen bytes as two integers, which the compiler loads at once.
#[allow(dead_code, reason = "the plain vector is one integer")]
#[inline(always)]
pub(super) fn halves(bytes: &[u8], at: usize) -> Option<[u64; 2]> {
    let all = u128::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    Some([all as u64, (all >> 64) as u64])
}

/// Two registers side by side.
#[derive(Clone, Copy)]
pub(crate) struct Pair<V>(V, V);

impl<V: Vector> Vector for Pair<V> {
    const BYTES: usize = 2 * V::BYTES;

    #[inline(always)]
    fn load(bytes: &[u8], at: usize) -> Option<Self> {
        let bytes = bytes.get(at..)?.get(..Self::BYTES)?;
        Some(Self(V::load(bytes, 0)?, V::load(bytes, V::BYTES)?))
    }

    #[inline(always)]
    fn splat(byte: u8) -> Self {
        Self(V::splat(byte), V::splat(byte))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0), self.1.or(other.1))
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0.and(other.0), self.1.and(other.1))
    }

    #[inline(always)]
    fn outside(self, low: u8, high: u8) -> Self {
        Self(self.0.outside(low, high), self.1.outside(low, high))
    }

    #[inline(always)]
    fn positions(self, byte: u8) -> u64 {
        self.0.positions(byte) | self.1.positions(byte) << V::BYTES
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0.or(self.1).is_zero()
    }
}
