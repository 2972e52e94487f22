//! An error in a file, with its location.

use core::fmt;

use crate::location::Location;

/// An error or a warning about a file.
///
/// Printed as `line:column: message`. If two locations conflict, the error is at the second, and its
/// message names the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
