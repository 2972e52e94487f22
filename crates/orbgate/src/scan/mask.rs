//! Masks: the bits of a word, one for each byte of a piece that was looked at.

use core::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// One bit for each byte of a piece.
pub(crate) trait Mask:
    Copy + PartialEq + BitAnd<Output = Self> + BitOr<Output = Self> + BitOrAssign + Not<Output = Self>
{
    /// No bit.
    const NONE: Self;
    /// How many bits there are.
    const BITS: usize;

    /// A block's bits, moved to where the block starts.
    fn at(block: u64, start: usize) -> Self;

    /// The bits of one block or two.
    fn of(first: u64, second: u64) -> Self;

    /// The bits of the first block and of the second.
    fn halves(self) -> [u64; 2];

    /// `self - other`, without the bits that do not fit.
    fn minus(self, other: Self) -> Self;

    /// How many bits are set.
    fn count(self) -> usize;

    /// Whether a run of bits that starts at one of `starts` ends at one of `stops`.
    fn runs_into(self, starts: Self, stops: Self) -> bool;

    /// The bits before `end`, which is one of the mask or the next after it.
    fn before(end: usize) -> Self;

    /// One bit, or none past the last.
    fn bit(place: usize) -> Self;

    /// Where the first bit is, or how many bits there are.
    fn first(self) -> usize;

    /// All but the first bit.
    fn without_first(self) -> Self;

    /// Every bit one further on.
    fn moved_on(self) -> Self;

    /// Every bit one further back.
    fn moved_back(self) -> Self;

    /// Whether there is a bit at a place.
    fn has(self, place: usize) -> bool;
}

macro_rules! mask {
    ($($word:ident)*) => {$(
        impl Mask for $word {
            const NONE: Self = 0;
            const BITS: usize = Self::BITS as usize;

            #[inline(always)]
            fn at(block: u64, start: usize) -> Self {
                Self::from(block).wrapping_shl(start as u32)
            }

            #[inline(always)]
            fn of(first: u64, second: u64) -> Self {
                (u128::from(second) << 64 | u128::from(first)) as Self
            }

            #[inline(always)]
            fn halves(self) -> [u64; 2] {
                [self as u64, (self as u128 >> 64) as u64]
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn count(self) -> usize {
                self.count_ones() as usize
            }

            #[inline(always)]
            fn runs_into(self, starts: Self, stops: Self) -> bool {
                // The carry of the addition goes through each such run and clears it.
                let cleared = self & !self.wrapping_add(self & starts);
                cleared & stops != 0
            }

            #[inline(always)]
            fn before(end: usize) -> Self {
                match end {
                    end if end < <Self as Mask>::BITS => Self::MAX.wrapping_shl(end as u32) ^ Self::MAX,
                    _ => Self::MAX,
                }
            }

            #[inline(always)]
            fn bit(place: usize) -> Self {
                Self::from(place < <Self as Mask>::BITS).wrapping_shl(place as u32)
            }

            #[inline(always)]
            fn first(self) -> usize {
                self.trailing_zeros() as usize
            }

            #[inline(always)]
            fn without_first(self) -> Self {
                self & self.wrapping_sub(1)
            }

            #[inline(always)]
            fn moved_on(self) -> Self {
                self << 1
            }

            #[inline(always)]
            fn moved_back(self) -> Self {
                self >> 1
            }

            #[inline(always)]
            fn has(self, place: usize) -> bool {
                self.wrapping_shr(place as u32) & 1 == 1
            }
        }
    )*};
}

mask! { u64 u128 }
