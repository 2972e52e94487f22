//! The interface that each architecture's file implements.
#![allow(clippy::as_conversions, reason = "the halves of an integer")]

/// A register of bytes.
pub(crate) trait Vector: Copy {
    /// The number of bytes in a register: 8 or 16.
    const BYTES: usize;

    /// The bytes from `at`; `None` if there are too few.
    fn load(bytes: &[u8], at: usize) -> Option<Self>;

    /// Repeats one byte in every position.
    fn splat(byte: u8) -> Self;

    /// The bitwise or.
    fn or(self, other: Self) -> Self;

    /// A byte is zero if it is zero in either register, provided that both come from [`outside`](Vector::outside).
    fn and(self, other: Self) -> Self;

    /// A byte is zero if it is from `low` to `high`, and nonzero otherwise.
    fn outside(self, low: u8, high: u8) -> Self;

    /// Bit `i` is set if byte `i` equals `byte`.
    fn positions(self, byte: u8) -> u64;

    /// Whether every byte is zero.
    fn is_zero(self) -> bool;
}

/// Sixteen bytes as two integers, which the compiler loads together.
#[allow(dead_code, reason = "the plain vector is one integer")]
#[inline(always)]
pub(super) fn halves(bytes: &[u8], at: usize) -> Option<[u64; 2]> {
    let all = u128::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    Some([all as u64, (all >> 64) as u64])
}
