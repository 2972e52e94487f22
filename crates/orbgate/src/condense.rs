//! A long target made short: a segment can only be a parameter's value where no literal has as many bytes, and of
//! that it only counts that it is there.

use core::hint::select_unpredictable;

use crate::scan::Mask as _;
use crate::scan::wide::{BLOCK, Wide};
use crate::terms::{MAX_SEGMENT_BYTES, MAX_TARGET_BYTES};

/// A path in order of fewer than 128 bytes, with a [`STAND_IN`] for every segment that can be no literal.
pub(crate) struct Condensed {
    bytes: Room,
    length: usize,
}

/// Room for the path, and for a block that starts at its end.
type Room = [u8; 3 * BLOCK];

/// Stands for a segment: bytes that no literal has, two of them, because both ends of a segment are looked at.
const STAND_IN: [u8; 2] = [0xff; 2];

impl Condensed {
    /// With the lengths that literals have, as bits. `None` of a target with anything but a plain path in order, or
    /// of one that is still too long.
    #[inline(always)]
    pub(crate) fn of<W: Wide>(wide: W, target: &[u8], lengths: u64) -> Option<Self> {
        if target.len() > MAX_TARGET_BYTES || target.first() != Some(&b'/') {
            return None;
        }
        let (mut bytes, mut length) = ([0; 3 * BLOCK], 0);
        let (mut last_slash, mut is_after_slash) = (0, 0);
        for (block, start) in target.chunks(BLOCK).zip((0_usize..).step_by(BLOCK)) {
            let marks = wide.marks(wide.load(block));
            let inside = wide.before(block.len());
            let slashes = marks.slashes & inside;
            let odd = (slashes << 1 | is_after_slash) & marks.stops;
            if (marks.unusual | odd & inside) != 0 {
                return None;
            }
            is_after_slash = slashes >> (BLOCK - 1);
            // The first slash of all ends nothing.
            let mut rest = slashes & !u64::from(start == 0);
            while rest != 0 {
                let slash = start.wrapping_add(rest.first());
                let segment = target.get(last_slash..)?;
                let size = slash.wrapping_sub(last_slash);
                length = push(wide, &mut bytes, length, segment, size, lengths)?;
                last_slash = slash;
                rest = rest.without_first();
            }
        }
        let segment = target.get(last_slash..)?;
        let length = push(wide, &mut bytes, length, segment, segment.len(), lengths)?;
        Some(Self { bytes, length })
    }

    /// The path.
    #[inline(always)]
    pub(crate) fn path(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Adds a segment, which is so many bytes with the slash before it, to so many bytes, and says how many they are then.
#[inline(always)]
fn push<W: Wide>(
    wide: W,
    bytes: &mut Room,
    length: usize,
    segment: &[u8],
    size: usize,
    lengths: u64,
) -> Option<usize> {
    // A slash at the end is odd, too.
    if !(2..=MAX_SEGMENT_BYTES + 1).contains(&size) {
        return None;
    }
    let own = size.wrapping_sub(1);
    let can_be_literal = (own < BLOCK) & lengths.has(own);
    *bytes.get_mut(length..)?.first_chunk_mut()? = wide.bytes(wide.load(segment));
    // No branch on which it is: what is written over nothing is not read.
    let nothing = const { 3 * BLOCK - STAND_IN.len() };
    let place = select_unpredictable(can_be_literal, nothing, length.wrapping_add(1));
    *bytes.get_mut(place..)?.first_chunk_mut()? = STAND_IN;
    let size = select_unpredictable(can_be_literal, size, const { STAND_IN.len() + 1 });
    let length = length.wrapping_add(size);
    (length < 2 * BLOCK).then_some(length)
}
