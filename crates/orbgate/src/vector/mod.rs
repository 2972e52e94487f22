//! Bytes side by side in one register: the few primitives on which the fast path is built, and one file for each kind
//! of processor. Nothing here knows what a path is.
//!
//! A file uses only what all processors of its kind have. AVX2, detected at run time, was measured: it saved 7 % of the
//! instructions and no time.
#![allow(
    clippy::as_conversions,
    reason = "numbers below 64 as the widths that shifts take"
)]

#[cfg(all(target_arch = "aarch64", not(orbgate_portable)))]
mod neon;
#[allow(dead_code, reason = "beside vectors, only tests use it")]
mod plain;
#[cfg(all(target_arch = "x86_64", not(orbgate_portable)))]
mod sse2;
#[cfg(all(target_feature = "simd128", not(orbgate_portable)))]
mod wasm;

#[cfg(all(target_arch = "aarch64", not(orbgate_portable)))]
pub(crate) use neon::Neon as Native;
#[cfg(any(
    orbgate_portable,
    not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_feature = "simd128"
    ))
))]
pub(crate) use plain::Plain as Native;
#[cfg(all(test, not(orbgate_portable)))]
pub(crate) use plain::Plain;
#[cfg(all(target_arch = "x86_64", not(orbgate_portable)))]
pub(crate) use sse2::Sse2 as Native;
#[cfg(all(target_feature = "simd128", not(orbgate_portable)))]
pub(crate) use wasm::Wasm as Native;

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
fn halves(bytes: &[u8], at: usize) -> Option<[u64; 2]> {
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

/// How many bytes a block has: an integer has one bit for each.
pub(crate) const BLOCK: usize = 64;

/// The positions of bytes in the block that starts at `base`, relative to it; `of` gives those in a register. Only the
/// block's first `length` bytes, a power of two, are read. Positions past the end of `bytes` are unknown. `None` if
/// `bytes` do not fill one register.
#[inline(always)]
pub(crate) fn positions_in_block<V: Vector>(
    bytes: &[u8],
    base: usize,
    length: usize,
    mut of: impl FnMut(V) -> u64,
) -> Option<u64> {
    let last = bytes.len().checked_sub(V::BYTES)?;
    let mut positions = 0_u64;
    for offset in (0..length).step_by(V::BYTES) {
        // A read that would pass the end of `bytes` is moved back to end there; bytes that are read twice give the same
        // bits. Bits of bytes before the block are rotated to its end.
        let at = base.wrapping_add(offset).min(last);
        let bits = of(V::load(bytes, at)?);
        positions |= bits.rotate_left(at.wrapping_sub(base) as u32);
    }
    Some(positions)
}

/// The bit of the first byte after a text in the block that starts at `base`; 0 if it is not in that block.
#[inline(always)]
pub(crate) const fn end_in_block(length: usize, base: usize) -> u64 {
    match length.wrapping_sub(base) {
        left @ 0..BLOCK => 1 << left,
        _ => 0,
    }
}

/// Eight bytes of a text at a time, the first one lowest.
#[derive(Clone, Copy)]
pub(crate) struct Words<'t> {
    bytes: &'t [u8],
    pub(crate) last: usize,
}

impl<'t> Words<'t> {
    /// The words of a text; `None` if it has fewer than eight bytes.
    #[inline(always)]
    pub(crate) fn of(bytes: &'t [u8]) -> Option<Self> {
        let last = bytes.len().checked_sub(8)?;
        Some(Self { bytes, last })
    }

    /// The eight bytes from this place on; if fewer are left, the last eight.
    #[inline(always)]
    pub(crate) fn at(self, at: usize) -> u64 {
        // INVARIANT: eight bytes start at `last`, so the compiler needs no check.
        let word = self.bytes.get(at.min(self.last)..);
        let word = word.and_then(<[u8]>::first_chunk);
        word.map_or(0, |word| u64::from_le_bytes(*word))
    }
}

#[cfg(test)]
mod tests;
