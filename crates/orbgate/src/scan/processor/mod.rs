//! Which wide registers the processor has: found out when the program runs. [`avx512`] and [`avx2`] take the steps of
//! [`Wide`](super::wide::Wide) with them.

mod avx2;
mod avx512;
mod kind;
#[cfg(test)]
mod twins;

use core::sync::atomic::{AtomicU8, Ordering};

pub(crate) use self::avx2::Avx2;
pub(crate) use self::avx512::Avx512;

/// The widest registers, with the proof that they are there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Processor {
    /// Those of 64 bytes.
    Avx512(Avx512),
    /// Those of 32 bytes.
    Avx2(Avx2),
    /// None that are of use here.
    Other,
}

/// What was found out: 0 is nothing yet.
static FOUND: AtomicU8 = AtomicU8::new(0);
const AVX512: u8 = 1;
const AVX2: u8 = 2;
const OTHER: u8 = 3;

impl Processor {
    /// This one.
    #[inline(always)]
    pub(crate) fn here() -> Self {
        match FOUND.load(Ordering::Relaxed) {
            AVX512 => Self::Avx512(Avx512(())),
            AVX2 => Self::Avx2(Avx2(())),
            OTHER => Self::Other,
            _ => Self::find_out(),
        }
    }

    /// The widest of all, if it is known that they are there.
    #[inline(always)]
    pub(crate) fn avx512() -> Option<Avx512> {
        (FOUND.load(Ordering::Relaxed) == AVX512).then_some(Avx512(()))
    }

    #[cold]
    fn find_out() -> Self {
        // Left out to test and measure what other processors do.
        if let Some(wide) = Avx512::found_out().filter(|_| !cfg!(orbgate_without_avx512)) {
            FOUND.store(AVX512, Ordering::Relaxed);
            return Self::Avx512(wide);
        }
        if let Some(wide) = Avx2::found_out() {
            FOUND.store(AVX2, Ordering::Relaxed);
            return Self::Avx2(wide);
        }
        FOUND.store(OTHER, Ordering::Relaxed);
        Self::Other
    }
}
