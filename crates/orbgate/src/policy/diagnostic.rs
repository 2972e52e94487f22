//! Errors and warnings about a policy file.

use core::fmt;

use crate::tables::terms::Location;

/// An error or a warning about a policy.
///
/// Printed as `line:column: message`. If two locations conflict, the error is at the second, and
/// its message names the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Diagnostic {
    /// The location of the error.
    pub location: Location,
    /// The message: lower case, no final period, input in backticks.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message)
    }
}

/// Converts a location to the engine's own type, because engines also exist without the YAML reader.
pub(super) const fn location(location: orbgate_yaml::Location) -> Location {
    let orbgate_yaml::Location { line, column } = location;
    Location { line, column }
}

/// The errors of a policy that can't be used, in the order of the file.
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

    /// All errors, in the order of the file; never empty. If there are more than 1,000, these are the first
    /// 1,000, and a last error states that there might be more.
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
        self.diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines(""))
    }
}

/// The same as `Display`, because `main` and `unwrap` print it.
impl fmt::Debug for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for PolicyError {}
