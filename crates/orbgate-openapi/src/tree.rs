//! A document → its values with their locations. Nothing is ever expanded, and sizes are bounded.

use orbgate_yaml::{Diagnostics, Location, Node, outline};

use crate::json;
use crate::part::Part;

/// The maximum size of a document in bytes.
pub const MAX_BYTES: usize = 64 << 20;

/// The root of a document; `None` after reporting an error.
pub(super) fn parse<'a>(bytes: &'a [u8], diagnostics: &mut Diagnostics) -> Option<Node<'a>> {
    if bytes.len() > MAX_BYTES {
        let message = format!("the document is larger than the limit of {MAX_BYTES} bytes");
        diagnostics.push(Location::START, message);
        return None;
    }
    let Ok(text) = str::from_utf8(bytes) else {
        diagnostics.push(Location::START, "the document is not UTF-8");
        return None;
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = match text.trim_start().starts_with('{') {
        true => json::parse(text, diagnostics),
        false => outline(text, Part::Root, diagnostics),
    }?;
    diagnostics.is_empty().then_some(root)
}
