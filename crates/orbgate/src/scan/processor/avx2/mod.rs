//! [`Wide`] with AVX2 and BMI2: nearly every other x86-64 processor of the last ten years.
//!
//! Two registers are a block. `pdep` and `pext`, which some of these processors are very slow with, are not used.
#![allow(
    unsafe_code,
    reason = "every instruction here is one that the processor has: there is no `Avx2` without it"
)]

mod gather;

use core::arch::x86_64::*;

use super::kind::{Kind, PLAIN_KIND, USUAL_KIND};
use crate::hash::DIGEST_KEYS;
use crate::scan::Mask;
use crate::scan::pieces::{self, Search};
use crate::scan::wide::{BLOCK, Marks, PLACES, Plain, Steps, Wide};

/// Proof that the processor has these instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(pub(super) ());

impl Avx2 {
    /// The proof, if it can be had.
    pub(crate) fn found_out() -> Option<Self> {
        let is_here = std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("lzcnt")
            && std::is_x86_feature_detected!("popcnt");
        is_here.then_some(Self(()))
    }
}

/// Takes steps with these instructions, compiled into them in place.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn take<S: Steps<Avx2>>(wide: Avx2, steps: S) -> S::Result {
    steps.take(wide)
}

/// The same of steps that are rare. Cold, so that they stay a call: `inline(never)` would export every one of them, and
/// the loader would have an address to adjust for each.
#[cold]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn take_rare<S: Steps<Avx2>>(wide: Avx2, steps: S) -> S::Result {
    steps.take(wide)
}

/// 64 bytes.
type Block = [__m256i; 2];

impl Search for Avx2 {
    #[inline(always)]
    fn has_piece(self, text: &[u8], piece: &[u8]) -> bool {
        // A text is searched in less time than it takes to gather a piece.
        pieces::has_piece(text, piece)
    }

    #[inline(always)]
    fn aside<S: Steps<Self>>(self, steps: S) -> S::Result {
        // Taken in place: this search needs few registers.
        steps.take(self)
    }
}

// SAFETY, of every block below: `self` is the proof that the processor has the instructions. Those that
// read memory say how much of what.
impl Wide for Avx2 {
    type Block = Block;
    type Hints = [__m128i; 2];

    #[inline(always)]
    fn rarely<S: Steps<Self>>(self, steps: S) -> S::Result {
        // SAFETY: `self` is the proof that the processor has the features that `take_rare` names.
        unsafe { take_rare(self, steps) }
    }

    #[inline(always)]
    fn apart<S: Steps<Self>>(self, steps: S) -> S::Result {
        // SAFETY: `self` is the proof that the processor has the features that `take` names.
        unsafe { take(self, steps) }
    }

    #[inline(always)]
    fn load(self, bytes: &[u8]) -> Block {
        let bytes = bytes.get(..BLOCK).unwrap_or(bytes);
        let (words, rest) = ((bytes.len() / 4) as i32, after_words(bytes));
        // SAFETY: the bytes have so many words.
        unsafe {
            [
                words_from::<0>(bytes, words, rest),
                words_from::<8>(bytes, words, rest),
            ]
        }
    }

    #[inline(always)]
    fn marks(self, block: Block) -> Marks {
        let [low, high] = block;
        // SAFETY: see above; no memory is read.
        let stops = unsafe {
            let one = _mm256_set1_epi8(1);
            [_mm256_or_si256(low, one), _mm256_or_si256(high, one)]
        };
        Marks {
            slashes: same(block, b'/'),
            stops: same(stops, b'.' | 1),
            unusual: any_other(block, &USUAL_KIND),
        }
    }

    #[inline(always)]
    fn same(self, block: Block, byte: u8) -> u64 {
        same(block, byte)
    }

    #[inline(always)]
    fn unusual(self, block: Block) -> u64 {
        other(block, &USUAL_KIND)
    }

    #[inline(always)]
    fn invisible(self, block: Block) -> u64 {
        !within(block, 0x21, 94)
    }

    #[inline(always)]
    fn illegal(self, block: Block) -> u64 {
        other(block, &PLAIN_KIND)
    }

    #[inline(always)]
    fn folded(self, [low, high]: Block) -> Block {
        // SAFETY: see above; no memory is read.
        unsafe {
            let bit = _mm256_set1_epi8(0x20);
            [_mm256_or_si256(low, bit), _mm256_or_si256(high, bit)]
        }
    }

    #[inline(always)]
    fn hints<M: Mask, const FOURS: usize>(self, blocks: [Block; 2], slashes: M) -> Self::Hints {
        gather::hints::<M, FOURS>(blocks, slashes)
    }

    #[inline(always)]
    fn four<const AT: usize>(self, [low, high]: Self::Hints) -> u64 {
        // SAFETY: see above; no memory is read.
        let four = unsafe {
            match AT {
                0 => _mm_cvtsi128_si64(low),
                1 => _mm_extract_epi64::<1>(low),
                2 => _mm_cvtsi128_si64(high),
                _ => _mm_extract_epi64::<1>(high),
            }
        };
        four.cast_unsigned()
    }

    #[inline(always)]
    fn without<M: Mask, const FOURS: usize>(
        self,
        blocks: [Block; 2],
        path: M,
        slashes: M,
        segments: u64,
    ) -> Block {
        gather::without::<M, FOURS>(blocks, path, slashes, segments)
    }

    #[inline(always)]
    fn before(self, end: usize) -> u64 {
        // SAFETY: see above; no memory is read.
        unsafe { _bzhi_u64(u64::MAX, end.min(BLOCK) as u32) }
    }

    #[inline(always)]
    fn are_same(self, [low, high]: Block, [other_low, other_high]: Block) -> bool {
        // SAFETY: see above; no memory is read.
        unsafe {
            let differ = _mm256_or_si256(
                _mm256_xor_si256(low, other_low),
                _mm256_xor_si256(high, other_high),
            );
            _mm256_testz_si256(differ, differ) == 1
        }
    }

    #[inline(always)]
    fn whole(self, bytes: &[u8; BLOCK]) -> Block {
        read(bytes)
    }

    #[inline(always)]
    fn bytes(self, block: Block) -> [u8; BLOCK] {
        let mut bytes = [0; BLOCK];
        write(&mut bytes, block);
        bytes
    }

    #[inline(always)]
    fn digest(self, block: Block) -> u64 {
        // SAFETY: see above; the keys are a whole block.
        unsafe {
            let [low, high] = block;
            let keys: *const __m256i = DIGEST_KEYS.as_ptr().cast();
            let low = _mm256_add_epi32(low, _mm256_loadu_si256(keys));
            let high = _mm256_add_epi32(high, _mm256_loadu_si256(keys.add(1)));
            let low = _mm256_mul_epu32(low, _mm256_srli_epi64::<32>(low));
            let high = _mm256_mul_epu32(high, _mm256_srli_epi64::<32>(high));
            let sums = _mm256_add_epi64(low, high);
            let sums = _mm_add_epi64(
                _mm256_castsi256_si128(sums),
                _mm256_extracti128_si256::<1>(sums),
            );
            let sum = _mm_cvtsi128_si64(sums).wrapping_add(_mm_extract_epi64::<1>(sums));
            sum.cast_unsigned()
        }
    }

    #[inline(always)]
    fn supersets(self, sets: &[u16; PLACES], part: u64) -> u16 {
        // SAFETY: see above; the sets are as long as the register.
        unsafe {
            let sets = _mm256_loadu_si256(sets.as_ptr().cast());
            let part = _mm256_set1_epi16(part as i16);
            let missing = _mm256_andnot_si256(sets, part);
            let contain = _mm256_cmpeq_epi16(missing, _mm256_setzero_si256());
            let more = _mm256_andnot_si256(_mm256_cmpeq_epi16(sets, part), contain);
            let more = _mm_packs_epi16(
                _mm256_castsi256_si128(more),
                _mm256_extracti128_si256::<1>(more),
            );
            _mm_movemask_epi8(more) as u16
        }
    }

    #[inline(always)]
    fn word(self, bytes: &[u8]) -> u64 {
        let last = bytes.len().wrapping_sub(2);
        if last > 5 {
            return Plain.word(bytes);
        }
        // Four pairs, which overlap where there are fewer than seven: all of it is in there.
        let pair = |at: usize| {
            let at = at.min(last);
            let pair = bytes.get(at..).and_then(<[u8]>::first_chunk).copied();
            u64::from(u16::from_le_bytes(pair.unwrap_or_default()))
                .wrapping_shl((at as u32).wrapping_mul(8))
        };
        pair(0) | pair(2) | pair(4) | pair(5) | (bytes.len() as u64) << 56
    }
}

#[inline(always)]
fn read(bytes: &[u8; BLOCK]) -> Block {
    // SAFETY: only `Avx2` calls it; the bytes are a whole one and may stand anywhere.
    unsafe {
        let bytes: *const __m256i = bytes.as_ptr().cast();
        [_mm256_loadu_si256(bytes), _mm256_loadu_si256(bytes.add(1))]
    }
}

#[inline(always)]
fn write(bytes: &mut [u8; BLOCK], [low, high]: Block) {
    // SAFETY: there is no block without the proof; the bytes are a whole one and may stand anywhere.
    unsafe {
        let bytes: *mut __m256i = bytes.as_mut_ptr().cast();
        _mm256_storeu_si256(bytes, low);
        _mm256_storeu_si256(bytes.add(1), high);
    }
}

/// What of some bytes is behind their last whole word of four, and slashes.
#[inline(always)]
fn after_words(bytes: &[u8]) -> i32 {
    const SLASHES: u64 = u32::from_le_bytes([b'/'; 4]) as u64;
    let last = match bytes.last_chunk() {
        Some(last) => u64::from(u32::from_le_bytes(*last)),
        // As if something stood before fewer than four bytes.
        None => bytes
            .iter()
            .fold(0, |word, byte| word >> 8 | u64::from(*byte) << 24),
    };
    let missing = 4_usize.wrapping_sub(bytes.len() % 4) as u32;
    (SLASHES << 32 | last).wrapping_shr(missing.wrapping_mul(8)) as i32
}

/// The words of four bytes from `FROM` on: so many that are whole, the rest, and slashes.
///
/// # Safety
///
/// The bytes have so many whole words.
#[inline(always)]
unsafe fn words_from<const FROM: i32>(bytes: &[u8], words: i32, rest: i32) -> __m256i {
    // SAFETY: only `Avx2` calls it; words that are masked out are not read, and the others are there.
    unsafe {
        let places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let places = _mm256_add_epi32(places, _mm256_set1_epi32(FROM));
        let words = _mm256_set1_epi32(words);
        let from = bytes.as_ptr().cast::<i32>().wrapping_offset(FROM as isize);
        let whole = _mm256_maskload_epi32(from, _mm256_cmpgt_epi32(words, places));
        let rest = _mm256_and_si256(_mm256_set1_epi32(rest), _mm256_cmpeq_epi32(words, places));
        let slashes = _mm256_set1_epi8(b'/'.cast_signed());
        let slashes = _mm256_and_si256(slashes, _mm256_cmpgt_epi32(places, words));
        _mm256_or_si256(_mm256_or_si256(whole, rest), slashes)
    }
}

/// One bit for each byte of a block: the highest.
#[inline(always)]
fn bits(low: __m256i, high: __m256i) -> u64 {
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe {
        let low = _mm256_movemask_epi8(low).cast_unsigned();
        let high = _mm256_movemask_epi8(high).cast_unsigned();
        u64::from(high) << 32 | u64::from(low)
    }
}

/// Where a block has any other byte.
#[inline(always)]
fn other([low, high]: Block, kind: &'static Kind) -> u64 {
    bits(other_half(low, kind), other_half(high, kind))
}

/// Any bits if a block has any other byte.
#[inline(always)]
fn any_other([low, high]: Block, kind: &'static Kind) -> u64 {
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe {
        let others = _mm256_or_si256(other_half(low, kind), other_half(high, kind));
        _mm256_movemask_epi8(others).cast_unsigned().into()
    }
}

#[inline(always)]
fn other_half(half: __m256i, kind: &'static Kind) -> __m256i {
    // SAFETY: there is no block without the proof; the tables are as long as what is read of them.
    unsafe {
        let kinds = _mm256_broadcastsi128_si256(_mm_loadu_si128(kind.0.as_ptr().cast()));
        let bits = _mm256_broadcastsi128_si256(_mm_loadu_si128(Kind::BITS.as_ptr().cast()));
        let uppers = _mm256_and_si256(_mm256_srli_epi16::<4>(half), _mm256_set1_epi8(15));
        let is_kind = _mm256_and_si256(
            _mm256_shuffle_epi8(kinds, half),
            _mm256_shuffle_epi8(bits, uppers),
        );
        _mm256_cmpeq_epi8(is_kind, _mm256_setzero_si256())
    }
}

/// Where a block has a byte.
#[inline(always)]
fn same([low, high]: Block, byte: u8) -> u64 {
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe {
        let byte = _mm256_set1_epi8(byte.cast_signed());
        bits(_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
    }
}

/// Where a block has one of `count` bytes from `first` on.
#[inline(always)]
fn within([low, high]: Block, first: u8, count: u8) -> u64 {
    bits(
        within_half(low, first, count),
        within_half(high, first, count),
    )
}

#[inline(always)]
fn within_half(half: __m256i, first: u8, count: u8) -> __m256i {
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe {
        let moved = _mm256_sub_epi8(half, _mm256_set1_epi8(first.cast_signed()));
        let last = _mm256_set1_epi8(count.wrapping_sub(1).cast_signed());
        _mm256_cmpeq_epi8(_mm256_min_epu8(moved, last), moved)
    }
}
