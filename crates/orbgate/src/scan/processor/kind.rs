//! Kinds of characters, for processors that look many up at once.

use crate::scan::PLAIN;

/// Letters, digits, `-`, `.`, `/` and `_`: what nearly all bytes of a path are.
const USUAL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-./_";

pub(super) static USUAL_KIND: Kind = Kind::of(USUAL);
pub(super) static PLAIN_KIND: Kind = Kind::of(PLAIN);

/// Characters of ASCII, as bits by the halves of a byte: bit `upper` of entry `lower`.
pub(super) struct Kind(pub(super) [u8; 16]);

impl Kind {
    /// The bit of each upper half.
    pub(super) const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];

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
