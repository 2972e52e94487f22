//! One thing wrong with a file, and where.

use core::fmt;

use crate::place::Place;

/// One thing wrong with a file, or one thing worth knowing about it.
///
/// Printed as `line:column: message`. Where two places conflict, the fault is at the second and its
/// message names the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    /// Where the fault is.
    pub place: Place,
    /// What is wrong: lower case, no final period, input in backticks.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}
