//! What is wrong with a policy file.

use core::fmt;

use crate::yaml::Fault;

/// A policy that cannot be used: every fault found in it, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    faults: Vec<Fault>,
}

impl PolicyError {
    pub(super) const fn new(faults: Vec<Fault>) -> Self {
        Self { faults }
    }

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
