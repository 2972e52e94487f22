//! What a processor's file says of its registers.
#![allow(clippy::as_conversions, reason = "the halves of an integer")]

/// A register of bytes.
pub(crate) trait Vector: Copy {
    /// How many bytes it has: 8 or 16.
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
