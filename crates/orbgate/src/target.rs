//! The request target: refuse, never normalise.
//!
//! Authorizer and backend must read the same path, so a path has exactly one accepted spelling. [`read`] is the one
//! home of the rules P2 to P18: it accepts a target or names the first rule that it breaks. [`reserved`] only tells
//! apart the bytes that no rule is about.

#![allow(
    clippy::as_conversions,
    clippy::indexing_slicing,
    reason = "bytes as indices of tables of 256"
)]

use crate::reason::Detail;
use crate::terms::{MAX_SEGMENT_BYTES, MAX_SEGMENTS, MAX_TARGET_BYTES, Profile};
use crate::vector::{Native, Vector};

/// Zero where a byte is a slash, or a letter, a digit or one of `-._`. No rule is about these, except about a dot at
/// the start of a segment. Other bytes may be valid, too.
#[inline(always)]
pub(crate) fn reserved<V: Vector>(bytes: V) -> V {
    let no_letter = bytes.or(V::splat(0x20)).outside(b'a', b'z');
    // `-`, `.`, `/` and the digits are neighbours in ASCII.
    let no_digit = bytes.outside(b'-', b'9');
    let no_underscore = bytes.outside(b'_', b'_');
    no_letter.and(no_digit).and(no_underscore)
}

/// Zero where a byte may be anywhere in a target: from 0x21 to 0x7E and not `#`.
#[inline(always)]
pub(crate) fn refused<V: Vector>(bytes: V) -> V {
    bytes.outside(b'!', b'"').and(bytes.outside(b'$', b'~'))
}

/// Whether this is zero for every byte of a text; `false` for a text too short for a register.
#[inline(always)]
pub(crate) fn is_clear<V: Vector>(bytes: &[u8], of: impl Fn(V) -> V) -> bool {
    let mut all = V::splat(0);
    let Some(last) = bytes.len().checked_sub(V::BYTES) else {
        return false;
    };
    for at in (0..bytes.len()).step_by(V::BYTES) {
        // A read that would pass the end is moved back.
        match V::load(bytes, at.min(last)) {
            Some(bytes) => all = all.or(of(bytes)),
            None => return false,
        }
    }
    all.is_zero()
}

/// An accepted path, cut into segments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Path<'t> {
    segments: [&'t [u8]; MAX_SEGMENTS],
    count: usize,
    has_escapes: bool,
}

impl<'t> Path<'t> {
    /// A segment's decoding, where it has escapes; one without is its own decoding.
    #[inline(always)]
    pub(crate) fn decoded(&self, segment: &[u8]) -> Option<Decoded> {
        match self.has_escapes && segment.contains(&b'%') {
            true => Some(Decoded::of(segment)),
            false => None,
        }
    }

    /// The segments; `/` alone has none.
    pub(crate) fn segments(&self) -> &[&'t [u8]] {
        self.segments.get(..self.count).unwrap_or(&self.segments)
    }

    /// Cuts a path that starts with a slash (P10, P11 and the limits of P2).
    #[inline(always)]
    fn cut(path: &'t [u8], has_escapes: bool) -> Result<Self, Detail> {
        let mut cut = Self {
            segments: [&[]; MAX_SEGMENTS],
            count: 0,
            has_escapes,
        };
        let Some(segments) = path.get(1..).filter(|segments| !segments.is_empty()) else {
            return Ok(cut);
        };
        let (mut has_empty, mut has_dots, mut is_within_limits) = (false, false, true);
        for segment in segments.split(|byte| *byte == b'/') {
            has_empty |= segment.is_empty();
            has_dots |= segment.iter().all(|byte| *byte == b'.');
            match cut.segments.get_mut(cut.count) {
                Some(free) if segment.len() <= MAX_SEGMENT_BYTES => *free = segment,
                _ => is_within_limits = false,
            }
            cut.count = cut.count.saturating_add(1);
        }
        match (has_empty, has_dots, is_within_limits) {
            (true, _, _) => Err(Detail::EmptySegment),
            (_, true, _) => Err(Detail::DotSegment),
            (_, _, false) => Err(Detail::Length),
            (false, false, true) => Ok(cut),
        }
    }
}

/// Cuts a target into segments, or names the first rule that it breaks: P2 to P5, P7, then the path's bytes from left
/// to right, then P10, P11 and the limits on segments.
#[inline(always)]
pub(crate) fn read(target: &[u8], profile: Profile) -> Result<Path<'_>, Detail> {
    let path = path(target)?;
    if path.first() != Some(&b'/') {
        return Err(Detail::Form);
    }
    if is_clear(path, reserved::<Native>) {
        return Path::cut(path, false);
    }
    if path.contains(&b'\\') {
        return Err(Detail::Backslash);
    }
    let mut has_escapes = false;
    let mut rest = path;
    while let Some(at) = rest.iter().position(|byte| HAS_RULE[usize::from(*byte)]) {
        let Some((from_here, (byte, after))) = rest
            .get(at..)
            .and_then(|rest| Some((rest, rest.split_first()?)))
        else {
            break;
        };
        match byte {
            b';' => return Err(Detail::MatrixParam),
            b'%' if profile == Profile::Strict => return Err(Detail::Percent),
            b'%' => {
                read_escape(path, from_here)?;
                has_escapes = true;
            }
            _ => return Err(Detail::PathChar),
        }
        rest = after;
    }
    Path::cut(path, has_escapes)
}

/// The bytes that P8, P9 and P12 to P18 are about.
static HAS_RULE: [bool; 256] = {
    let mut all = [false; 256];
    let mut bytes: &[u8] = b";%\"<>^`{}|[]";
    while let [byte, others @ ..] = bytes {
        all[*byte as usize] = true;
        bytes = others;
    }
    all
};

/// The path of a target whose bytes are in order, and that is not too long (P2 to P4). Nothing reads the query after
/// this (P6).
pub(crate) fn path(target: &[u8]) -> Result<&[u8], Detail> {
    if target.is_empty() || target.len() > MAX_TARGET_BYTES {
        return Err(Detail::Length);
    }
    // Without a branch, so that the compiler can check many bytes at once.
    let (mut is_visible, mut has_hash, mut has_query) = (true, false, false);
    for byte in target {
        is_visible &= byte.is_ascii_graphic();
        has_hash |= *byte == b'#';
        has_query |= matches!(byte, b'?');
    }
    if !is_visible {
        return Err(Detail::Byte);
    }
    if has_hash {
        return Err(Detail::Fragment);
    }
    match has_query {
        true => Ok(target.split(|byte| *byte == b'?').next().unwrap_or(target)),
        false => Ok(target),
    }
}

/// Applies rules P13 to P18 to the escape at the start of `rest`, which is the end of a path.
fn read_escape(path: &[u8], rest: &[u8]) -> Result<(), Detail> {
    let Some((byte, after)) = escaped(rest) else {
        return Err(Detail::BadEscape);
    };
    match byte {
        0x00..=0x1f | 0x7f => Err(Detail::EncodedControl),
        b'/' | b'\\' | b';' | b'?' | b'#' | b'%' => Err(Detail::EncodedDelimiter),
        b'-' | b'.' | b'_' | b'~' => Err(Detail::EncodedUnreserved),
        byte if byte.is_ascii_alphanumeric() => Err(Detail::EncodedUnreserved),
        0x80..=0xff => Err(Detail::NonAscii),
        b' ' => {
            let before = path.get(..path.len().saturating_sub(rest.len()));
            let starts = before.and_then(<[u8]>::last) == Some(&b'/');
            let ends = matches!(after.first(), None | Some(b'/'));
            if starts || ends {
                Err(Detail::Whitespace)
            } else {
                Ok(())
            }
        }
        _ => Ok(()),
    }
}

/// The byte that an escape at the start of `bytes` encodes, and the bytes after the escape.
fn escaped(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, after @ ..] = bytes else {
        return None;
    };
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
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
        let mut decoded = Self {
            bytes: [0; MAX_SEGMENT_BYTES],
            length: 0,
        };
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

    /// A byte that is not reserved is accepted at every place.
    #[test]
    fn usual_bytes_break_no_rule() {
        for byte in 0..=u8::MAX {
            let is_usual = reserved(Native::splat(byte)).is_zero();
            let path = [b'/', b'x', byte, b'x'];
            assert!(!is_usual || read(&path, Profile::Strict).is_ok(), "{byte}");
            assert_eq!(
                is_usual,
                byte.is_ascii_alphanumeric() || b"-._/".contains(&byte)
            );
        }
    }
}
