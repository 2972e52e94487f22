//! The interface that each architecture's file implements.
#![allow(clippy::as_conversions, reason = "the halves of an integer")]

/// The number of bytes in a block: one for each bit of an integer.
pub(crate) const BLOCK: usize = 64;

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

    /// The positions in a block, whose registers `read` returns for each offset with the bits to rotate theirs to the left by.
    #[inline(always)]
    fn positions_in_block(byte: u8, mut read: impl FnMut(usize) -> Option<(Self, u32)>) -> Option<u64> {
        let mut positions = 0_u64;
        for offset in (0..BLOCK).step_by(Self::BYTES) {
            let (register, turn) = read(offset)?;
            positions |= register.positions(byte).rotate_left(turn);
        }
        Some(positions)
    }

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
