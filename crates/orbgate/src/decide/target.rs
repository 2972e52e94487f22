//! The request target: reject, never normalise.
//!
//! Authorizer and backend must read the same path, so each path has exactly one accepted spelling. The exception is
//! escapes in parameter values under `encoded_params`. [`read`] is the only home of the rules P2 to P18: it accepts a
//! target or names the first rule that the target breaks. [`reserved`] only finds the bytes that some rule concerns.

#![allow(clippy::as_conversions, clippy::indexing_slicing, reason = "positions in a block as indices")]

use super::vector::{BLOCK, Native, Vector, end_in_block, positions_in_block};
use crate::tables::reason::Detail;
use crate::tables::terms::{MAX_SEGMENT_BYTES, MAX_SEGMENTS, MAX_TARGET_BYTES, Profile};

/// Zero for a slash, a letter, a digit or one of `-._`. No rule concerns these bytes, except for a dot at the start
/// of a segment. Other bytes might also be valid.
#[inline(always)]
pub(crate) fn reserved<V: Vector>(bytes: V) -> V {
    let no_letter = bytes.or(V::splat(0x20)).outside(b'a', b'z');
    // `-`, `.`, `/` and the digits are neighbours in ASCII.
    let no_digit = bytes.outside(b'-', b'9');
    let no_underscore = bytes.outside(b'_', b'_');
    no_letter.and(no_digit).and(no_underscore)
}

/// Zero for a byte that is valid anywhere in a target: 0x21 to 0x7E, except `#`.
#[inline(always)]
pub(crate) fn refused<V: Vector>(bytes: V) -> V {
    bytes.outside(b'!', b'"').and(bytes.outside(b'$', b'~'))
}

/// Whether this is zero for every byte of a string; `false` if the string doesn't fill a register.
#[inline(always)]
pub(crate) fn is_clear<V: Vector>(bytes: &[u8], of: impl Fn(V) -> V) -> bool {
    let mut all = V::splat(0);
    let Some(last) = bytes.len().checked_sub(V::BYTES) else {
        return false;
    };
    // The same number of registers for most targets, because no processor can predict the length of one.
    for base in (0..bytes.len()).step_by(BLOCK) {
        for offset in (0..BLOCK).step_by(V::BYTES) {
            // A read that would pass the end is shifted back.
            match V::load(bytes, base.wrapping_add(offset).min(last)) {
                Some(bytes) => all = all.or(of(bytes)),
                None => return false,
            }
        }
    }
    all.is_zero()
}

/// Whether a string has only visible ASCII characters.
#[inline(never)]
fn is_visible(bytes: &[u8]) -> bool {
    match bytes.len() {
        ..Native::BYTES => bytes.iter().all(u8::is_ascii_graphic),
        _ => is_clear(bytes, |bytes: Native| bytes.outside(b'!', b'~')),
    }
}

/// An accepted path, cut into segments.
#[derive(Debug, Default)]
pub(crate) struct Path<'t> {
    target: &'t [u8],
    /// The start and end of each segment.
    positions: [[u16; 2]; MAX_SEGMENTS],
    count: usize,
    has_escapes: bool,
    has_empty: bool,
    has_dots: bool,
    is_too_long: bool,
    /// Whether the path lacks the trailing slash that the policy requires.
    pub(crate) lacks_slash: bool,
}

impl<'t> Path<'t> {
    /// A segment with its escapes decoded, or the segment itself if it has none.
    #[inline(always)]
    pub(crate) fn decoded(&self, segment: &[u8]) -> Option<Decoded> {
        match self.has_escapes && segment.contains(&b'%') {
            true => Some(Decoded::of(segment)),
            false => None,
        }
    }

    /// The segments. The path `/` has no segments.
    pub(crate) fn segments(&self) -> impl ExactSizeIterator<Item = &'t [u8]> + '_ {
        let positions = self.positions.get(..self.count).unwrap_or(&self.positions);
        let slice = |[start, end]: [u16; 2]| self.target.get(start.into()..end.into());
        positions.iter().map(move |position| slice(*position).unwrap_or_default())
    }

    /// Adds the segment that starts and ends at these positions.
    #[inline(always)]
    fn add(&mut self, start: usize, end: usize) {
        let segment = self.target.get(start..end).unwrap_or_default();
        self.has_empty |= segment.is_empty();
        self.has_dots |= segment.iter().all(|byte| *byte == b'.');
        self.is_too_long |= segment.len() > MAX_SEGMENT_BYTES;
        match self.positions.get_mut(self.count) {
            Some(free) => *free = [start as u16, end as u16],
            None => self.is_too_long = true,
        }
        self.count = self.count.saturating_add(1);
    }
}

/// Splits a target into segments, or names the first rule that it breaks: P2 to P5, P7, then the path's bytes from
/// left to right, then P10, P11 and the limits on segments.
pub(crate) fn read<'t>(target: &'t [u8], profile: Profile, slash: bool, path: &mut Path<'t>) -> Result<(), Detail> {
    if target.is_empty() || target.len() > MAX_TARGET_BYTES {
        return Err(Detail::Length);
    }
    let backslashes = |bytes: Native| bytes.outside(0, b'[').and(bytes.outside(b']', u8::MAX));
    let is_clear = is_clear(target, |bytes: Native| refused(bytes).or(backslashes(bytes)));
    if !is_clear && !is_visible(target) {
        return Err(Detail::Byte);
    }
    if !is_clear && target.contains(&b'#') {
        return Err(Detail::Fragment);
    }
    if target.first() != Some(&b'/') {
        return Err(Detail::Form);
    }
    let mut bytes = target.iter().take_while(|byte| **byte != b'?');
    if !is_clear && bytes.any(|byte| *byte == b'\\') {
        return Err(Detail::Backslash);
    }
    path.target = target;
    read_path(path, profile, slash)?;
    match (path.has_empty, path.has_dots, path.is_too_long) {
        (true, _, _) => Err(Detail::EmptySegment),
        (_, true, _) => Err(Detail::DotSegment),
        (_, _, true) => Err(Detail::Length),
        (false, false, false) => Ok(()),
    }
}

/// Reads a path without a backslash up to the first invalid byte (P8, P9, P12 to P18). The query is ignored after this
/// (P6).
fn read_path(path: &mut Path<'_>, profile: Profile, slash: bool) -> Result<(), Detail> {
    let target = path.target;
    let (mut start, mut end) = (1, target.len());
    for base in (0..target.len()).step_by(BLOCK) {
        let usual = positions_in_block(target, base, 0, reserved::<Native>);
        let slashes = positions_in_block(target, base, b'/', |bytes: Native| bytes);
        // A target that doesn't fill a register is read byte by byte.
        let in_target = end_in_block(target.len(), base).wrapping_sub(1);
        let mut others = !usual.unwrap_or_default() & in_target;
        let mut slashes = slashes.unwrap_or(in_target) & in_target;
        // Rules for bytes come before rules for segments.
        while others != 0 {
            let at = base.wrapping_add(others.trailing_zeros() as usize);
            let before = others.wrapping_sub(1);
            others &= before;
            match target[at] {
                b'?' => {
                    slashes &= before & !others;
                    (end, others) = (at, 0);
                }
                b';' => return Err(Detail::MatrixParam),
                b'%' if profile == Profile::Strict => return Err(Detail::Percent),
                b'%' => {
                    read_escape(target, at)?;
                    path.has_escapes = true;
                }
                b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'}' | b'|' | b'[' | b']' => {
                    return Err(Detail::PathChar);
                }
                _ => {}
            }
        }
        while slashes != 0 {
            let at = base.wrapping_add(slashes.trailing_zeros() as usize);
            slashes &= slashes.wrapping_sub(1);
            if at > 0 && target[at] == b'/' {
                path.add(start, at);
                start = at.wrapping_add(1);
            }
        }
        if end < target.len() {
            break;
        }
    }
    // The root has no segment, and no segment follows a required trailing slash.
    let is_after_slash = start == end;
    if end > 1 && !(slash && is_after_slash) {
        path.add(start, end);
    }
    path.lacks_slash = slash && !is_after_slash;
    Ok(())
}

/// Applies rules P13 to P18 to the escape at this position.
fn read_escape(target: &[u8], at: usize) -> Result<(), Detail> {
    let (before, rest) = target.split_at_checked(at).unwrap_or_default();
    let Some((byte, after)) = escaped(rest) else {
        return Err(Detail::BadEscape);
    };
    match byte {
        0x00..=0x1f | 0x7f => Err(Detail::EncodedControl),
        b'/' | b'\\' | b';' | b'?' | b'#' | b'%' => Err(Detail::EncodedDelimiter),
        b'-' | b'.' | b'_' | b'~' => Err(Detail::EncodedUnreserved),
        byte if byte.is_ascii_alphanumeric() => Err(Detail::EncodedUnreserved),
        0x80..=0xff => Err(Detail::NonAscii),
        b' ' if before.ends_with(b"/") => Err(Detail::Whitespace),
        b' ' if matches!(after.first(), None | Some(b'/' | b'?')) => Err(Detail::Whitespace),
        _ => Ok(()),
    }
}

/// The byte that the escape at the start of `bytes` encodes, and the rest of `bytes`.
fn escaped(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, after @ ..] = bytes else {
        return None;
    };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = digit(*high)?.checked_mul(16)?.checked_add(digit(*low)?)?;
    Some((byte, after))
}

/// A segment with its escapes decoded once.
pub(crate) struct Decoded {
    bytes: [u8; MAX_SEGMENT_BYTES],
    length: usize,
}

impl Decoded {
    /// Decodes a segment.
    fn of(segment: &[u8]) -> Self {
        let mut decoded = Self { bytes: [0; MAX_SEGMENT_BYTES], length: 0 };
        let mut rest = segment;
        for slot in &mut decoded.bytes {
            let (byte, after) = match (escaped(rest), rest) {
                (Some(escape), _) => escape,
                (None, [byte, after @ ..]) => (*byte, after),
                (None, []) => break,
            };
            *slot = byte;
            rest = after;
            decoded.length = decoded.length.saturating_add(1);
        }
        decoded
    }

    /// The decoded bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte that isn't reserved is accepted at every position.
    #[test]
    fn usual_bytes_break_no_rule() {
        for byte in 0..=u8::MAX {
            let is_usual = reserved(Native::splat(byte)).is_zero();
            let target = [b'/', b'x', byte, b'x'];
            let read = read(&target, Profile::Strict, false, &mut Path::default());
            assert!(!is_usual || read.is_ok(), "{byte}");
            assert_eq!(is_usual, byte.is_ascii_alphanumeric() || b"-._/".contains(&byte));
        }
    }
}
