#![doc = include_str!("../README.md")]

mod end;
mod fault;
mod faults;
mod format;
mod input;
mod keep;
mod keys;
mod node;
mod place;
mod scalar;
mod simple;
mod spanned;
mod syntax;
mod text;
mod tree;
mod values;

use serde::de::DeserializeOwned;

pub use end::{has_end_marker, is_sealed, seal, unseal};
pub use fault::Fault;
pub use faults::{Faults, first_place, is_hidden, quoted};
pub use format::{Braced, Format};
pub use keep::Keep;
pub use keys::refuse_duplicates;
pub use node::{Content, Entry, Node, Scalar};
pub use place::Place;
pub use spanned::Spanned;
pub use text::MAX_BYTES;
pub use tree::outline;
pub use values::{Owner, Values, amount, is_empty_value, is_null, keys_of};

/// Reads a file: its tree becomes a document, and the document is judged.
///
/// ```text
/// text ──tree──▶ values with places ──document──▶ document ──judge──▶ what it means
/// ```
///
/// This first reading judges everything. A second one, by plain `serde_yaml`, must agree: neither reader of YAML is
/// strict enough alone. A file that is so simple that no library is needed to see what it says is read line by line, once.
///
/// # Errors
///
/// Every fault that was found, in the order of the file; never none.
pub fn read<D: DeserializeOwned + PartialEq, T>(
    bytes: &[u8],
    format: &Format,
    document: impl FnOnce(&Node<'_>, &mut Faults) -> Option<D>,
    judge: impl FnOnce(D, &mut Faults) -> T,
) -> Result<T, Vec<Fault>> {
    let mut faults = Faults::default();
    let judged = (|| {
        let text = text::within_limits(bytes, &mut faults)?;
        end::check_seal(bytes, &mut faults);
        let visible = text::without_hidden_characters(text, format, &mut faults);
        let simple = faults.is_empty().then(|| simple::read(text)).flatten();
        let is_simple = simple.is_some();
        let root = match simple {
            Some(root) => root,
            None => tree::parse(&visible, format, &mut faults)?,
        };
        end::refuse_marker_at_start(&visible, &mut faults);
        let document = document(&root, &mut faults)?;
        drop(root); // the tree takes as much memory as all that follows
        if faults.is_empty() && !is_simple {
            read_again(text, &document, &mut faults);
        }
        Some(judge(document, &mut faults))
    })();
    match judged {
        Some(judged) if faults.is_empty() => Ok(judged),
        _ if faults.is_empty() => Err(vec![Fault {
            place: Place::START,
            message: format!("{} cannot be read", format.file),
        }]),
        _ => Err(faults.into_list()),
    }
}

/// Refuses a text that `serde_yaml` reads differently.
fn read_again<D: DeserializeOwned + PartialEq>(text: &str, document: &D, faults: &mut Faults) {
    const DISAGREE: &str = "two YAML readers disagree on this file";
    match serde_yaml::from_str::<D>(text) {
        Ok(second) if second == *document => {}
        Ok(_) => faults.push(
            Place::START,
            format!("{DISAGREE}: write its values in a simpler way"),
        ),
        Err(error) => {
            let place = error.location().map_or(Place::START, |location| Place {
                line: u32::try_from(location.line()).unwrap_or(u32::MAX),
                column: u32::try_from(location.column()).unwrap_or(u32::MAX),
            });
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            faults.push(
                place,
                format!("{DISAGREE}: the second one says {}", quoted(message)),
            );
        }
    }
}
