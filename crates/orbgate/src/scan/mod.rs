//! Reading bytes many at a time: a target's slashes, dots and unusual bytes as masks of bits, the words
//! of its segments, and the pieces of a scope text.
//!
//! The one module of the core that may use `unsafe`: on x86-64 [`sse2`] reads 16 bytes at a time with
//! instructions that every such processor has, and [`Window::words`] reads eight without a slice's
//! checks. [`portable`] has the safe twins, for every other processor (and for this one with
//! `--cfg orbgate_portable`, which measures and tests them); property tests hold each to its twin or to
//! the same read byte by byte. [`processor`] reads 64 at a time where the processor can; [`wide`] has its
//! safe twin. (`--cfg orbgate_narrow` leaves it out, `--cfg orbgate_without_avx512` the widest registers.)
#![allow(
    clippy::as_conversions,
    reason = "places in a piece are far below 2³², and so are numbers of bits"
)]
#![cfg_attr(
    target_arch = "x86_64",
    allow(unsafe_code, reason = "see each block; the masks have safe twins")
)]

mod mask;
mod pieces;
#[cfg(any(test, orbgate_portable, not(target_arch = "x86_64")))]
mod portable;
#[cfg(all(target_arch = "x86_64", not(any(orbgate_portable, orbgate_narrow))))]
pub(crate) mod processor;
#[cfg(all(target_arch = "x86_64", not(orbgate_portable)))]
mod sse2;
pub(crate) mod wide;

pub(crate) use mask::Mask;
pub(crate) use pieces::{Narrow, Search};
#[cfg(any(orbgate_portable, not(target_arch = "x86_64")))]
use portable as blocks;
#[cfg(all(target_arch = "x86_64", not(orbgate_portable)))]
use sse2 as blocks;

/// Fewest bytes that can be read at a time.
const BLOCK: usize = 16;

/// A piece of a target: at least 16 bytes, at most as many as the mask has bits.
#[derive(Clone, Copy)]
pub(crate) struct Window<'t, M> {
    bytes: &'t [u8],
    /// Where the path ends, within the bytes.
    end: usize,
    slashes: M,
    dots: M,
}

impl<'t, M: Mask> Window<'t, M> {
    /// Looks at every byte once. `None` for a piece that is too short or too long, and for one with
    /// unusual bytes: anything but letters, digits, `-`, `.`, `/` and `_`, up to a query that is in order.
    #[inline(always)]
    pub(crate) fn of(bytes: &'t [u8]) -> Option<Self> {
        if bytes.len() < BLOCK || bytes.len() > M::BITS {
            return None;
        }
        let (mut slashes, mut dots, mut unusual) = (M::NONE, M::NONE, 0);
        // Overlapping blocks, always as many as fill the mask: no loop whose end a processor has to guess.
        for first in (0..M::BITS).step_by(4 * BLOCK) {
            let last = bytes.len().saturating_sub(BLOCK);
            let starts =
                [0, BLOCK, 2 * BLOCK, 3 * BLOCK].map(|at| last.min(first.saturating_add(at)));
            let mut four = [[0; BLOCK]; 4];
            for (block, start) in four.iter_mut().zip(starts) {
                *block = *bytes.get(start..).and_then(<[u8]>::first_chunk)?;
            }
            for (block, start) in blocks::marks_of_four(&four).into_iter().zip(starts) {
                slashes |= M::at(block.slashes, start);
                dots |= M::at(block.dots, start);
                unusual |= block.unusual;
            }
        }
        let mut end = bytes.len();
        if unusual != 0 {
            end = query_start(bytes)?;
            slashes = slashes & M::before(end);
            dots = dots & M::before(end);
        }
        Some(Self {
            bytes,
            end,
            slashes,
            dots,
        })
    }

    /// Where the path ends.
    #[inline(always)]
    pub(crate) const fn end(&self) -> usize {
        self.end
    }

    /// Where the slashes are.
    #[inline(always)]
    pub(crate) const fn slashes(&self) -> M {
        self.slashes
    }

    /// Whether a segment is empty (as after a slash at the end), or starts with a dot.
    #[inline(always)]
    pub(crate) fn has_odd_segment(&self) -> bool {
        let odd = self.slashes.moved_on() & (self.slashes | self.dots);
        odd != M::NONE || self.slashes.has(self.end.wrapping_sub(1))
    }

    /// Whether a segment is empty.
    pub(crate) fn has_empty_segment(&self) -> bool {
        let empty = self.slashes.moved_on() & self.slashes;
        empty != M::NONE || self.slashes.has(self.end.wrapping_sub(1))
    }

    /// A segment.
    pub(crate) fn segment(&self, start: usize, stop: usize) -> Option<&'t [u8]> {
        self.bytes.get(start..stop)
    }

    /// The first and the last eight bytes up to `stop`, which ends the path at the latest: `first` from
    /// `start` on, or the same as `last` where it would reach beyond `stop`.
    ///
    /// Where fewer than eight bytes stand before `stop`, `last` is the window's first eight.
    #[inline(always)]
    #[allow(
        unsafe_code,
        reason = "what a slice would check twice for each segment is plain here"
    )]
    pub(crate) fn words(&self, start: usize, stop: usize) -> (u64, u64) {
        let before = stop.min(self.end).saturating_sub(8);
        let word = |place: usize| {
            // SAFETY: place <= before, and before + 8 <= end <= bytes.len() or before is 0, and there
            // are at least 16 bytes. They may stand anywhere (`read_unaligned`).
            let word = unsafe {
                self.bytes
                    .as_ptr()
                    .add(place)
                    .cast::<[u8; 8]>()
                    .read_unaligned()
            };
            u64::from_le_bytes(word)
        };
        (word(start.min(before)), word(before))
    }
}

/// Where a query starts that is in order, if it is the first that is unusual and not the first of all.
#[cold]
fn query_start(bytes: &[u8]) -> Option<usize> {
    let start = usual(bytes, |_| {});
    let query = bytes.get(start..)?;
    if query.first() != Some(&b'?') {
        return None;
    }
    let is_in_order = query.iter().fold(true, |fine, byte| fine & is_query(*byte));
    (is_in_order && start > 0).then_some(start)
}

/// Visits the slashes of bytes of any number, up to the first that is unusual, and says where that is.
#[inline(always)]
pub(crate) fn usual(bytes: &[u8], mut visit: impl FnMut(usize)) -> usize {
    let mut at = 0_usize;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let marks = blocks::marks(block);
        // The bit above the block ends it where nothing is unusual.
        let usual = (marks.unusual | 1 << BLOCK).trailing_zeros() as usize;
        let mut slashes = marks.slashes & u64::before(usual);
        while slashes != 0 {
            visit(at.saturating_add(slashes.first()));
            slashes = slashes.without_first();
        }
        at = at.saturating_add(usual);
        if usual < BLOCK {
            return at;
        }
    }
    for byte in bytes.get(at..).unwrap_or_default() {
        if !is_usual(*byte) {
            break;
        }
        if *byte == b'/' {
            visit(at);
        }
        at = at.saturating_add(1);
    }
    at
}

/// What is where in a block: bit `i` speaks of byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    /// `/`
    slashes: u64,
    /// `.`
    dots: u64,
    /// Anything that is not usual.
    unusual: u64,
}

/// Letters, digits, `-`, `.`, `/` and `_`.
const fn is_usual(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/' | b'_')
}

/// `/` and the characters that RFC 3986 allows raw in a path, but for `;` and `%`.
#[inline(always)]
pub(crate) fn is_plain(byte: u8) -> bool {
    CLASSES.get(usize::from(byte)) == Some(&true)
}

/// Which bytes are plain.
static CLASSES: [bool; 256] = {
    let mut classes = [false; 256];
    let mut rest = PLAIN;
    while let [byte, tail @ ..] = rest {
        #[allow(
            clippy::indexing_slicing,
            clippy::as_conversions,
            reason = "evaluated by the compiler, which refuses an index out of range"
        )]
        {
            classes[*byte as usize] = true;
        }
        rest = tail;
    }
    classes
};

const PLAIN: &[u8] =
    b"/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,=:@";

/// Any byte of a query: visible ASCII, but for `#`.
pub(crate) const fn is_query(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'#'
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    reason = "a test stops at its first surprise"
)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_classed_as_rfc_3986_has_it() {
        for byte in 0..=u8::MAX {
            let sub_delims_and_more = b"!$&'()*+,=:@-._~/".contains(&byte);
            assert_eq!(
                is_plain(byte),
                byte.is_ascii_alphanumeric() || sub_delims_and_more,
                "{byte:#x}"
            );
        }
    }

    /// What the marks mean, byte by byte.
    fn plainly(block: &[u8]) -> Marks {
        let mask = |of: &dyn Fn(u8) -> bool| {
            let bits = block.iter().enumerate();
            bits.fold(0, |mask, (at, byte)| mask | u64::from(of(*byte)) << at)
        };
        Marks {
            slashes: mask(&|byte| byte == b'/'),
            dots: mask(&|byte| byte == b'.'),
            unusual: mask(&|byte| !is_usual(byte)),
        }
    }

    #[test]
    fn every_byte_at_every_place() {
        // An interpreter that looks for bad reads needs only some: every byte is read alike.
        let step = if cfg!(miri) { 51 } else { 1 };
        for byte in (0..=u8::MAX).step_by(step) {
            for at in 0..BLOCK {
                let mut block = [b'x'; BLOCK];
                block[at] = byte;
                assert_eq!(blocks::marks(&block), plainly(&block), "{byte:#x} at {at}");
                assert_eq!(
                    portable::marks(&block),
                    plainly(&block),
                    "{byte:#x} at {at}"
                );
                let four = portable::marks_of_four(&[block; 4]);
                assert_eq!(four, [plainly(&block); 4], "{byte:#x} at {at}");
                let spaces = u64::from(byte == b' ') << at;
                assert_eq!(blocks::spaces(&block), spaces, "{byte:#x} at {at}");
                assert_eq!(portable::spaces(&block), spaces, "{byte:#x} at {at}");
            }
        }
    }

    /// A window against the same read byte by byte.
    fn check<M: Mask + core::fmt::Debug>(bytes: &[u8]) {
        let path = bytes.split(|byte| *byte == b'?').next().unwrap_or_default();
        let query = &bytes[path.len()..];
        let is_plain = (BLOCK..=M::BITS).contains(&bytes.len())
            && path.iter().all(|byte| is_usual(*byte))
            && query.iter().all(|byte| is_query(*byte))
            && !path.is_empty();
        let Some(window) = Window::<M>::of(bytes) else {
            assert!(!is_plain, "{bytes:?}");
            return;
        };
        assert!(is_plain, "{bytes:?}");
        assert_eq!(window.end(), path.len());
        let at = |of: u8| {
            let places = path.iter().enumerate().filter(|(_, byte)| **byte == of);
            places.fold(M::NONE, |mask, (at, _)| mask | M::bit(at))
        };
        assert_eq!(window.slashes, at(b'/'));
        assert_eq!(window.dots, at(b'.'));
        let segments = || path.split(|byte| *byte == b'/').skip(1);
        let odd = segments().any(|segment| segment.is_empty() || segment[0] == b'.');
        assert_eq!(window.has_odd_segment(), odd, "{bytes:?}");
        assert_eq!(window.has_empty_segment(), segments().any(<[u8]>::is_empty));
        for start in 0..bytes.len() {
            for stop in start..=path.len() {
                let (first, last) = window.words(start, stop);
                if stop >= 8 {
                    assert_eq!(last.to_le_bytes(), bytes[stop - 8..stop]);
                    let from = start.min(stop - 8);
                    assert_eq!(first.to_le_bytes(), bytes[from..from + 8]);
                }
            }
            // Whatever is asked for, nothing outside is read.
            let _ = window.words(start, usize::MAX);
        }
    }

    proptest! {
        #[test]
        fn usual_bytes_are_followed_to_their_end(bytes in "[a-z/.]{0,40}[a-z/.~?]{0,40}") {
            let bytes = bytes.as_bytes();
            let mut slashes = Vec::new();
            let end = usual(bytes, |slash| slashes.push(slash));
            prop_assert_eq!(end, bytes.iter().position(|byte| !is_usual(*byte)).unwrap_or(bytes.len()));
            prop_assert!(slashes.into_iter().eq((0..end).filter(|at| bytes[*at] == b'/')));
        }

        #[test]
        fn a_window_shows_what_is_there(
            bytes in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..130),
                "(/[a-z0-9._-]{0,12}){0,12}(\\?[!-~]{0,20})?".prop_map(String::into_bytes),
                "[a-zA-Z/.]{16,128}".prop_map(String::into_bytes),
            ],
        ) {
            check::<u64>(&bytes);
            check::<u128>(&bytes);
        }

        #[test]
        fn both_ways_mark_what_is_there(four: [[u8; BLOCK]; 4]) {
            let plain = four.map(|block| plainly(&block));
            prop_assert_eq!(blocks::marks_of_four(&four), plain);
            prop_assert_eq!(portable::marks_of_four(&four), plain);
            for block in four {
                prop_assert_eq!(blocks::spaces(&block), portable::spaces(&block));
                prop_assert_eq!(blocks::marks(&block), plainly(&block));
                prop_assert_eq!(portable::marks(&block), plainly(&block));
            }
        }
    }
}
