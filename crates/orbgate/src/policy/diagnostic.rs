//! What is wrong with a policy file.

use core::fmt;

use crate::tables::terms::Location;

/// One thing wrong with a policy, or one thing worth knowing about it.
///
/// Printed as `line:column: message`. Where two locations conflict, the error is at the second
/// and its message names the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Diagnostic {
    /// Where the error is.
    pub location: Location,
    /// What is wrong: lower case, no final period, input in backticks.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message)
    }
}

/// A location as the engine knows it: engines exist without the reader of YAML, and have a type of their own.
pub(super) const fn location(location: orbgate_yaml::Location) -> Location {
    let orbgate_yaml::Location { line, column } = location;
    Location { line, column }
}

/// A policy that cannot be used: every error found in it, in the order of the file.
#[derive(Clone, PartialEq, Eq)]
pub struct PolicyError {
    diagnostics: Vec<Diagnostic>,
}

impl PolicyError {
    pub(super) fn new(diagnostics: Vec<orbgate_yaml::Diagnostic>) -> Self {
        let diagnostic = |diagnostic: orbgate_yaml::Diagnostic| Diagnostic {
            location: location(diagnostic.location),
            message: diagnostic.message,
        };
        let diagnostics = diagnostics.into_iter().map(diagnostic).collect();
        Self { diagnostics }
    }

    /// Every error, in the order of the file; never empty. Of more than 1,000 these are the first, and a last one
    /// says that there may be more.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The errors as lines `file:line:column: message`, for a terminal or an editor.
    #[must_use]
    pub fn in_file(&self, file: &str) -> String {
        self.lines(&format!("{file}:"))
    }

    fn lines(&self, before: &str) -> String {
        let line = |diagnostic: &Diagnostic| format!("{before}{diagnostic}");
        self.diagnostics
            .iter()
            .map(line)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines(""))
    }
}

/// As `Display`: `main` shows it so, and `unwrap`.
impl fmt::Debug for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for PolicyError {}
