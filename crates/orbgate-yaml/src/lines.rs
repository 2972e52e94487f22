//! The lines of a file, as YAML ends them.

use std::borrow::Cow;

/// The text with a line feed for each single CR, which ends a line in YAML but not for [`str::lines`]. The positions of
/// all characters stay.
pub(super) fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut rest = text.chars().peekable();
    let mut lines = String::with_capacity(text.len());
    while let Some(c) = rest.next() {
        lines.push(if c == '\r' && rest.peek() != Some(&'\n') { '\n' } else { c });
    }
    Cow::Owned(lines)
}
