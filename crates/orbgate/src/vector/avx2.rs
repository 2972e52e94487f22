//! AVX2 and the bit instructions that came with it, found out when the program runs. None touches memory.
#![allow(
    unsafe_code,
    reason = "calls of instructions that the processor was found to have"
)]

use core::arch::x86_64::{
    __m256i, _mm256_cmpeq_epi8, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_set_epi64x, _mm256_set1_epi8, _mm256_sub_epi8, _mm256_subs_epu8, _mm256_testz_si256,
};

use core::sync::atomic::{AtomicU8, Ordering};

use super::{Processor, Task};

/// A processor with AVX2, BMI1 and BMI2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// This processor, if it is one.
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        let found = match FOUND.load(Ordering::Relaxed) {
            UNKNOWN => find_out(),
            found => found,
        };
        (found == YES).then_some(Self(()))
    }

    /// Runs a task as it is compiled for such a processor.
    #[inline(always)]
    pub(crate) fn run<T: Task>(self, task: T) -> T::Output {
        // SAFETY: a value of this type says that the processor has these instructions.
        unsafe { run(self, task) }
    }
}

/// What was found out, so that it takes one load to know.
static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

#[cold]
fn find_out() -> u8 {
    let is_one = std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
        && std::arch::is_x86_feature_detected!("popcnt");
    let found = if is_one { YES } else { NO };
    FOUND.store(found, Ordering::Relaxed);
    found
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn run<T: Task>(avx2: Avx2, task: T) -> T::Output {
    task.run(avx2)
}

impl Processor for Avx2 {
    type Vector = __m256i;

    const BYTES: usize = 32;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> Option<__m256i> {
        // Four parts that stand together: the compiler makes one load of them.
        let bytes: &[u8; 32] = bytes.get(at..)?.first_chunk()?;
        let [a, b, c, d] = bytes.as_chunks::<8>().0 else {
            return None;
        };
        let [a, b, c, d] = [a, b, c, d].map(|part| i64::from_le_bytes(*part));
        // SAFETY: a value of this type says that the processor has AVX2.
        Some(unsafe { _mm256_set_epi64x(d, c, b, a) })
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> __m256i {
        // SAFETY: a value of this type says that the processor has AVX2.
        unsafe { _mm256_set1_epi8(byte.cast_signed()) }
    }

    #[inline(always)]
    fn or(self, one: __m256i, other: __m256i) -> __m256i {
        // SAFETY: a value of this type says that the processor has AVX2.
        unsafe { _mm256_or_si256(one, other) }
    }

    #[inline(always)]
    fn and(self, one: __m256i, other: __m256i) -> __m256i {
        // SAFETY: a value of this type says that the processor has AVX2.
        unsafe { _mm256_min_epu8(one, other) }
    }

    #[inline(always)]
    fn outside(self, bytes: __m256i, low: u8, high: u8) -> __m256i {
        let (low, span) = (self.splat(low), self.splat(high.wrapping_sub(low)));
        // SAFETY: a value of this type says that the processor has AVX2.
        unsafe { _mm256_subs_epu8(_mm256_sub_epi8(bytes, low), span) }
    }

    #[inline(always)]
    fn positions(self, bytes: __m256i, byte: u8) -> u64 {
        let byte = self.splat(byte);
        // SAFETY: a value of this type says that the processor has AVX2.
        let bits = unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, byte)) };
        u64::from(bits.cast_unsigned())
    }

    #[inline(always)]
    fn is_zero(self, bytes: __m256i) -> bool {
        // SAFETY: a value of this type says that the processor has AVX2.
        unsafe { _mm256_testz_si256(bytes, bytes) == 1 }
    }
}
