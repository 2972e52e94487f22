//! Errors in a document, with their locations.

use core::error::Error;
use core::fmt;

/// An error in a document, with its location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Finding {
    /// The line of the value, from 1. For a missing member, the line of the object that lacks it.
    pub line: usize,
    /// The value's JSON pointer (RFC 6901). For a missing member, the pointer that it would have.
    /// Empty for the whole document.
    pub pointer: String,
    /// The message for users: one line, in lower case, without a final period.
    pub message: String,
}

impl Finding {
    /// A finding about a whole document.
    pub(crate) const fn whole(line: usize, message: String) -> Self {
        Self { line, pointer: String::new(), message }
    }
}

impl fmt::Display for Finding {
    /// `3: /metrics/total_tokens: must be …`; without the pointer if it is empty.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.line)?;
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

/// Why a document is invalid, in document order.
#[derive(Clone, PartialEq, Eq)]
pub struct ContractError {
    findings: Vec<Finding>,
}

impl ContractError {
    pub(crate) const fn new(findings: Vec<Finding>) -> Self {
        Self { findings }
    }

    /// The findings; at least one.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl fmt::Display for ContractError {
    /// One finding on each line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.findings.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{finding}")?;
        }
        Ok(())
    }
}

/// The same as `Display`, because `main` and `unwrap` print it.
impl fmt::Debug for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for ContractError {}
