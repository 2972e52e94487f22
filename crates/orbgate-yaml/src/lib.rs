#![doc = include_str!("../README.md")]

mod conflict;
mod diagnostics;
mod document;
mod end;
mod file;
mod input;
mod keys;
mod lines;
mod node;
mod scalar;
mod shape;
mod simple;
mod syntax;
mod text;
mod tree;
mod values;

#[doc(hidden)]
pub use serde;
use serde::de::DeserializeOwned;

pub use diagnostics::{Diagnostic, Diagnostics, first_location, is_hidden, quoted};
pub use document::{Address, Object, Value, Version, document};
pub use end::{has_end_marker, has_valid_seal, is_sealed, seal, unseal};
pub use file::RegularFile;
pub use keys::refuse_duplicates;
pub use node::{Content, Entry, Location, Node, Scalar, Spanned};
#[doc(hidden)]
pub use scalar::other_reading;
pub use shape::{Key, Shape};
pub use syntax::{Braced, Format};
pub use text::MAX_BYTES;
pub use tree::{Keep, outline};
#[doc(hidden)]
pub use values::near;
pub use values::{Owner, Values, amount, is_empty_value, is_null};

/// Reads a file: its tree becomes a document, which is then checked.
///
/// ```text
/// text ──tree──▶ values with locations ──document──▶ document ──judge──▶ what it means
/// ```
///
/// This first reading checks everything. A second reading, with plain `serde_yaml`, must give the same document,
/// because neither YAML reader is strict enough by itself. A simple file is read line by line without a library, and
/// only once.
///
/// # Errors
///
/// Returns all errors that were found, in the order of the file; never empty.
pub fn read<D: DeserializeOwned + PartialEq, T>(
    bytes: &[u8],
    format: &Format,
    document: impl FnOnce(&Node<'_>, &mut Diagnostics) -> Option<D>,
    judge: impl FnOnce(D, &mut Diagnostics) -> T,
) -> Result<T, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::default();
    let judged = (|| {
        let text = text::within_limits(bytes, &mut diagnostics)?;
        end::check_seal(bytes, &mut diagnostics);
        let visible = text::without_hidden_characters(text, format, &mut diagnostics);
        let simple = diagnostics.is_empty().then(|| simple::read(text)).flatten();
        let is_simple = simple.is_some();
        let root = match simple {
            Some(root) => root,
            None => tree::parse(&visible, format, &mut diagnostics)?,
        };
        end::refuse_marker_at_start(&visible, &mut diagnostics);
        let document = document(&root, &mut diagnostics)?;
        drop(root); // the tree takes as much memory as everything after it
        if diagnostics.is_empty() && !is_simple {
            read_again(text, &document, &mut diagnostics);
        }
        Some(judge(document, &mut diagnostics))
    })();
    if let Ok(text) = str::from_utf8(bytes) {
        conflict::name_markers(text, &mut diagnostics);
    }
    match judged {
        Some(judged) if diagnostics.is_empty() => Ok(judged),
        _ if diagnostics.is_empty() => {
            Err(vec![Diagnostic { location: Location::START, message: format!("{} cannot be read", format.file) }])
        }
        _ => Err(diagnostics.into_list()),
    }
}

/// Rejects a file that `serde_yaml` reads differently.
fn read_again<D: DeserializeOwned + PartialEq>(text: &str, document: &D, diagnostics: &mut Diagnostics) {
    const DISAGREE: &str = "two YAML parsers disagree on this file";
    match serde_yaml::from_str::<D>(text) {
        Ok(second) if second == *document => {}
        Ok(_) => diagnostics.push(Location::START, format!("{DISAGREE}: write its values in a simpler way")),
        Err(error) => {
            let location = error.location().map_or(Location::START, |location| Location {
                line: u32::try_from(location.line()).unwrap_or(u32::MAX),
                column: u32::try_from(location.column()).unwrap_or(u32::MAX),
            });
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            diagnostics.push(location, format!("{DISAGREE}: the second reports {}", quoted(message)));
        }
    }
}
