//! Bytes gathered from a block by their places: what AVX-512 squeezes out in an instruction.
#![allow(
    unsafe_code,
    reason = "every instruction here is one that the processor has: there is no block without the proof"
)]

use core::arch::x86_64::*;
use core::hint::select_unpredictable;

use super::{Block, read};
use crate::hash::HINT_SHIFT;
use crate::scan::Mask;
use crate::scan::wide::BLOCK;
#[cfg(doc)]
use crate::scan::wide::Wide;

/// [`Wide::hints`], eight at a time.
#[inline(always)]
pub(super) fn hints<M: Mask, const FOURS: usize>(blocks: [Block; 2], slashes: M) -> [__m128i; 2] {
    let [first, second, third] = places::<M, FOURS>(slashes);
    let next = |word: u64, following: u64| word >> 8 | following << 56;
    let low = eight_hints::<M>(blocks, [first, next(first, second)]);
    match FOURS {
        1 | 2 => [low; 2],
        _ => [low, eight_hints::<M>(blocks, [second, next(second, third)])],
    }
}

/// [`Wide::without`].
#[inline(always)]
pub(super) fn without<M: Mask, const FOURS: usize>(
    blocks: [Block; 2],
    path: M,
    slashes: M,
    segments: u64,
) -> Block {
    let places = places::<M, FOURS>(slashes);
    let mut kept = Kept::all();
    let mut left = segments;
    // Few templates have more parameters. To guess wrong how many there are would cost more.
    for _ in 0..2 {
        kept.leave_out(first_segment::<FOURS>(places, left));
        left = left.without_first();
    }
    while left != 0 {
        kept.leave_out(first_segment::<FOURS>(places, left));
        left = left.without_first();
    }
    kept.of::<M>(blocks, (!path).first())
}

/// The places of slashes, a byte each; of those after the last one nothing is said.
#[inline(always)]
fn places<M: Mask, const FOURS: usize>(slashes: M) -> [u64; 3] {
    if M::BITS > BLOCK && FOURS <= 2 {
        return places_by_halves::<FOURS>(slashes.halves());
    }
    let most = const { 4 * FOURS + 1 };
    let mut places = [0; 3];
    let mut rest = slashes;
    for (eight, so_far) in places.iter_mut().zip([0, 8, 16]) {
        for shift in (0..u64::BITS).step_by(8).take(most.saturating_sub(so_far)) {
            *eight |= (rest.first() as u64).wrapping_shl(shift);
            rest = rest.without_first();
        }
    }
    places
}

/// The same of at most 16 slashes, each half on its own: the second need not wait for the first.
#[inline(always)]
fn places_by_halves<const FOURS: usize>([low, high]: [u64; 2]) -> [u64; 3] {
    const SECOND_BLOCK: u128 = u128::from_le_bytes([BLOCK as u8; 16]);
    let [first, second, _] = places::<u64, FOURS>(low);
    let low_places = u128::from(second) << 64 | u128::from(first);
    let [first, second, _] = places::<u64, FOURS>(high);
    let high_places = (u128::from(second) << 64 | u128::from(first)) | SECOND_BLOCK;
    let low_bits = low.count_ones().wrapping_mul(8);
    let rest = u128::MAX.wrapping_shl(low_bits);
    let places = low_places & !rest | high_places.wrapping_shl(low_bits);
    [places as u64, (places >> 64) as u64, 0]
}

/// Of the first of some segments: where the slash before it is, and how many bytes it has; none where there is no
/// segment.
#[inline(always)]
fn first_segment<const FOURS: usize>(places: [u64; 3], segments: u64) -> (usize, usize) {
    let at = segments.first();
    let (slash, end) = (
        place::<FOURS>(places, at),
        place::<FOURS>(places, at.wrapping_add(1)),
    );
    let length = end.wrapping_sub(slash).wrapping_sub(1);
    (slash, select_unpredictable(segments == 0, 0, length))
}

/// One of the places.
#[inline(always)]
fn place<const FOURS: usize>(places: [u64; 3], at: usize) -> usize {
    let eight = match FOURS {
        1 => 0,
        _ => at / 8,
    };
    let eight = places.get(eight).copied().unwrap_or_default();
    eight.wrapping_shr((at as u32).wrapping_mul(8)) as usize & 0xff
}

/// Which bytes are kept of some, by their places.
struct Kept {
    places: Block,
    /// How many are left out.
    removed: usize,
}

impl Kept {
    #[inline(always)]
    fn all() -> Self {
        Self {
            places: read(&FIRST_PLACES),
            removed: 0,
        }
    }

    /// Leaves out so many bytes after a place, which is behind all that were left out before.
    #[inline(always)]
    fn leave_out(&mut self, (place, length): (usize, usize)) {
        let [low, high] = self.places;
        let [first, second] = read(&FIRST_PLACES);
        // SAFETY: there is no block without the proof; no memory is read.
        unsafe {
            let after = _mm256_set1_epi8(place.wrapping_sub(self.removed) as i8);
            let length = _mm256_set1_epi8(length as i8);
            let low_length = _mm256_and_si256(_mm256_cmpgt_epi8(first, after), length);
            let high_length = _mm256_and_si256(_mm256_cmpgt_epi8(second, after), length);
            self.places = [
                _mm256_add_epi8(low, low_length),
                _mm256_add_epi8(high, high_length),
            ];
        }
        self.removed = self.removed.wrapping_add(length);
    }

    /// The first 64 of those before a place; zeros after the last.
    #[inline(always)]
    fn of<M: Mask>(&self, blocks: [Block; 2], end: usize) -> Block {
        let [low, high] = self.places;
        let [first, second] = read(&FIRST_PLACES);
        let (low, high) = (gather::<M>(blocks, low), gather::<M>(blocks, high));
        let length = end.wrapping_sub(self.removed);
        // SAFETY: there is no block without the proof; no memory is read.
        unsafe {
            let length = _mm256_set1_epi8(length as i8);
            [
                _mm256_and_si256(low, _mm256_cmpgt_epi8(length, first)),
                _mm256_and_si256(high, _mm256_cmpgt_epi8(length, second)),
            ]
        }
    }
}

/// 0, 1, 2, …
static FIRST_PLACES: [u8; BLOCK] = {
    let mut places = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        #[allow(
            clippy::indexing_slicing,
            reason = "evaluated by the compiler, which refuses an index out of range"
        )]
        {
            places[at] = at as u8;
        }
        at += 1;
    }
    places
};

/// The bytes at places, a byte each; nothing of a place from 128 on.
#[inline(always)]
fn gather<M: Mask>([low, high]: [Block; 2], places: __m256i) -> __m256i {
    let from_low = gather_one(low, places);
    if M::BITS == BLOCK {
        return from_low;
    }
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe {
        _mm256_blendv_epi8(
            from_low,
            gather_one(high, places),
            _mm256_slli_epi16::<1>(places),
        )
    }
}

/// The same of one block, where a place counts from 0 again after 64.
#[inline(always)]
fn gather_one([low, high]: Block, places: __m256i) -> __m256i {
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe {
        // Bytes are only found among sixteen. The higher bits of a place say of which.
        let (by_16, by_32) = (
            _mm256_slli_epi16::<3>(places),
            _mm256_slli_epi16::<2>(places),
        );
        let first = _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0x44>(low), places);
        let second = _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0xee>(low), places);
        let third = _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0x44>(high), places);
        let fourth = _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0xee>(high), places);
        let (low, high) = (
            _mm256_blendv_epi8(first, second, by_16),
            _mm256_blendv_epi8(third, fourth, by_16),
        );
        _mm256_blendv_epi8(low, high, by_32)
    }
}

/// The hints of eight segments, from the places of the slashes before and after each.
#[inline(always)]
fn eight_hints<M: Mask>(blocks: [Block; 2], [before, after]: [u64; 2]) -> __m128i {
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe {
        let (before, after) = (before.cast_signed(), after.cast_signed());
        let twice = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7,
        ));
        let slashes = _mm256_shuffle_epi8(_mm256_setr_epi64x(before, 0, after, 0), twice);
        // A segment's first bytes stand after one slash, its last ones before the next.
        let beside = _mm256_setr_epi64x(
            0x0201_0201_0201_0201,
            0x0201_0201_0201_0201,
            0xfffe_fffe_fffe_fffe_u64.cast_signed(),
            0xfffe_fffe_fffe_fffe_u64.cast_signed(),
        );
        let bytes = gather::<M>(blocks, _mm256_add_epi8(slashes, beside));
        let moved = _mm_slli_epi16::<{ HINT_SHIFT as i32 }>(_mm256_castsi256_si128(bytes));
        let firsts = _mm_and_si128(moved, _mm_set1_epi8((u8::MAX << HINT_SHIFT).cast_signed()));
        _mm_add_epi16(firsts, _mm256_extracti128_si256::<1>(bytes))
    }
}
