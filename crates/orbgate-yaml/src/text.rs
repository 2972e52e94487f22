//! Checks a file before YAML is parsed: its size, its encoding, its byte-order mark, and hidden characters.

use std::borrow::Cow;

use crate::diagnostics::{Diagnostics, is_hidden};
use crate::lines::with_line_feeds;
use crate::node::Location;
use crate::syntax::Format;

/// The maximum size of a file; larger files are rejected without reading them.
pub const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// The contents of a file that is small enough, without its byte-order mark.
pub(super) fn within_limits<'a>(bytes: &'a [u8], diagnostics: &mut Diagnostics) -> Option<&'a str> {
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_BYTES {
        // The size of the file isn't known, because the caller might have stopped reading just after
        // the limit.
        let message = format!("the file is larger than the limit of {MAX_BYTES} bytes");
        diagnostics.push(Location::START, message);
        return None;
    }
    match str::from_utf8(bytes) {
        Ok(text) => Some(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            diagnostics.push(end(str::from_utf8(valid).unwrap_or_default()), "not UTF-8");
            None
        }
    }
}

/// The location right after a string.
fn end(text: &str) -> Location {
    let text = with_line_feeds(text.strip_prefix('\u{feff}').unwrap_or(text));
    let count = |characters: usize| u32::try_from(characters.saturating_add(1)).unwrap_or(u32::MAX);
    let last = text.rsplit('\n').next().unwrap_or_default();
    Location { line: count(text.matches('\n').count()), column: count(last.chars().count()) }
}

/// Reports characters that don't belong in such a file, and replaces each with a letter, so that each is
/// reported once and everything else keeps its location.
pub(super) fn without_hidden_characters<'a>(
    text: &'a str,
    format: &Format,
    diagnostics: &mut Diagnostics,
) -> Cow<'a, str> {
    refuse_hidden_characters(text, format, diagnostics);
    if diagnostics.is_empty() {
        return Cow::Borrowed(text);
    }
    let visible = |c| if is_hidden(c) { 'x' } else { c };
    Cow::Owned(text.chars().map(visible).collect())
}

fn refuse_hidden_characters(text: &str, format: &Format, diagnostics: &mut Diagnostics) {
    // Most files contain no bytes of hidden characters. All bytes are checked, many at a time.
    let is_plain = |byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    if text.bytes().fold(true, |all, byte| all & is_plain(byte)) {
        return;
    }
    let mut location = Location::START;
    for c in with_line_feeds(text).chars() {
        if is_hidden(c) {
            diagnostics.push(location, format!("character U+{:04X} is not allowed in {}", u32::from(c), format.file));
            if diagnostics.is_full() {
                return;
            }
        }
        if c == '\n' {
            location = Location { line: location.line.saturating_add(1), column: 1 };
        } else {
            location.column = location.column.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::end;
    use crate::node::Location;

    #[test]
    fn a_single_return_ends_a_line() {
        assert_eq!(end("a\rbc\r\nd"), Location { line: 3, column: 2 });
    }
}
