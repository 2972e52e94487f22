//! The errors of a configuration.

use core::fmt;

use orbgate::Location;
use orbgate_yaml::Diagnostic;

use crate::check::KeyDiagnostic;

/// All errors in a configuration that can't be used.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
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
                None => diagnostic.message.clone(),
                Some(_) => format!("issuers[{}]: {}", diagnostic.key.issuer, diagnostic.message),
            };
            ConfigDiagnostic { location: None, message }
        });
        Self { diagnostics: diagnostics.collect() }
    }

    /// The error of secrets that cannot be read: one message for each.
    #[must_use]
    pub fn of_secrets(messages: Vec<String>) -> Self {
        let diagnostics = messages.into_iter().map(|message| ConfigDiagnostic { location: None, message });
        Self { diagnostics: diagnostics.collect() }
    }

    /// An error of the file as a whole, at its beginning.
    #[must_use]
    pub fn of_whole(message: String) -> Self {
        Self { diagnostics: vec![ConfigDiagnostic { location: Some(Location { line: 1, column: 1 }), message }] }
    }

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

orbgate_yaml::debug_as_display!(ConfigError);
