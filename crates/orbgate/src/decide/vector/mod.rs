//! Primitives of the fast path on a register of bytes, with one file per processor architecture. This module doesn't
//! know what a path is.
//!
//! A file uses only instructions that every processor of its architecture has. We measured AVX2, detected at run time:
//! it saved 7 % of the instructions and no time.
#![allow(clippy::as_conversions, reason = "numbers below 64 as the widths that shifts take")]

#[cfg(all(target_arch = "aarch64", not(orbgate_portable)))]
mod neon;
#[allow(dead_code, reason = "next to vectors, only tests use it")]
mod plain;
mod register;
#[cfg(all(target_arch = "x86_64", not(orbgate_portable)))]
mod sse2;
#[cfg(all(target_feature = "simd128", not(orbgate_portable)))]
mod wasm;

#[cfg(all(target_arch = "aarch64", not(orbgate_portable)))]
pub(crate) use neon::Neon as Native;
#[cfg(any(
    orbgate_portable,
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))
))]
pub(crate) use plain::Plain as Native;
#[cfg(all(test, not(orbgate_portable)))]
pub(crate) use plain::Plain;
pub(crate) use register::{BLOCK, Vector};
#[cfg(all(target_arch = "x86_64", not(orbgate_portable)))]
pub(crate) use sse2::Sse2 as Native;
#[cfg(all(target_feature = "simd128", not(orbgate_portable)))]
pub(crate) use wasm::Wasm as Native;

/// The positions of a byte in the block that starts at `base`, relative to it, in what `of` makes of each register. Positions
/// past the end of `bytes` are undefined. `None` if `bytes` don't fill one register.
#[inline(always)]
pub(crate) fn positions_in_block<V: Vector>(
    bytes: &[u8],
    base: usize,
    byte: u8,
    mut of: impl FnMut(V) -> V,
) -> Option<u64> {
    let last = bytes.len().checked_sub(V::BYTES)?;
    let positions = V::positions_in_block(byte, |offset| {
        // A read that would pass the end of `bytes` is shifted back to end there. Bytes that are read twice give the
        // same bits. Bits of bytes before the block are rotated to its end, together with all others below.
        let at = base.wrapping_add(offset).min(last);
        Some((of(V::load(bytes, at)?), at as u32))
    });
    Some(positions?.rotate_right(base as u32))
}

/// The bit of the first byte after a string in the block that starts at `base`; 0 if it isn't in that block.
#[inline(always)]
pub(crate) const fn end_in_block(length: usize, base: usize) -> u64 {
    match length.wrapping_sub(base) {
        left @ 0..BLOCK => 1 << left,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
