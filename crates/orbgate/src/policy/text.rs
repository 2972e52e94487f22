//! The text before it is YAML: its size, its byte-order mark, and characters that hide something.

use std::borrow::Cow;

use super::faults::{Faults, is_hidden};
use crate::terms::Place;

/// A larger text is not looked at.
const TEXT_BYTES: usize = 8 * 1024 * 1024;

/// The text without its byte-order mark, if it is small enough to be read at all.
pub(super) fn within_limits<'a>(text: &'a str, faults: &mut Faults) -> Option<&'a str> {
    if text.len() > TEXT_BYTES {
        // Whoever reads a file for us may well stop just beyond the limit: its size is not known.
        let message = format!("the file has more than {TEXT_BYTES} bytes, which is the limit");
        faults.push(Place::START, message);
        return None;
    }
    Some(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Reports the characters that have no place in a policy file, and puts a letter in their stead, so
/// that each is reported once and everything else keeps its place.
pub(super) fn without_hidden_characters<'a>(text: &'a str, faults: &mut Faults) -> Cow<'a, str> {
    refuse_hidden_characters(text, faults);
    if faults.is_empty() {
        return Cow::Borrowed(text);
    }
    let visible = |c| if is_hidden(c) { 'x' } else { c };
    Cow::Owned(text.chars().map(visible).collect())
}

fn refuse_hidden_characters(text: &str, faults: &mut Faults) {
    // Line ends as the parser counts them: LF, CR LF, and a lone CR.
    let mut place = Place::START;
    let mut after_return = false;
    for c in text.chars() {
        if is_hidden(c) {
            faults.push(
                place,
                format!(
                    "character U+{:04X} is not allowed in a policy file",
                    u32::from(c)
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
