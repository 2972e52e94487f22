//! The policy as people write it: the validated route → scope → orb table.
//!
//! A policy file is read twice. The first reading walks the YAML with places and judges everything,
//! in steps that each know one thing:
//!
//! ```text
//! text ──tree──▶ values with places ──read──▶ document ──rules──▶ policy ──conflicts──▶ sound policy
//! ```
//!
//! The second is plain `serde_yaml`. Neither reader of YAML is strict enough alone, and a file that two
//! readers understand differently is refused.

mod conflicts;
mod digest;
mod document;
mod fault;
mod faults;
mod grammar;
mod model;
mod overlaps;
mod read;
mod rules;
mod scalar;
#[cfg(feature = "schema")]
mod schema;
mod syntax;
mod text;
mod tree;
mod values;
mod warnings;

pub use fault::{Fault, InFile, PolicyError};
pub(crate) use grammar::full_template;
pub use model::{Api, Policy, RouteRule, ScopeRule};

use crate::terms::Place;
use document::Document;
use faults::Faults;

impl Policy {
    /// Most bytes of a policy file.
    pub const MAX_BYTES: u64 = text::MAX_BYTES;

    /// Reads and checks a policy file.
    ///
    /// # Errors
    ///
    /// Every fault of the file, each with its place.
    pub fn from_yaml(text: &str) -> Result<Self, PolicyError> {
        Self::from_bytes(text.as_bytes())
    }

    /// Reads and checks a policy file whose bytes may not be text. Whoever reads the file need not read
    /// on behind [`Policy::MAX_BYTES`] and one more.
    ///
    /// # Errors
    ///
    /// Every fault of the file, each with its place.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PolicyError> {
        let mut faults = Faults::default();
        match read(bytes, &mut faults) {
            Some(policy) if faults.is_empty() => Ok(policy),
            _ => Err(PolicyError::new(faults)),
        }
    }
}

fn read(bytes: &[u8], faults: &mut Faults) -> Option<Policy> {
    let text = text::within_limits(bytes, faults)?;
    let visible = text::without_hidden_characters(text, faults);
    let root = tree::parse(&visible, faults)?;
    let document = read::document(&root, faults)?;
    let policy = rules::policy(&document, faults);
    conflicts::check(&policy, faults);
    if faults.is_empty() {
        read_again(text, &document, faults);
    }
    Some(policy)
}

/// Refuses a text that `serde_yaml` reads differently.
fn read_again(text: &str, document: &Document, faults: &mut Faults) {
    const DISAGREE: &str = "two YAML readers disagree on this file";
    match serde_yaml::from_str::<Document>(text) {
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
                format!(
                    "{DISAGREE}: the second one says {}",
                    faults::quoted(message)
                ),
            );
        }
    }
}
