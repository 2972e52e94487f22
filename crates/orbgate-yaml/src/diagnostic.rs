//! One thing wrong with a file, and where.

use core::fmt;

use crate::location::Location;

/// One thing wrong with a file, or one thing worth knowing about it.
///
/// Printed as `line:column: message`. Where two locations conflict, the error is at the second and its
/// message names the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
