//! The text before YAML reads it: its size, its encoding, its byte-order mark, and characters that hide something.

use std::borrow::Cow;

use crate::faults::{Faults, is_hidden};
use crate::format::Format;
use crate::place::Place;

/// A larger text is refused unread.
pub const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// The text of a file that is small enough to be read at all, without its byte-order mark.
pub(super) fn within_limits<'a>(bytes: &'a [u8], faults: &mut Faults) -> Option<&'a str> {
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_BYTES {
        // The size of the file is not known: the caller may have stopped reading just beyond the limit.
        let message = format!("the file has more than {MAX_BYTES} bytes, which is the limit");
        faults.push(Place::START, message);
        return None;
    }
    match str::from_utf8(bytes) {
        Ok(text) => Some(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            faults.push(end(str::from_utf8(valid).unwrap_or_default()), "not UTF-8");
            None
        }
    }
}

/// The place right after a text.
fn end(text: &str) -> Place {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let count = |characters: usize| u32::try_from(characters.saturating_add(1)).unwrap_or(u32::MAX);
    let last = text.rsplit('\n').next().unwrap_or_default();
    Place {
        line: count(text.matches('\n').count()),
        column: count(last.chars().count()),
    }
}

/// Reports the characters that have no place in such a file, and puts a letter in place of each, so that each
/// is reported once and everything else keeps its place.
pub(super) fn without_hidden_characters<'a>(
    text: &'a str,
    format: &Format,
    faults: &mut Faults,
) -> Cow<'a, str> {
    refuse_hidden_characters(text, format, faults);
    if faults.is_empty() {
        return Cow::Borrowed(text);
    }
    let visible = |c| if is_hidden(c) { 'x' } else { c };
    Cow::Owned(text.chars().map(visible).collect())
}

fn refuse_hidden_characters(text: &str, format: &Format, faults: &mut Faults) {
    // The bytes of most files occur in no hidden character. They are all checked, many at a time.
    let is_plain = |byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    if text.bytes().fold(true, |all, byte| all & is_plain(byte)) {
        return;
    }
    // Line ends as the parser counts them: LF, CR LF, and a lone CR.
    let mut place = Place::START;
    let mut after_return = false;
    for c in text.chars() {
        if is_hidden(c) {
            faults.push(
                place,
                format!(
                    "character U+{:04X} is not allowed in {}",
                    u32::from(c),
                    format.file
                ),
            );
            if faults.is_full() {
                return;
            }
        }
        if c == '\r' || (c == '\n' && !after_return) {
            place = Place {
                line: place.line.saturating_add(1),
                column: 1,
            };
        } else if c != '\n' {
            place.column = place.column.saturating_add(1);
        }
        after_return = c == '\r';
    }
}
