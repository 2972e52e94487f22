//! [`Wide`] with AVX-512 (VBMI2) and BMI2: Intel from Ice Lake and AMD from Zen 4 on. Found out when the
//! program runs.
#![allow(
    unsafe_code,
    reason = "every instruction here is one that the processor has: there is no `Avx512` without it"
)]

use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU8, Ordering};

use super::wide::{BLOCK, Marks, Oddities, PLACES, Steps, Wide};
use super::{Mask, PLAIN, USUAL};
use crate::hash::{DIGEST_KEYS, HINT_SHIFT};

/// Proof that the processor has these instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

/// What was found out about the processor: 0 is nothing yet.
static FOUND: AtomicU8 = AtomicU8::new(0);
const ABSENT: u8 = 1;
const PRESENT: u8 = 2;

impl Avx512 {
    /// The proof, if it can be had.
    #[inline(always)]
    pub(crate) fn here() -> Option<Self> {
        match FOUND.load(Ordering::Relaxed) {
            PRESENT => Some(Self(())),
            ABSENT => None,
            _ => Self::find_out(),
        }
    }

    #[cold]
    fn find_out() -> Option<Self> {
        let is_here = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512vbmi")
            && std::is_x86_feature_detected!("avx512vbmi2")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("lzcnt")
            && std::is_x86_feature_detected!("popcnt");
        FOUND.store(if is_here { PRESENT } else { ABSENT }, Ordering::Relaxed);
        is_here.then_some(Self(()))
    }
}

/// Takes steps with these instructions, compiled into them in place.
#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
)]
fn take<S: Steps<Avx512>>(wide: Avx512, steps: S) -> S::Result {
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

// SAFETY, of every block below: `self` is the proof that the processor has the instructions. Those that
// read memory say how much of what.
impl Wide for Avx512 {
    type Block = __m512i;
    type Hints = __m256i;

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
            unusual: other(block, &USUAL_KIND),
        }
    }

    #[inline(always)]
    fn oddities(self, block: __m512i) -> Oddities {
        Oddities {
            invisible: !within(block, 0x21, 94),
            hashes: same(block, b'#'),
            questions: same(block, b'?'),
            backslashes: same(block, b'\\'),
            semicolons: same(block, b';'),
            percents: same(block, b'%'),
            illegal: other(block, &PLAIN_KIND),
        }
    }

    #[inline(always)]
    fn folded(self, block: __m512i) -> __m512i {
        // SAFETY: see above; no memory is read.
        unsafe { _mm512_or_si512(block, _mm512_set1_epi8(0x20)) }
    }

    #[inline(always)]
    fn hints<M: Mask>(self, blocks: [__m512i; 2], marks: [M; 2]) -> __m256i {
        let ([firsts, lasts], [low, high]) = (marks, blocks);
        let firsts = self.keep([moved(low), moved(high)], firsts);
        let lasts = self.keep(blocks, lasts);
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
    fn spread(self, bits: u64, marks: u64) -> u64 {
        // SAFETY: see above; no memory is read.
        unsafe { _pdep_u64(bits, marks) }
    }

    #[inline(always)]
    fn keep<M: Mask>(self, blocks: [__m512i; 2], marks: M) -> __m512i {
        let ([low, high], [first, second]) = (blocks, marks.halves());
        // SAFETY: see above; no memory is read.
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

    #[inline(always)]
    fn before(self, end: usize) -> u64 {
        // SAFETY: see above; no memory is read.
        unsafe { _bzhi_u64(u64::MAX, before(end)) }
    }

    #[inline(always)]
    fn places_of(self, block: __m512i, byte: u8) -> u64 {
        same(block, byte)
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

static USUAL_KIND: Kind = Kind::of(USUAL);
static PLAIN_KIND: Kind = Kind::of(PLAIN);

/// Characters of ASCII, as bits by the halves of a byte: bit `upper` of entry `lower`.
struct Kind([u8; 16]);

impl Kind {
    const fn of(bytes: &[u8]) -> Self {
        let (mut kind, mut rest) = ([0; 16], bytes);
        while let [byte, tail @ ..] = rest {
            assert!(byte.is_ascii());
            #[allow(
                clippy::indexing_slicing,
                reason = "evaluated by the compiler, which refuses an index out of range"
            )]
            {
                kind[(*byte & 15) as usize] |= 1 << (*byte >> 4);
            }
            rest = tail;
        }
        Self(kind)
    }
}

/// Where a block has any other byte.
#[inline(always)]
fn other(block: __m512i, kind: &'static Kind) -> u64 {
    const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: there is no block without the proof; the tables are as long as what is read of them.
    unsafe {
        let kinds = _mm512_broadcast_i32x4(_mm_loadu_si128(kind.0.as_ptr().cast()));
        let bits = _mm512_broadcast_i32x4(_mm_loadu_si128(BITS.as_ptr().cast()));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::wide::{self, Plain};
    use super::*;

    /// Bytes as targets have them, and any.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            "(/[a-zA-Z0-9._-]{0,9}){0,16}(\\?[ -~]{0,20})?".prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..130),
        ]
    }

    /// What every step makes of the same bytes, as far as it is not a block itself.
    fn steps<W: Wide, M: Mask + core::fmt::Debug>(
        wide: W,
        bytes: &[u8],
        marks: M,
        more: u64,
    ) -> String {
        let high = bytes.get(BLOCK..).unwrap_or_default();
        let blocks = [wide.load(bytes), wide.load(high)];
        let [low, _] = blocks;
        let read = |block| (wide.marks(block), wide.oddities(block));
        // What is kept is read back byte by byte.
        let bytes_of = |block| {
            (0..=u8::MAX)
                .map(|byte| wide.places_of(block, byte))
                .collect::<Vec<_>>()
        };
        let folded = blocks.map(|block| wide.folded(block));
        let few = (0..2 * PLACES).fold((M::NONE, marks), |(few, rest), _| {
            (few | rest & !rest.without_first(), rest.without_first())
        });
        let hints = wide.hints(folded, [few.0, few.0.moved_on()]);
        let fours = [
            wide.four::<0>(hints),
            wide.four::<1>(hints),
            wide.four::<2>(hints),
            wide.four::<3>(hints),
        ];
        let kept = (marks.count() <= BLOCK).then(|| bytes_of(wide.keep(blocks, marks)));
        let sets = core::array::from_fn(|at| (more >> at) as u16);
        let short = &bytes[..bytes.len().min(7)];
        format!(
            "{:?}",
            (
                blocks.map(read),
                folded.map(bytes_of),
                (kept, fours),
                (wide.spread(more, !more), wide.before(bytes.len())),
                (
                    wide.are_same(low, low),
                    wide.are_same(low, wide.folded(low))
                ),
                (wide.supersets(&sets, more & 7), wide.word(short)),
                blocks.map(|block| wide.digest(block)),
            )
        )
    }

    proptest! {
        #[test]
        fn every_step_is_as_the_plain_one(bytes in bytes(), marks: u128, few: u128, more: u64) {
            let Some(wide) = Avx512::here() else {
                // The steps are not taken on such a processor, so nothing is left to test.
                return Ok(());
            };
            for marks in [marks, marks & few] {
                prop_assert_eq!(
                    steps::<_, u128>(wide, &bytes, marks, more),
                    steps::<_, u128>(Plain, &bytes, marks, more)
                );
                prop_assert_eq!(
                    steps::<_, u64>(wide, &bytes, marks as u64, more),
                    steps::<_, u64>(Plain, &bytes, marks as u64, more)
                );
            }
        }

        #[test]
        fn pieces_are_found_as_split_finds_them(
            pieces in proptest::collection::vec("[ab ]{0,3}|[a-c:]{0,40}|scope:[0-9]{1,2}", 0..30),
            other in "[ab]{0,2}|scope:[0-9]{1,2}|[a-c:]{28,70}",
            which: proptest::sample::Index,
        ) {
            let text = pieces.join(" ");
            let mut asked = vec![other.as_bytes()];
            if !pieces.is_empty() {
                asked.push(pieces[which.index(pieces.len())].as_bytes());
            }
            asked.extend(text.as_bytes().split(|byte| *byte == b' '));
            for piece in asked.into_iter().filter(|piece| !piece.contains(&b' ')) {
                let mut split = text.as_bytes().split(|byte| *byte == b' ');
                let expected = !piece.is_empty() && split.any(|other| other == piece);
                let found = wide::has_piece(Plain, text.as_bytes(), piece);
                prop_assert_eq!(found, expected, "{:?} in {:?}", piece, text);
                if let Some(wide) = Avx512::here() {
                    let found = wide::has_piece(wide, text.as_bytes(), piece);
                    prop_assert_eq!(found, expected, "{:?} in {:?}", piece, text);
                }
            }
        }
    }
}
