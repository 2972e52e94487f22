//! What is wrong with a document, and where.

use core::error::Error;
use core::fmt;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Finding {
    /// The line of the value, from 1; for a missing member, of the object that lacks it.
    pub line: usize,
    /// The value as a JSON pointer (RFC 6901); of a missing member, where it would be. Empty for the
    /// whole document.
    pub pointer: String,
    /// What is wrong, for a person: one line, in lower case, without a final period.
    pub message: String,
}

impl Finding {
    /// A finding about a whole document.
    pub(crate) const fn whole(line: usize, message: String) -> Self {
        Self {
            line,
            pointer: String::new(),
            message,
        }
    }
}

impl fmt::Display for Finding {
    /// `3: /metrics/total_tokens: must be …`, and without the pointer where it is empty.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.line)?;
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

/// Why a text is not a document of its contract, in the order of the text.
#[derive(Clone, PartialEq, Eq)]
pub struct ContractError {
    findings: Vec<Finding>,
}

impl ContractError {
    pub(crate) const fn new(findings: Vec<Finding>) -> Self {
        Self { findings }
    }

    /// What is wrong: at least one finding.
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

/// As `Display`: `main` shows it so, and `unwrap`.
impl fmt::Debug for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for ContractError {}
