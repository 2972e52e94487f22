//! A document's text → its values with their places. Nothing is ever expanded, and sizes are bounded.

use orbgate_yaml::{Faults, Node, Place, outline};

use crate::json;
use crate::keep::Part;

/// Most bytes of a document.
pub const MAX_BYTES: usize = 64 << 20;

/// The root of a document; `None` where a fault says why there is none.
pub(super) fn parse<'a>(bytes: &'a [u8], faults: &mut Faults) -> Option<Node<'a>> {
    if bytes.len() > MAX_BYTES {
        let message = format!("the document has more than {MAX_BYTES} bytes, which is the limit");
        faults.push(Place::START, message);
        return None;
    }
    let Ok(text) = str::from_utf8(bytes) else {
        faults.push(Place::START, "the document is not UTF-8");
        return None;
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = match text.trim_start().starts_with('{') {
        true => json::parse(text, faults),
        false => outline(text, Part::Root, faults),
    }?;
    faults.is_empty().then_some(root)
}
