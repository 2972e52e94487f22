//! The configuration as people write it in YAML, read as strictly as a policy.

pub(crate) mod address;
pub(crate) mod authzen;
mod document;
pub(crate) mod error;
pub(crate) mod files;
mod ledger;
pub(crate) mod mode;
mod peers;
pub(crate) mod promises;
mod rules;
mod secrets;
mod settings;
pub(crate) mod tls;

use std::path::Path;

use orbgate_yaml::{self as yaml, Diagnostic, Format, Value as _};

pub(crate) use self::authzen::{AuthzenConfig, Listed};
use self::document::Document;
use self::files::Ending;
pub(crate) use self::ledger::{Database, LedgerConfig, Role};
pub use self::settings::Config;
pub(crate) use self::settings::{Limits, ListenerConfig, PolicySettings};

impl Config {
    /// Reads and checks a configuration file; the crate's page shows an example. Paths in it are relative to
    /// `folder`.
    ///
    /// # Errors
    ///
    /// Returns every error in the file, each with its location.
    pub fn from_yaml(text: &str, folder: &Path) -> Result<Self, ConfigError> {
        let judge = |document: Document, diagnostics: &mut _| rules::config(&document, folder, diagnostics);
        let read = yaml::read(text.as_bytes(), &FORMAT, yaml::document("the configuration"), judge);
        match read {
            Ok(Some(config)) => Ok(Self { ending: Ending::of(text.as_bytes()), ..config }),
            // If a document is invalid, it has an error.
            Ok(None) => Err(ConfigError { diagnostics: Vec::new() }),
            Err(mut diagnostics) => {
                let secrets = secrets::of(text);
                diagnostics.iter_mut().for_each(|diagnostic| secrets.hide_in(diagnostic));
                Err(ConfigError { diagnostics })
            }
        }
    }
}

/// All errors in a configuration that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.in_file("the configuration"))]
pub struct ConfigError {
    diagnostics: Vec<Diagnostic>,
}

impl ConfigError {
    /// The errors as lines `file:line:column: message`, for a terminal or an editor.
    #[must_use]
    pub fn in_file(&self, file: &str) -> String {
        let lines = self.diagnostics.iter().map(|diagnostic| format!("{file}:{diagnostic}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// What the reader of YAML must know of the format.
const FORMAT: Format = Format {
    file: "a gateway's configuration",
    start: "a gateway's configuration starts with `orbgate_gateway: 1`",
    has_key: |key| Document::SHAPE.has_key(key),
    braced: None,
    key_with_colon: None,
};

#[cfg(test)]
mod tests;
