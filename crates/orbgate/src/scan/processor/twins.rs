//! The wide steps of each processor, held to their safe twin. What a processor cannot do is not taken there, so
//! nothing is left to test.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test stops at its first surprise"
)]

use core::fmt::Debug;

use proptest::prelude::*;

use super::avx2::Avx2;
use super::avx512::Avx512;
use crate::scan::Mask;
use crate::scan::wide::{BLOCK, PLACES, Plain, Wide};

/// Bytes as targets have them, and any.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "(/[a-zA-Z0-9._-]{0,9}){0,16}(\\?[ -~]{0,20})?".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..130),
    ]
}

/// What every step makes of the same bytes; `marks` and `more` are any bits.
fn steps<W: Wide, M: Mask + Debug, const FOURS: usize>(
    wide: W,
    bytes: &[u8],
    marks: M,
    more: u64,
) -> String {
    let bytes = bytes.get(..M::BITS - 1).unwrap_or(bytes);
    let high = bytes.get(BLOCK..).unwrap_or_default();
    let blocks = [wide.load(bytes), wide.load(high)];
    let [low, _] = blocks;
    let marks_of = |block| {
        let marks = wide.marks(block);
        (marks.slashes, marks.stops, marks.unusual != 0)
    };
    let folded = blocks.map(|block| wide.folded(block));

    // Slashes of segments that are not empty, at most so many, the last one at the end.
    let path = M::before(bytes.len());
    let marks = marks & !marks.moved_on() & !(M::bit(bytes.len()).moved_back()) & path;
    let mut slashes = M::NONE;
    let mut rest = marks;
    for _ in 0..4 * FOURS {
        slashes |= rest & !rest.without_first();
        rest = rest.without_first();
    }
    slashes |= M::bit(bytes.len());
    let segments = slashes.count() - 1;

    let hints = wide.hints::<M, FOURS>(folded, slashes);
    let fours = [
        wide.four::<0>(hints),
        wide.four::<1>(hints),
        wide.four::<2>(hints),
        wide.four::<3>(hints),
    ];
    let hints = fours.map(|four| [0, 16, 32, 48].map(|shift| (four >> shift) as u16));
    let left_out = more & u64::before(segments);
    let without = wide.without::<M, FOURS>(blocks, path, slashes, left_out);
    let sets = core::array::from_fn(|at| (more >> at) as u16);
    format!(
        "{:?}",
        (
            blocks.map(|block| (marks_of(block), wide.unusual(block), wide.oddities(block))),
            blocks.map(|block| (wide.bytes(block), wide.digest(block))),
            folded.map(|block| wide.bytes(block)),
            &hints.as_flattened()[..segments],
            (segments, left_out, wide.bytes(without)),
            (wide.before(bytes.len()), wide.are_same(low, low)),
            wide.are_same(low, wide.folded(low)),
            wide.supersets(&sets, more & 7),
            wide.word(&bytes[..bytes.len().min(7)]),
            [wide.has_piece(bytes, b"ab"), wide.has_piece(b"a ab", b"ab")],
        )
    )
}

/// Every step, for targets of each length and tables of each depth.
fn is_like_the_plain_one(wide: impl Wide, bytes: &[u8], marks: u128, more: u64) {
    const MOST: usize = PLACES / 4;
    macro_rules! agree {
        ($mask:ty, $fours:expr) => {
            assert_eq!(
                steps::<_, $mask, $fours>(wide, bytes, marks as $mask, more),
                steps::<_, $mask, $fours>(Plain, bytes, marks as $mask, more)
            );
        };
    }
    agree!(u64, 1);
    agree!(u64, 2);
    agree!(u64, MOST);
    agree!(u128, 1);
    agree!(u128, 2);
    agree!(u128, MOST);
}

proptest! {
    #[test]
    fn every_step_of_avx512(bytes in bytes(), marks: u128, few: u128, more: u64) {
        if let Some(wide) = Avx512::found_out() {
            is_like_the_plain_one(wide, &bytes, marks, more);
            is_like_the_plain_one(wide, &bytes, marks & few, more);
        }
    }

    #[test]
    fn every_step_of_avx2(bytes in bytes(), marks: u128, few: u128, more: u64) {
        if let Some(wide) = Avx2::found_out() {
            is_like_the_plain_one(wide, &bytes, marks, more);
            is_like_the_plain_one(wide, &bytes, marks & few, more);
        }
    }
}
