//! A target of fewer than 128 bytes as one or two blocks of 64, looked at whole: what processors with wide
//! registers do in an instruction or two.
//!
//! [`Wide`] names the steps. [`super::avx512`] takes them on the processors that can; [`Plain`] is the
//! safe twin, byte by byte, which says what each step means and which the tests hold the other to.

use super::Mask;
use crate::hash;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// How many places of a path are looked at: it has at most so many segments.
pub(crate) const PLACES: usize = 16;

/// What is where in a block: bit `i` speaks of byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// `/`
    pub(crate) slashes: u64,
    /// `.` and `/`
    pub(crate) stops: u64,
    /// Anything but letters, digits, `-`, `.`, `/` and `_`.
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
pub(crate) trait Wide: Copy {
    /// 64 bytes.
    type Block: Copy;
    /// The hints of up to 16 segments.
    type Hints: Copy;

    /// Takes steps apart from those around it: what is rare shall not cost what is common its registers.
    fn apart<S: Steps<Self>>(self, steps: S) -> S::Result;

    /// The first 64 of the bytes; slashes after the last.
    fn load(self, bytes: &[u8]) -> Self::Block;

    /// What is where.
    fn marks(self, block: Self::Block) -> Marks;

    /// What is where that is unusual.
    fn oddities(self, block: Self::Block) -> Oddities;

    /// The block with the bit set that tells small letters from capitals.
    fn folded(self, block: Self::Block) -> Self::Block;

    /// The hints of segments: [`hash::hint`] of the two bytes at the marks of each, first and last ones.
    /// `blocks` are folded; there are at most 64 marks of a kind.
    fn hints<M: Mask>(self, blocks: [Self::Block; 2], marks: [M; 2]) -> Self::Hints;

    /// The first four hints side by side, the next four, and so on.
    fn four<const AT: usize>(self, hints: Self::Hints) -> u64;

    /// The lowest bits, one for each mark, moved to where the marks are.
    fn spread(self, bits: u64, marks: u64) -> u64;

    /// The marked bytes, side by side; zeros after the last. There are at most 64.
    fn keep<M: Mask>(self, blocks: [Self::Block; 2], marks: M) -> Self::Block;

    /// The lowest bits, so many of them.
    fn before(self, end: usize) -> u64;

    /// Where a block has a byte.
    fn places_of(self, block: Self::Block, byte: u8) -> u64;

    /// Whether two blocks are the same.
    fn are_same(self, block: Self::Block, other: Self::Block) -> bool;

    /// A whole block.
    fn whole(self, bytes: &[u8; BLOCK]) -> Self::Block;

    /// [`hash::digest`] of a block.
    fn digest(self, block: Self::Block) -> u64;

    /// Which of the sets, as bits, contain `part` and more.
    fn supersets(self, sets: &[u16; PLACES], part: u64) -> u16;

    /// At most seven bytes in one word, little-endian, with their number on top.
    fn word(self, bytes: &[u8]) -> u64;
}

/// The safe twin: what each step means, for tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Plain {
    /// A bit for each byte of which something is true.
    fn mask(block: [u8; BLOCK], is: impl Fn(u8) -> bool) -> u64 {
        let bits = (0..).zip(block).map(|(at, byte)| u64::from(is(byte)) << at);
        bits.fold(0, |mask, bit| mask | bit)
    }
}

impl Wide for Plain {
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
            slashes: Self::mask(block, |byte| byte == b'/'),
            stops: Self::mask(block, |byte| matches!(byte, b'.' | b'/')),
            unusual: Self::mask(block, |byte| !super::is_usual(byte)),
        }
    }

    fn oddities(self, block: Self::Block) -> Oddities {
        Oddities {
            invisible: Self::mask(block, |byte| !byte.is_ascii_graphic()),
            hashes: Self::mask(block, |byte| byte == b'#'),
            questions: Self::mask(block, |byte| byte == b'?'),
            backslashes: Self::mask(block, |byte| byte == b'\\'),
            semicolons: Self::mask(block, |byte| byte == b';'),
            percents: Self::mask(block, |byte| byte == b'%'),
            illegal: Self::mask(block, |byte| !super::is_plain(byte)),
        }
    }

    fn folded(self, block: Self::Block) -> Self::Block {
        block.map(|byte| byte | 0x20)
    }

    fn hints<M: Mask>(self, blocks: [Self::Block; 2], marks: [M; 2]) -> Self::Hints {
        let [firsts, lasts] = marks.map(|marks| self.keep(blocks, marks));
        let segments = firsts.as_chunks().0.iter().zip(lasts.as_chunks().0);
        let mut hints = segments.map(|(firsts, lasts)| hash::hint(*firsts, *lasts));
        [(); PLACES / 4].map(|()| {
            let four = [(); 4].map(|()| hints.next().unwrap_or_default().to_le_bytes());
            u64::from_le_bytes(four.as_flattened().try_into().unwrap_or_default())
        })
    }

    fn four<const AT: usize>(self, hints: Self::Hints) -> u64 {
        hints.get(AT).copied().unwrap_or_default()
    }

    fn spread(self, bits: u64, marks: u64) -> u64 {
        let places = (0..64_u32).filter(|at| marks >> at & 1 == 1);
        let spread = places.zip(0_u32..).filter(|(_, bit)| bits >> bit & 1 == 1);
        spread.fold(0, |all, (place, _)| all | 1 << place)
    }

    fn keep<M: Mask>(self, blocks: [Self::Block; 2], marks: M) -> Self::Block {
        let bytes = blocks.into_iter().flatten().enumerate().take(M::BITS);
        let kept = bytes.filter(|(at, _)| marks.has(*at));
        let mut block = [0; BLOCK];
        block
            .iter_mut()
            .zip(kept)
            .for_each(|(to, (_, byte))| *to = byte);
        block
    }

    fn before(self, end: usize) -> u64 {
        <u64 as Mask>::before(end)
    }

    fn places_of(self, block: Self::Block, byte: u8) -> u64 {
        Self::mask(block, |other| other == byte)
    }

    fn are_same(self, block: Self::Block, other: Self::Block) -> bool {
        block == other
    }

    fn whole(self, bytes: &[u8; BLOCK]) -> Self::Block {
        *bytes
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

/// Whether one of the pieces between the spaces of a text is exactly these bytes, which have no space.
#[inline(always)]
pub(crate) fn has_piece<W: Wide>(wide: W, text: &[u8], piece: &[u8]) -> bool {
    let length = piece.len();
    if length == 0 || length >= BLOCK {
        return super::has_piece(text, piece);
    }
    let whole = wide.before(length);
    let block = wide.load(piece);
    let wanted = wide.keep([block, block], whole);
    let (middle, last) = (length / 2, length.saturating_sub(1));
    let at = |place: usize| piece.get(place).copied().unwrap_or_default();
    let mut rest = text;
    let mut starts_piece = true;
    loop {
        let inside = wide.before(rest.len());
        let block = wide.load(rest);
        let spaces = wide.places_of(block, b' ');
        // What is behind the last byte ends a piece, too; behind the block nothing is known.
        let others = inside & !spaces;
        let unknown = if rest.len() > BLOCK { u64::MAX } else { 0 };
        let length_bits = u32::try_from(length).unwrap_or(0);
        let others =
            others.wrapping_shr(length_bits) | unknown & !(u64::MAX.wrapping_shr(length_bits));
        let starts = (spaces << 1 | u64::from(starts_piece)) & inside;
        // Two bytes tell most pieces of one length apart, so that hardly ever more than one is compared.
        let has_middle = wide.places_of(block, at(middle)) >> (middle & 63);
        let has_last = wide.places_of(block, at(last)) >> (last & 63);
        let mut found = starts & !others & has_middle & has_last;
        while found != 0 {
            let here = whole << (found.first() & 63);
            if wide.are_same(wide.keep([block, block], here), wanted) {
                return true;
            }
            found = found.without_first();
        }
        if rest.len() <= BLOCK {
            return false;
        }
        // A piece that starts in what is left of this block did not end in it.
        let step = BLOCK.saturating_sub(length);
        starts_piece = spaces.has(step.wrapping_sub(1));
        rest = rest.get(step..).unwrap_or_default();
    }
}
