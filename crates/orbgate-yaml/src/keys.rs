//! The keys of a mapping: texts, none of which comes twice, and none that merges another mapping into this one.

use crate::faults::{Faults, first_place, quoted};
use crate::node::{Content, Entry, Node};

/// A key and its value, unless the key cannot be one.
pub(super) fn entry<'a>(
    key: Node<'a>,
    mut value: Node<'a>,
    is_own: bool,
    faults: &mut Faults,
) -> Option<Entry<'a>> {
    match key.kind {
        Content::Scalar(text) if text.plain && text.text == "<<" => {
            let not = if is_own { "allowed" } else { "read" };
            faults.push(
                key.place,
                format!("a merge key is not {not}: write the keys here"),
            );
            None
        }
        Content::Scalar(text) => {
            // The parser puts an empty value after the colon or further on; people look at the key.
            if is_own
                && matches!(&value.kind, Content::Scalar(empty) if empty.plain && empty.text.is_empty())
                && !faults.stand_at(value.place)
            {
                value.place = key.place;
            }
            Some(Entry {
                key_place: key.place,
                key: text,
                value,
            })
        }
        Content::Refused if faults.stand_at(key.place) => None,
        Content::Sequence(_) | Content::Mapping(_) | Content::Refused => {
            faults.push(key.place, "a key must be text");
            None
        }
    }
}

/// Reports each entry whose key was already used in the same mapping.
pub fn refuse_duplicates(entries: &[Entry<'_>], faults: &mut Faults) {
    let mut sorted: Vec<&Entry<'_>> = entries.iter().collect();
    // Equal keys stay in the order of the file.
    sorted.sort_by(|one, other| one.key.text.cmp(&other.key.text));
    for alike in sorted.chunk_by(|one, other| one.key.text == other.key.text) {
        let [first, others @ ..] = alike else {
            continue;
        };
        for entry in others {
            let first = first_place(first.key_place, entry.key_place);
            let message = format!(
                "duplicate key {} (first on {first})",
                quoted(&entry.key.text)
            );
            faults.push(entry.key_place, message);
        }
    }
}
