//! [`Wide`] with AVX-512 (VBMI2) and BMI2: Intel from Ice Lake and AMD from Zen 4 on.
#![allow(
    unsafe_code,
    reason = "every instruction here is one that the processor has: there is no `Avx512` without it"
)]

use core::arch::x86_64::*;

use super::kind::{Kind, PLAIN_KIND, USUAL_KIND};
use crate::hash::{DIGEST_KEYS, HINT_SHIFT};
use crate::scan::Mask;
use crate::scan::pieces::{self, Pieces, Search};
use crate::scan::wide::{BLOCK, Marks, PLACES, Steps, Wide};

/// Proof that the processor has these instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(pub(super) ());

impl Avx512 {
    /// The proof, if it can be had.
    pub(crate) fn found_out() -> Option<Self> {
        let is_here = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512vbmi")
            && std::is_x86_feature_detected!("avx512vbmi2")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("lzcnt")
            && std::is_x86_feature_detected!("popcnt");
        is_here.then_some(Self(()))
    }
}

/// Takes steps with these instructions, compiled into them in place.
#[target_feature(
    enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
)]
fn take<S: Steps<Avx512>>(wide: Avx512, steps: S) -> S::Result {
    steps.take(wide)
}

/// The same of steps that are rare. Cold, so that they stay a call: `inline(never)` would export every one of them, and
/// the loader would have an address to adjust for each.
#[cold]
#[target_feature(
    enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
)]
fn take_rare<S: Steps<Avx512>>(wide: Avx512, steps: S) -> S::Result {
    steps.take(wide)
}

/// A number of bits; 64 of those that are more.
#[inline(always)]
const fn before(end: usize) -> u32 {
    if end < BLOCK {
        end as u32
    } else {
        BLOCK as u32
    }
}

impl Search for Avx512 {
    #[inline(always)]
    fn has_piece(self, text: &[u8], piece: &[u8]) -> bool {
        pieces::has_piece_wide(self, text, piece)
    }

    #[inline(always)]
    fn aside<S: Steps<Self>>(self, steps: S) -> S::Result {
        // Not rare, but a call: this search would take registers from all that needs none.
        self.rarely(steps)
    }
}

// SAFETY, of every block below: `self` is the proof that the processor has the instructions. Those that
// read memory say how much of what.
impl Wide for Avx512 {
    type Block = __m512i;
    type Hints = __m256i;

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
    fn load(self, bytes: &[u8]) -> __m512i {
        // SAFETY: the bytes past the last are masked out, and what is masked out is not read.
        unsafe {
            let mask = _bzhi_u64(u64::MAX, before(bytes.len()));
            let slashes = _mm512_set1_epi8(b'/'.cast_signed());
            _mm512_mask_loadu_epi8(slashes, mask, bytes.as_ptr().cast())
        }
    }

    #[inline(always)]
    fn marks(self, block: __m512i) -> Marks {
        // SAFETY: see above; no memory is read.
        let stops = unsafe { _mm512_or_si512(block, _mm512_set1_epi8(1)) };
        Marks {
            slashes: same(block, b'/'),
            stops: same(stops, b'.' | 1),
            unusual: self.unusual(block),
        }
    }

    #[inline(always)]
    fn same(self, block: __m512i, byte: u8) -> u64 {
        same(block, byte)
    }

    #[inline(always)]
    fn unusual(self, block: __m512i) -> u64 {
        other(block, &USUAL_KIND)
    }

    #[inline(always)]
    fn invisible(self, block: __m512i) -> u64 {
        !within(block, 0x21, 94)
    }

    #[inline(always)]
    fn illegal(self, block: __m512i) -> u64 {
        other(block, &PLAIN_KIND)
    }

    #[inline(always)]
    fn folded(self, block: __m512i) -> __m512i {
        // SAFETY: see above; no memory is read.
        unsafe { _mm512_or_si512(block, _mm512_set1_epi8(0x20)) }
    }

    #[inline(always)]
    fn hints<M: Mask, const FOURS: usize>(self, blocks: [__m512i; 2], slashes: M) -> __m256i {
        let (firsts, lasts) = (slashes.moved_on(), slashes.without_first().moved_back());
        let [low, high] = blocks;
        // Of a segment of one byte its slashes are the second ones: there are always two each.
        let firsts = keep([moved(low), moved(high)], firsts | firsts.moved_on());
        let lasts = keep(blocks, lasts | lasts.moved_back());
        // SAFETY: see above; no memory is read.
        unsafe {
            let (firsts, lasts) = (
                _mm512_castsi512_si256(firsts),
                _mm512_castsi512_si256(lasts),
            );
            _mm256_add_epi16(firsts, lasts)
        }
    }

    #[inline(always)]
    fn four<const AT: usize>(self, hints: __m256i) -> u64 {
        // SAFETY: see above; no memory is read.
        let four = unsafe {
            let (low, high) = (
                _mm256_castsi256_si128(hints),
                _mm256_extracti128_si256::<1>(hints),
            );
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
        blocks: [__m512i; 2],
        path: M,
        slashes: M,
        segments: u64,
    ) -> __m512i {
        let lasts = slashes.without_first().moved_back();
        // Each difference is the bytes from a slash on, without the last one.
        let values = spread(segments, lasts)
            .minus(spread(segments, slashes))
            .moved_on();
        keep(blocks, path & !values)
    }

    #[inline(always)]
    fn before(self, end: usize) -> u64 {
        // SAFETY: see above; no memory is read.
        unsafe { _bzhi_u64(u64::MAX, before(end)) }
    }

    #[inline(always)]
    fn are_same(self, block: __m512i, other: __m512i) -> bool {
        // SAFETY: see above; no memory is read.
        unsafe { _mm512_cmpneq_epi8_mask(block, other) == 0 }
    }

    #[inline(always)]
    fn whole(self, bytes: &[u8; BLOCK]) -> __m512i {
        // SAFETY: see above; the bytes are a whole block.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn bytes(self, block: __m512i) -> [u8; BLOCK] {
        let mut bytes = [0; BLOCK];
        // SAFETY: see above; the bytes are a whole block.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), block) };
        bytes
    }

    #[inline(always)]
    fn digest(self, block: __m512i) -> u64 {
        // SAFETY: see above; the keys are a whole block.
        unsafe {
            let keys = _mm512_loadu_si512(DIGEST_KEYS.as_ptr().cast());
            let words = _mm512_add_epi32(block, keys);
            let products = _mm512_mul_epu32(words, _mm512_srli_epi64::<32>(words));
            _mm512_reduce_add_epi64(products).cast_unsigned()
        }
    }

    #[inline(always)]
    fn supersets(self, sets: &[u16; PLACES], part: u64) -> u16 {
        // SAFETY: see above; the sets are as long as the register.
        unsafe {
            let sets = _mm256_loadu_si256(sets.as_ptr().cast());
            let part = _mm256_set1_epi16(part as i16);
            let missing = _mm256_andnot_si256(sets, part);
            _mm256_cmpneq_epi16_mask(sets, part) & !_mm256_test_epi16_mask(missing, missing)
        }
    }

    #[inline(always)]
    fn word(self, bytes: &[u8]) -> u64 {
        // SAFETY: the bytes past the last are masked out, and what is masked out is not read.
        unsafe {
            let length = bytes.len() as u64;
            let mask = _bzhi_u64(0x7f, length as u32);
            let word = _mm_maskz_loadu_epi8(mask as u16, bytes.as_ptr().cast());
            _mm_cvtsi128_si64(word).cast_unsigned() | length << 56
        }
    }
}

impl Pieces for Avx512 {
    #[inline(always)]
    fn piece(self, block: __m512i, start: usize, length: usize) -> __m512i {
        let whole = self.before(length);
        keep([block; 2], whole << (start & (BLOCK - 1)))
    }
}

/// The first 64 of the marked bytes, side by side; zeros after the last.
#[inline(always)]
fn keep<M: Mask>(blocks: [__m512i; 2], marks: M) -> __m512i {
    let ([low, high], [first, second]) = (blocks, marks.halves());
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe {
        let kept = _mm512_maskz_compress_epi8(first, low);
        if M::BITS == BLOCK {
            return kept;
        }
        let more = _mm512_maskz_compress_epi8(second, high);
        let after = !_bzhi_u64(u64::MAX, first.count_ones());
        _mm512_mask_expand_epi8(kept, after, more)
    }
}

/// The lowest bits, one for each mark, moved to where the marks are.
#[inline(always)]
fn spread<M: Mask>(bits: u64, marks: M) -> M {
    let [low, high] = marks.halves();
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe {
        let first = _pdep_u64(bits, low);
        if M::BITS == BLOCK {
            return M::of(first, 0);
        }
        M::of(first, _pdep_u64(bits.wrapping_shr(low.count_ones()), high))
    }
}

/// Each byte of a block, moved as the first ones of a hint are.
#[inline(always)]
fn moved(block: __m512i) -> __m512i {
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe {
        let moved = _mm512_slli_epi16::<HINT_SHIFT>(block);
        _mm512_and_si512(
            moved,
            _mm512_set1_epi8((u8::MAX << HINT_SHIFT).cast_signed()),
        )
    }
}

/// Where a block has any other byte.
#[inline(always)]
fn other(block: __m512i, kind: &'static Kind) -> u64 {
    // SAFETY: there is no block without the proof; the tables are as long as what is read of them.
    unsafe {
        let kinds = _mm512_broadcast_i32x4(_mm_loadu_si128(kind.0.as_ptr().cast()));
        let bits = _mm512_broadcast_i32x4(_mm_loadu_si128(Kind::BITS.as_ptr().cast()));
        let uppers = _mm512_and_si512(_mm512_srli_epi16::<4>(block), _mm512_set1_epi8(15));
        _mm512_testn_epi8_mask(
            _mm512_shuffle_epi8(kinds, block),
            _mm512_shuffle_epi8(bits, uppers),
        )
    }
}

/// Where a block has a byte.
#[inline(always)]
fn same(block: __m512i, byte: u8) -> u64 {
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe { _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(byte.cast_signed())) }
}

/// Where a block has one of `count` bytes from `first` on.
#[inline(always)]
fn within(block: __m512i, first: u8, count: u8) -> u64 {
    // SAFETY: there is no block without the proof; no memory is read.
    unsafe {
        let moved = _mm512_sub_epi8(block, _mm512_set1_epi8(first.cast_signed()));
        _mm512_cmplt_epu8_mask(moved, _mm512_set1_epi8(count.cast_signed()))
    }
}
