//! The keys of a mapping: strings without duplicates, and without merge keys.

use crate::diagnostics::{Diagnostics, first_location, quoted};
use crate::node::{Content, Entry, Node};

/// A key and its value, unless the key is invalid.
pub(super) fn entry<'a>(
    key: Node<'a>,
    mut value: Node<'a>,
    is_own: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Entry<'a>> {
    match key.kind {
        Content::Scalar(text) if text.plain && text.text == "<<" => {
            let not = if is_own { "allowed" } else { "read" };
            diagnostics.push(key.location, format!("a merge key is not {not}: write the keys here"));
            None
        }
        Content::Scalar(text) => {
            // The parser puts an empty value after the colon or even later, but people look for the
            // error at the key.
            if is_own
                && matches!(&value.kind, Content::Scalar(empty) if empty.plain && empty.text.is_empty())
                && !diagnostics.stand_at(value.location)
            {
                value.location = key.location;
            }
            Some(Entry { key_location: key.location, key: text, value })
        }
        Content::Refused if diagnostics.stand_at(key.location) => None,
        Content::Sequence(_) | Content::Mapping(_) | Content::Refused => {
            diagnostics.push(key.location, "a key must be a string");
            None
        }
    }
}

/// Reports each entry whose key already occurs in the same mapping.
pub fn refuse_duplicates(entries: &[Entry<'_>], diagnostics: &mut Diagnostics) {
    let mut sorted: Vec<&Entry<'_>> = entries.iter().collect();
    // The sort is stable: equal keys keep the order of the file.
    sorted.sort_by(|one, other| one.key.text.cmp(&other.key.text));
    for alike in sorted.chunk_by(|one, other| one.key.text == other.key.text) {
        let [first, others @ ..] = alike else {
            continue;
        };
        for entry in others {
            let first = first_location(first.key_location, entry.key_location);
            let message = format!("duplicate key {} (first on {first})", quoted(&entry.key.text));
            diagnostics.push(entry.key_location, message);
        }
    }
}
