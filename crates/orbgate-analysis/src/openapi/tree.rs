//! A document's text → its values with their places. Nothing is ever expanded, and sizes are bounded.

use orbgate_yaml::{Content, Faults, Node, Place, first_place, quoted};

use super::keep::MERGE;
use super::{json, yaml};

/// Most bytes of a document.
pub const MAX_BYTES: usize = 64 << 20;
/// Kept collections within collections; those of a valid document are seven deep.
pub(super) const DEPTH: usize = 16;
/// Most values that are kept.
pub(super) const VALUES: usize = 4_000_000;

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
        false => yaml::parse(text, faults),
    }?;
    refuse_what_is_ambiguous(&root, faults);
    faults.is_empty().then_some(root)
}

pub(super) fn too_deep() -> String {
    format!("nested too deeply: {DEPTH} levels are the limit")
}

pub(super) fn too_many_values() -> String {
    format!("too many values: {VALUES} are the limit")
}

/// If a key is there twice, it is not clear which one counts; if mappings are merged, a key may be there
/// unseen.
fn refuse_what_is_ambiguous(node: &Node<'_>, faults: &mut Faults) {
    match &node.kind {
        Content::Scalar(_) | Content::Refused => {}
        Content::Sequence(items) => {
            for item in items {
                refuse_what_is_ambiguous(item, faults);
            }
        }
        Content::Mapping(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            // Equal keys stay in the order of the file.
            sorted.sort_by(|one, other| one.key.text.cmp(&other.key.text));
            for alike in sorted.chunk_by(|one, other| one.key.text == other.key.text) {
                let [first, others @ ..] = alike else {
                    continue;
                };
                if first.key.plain && first.key.text == MERGE {
                    let message = "a merge key is not read: write the keys here";
                    faults.push(first.key_place, message);
                }
                for entry in others {
                    let key = quoted(&entry.key.text);
                    let first = first_place(first.key_place, entry.key_place);
                    let message = format!("duplicate key {key} (first on {first})");
                    faults.push(entry.key_place, message);
                }
            }
            for entry in entries {
                refuse_what_is_ambiguous(&entry.value, faults);
            }
        }
    }
}
