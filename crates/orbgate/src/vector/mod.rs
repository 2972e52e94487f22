//! Bytes side by side in one register: the few primitives that the fast path is written over, and one file a
//! processor that has them. Nothing here knows what a path is.
#![allow(
    clippy::as_conversions,
    reason = "numbers below 64 as the widths that shifts take"
)]

#[cfg(all(target_arch = "x86_64", not(any(orbgate_portable, orbgate_baseline))))]
mod avx2;
#[cfg(all(target_arch = "aarch64", not(orbgate_portable)))]
mod neon;
#[cfg(any(
    test,
    orbgate_portable,
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
mod plain;
#[cfg(all(target_arch = "x86_64", not(orbgate_portable)))]
mod sse2;

#[cfg(all(target_arch = "x86_64", not(any(orbgate_portable, orbgate_baseline))))]
pub(crate) use avx2::Avx2;
#[cfg(all(target_arch = "aarch64", not(orbgate_portable)))]
pub(crate) use neon::Neon as Baseline;
#[cfg(any(
    test,
    orbgate_portable,
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
pub(crate) use plain::Plain;
#[cfg(any(
    orbgate_portable,
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
pub(crate) use plain::Plain as Baseline;
#[cfg(all(target_arch = "x86_64", not(orbgate_portable)))]
pub(crate) use sse2::Sse2 as Baseline;

/// What a processor can do with a register of bytes. Whoever has a value of such a type has such a processor.
pub(crate) trait Processor: Copy {
    /// A register.
    type Vector: Copy;

    /// How many bytes it has: 8, 16 or 32.
    const BYTES: usize;

    /// How many of them make a block.
    const IN_BLOCK: usize = in_block(Self::BYTES);

    /// The bytes from `at` on, where there are as many.
    fn load(self, bytes: &[u8], at: usize) -> Option<Self::Vector>;

    /// The same byte everywhere.
    fn splat(self, byte: u8) -> Self::Vector;

    /// The bits of both.
    fn or(self, one: Self::Vector, other: Self::Vector) -> Self::Vector;

    /// A byte is zero where that of either is, if both come from [`outside`](Processor::outside).
    fn and(self, one: Self::Vector, other: Self::Vector) -> Self::Vector;

    /// A byte is zero where it is from `low` to `high`, and another number elsewhere.
    fn outside(self, bytes: Self::Vector, low: u8, high: u8) -> Self::Vector;

    /// Bit `i` is set where byte `i` is this one.
    fn positions(self, bytes: Self::Vector, byte: u8) -> u64;

    /// Whether every byte is zero.
    fn is_zero(self, bytes: Self::Vector) -> bool;
}

const fn in_block(bytes: usize) -> usize {
    match BLOCK.checked_div(bytes) {
        Some(registers) => registers,
        None => 0,
    }
}

/// What is compiled for several processors. Mark `run` `#[inline(always)]`, so that all of it is.
pub(crate) trait Task {
    /// What comes out.
    type Output;

    /// Does it, on such a processor.
    fn run(self, processor: impl Processor) -> Self::Output;
}

/// Runs a task with the best that this processor has.
#[inline(always)]
pub(crate) fn run<T: Task>(task: T) -> T::Output {
    #[cfg(all(target_arch = "x86_64", not(any(orbgate_portable, orbgate_baseline))))]
    if let Some(avx2) = Avx2::detect() {
        return avx2.run(task);
    }
    task.run(Baseline::HERE)
}

/// How many bytes a block has: one bit each in an integer.
pub(crate) const BLOCK: usize = 64;

/// The positions of bytes in the block that starts at `base`, relative to it; `of` says those in a register. A block that is
/// known to be short takes fewer registers. Positions past the end are unknown. `None` where all bytes do not
/// fill one register.
#[inline(always)]
pub(crate) fn positions_in_block<P: Processor>(
    processor: P,
    registers: usize,
    bytes: &[u8],
    base: usize,
    mut of: impl FnMut(P::Vector) -> u64,
) -> Option<u64> {
    let last = bytes.len().checked_sub(P::BYTES)?;
    let mut positions = 0_u64;
    for step in 0..registers {
        // What would pass the end is moved back to end there: what is read twice is the same both times. What is moved back
        // past the start of the block comes around to its end.
        let at = base.wrapping_add(step.wrapping_mul(P::BYTES)).min(last);
        let bits = of(processor.load(bytes, at)?);
        positions |= bits.rotate_left(at.wrapping_sub(base) as u32);
    }
    Some(positions)
}

/// The bit of the first byte behind a text in the block that starts at `base`, if it is in there.
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
    last: usize,
}

impl<'t> Words<'t> {
    /// Of a text of eight bytes at least.
    #[inline(always)]
    pub(crate) fn of(bytes: &'t [u8]) -> Option<Self> {
        let last = bytes.len().checked_sub(8)?;
        Some(Self { bytes, last })
    }

    /// The eight bytes at a place that has as many; others of them at any other place.
    #[inline(always)]
    pub(crate) fn at(self, at: usize) -> u64 {
        // INVARIANT: eight bytes start at `last`, so the compiler needs no check.
        let word = self.bytes.get(at.min(self.last)..);
        let word = word.and_then(<[u8]>::first_chunk);
        word.map_or(0, |word| u64::from_le_bytes(*word))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Baseline, Plain, Processor};

    /// What the primitives say of the bytes at `at`, byte by byte.
    fn check<P: Processor>(
        processor: P,
        bytes: &[u8],
        at: usize,
        low: u8,
        high: u8,
    ) -> Result<(), TestCaseError> {
        let loaded = processor.load(bytes, at);
        let Some(own) = bytes.get(at..at.saturating_add(P::BYTES)) else {
            prop_assert!(loaded.is_none());
            return Ok(());
        };
        let vector = loaded.unwrap();
        for byte in [low, high, own[0], 0, 0x80, 0xff] {
            let positions = (0..P::BYTES).filter(|i| own[*i] == byte);
            let expected = positions.fold(0_u64, |bits, i| bits | 1 << i);
            prop_assert_eq!(processor.positions(vector, byte), expected);
        }
        let within = |low: u8, high: u8| move |byte: &u8| (low..=high).contains(byte);
        let is_zero = |vector: P::Vector| processor.is_zero(vector);
        let one = processor.outside(vector, low, high);
        prop_assert_eq!(is_zero(one), own.iter().all(within(low, high)));
        let other = processor.outside(vector, b'a', b'z');
        let either = |byte: &u8| within(low, high)(byte) || within(b'a', b'z')(byte);
        prop_assert_eq!(is_zero(processor.and(one, other)), own.iter().all(either));
        let both = |byte: &u8| within(low, high)(byte) && within(b'a', b'z')(byte);
        prop_assert_eq!(is_zero(processor.or(one, other)), own.iter().all(both));
        let folded = processor.or(vector, processor.splat(0x20));
        let folded = processor.outside(folded, low, high);
        let folded_within = |byte: &u8| within(low, high)(&(byte | 0x20));
        prop_assert_eq!(is_zero(folded), own.iter().all(folded_within));
        Ok(())
    }

    proptest! {
        /// Every processor's file does what its bytes say one by one, and so all do the same.
        #[test]
        fn primitives_do_what_they_say(
            bytes in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..80),
                proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'/'), b'`'..=b'{'], 0..80),
            ],
            at in 0_usize..80,
            low: u8,
            span: u8,
        ) {
            let high = low.saturating_add(span);
            check(Plain, &bytes, at, low, high)?;
            check(Baseline::HERE, &bytes, at, low, high)?;
            #[cfg(all(target_arch = "x86_64", not(any(orbgate_portable, orbgate_baseline))))]
            if let Some(avx2) = super::Avx2::detect() {
                check(avx2, &bytes, at, low, high)?;
            }
        }
    }
}
