//! A target of fewer than 128 bytes as one or two blocks of 64, looked at whole: what processors with wide
//! registers do in an instruction or two.
//!
//! [`Wide`] names the steps. [`super::processor`] takes them on the processors that can; [`Plain`] is the
//! safe twin, byte by byte, which says what each step means and which the tests hold the others to.

use super::Mask;
use super::pieces::{self, Pieces, Search};
use crate::hash;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// How many segments below the common prefix are looked at; a path with more goes another way.
pub(crate) const PLACES: usize = 16;

/// What is where in a block: bit `i` speaks of byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// `/`
    pub(crate) slashes: u64,
    /// `.` and `/`
    pub(crate) stops: u64,
    /// Any bits if there is anything but letters, digits, `-`, `.`, `/` and `_`; they do not say where.
    pub(crate) unusual: u64,
}

/// What is where in a block that has something unusual: bit `i` speaks of byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Oddities {
    /// Anything outside visible ASCII.
    pub(crate) invisible: u64,
    /// `#`
    pub(crate) hashes: u64,
    /// `?`
    pub(crate) questions: u64,
    /// `\`
    pub(crate) backslashes: u64,
    /// `;`
    pub(crate) semicolons: u64,
    /// `%`
    pub(crate) percents: u64,
    /// Anything that a path can never have as it stands.
    pub(crate) illegal: u64,
}

/// What to do with a kind of [`Wide`]. (A closure would not be compiled for the right processor.)
pub(crate) trait Steps<W> {
    /// What comes of it.
    type Result;

    /// Does it; always inlined.
    fn take(self, wide: W) -> Self::Result;
}

/// The steps. Where two blocks are taken, the second counts only if the mask has bits for it.
pub(crate) trait Wide: Search {
    /// 64 bytes.
    type Block: Copy;
    /// The hints of up to 16 segments.
    type Hints: Copy;

    /// Takes steps, compiled for the processor, in a call of its own.
    fn apart<S: Steps<Self>>(self, steps: S) -> S::Result;

    /// The same within other steps: what is rare shall not cost what is common its registers.
    fn rarely<S: Steps<Self>>(self, steps: S) -> S::Result;

    /// The first 64 of the bytes; slashes after the last.
    fn load(self, bytes: &[u8]) -> Self::Block;

    /// What is where.
    fn marks(self, block: Self::Block) -> Marks;

    /// Where a byte is.
    fn same(self, block: Self::Block, byte: u8) -> u64;

    /// Where anything is but letters, digits, `-`, `.`, `/` and `_`.
    fn unusual(self, block: Self::Block) -> u64;

    /// Where anything is outside visible ASCII.
    fn invisible(self, block: Self::Block) -> u64;

    /// Where anything is that a path can never have as it stands.
    fn illegal(self, block: Self::Block) -> u64;

    /// What is where that is unusual.
    #[inline(always)]
    fn oddities(self, block: Self::Block) -> Oddities {
        Oddities {
            invisible: self.invisible(block),
            hashes: self.same(block, b'#'),
            questions: self.same(block, b'?'),
            backslashes: self.same(block, b'\\'),
            semicolons: self.same(block, b';'),
            percents: self.same(block, b'%'),
            illegal: self.illegal(block),
        }
    }

    /// The block with the bit set that tells small letters from capitals.
    fn folded(self, block: Self::Block) -> Self::Block;

    /// [`hash::hint`] of the segments that begin after the slashes, none of which is empty; at most so many times
    /// four. `blocks` are folded. What stands after the last one, which only ends a segment, means nothing.
    fn hints<M: Mask, const FOURS: usize>(
        self,
        blocks: [Self::Block; 2],
        slashes: M,
    ) -> Self::Hints;

    /// The first four hints side by side, the next four, and so on.
    fn four<const AT: usize>(self, hints: Self::Hints) -> u64;

    /// The first 64 bytes of a path without the segments whose bits are set, of those that
    /// [`Self::hints`] is asked about; zeros after the last.
    fn without<M: Mask, const FOURS: usize>(
        self,
        blocks: [Self::Block; 2],
        path: M,
        slashes: M,
        segments: u64,
    ) -> Self::Block;

    /// The lowest bits, so many of them.
    fn before(self, end: usize) -> u64;

    /// Whether two blocks are the same.
    fn are_same(self, block: Self::Block, other: Self::Block) -> bool;

    /// A whole block.
    fn whole(self, bytes: &[u8; BLOCK]) -> Self::Block;

    /// The bytes of a block.
    fn bytes(self, block: Self::Block) -> [u8; BLOCK];

    /// [`hash::digest`] of a block.
    fn digest(self, block: Self::Block) -> u64;

    /// Which of the sets, as bits, contain `part` and more.
    fn supersets(self, sets: &[u16; PLACES], part: u64) -> u16;

    /// At most seven bytes in one word, little-endian, with their number on top.
    fn word(self, bytes: &[u8]) -> u64;
}

/// The safe twin: what each step means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Plain {
    /// A bit for each byte of which something is true.
    fn mask(block: [u8; BLOCK], is: impl Fn(u8) -> bool) -> u64 {
        let bits = (0..).zip(block).map(|(at, byte)| u64::from(is(byte)) << at);
        bits.fold(0, |mask, bit| mask | bit)
    }

    /// The first 64 of the marked bytes, side by side; zeros after the last.
    fn keep<M: Mask>(blocks: [[u8; BLOCK]; 2], marks: M) -> [u8; BLOCK] {
        let halves = blocks.iter().zip(marks.halves());
        let kept = halves.flat_map(|(block, marks)| {
            let marked = block.iter().enumerate();
            marked.filter(move |(at, _)| marks.has(*at))
        });
        let mut bytes = [0; BLOCK];
        bytes
            .iter_mut()
            .zip(kept)
            .for_each(|(to, (_, byte))| *to = *byte);
        bytes
    }

    /// The slashes before and after each segment.
    fn segments<M: Mask>(slashes: M) -> impl Iterator<Item = (usize, usize)> {
        let places = || (0..M::BITS).filter(move |place| slashes.has(*place));
        places().zip(places().skip(1))
    }
}

impl Wide for Plain {
    fn rarely<S: Steps<Self>>(self, steps: S) -> S::Result {
        steps.take(self)
    }

    type Block = [u8; BLOCK];
    type Hints = [u64; PLACES / 4];

    fn apart<S: Steps<Self>>(self, steps: S) -> S::Result {
        steps.take(self)
    }

    fn load(self, bytes: &[u8]) -> Self::Block {
        let mut block = [b'/'; BLOCK];
        block
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, byte)| *to = *byte);
        block
    }

    fn marks(self, block: Self::Block) -> Marks {
        Marks {
            slashes: self.same(block, b'/'),
            stops: Self::mask(block, |byte| matches!(byte, b'.' | b'/')),
            unusual: self.unusual(block),
        }
    }

    fn same(self, block: Self::Block, byte: u8) -> u64 {
        Self::mask(block, |other| other == byte)
    }

    fn unusual(self, block: Self::Block) -> u64 {
        Self::mask(block, |byte| !super::is_usual(byte))
    }

    fn invisible(self, block: Self::Block) -> u64 {
        Self::mask(block, |byte| !byte.is_ascii_graphic())
    }

    fn illegal(self, block: Self::Block) -> u64 {
        Self::mask(block, |byte| !super::is_plain(byte))
    }

    fn folded(self, block: Self::Block) -> Self::Block {
        block.map(|byte| byte | 0x20)
    }

    fn hints<M: Mask, const FOURS: usize>(
        self,
        blocks: [Self::Block; 2],
        slashes: M,
    ) -> Self::Hints {
        let byte = |place: usize| {
            blocks
                .as_flattened()
                .get(place)
                .copied()
                .unwrap_or_default()
        };
        let mut hints = Self::segments(slashes).map(|(slash, end)| {
            let firsts = [slash.wrapping_add(1), slash.wrapping_add(2)];
            let lasts = [end.wrapping_sub(2), end.wrapping_sub(1)];
            hash::hint(firsts.map(byte), lasts.map(byte))
        });
        [(); PLACES / 4].map(|()| {
            let four = [(); 4].map(|()| hints.next().unwrap_or_default().to_le_bytes());
            u64::from_le_bytes(four.as_flattened().try_into().unwrap_or_default())
        })
    }

    fn four<const AT: usize>(self, hints: Self::Hints) -> u64 {
        hints.get(AT).copied().unwrap_or_default()
    }

    fn without<M: Mask, const FOURS: usize>(
        self,
        blocks: [Self::Block; 2],
        path: M,
        slashes: M,
        segments: u64,
    ) -> Self::Block {
        let all = Self::segments(slashes).zip(0_u32..);
        let left_out = all.filter(|(_, at)| segments >> at & 1 == 1);
        let kept = left_out.fold(path, |kept, ((slash, end), _)| {
            kept & (!M::before(end) | M::before(slash.wrapping_add(1)))
        });
        Self::keep(blocks, kept)
    }

    fn before(self, end: usize) -> u64 {
        <u64 as Mask>::before(end)
    }

    fn are_same(self, block: Self::Block, other: Self::Block) -> bool {
        block == other
    }

    fn whole(self, bytes: &[u8; BLOCK]) -> Self::Block {
        *bytes
    }

    fn bytes(self, block: Self::Block) -> [u8; BLOCK] {
        block
    }

    fn digest(self, block: Self::Block) -> u64 {
        hash::digest(block)
    }

    fn supersets(self, sets: &[u16; PLACES], part: u64) -> u16 {
        let bits = (0..).zip(sets);
        bits.fold(0, |all, (at, set)| {
            let set = u64::from(*set);
            all | u16::from(part & !set == 0 && set != part) << at
        })
    }

    fn word(self, bytes: &[u8]) -> u64 {
        let mut word = [0; 8];
        word.iter_mut()
            .zip(bytes.iter().take(7))
            .for_each(|(to, byte)| *to = *byte);
        let [.., length] = &mut word;
        *length = u8::try_from(bytes.len()).unwrap_or_default();
        u64::from_le_bytes(word)
    }
}

impl Search for Plain {
    fn has_piece(self, text: &[u8], piece: &[u8]) -> bool {
        pieces::has_piece_wide(self, text, piece)
    }

    fn aside<S: Steps<Self>>(self, steps: S) -> S::Result {
        steps.take(self)
    }
}

impl Pieces for Plain {
    fn piece(self, block: Self::Block, start: usize, length: usize) -> Self::Block {
        let marks = u64::before(length).wrapping_shl(start as u32);
        Self::keep([block; 2], marks)
    }
}
