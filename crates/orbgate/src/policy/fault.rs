//! What is wrong with a policy file.

use core::fmt;

use crate::terms::Place;

/// One thing wrong with a policy, or one thing worth knowing about it.
///
/// Printed as `line:column: message`. Where two places conflict, the fault is at the second
/// and its message names the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    /// Where the fault is.
    pub place: Place,
    /// What is wrong: lower case, no final period, input in backticks.
    pub message: String,
}

impl Fault {
    /// The faults that the reader of YAML has collected.
    pub(super) fn list(faults: Vec<orbgate_yaml::Fault>) -> Vec<Self> {
        let fault = |fault: orbgate_yaml::Fault| Self {
            place: place(fault.place),
            message: fault.message,
        };
        faults.into_iter().map(fault).collect()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// A place as the engine knows it: engines exist without the reader of YAML, and have a type of their own.
pub(super) const fn place(place: orbgate_yaml::Place) -> Place {
    let orbgate_yaml::Place { line, column } = place;
    Place { line, column }
}

/// A policy that cannot be used: every fault found in it, in the order of the file.
#[derive(Clone, PartialEq, Eq)]
pub struct PolicyError {
    faults: Vec<Fault>,
}

impl PolicyError {
    pub(super) fn new(faults: Vec<orbgate_yaml::Fault>) -> Self {
        Self {
            faults: Fault::list(faults),
        }
    }

    /// Every fault, in the order of the file; never empty. Of more than 1,000 these are the first, and a last one
    /// says that there may be more.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The faults as lines `file:line:column: message`, for a terminal or an editor.
    #[must_use]
    pub const fn in_file<'a>(&'a self, file: &'a str) -> InFile<'a> {
        InFile { error: self, file }
    }

    /// The faults, each on its line after this.
    fn write(&self, f: &mut fmt::Formatter<'_>, before: fmt::Arguments<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            let end_of_line = if index > 0 { "\n" } else { "" };
            write!(f, "{end_of_line}{before}{fault}")?;
        }
        Ok(())
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, format_args!(""))
    }
}

/// As `Display`: `main` shows it so, and `unwrap`.
impl fmt::Debug for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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
        self.error.write(f, format_args!("{}:", self.file))
    }
}
