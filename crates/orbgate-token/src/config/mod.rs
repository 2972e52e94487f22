//! The configuration as people write it in YAML, read as strictly as a policy.

mod document;
mod rules;

use core::fmt;

use orbgate::Location;
use orbgate_yaml::{self as yaml, Diagnostic, Format, Value as _};

use self::document::Document;

use crate::check::KeyDiagnostic;
use crate::verifier::Verifier;

impl Verifier {
    /// Reads and checks a configuration file; docs/tokens.md shows one. A file can't configure HMAC, because it contains no
    /// secret: use [`Verifier::new`] and [`KeySet::from_secrets`](crate::KeySet::from_secrets).
    ///
    /// # Errors
    ///
    /// Every error of the file, each with its location.
    pub fn from_yaml(text: &str) -> Result<Self, ConfigError> {
        yaml::read(text.as_bytes(), &FORMAT, yaml::document("the configuration"), |document, diagnostics| {
            rules::verifier(&document, diagnostics)
        })
        .map_err(ConfigError::of_file)
    }
}

/// What the reader of YAML must know of the format.
const FORMAT: Format = Format {
    file: "a token configuration",
    start: "a token configuration starts with `orbgate_token: 1`",
    has_key: |key| Document::SHAPE.has_key(key),
    braced: None,
    key_with_colon: None,
};

/// All errors in a configuration that can't be used.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigError {
    diagnostics: Vec<ConfigDiagnostic>,
}

/// One error in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigDiagnostic {
    /// The location in the file; `None` for a configuration written in Rust.
    pub location: Option<Location>,
    /// The message: lower case, no final period, input in backticks.
    pub message: String,
}

impl ConfigError {
    /// The error for a configuration written in Rust. Each message names the issuer and the key.
    pub(crate) fn of_keys(diagnostics: &[KeyDiagnostic]) -> Self {
        let diagnostics = diagnostics.iter().map(|diagnostic| {
            let message = match diagnostic.key.name {
                "" => diagnostic.message.clone(),
                _ => format!("issuers[{}]: {}", diagnostic.key.issuer, diagnostic.message),
            };
            ConfigDiagnostic { location: None, message }
        });
        Self { diagnostics: diagnostics.collect() }
    }

    /// The error of secrets that cannot be read.
    pub(crate) fn of_secrets(messages: Vec<String>) -> Self {
        let diagnostics = messages.into_iter().map(|message| ConfigDiagnostic { location: None, message });
        Self { diagnostics: diagnostics.collect() }
    }

    /// The error for a file.
    pub(crate) fn of_file(diagnostics: Vec<Diagnostic>) -> Self {
        let diagnostics = diagnostics.into_iter().map(|diagnostic| ConfigDiagnostic {
            location: Some(Location { line: diagnostic.location.line, column: diagnostic.location.column }),
            message: diagnostic.message,
        });
        Self { diagnostics: diagnostics.collect() }
    }

    /// The errors as lines `file:line:column: message`, for a terminal or an editor.
    #[must_use]
    pub fn in_file(&self, file: &str) -> String {
        let lines: Vec<_> = self.diagnostics.iter().map(|diagnostic| format!("{file}:{diagnostic}")).collect();
        lines.join("\n")
    }

    /// All errors; never empty.
    #[must_use]
    pub fn diagnostics(&self) -> &[ConfigDiagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for ConfigDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location {
            Some(location) => write!(f, "{location}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

/// The same as `Display`, because `main` and `unwrap` print it.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use orbgate_yaml::Value as _;

    use super::Document;

    #[test]
    fn the_page_has_the_table_of_the_keys() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tokens.md");
        orbgate_testing::expected::keep_part(page, "keys", &Document::SHAPE.table());
    }
}
