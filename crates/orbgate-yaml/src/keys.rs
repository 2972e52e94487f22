//! The keys of a mapping: strings without duplicates, and without merge keys.

use std::collections::HashMap;

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

/// Whether a key is a string, and doesn't merge another mapping into this one.
pub(super) fn is_ordinary(key: &Node<'_>) -> bool {
    matches!(&key.kind, Content::Scalar(text) if !(text.plain && text.text == "<<"))
}

/// Reports each entry whose key already occurs in the same mapping.
pub fn refuse_duplicates(entries: &[Entry<'_>], diagnostics: &mut Diagnostics) {
    if are_unique(entries) {
        return;
    }
    let mut firsts = HashMap::new();
    for entry in entries {
        let first = *firsts.entry(&*entry.key.text).or_insert(entry.key_location);
        if first != entry.key_location {
            let first = first_location(first, entry.key_location);
            let message = format!("duplicate key {} (first on {first})", quoted(&entry.key.text));
            diagnostics.push(entry.key_location, message);
        }
    }
}

/// Whether no key of a mapping occurs twice.
pub(crate) fn are_unique(entries: &[Entry<'_>]) -> bool {
    let mut keys: Vec<&str> = entries.iter().map(|entry| &*entry.key.text).collect();
    keys.sort_unstable();
    keys.is_sorted_by(|one, other| one < other)
}
