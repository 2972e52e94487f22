//! Searching a text for one of its pieces, as a token's scopes are searched for the one that a route needs.

use super::wide::{self, Steps, Wide};
use super::{BLOCK, Mask as _, blocks};

/// How texts are searched.
pub(crate) trait Search: Copy {
    /// Whether one of the pieces between the spaces of a text is exactly these bytes, which have no space.
    fn has_piece(self, text: &[u8], piece: &[u8]) -> bool;

    /// Takes steps, apart from those around it where that is of use.
    fn aside<S: Steps<Self>>(self, steps: S) -> S::Result;
}

/// With the registers that every processor has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow;

impl Search for Narrow {
    #[inline(always)]
    fn has_piece(self, text: &[u8], piece: &[u8]) -> bool {
        has_piece(text, piece)
    }

    #[inline(always)]
    fn aside<S: Steps<Self>>(self, steps: S) -> S::Result {
        steps.take(self)
    }
}

/// Whether one of the pieces between the spaces of a text is exactly these bytes, which have no space.
///
/// A mask of the spaces says at once where a piece of the right length starts, which is rarely more
/// than once: no branch on how many pieces there are, or how long they are.
#[inline(always)]
pub(super) fn has_piece(text: &[u8], piece: &[u8]) -> bool {
    const WINDOW: usize = 64;
    let length = piece.len();
    if text.len() < BLOCK || !(1..WINDOW / 2).contains(&length) {
        let mut pieces = text.split(|byte| *byte == b' ');
        return length > 0 && pieces.any(|other| other == piece);
    }
    let mut start = 0_usize;
    loop {
        let window = text.get(start..).unwrap_or_default();
        let is_last = window.len() <= WINDOW;
        // The last window reaches back, so that there are always enough bytes to read.
        let base = if is_last {
            text.len().saturating_sub(WINDOW)
        } else {
            start
        };
        let window = text.get(base..).unwrap_or_default();
        let window = window.get(..WINDOW).unwrap_or(window);
        let spaces = spaces(window);
        let is_start = base
            .checked_sub(1)
            .is_none_or(|before| text.get(before) == Some(&b' '));
        let starts = spaces << 1 | u64::from(is_start);
        // The bit after the last byte of the text ends a piece, too; it can be the 65th.
        let end = if is_last {
            1_u128 << (window.len() & 127)
        } else {
            0
        };
        let ends = (u128::from(spaces) | end) >> (length & 127);
        let mut found = starts & ends as u64;
        while found != 0 {
            let at = found.first();
            if window.get(at..at.saturating_add(length)) == Some(piece) {
                return true;
            }
            found = found.without_first();
        }
        if is_last {
            return false;
        }
        // A piece that starts here did not end in this window.
        start = base.saturating_add(WINDOW).saturating_sub(length);
    }
}

/// Where the spaces are in 16 to 64 bytes.
#[inline(always)]
fn spaces(bytes: &[u8]) -> u64 {
    let mut spaces = 0;
    for start in [0, 16, 32, 48] {
        let start = start.min(bytes.len().saturating_sub(BLOCK));
        if let Some(block) = bytes.get(start..).and_then(<[u8]>::first_chunk) {
            spaces |= u64::at(blocks::spaces(block), start);
        }
    }
    spaces
}

/// The steps of searching a text with registers as wide as a block.
pub(crate) trait Pieces: Wide {
    /// So many bytes of a block from a place on; zeros after the last.
    fn piece(self, block: Self::Block, start: usize, length: usize) -> Self::Block;
}

/// What [`has_piece`] says, with wide registers.
#[inline(always)]
pub(super) fn has_piece_wide<W: Pieces>(wide: W, text: &[u8], piece: &[u8]) -> bool {
    let length = piece.len();
    // A long piece would leave little of a block to move on by.
    if length == 0 || length > wide::BLOCK / 2 {
        return has_piece(text, piece);
    }
    let wanted = wide.piece(wide.load(piece), 0, length);
    let (middle, last) = (length / 2, length.saturating_sub(1));
    let at = |place: usize| piece.get(place).copied().unwrap_or_default();
    let mut rest = text;
    let mut starts_piece = true;
    loop {
        let inside = wide.before(rest.len());
        let block = wide.load(rest);
        let spaces = wide.same(block, b' ');
        // What is behind the last byte ends a piece, too; behind the block nothing is known.
        let others = inside & !spaces;
        let unknown = if rest.len() > wide::BLOCK {
            u64::MAX
        } else {
            0
        };
        let length_bits = u32::try_from(length).unwrap_or(0);
        let others =
            others.wrapping_shr(length_bits) | unknown & !(u64::MAX.wrapping_shr(length_bits));
        // A piece whose last byte is not inside would go on in what is loaded behind the text.
        let starts = (spaces << 1 | u64::from(starts_piece)) & (inside >> (last & 63));
        // Two bytes tell most pieces of one length apart, so that hardly ever more than one is compared.
        let has_middle = wide.same(block, at(middle)) >> (middle & 63);
        let has_last = wide.same(block, at(last)) >> (last & 63);
        let mut found = starts & !others & has_middle & has_last;
        while found != 0 {
            if wide.are_same(wide.piece(block, found.first(), length), wanted) {
                return true;
            }
            found = found.without_first();
        }
        if rest.len() <= wide::BLOCK {
            return false;
        }
        // A piece that starts in what is left of this block did not end in it.
        let step = wide::BLOCK.saturating_sub(length);
        starts_piece = spaces.has(step.wrapping_sub(1));
        rest = rest.get(step..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::wide::Plain;
    use super::*;

    proptest! {
        #[test]
        fn pieces_are_found_as_split_finds_them(
            pieces in proptest::collection::vec("[ab/ ]{0,3}|[a-c:/]{0,40}|scope:[0-9]{1,2}/?", 0..30),
            other in "[ab/]{0,2}|scope:[0-9]{1,2}|[a-c:]{28,70}",
            behind in "/{0,2}",
            which: proptest::sample::Index,
        ) {
            let text = pieces.join(" ");
            let mut asked = vec![other.as_bytes()];
            if !pieces.is_empty() {
                asked.push(pieces[which.index(pieces.len())].as_bytes());
            }
            asked.extend(text.as_bytes().split(|byte| *byte == b' '));
            // What the steps load behind the last byte is no part of the text.
            let longer = format!("{text}{behind}");
            asked.extend(longer.as_bytes().rsplit(|byte| *byte == b' ').next());
            for piece in asked.into_iter().filter(|piece| !piece.contains(&b' ')) {
                let mut split = text.as_bytes().split(|byte| *byte == b' ');
                let expected = !piece.is_empty() && split.any(|other| other == piece);
                let mut found = vec![has_piece(text.as_bytes(), piece)];
                found.push(Plain.has_piece(text.as_bytes(), piece));
                #[cfg(all(target_arch = "x86_64", not(any(orbgate_portable, orbgate_narrow))))]
                if let Some(wide) = super::super::processor::Avx512::found_out() {
                    found.push(wide.has_piece(text.as_bytes(), piece));
                }
                for found in found {
                    prop_assert_eq!(found, expected, "{:?} in {:?}", piece, text);
                }
            }
        }
    }
}
