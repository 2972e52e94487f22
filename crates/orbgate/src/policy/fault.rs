//! What is wrong with a policy file, and where.

use core::fmt;

use crate::terms::Place;

/// One thing wrong with a policy file, or one thing worth knowing about it.
///
/// Printed as `line:column: message`. Where two places conflict, the fault stands at the second
/// and its message names the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    /// Where the fault stands.
    pub place: Place,
    /// What is wrong: lower case, no final period, input in backticks.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// A policy that cannot be used: every fault found in it, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    pub(super) faults: Vec<Fault>,
}

impl PolicyError {
    /// Every fault, in the order of the file; never empty.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The faults as lines `file:line:column: message`, for a terminal or an editor.
    #[must_use]
    pub const fn in_file<'a>(&'a self, file: &'a str) -> InFile<'a> {
        InFile { error: self, file }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl core::error::Error for PolicyError {}

/// Shows a [`PolicyError`] as lines `file:line:column: message`; see [`PolicyError::in_file`].
#[derive(Clone, Copy, Debug)]
pub struct InFile<'a> {
    error: &'a PolicyError,
    file: &'a str,
}

impl fmt::Display for InFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.error.faults.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{}:{fault}", self.file)?;
        }
        Ok(())
    }
}
