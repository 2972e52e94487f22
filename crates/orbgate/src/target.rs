//! The request target: refuse, never normalise.
//!
//! Authorizer and backend must read the same path, so a path has exactly one accepted spelling.
//! [`split`] proves that a target is plain in one pass; what is not plain gets the exact reading of
//! [`read`], rule by rule, which names the first rule broken or accepts the rare rest.

use crate::reason::Detail;
use crate::scan::{self, is_plain, is_query};
use crate::terms::{MAX_SEGMENT_BYTES, MAX_SEGMENTS, MAX_TARGET_BYTES, Profile};

/// An accepted path, cut into segments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Path<'t> {
    bytes: &'t [u8],
    /// Where each segment starts, and after the last one where the next would.
    starts: [u16; MAX_SEGMENTS + 1],
    count: usize,
}

impl<'t> Path<'t> {
    /// How many segments the path has; `/` alone has none.
    #[inline(always)]
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// The segment at a position, or nothing past the last.
    #[inline(always)]
    pub(crate) fn segment(&self, position: usize) -> &'t [u8] {
        let bounds = (
            self.starts.get(position),
            self.starts.get(position.wrapping_add(1)),
        );
        let (Some(start), Some(next)) = bounds else {
            return &[];
        };
        let end = usize::from(*next).saturating_sub(1);
        self.bytes.get(usize::from(*start)..end).unwrap_or_default()
    }

    /// A path that is not cut yet.
    const fn uncut(bytes: &'t [u8]) -> Self {
        Self {
            bytes,
            starts: [0; MAX_SEGMENTS + 1],
            count: 0,
        }
    }

    /// Cuts at a slash, or at the end as if one stood there. One cut too many shows in [`Self::ended`].
    #[inline(always)]
    fn cut(&mut self, slash: usize) {
        if let Some(start) = self.starts.get_mut(self.count) {
            *start = u16::try_from(slash.saturating_add(1)).unwrap_or(u16::MAX);
        }
        self.count = self.count.saturating_add(1);
    }

    /// The path up to `end`. `None` where it breaks P10, P11 or the segment limits of P2.
    #[inline(always)]
    fn ended(mut self, end: usize) -> Option<Self> {
        self.bytes = self.bytes.get(..end)?;
        if end == 1 {
            self.count = 0;
            return Some(self);
        }
        self.cut(end);
        if self.count > self.starts.len() {
            return None;
        }
        self.count = self.count.saturating_sub(1);
        let mut segments = (0..self.count).map(|position| self.segment(position));
        let fine = segments.all(|segment| segment.len() <= MAX_SEGMENT_BYTES && !is_dots(segment));
        fine.then_some(self)
    }
}

/// Nothing but dots, or nothing at all (rules P10 and P11).
#[inline(always)]
fn is_dots(segment: &[u8]) -> bool {
    match segment {
        [b'.', rest @ ..] => rest.iter().all(|byte| *byte == b'.'),
        [] => true,
        _ => false,
    }
}

/// Cuts a target into segments, or names the first rule that it breaks.
#[inline(always)]
pub(crate) fn split(target: &[u8], profile: Profile) -> Result<Path<'_>, Detail> {
    match split_plain(target) {
        Some(path) => Ok(path),
        None => read(target, profile),
    }
}

/// Accepts a target whose path is of plain characters only; `None` where anything needs a closer look.
fn split_plain(target: &[u8]) -> Option<Path<'_>> {
    if target.len() > MAX_TARGET_BYTES || target.first() != Some(&b'/') {
        return None;
    }
    let mut path = Path::uncut(target);
    let mut at = 0_usize;
    loop {
        let rest = target.get(at..).unwrap_or_default();
        let usual = scan::usual(rest, |slash| path.cut(at.saturating_add(slash)));
        at = at.saturating_add(usual);
        match target.get(at..).unwrap_or_default() {
            [] => return path.ended(at),
            query @ [b'?', ..] => {
                let is_in_order = query.iter().all(|byte| is_query(*byte));
                return path.ended(at).filter(|_| is_in_order);
            }
            [byte, ..] if is_plain(*byte) => at = at.saturating_add(1),
            _ => return None,
        }
    }
}

/// The exact reading, in the order that every implementation shares: P2 to P5, P7, then the path's
/// bytes from left to right, then P10, P11 and the limits on segments.
#[cold]
fn read(target: &[u8], profile: Profile) -> Result<Path<'_>, Detail> {
    if target.is_empty() || target.len() > MAX_TARGET_BYTES {
        return Err(Detail::Length);
    }
    let (mut is_visible, mut has_hash) = (true, false);
    for byte in target {
        is_visible &= byte.is_ascii_graphic();
        has_hash |= *byte == b'#';
    }
    if !is_visible {
        return Err(Detail::Byte);
    }
    if has_hash {
        return Err(Detail::Fragment);
    }
    if target.first() != Some(&b'/') {
        return Err(Detail::Form);
    }
    let mut path = Path::uncut(target);
    let mut first_fault = None;
    let mut at = 0_usize;
    loop {
        let rest = target.get(at..).unwrap_or_default();
        at = at.saturating_add(scan::usual(rest, |slash| {
            path.cut(at.saturating_add(slash))
        }));
        let fault = match target.get(at) {
            // P6: the query is never looked at again.
            None | Some(b'?') => break,
            // P7 comes before what stands to its left.
            Some(b'\\') => return Err(Detail::Backslash),
            Some(byte) if is_plain(*byte) => None,
            Some(b';') => Some(Detail::MatrixParam),
            Some(b'%') if profile == Profile::Strict => Some(Detail::Percent),
            Some(b'%') => read_escape(target, at).err(),
            Some(_) => Some(Detail::PathChar),
        };
        first_fault = first_fault.or(fault);
        at = at.saturating_add(1);
    }
    match (first_fault, path.ended(at)) {
        (Some(fault), _) => Err(fault),
        (None, Some(path)) => Ok(path),
        (None, None) => Err(read_segments(target.get(1..at).unwrap_or_default())),
    }
}

/// Which of P10, P11 and the limits of P2 the segments of a path break.
fn read_segments(segments: &[u8]) -> Detail {
    let segments = || segments.split(|byte| *byte == b'/');
    if segments().any(<[u8]>::is_empty) {
        Detail::EmptySegment
    } else if segments().any(is_dots) {
        Detail::DotSegment
    } else {
        Detail::Length
    }
}

/// Rules P13 to P18 for the escape that starts at `at`.
fn read_escape(target: &[u8], at: usize) -> Result<(), Detail> {
    let Some((byte, after)) = escaped(target.get(at..).unwrap_or_default()) else {
        return Err(Detail::BadEscape);
    };
    match byte {
        0x00..=0x1f | 0x7f => Err(Detail::EncodedControl),
        b'/' | b'\\' | b';' | b'?' | b'#' | b'%' => Err(Detail::EncodedDelimiter),
        b'-' | b'.' | b'_' | b'~' => Err(Detail::EncodedUnreserved),
        byte if byte.is_ascii_alphanumeric() => Err(Detail::EncodedUnreserved),
        0x80..=0xff => Err(Detail::NonAscii),
        b' ' => {
            let starts = target.get(..at).and_then(<[u8]>::last) == Some(&b'/');
            let ends = matches!(after.first(), None | Some(b'/' | b'?'));
            if starts || ends {
                Err(Detail::Whitespace)
            } else {
                Ok(())
            }
        }
        _ => Ok(()),
    }
}

/// The byte that an escape at the start of `bytes` stands for, and what follows it.
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
    /// Decodes a segment that has escapes; `None` for one that has none, which is its own decoding.
    pub(crate) fn of(segment: &[u8]) -> Option<Self> {
        if !segment.contains(&b'%') {
            return None;
        }
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
        Some(decoded)
    }

    /// The decoded bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The one-pass check and the exact reading are twins: what the first accepts the second cuts
        /// alike, and the first leaves nothing to the second but faults and escapes.
        #[test]
        fn both_readings_agree(
            target in prop_oneof![
                "[/a.~]{0,40}",
                "/([a-zA-Z0-9.@%;\\\\?#/ -]|\u{e9}|%20|%2e){0,60}",
                "(/[a-z.]{0,3}){0,40}(\\?[!-~]{0,9})?",
                "/a{250,260}(/b)?",
            ],
        ) {
            for profile in [Profile::Strict, Profile::EncodedParams] {
                let exact = read(target.as_bytes(), profile);
                match split_plain(target.as_bytes()) {
                    Some(path) => prop_assert_eq!(exact, Ok(path)),
                    None => prop_assert!(exact.is_err() || target.contains('%')),
                }
            }
        }
    }
}
