//! The two document types, and what can be wrong with a document.

use core::error::Error;
use core::fmt;
use std::sync::LazyLock;

use serde_json::Value;

#[cfg(feature = "schema")]
use crate::record::RunRecord;
#[cfg(feature = "schema")]
use crate::request::RunRequest;

/// A type of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contract {
    /// A run request (specification §2.1).
    RunRequest,
    /// A run record (specification §2.2 to §2.4).
    RunRecord,
}

/// How strictly a document is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// For serving: all members that have no default and aren't nullable are present, and every known
    /// member has the right type. An absent `allowBonusOrbsUse` is false.
    Lenient,
    /// For auditing: every member that the specification lists is present, null only where it is
    /// marked nullable, and related values are consistent.
    Strict,
}

/// The result of checking documents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of JSON documents that were checked.
    pub documents: usize,
    /// The findings, in document order.
    pub findings: Vec<Finding>,
}

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

/// The committed schemas, which the checks also use, so that each shape is described only once, by the types.
const SCHEMAS: [&str; 2] =
    [include_str!("../schema/run-request.schema.json"), include_str!("../schema/run-record.schema.json")];

static PARSED: LazyLock<[Value; 2]> = LazyLock::new(|| {
    // If a schema couldn't be parsed, every document would be rejected, not accepted.
    SCHEMAS.map(|schema| serde_json::from_str(schema).unwrap_or(Value::Bool(false)))
});

impl Contract {
    /// The JSON Schema (draft 2020-12) of documents that strict validation accepts, as pretty-printed JSON.
    ///
    /// A schema checks less than [`Contract::check`]: it can't compare numbers, and doesn't reject a
    /// member that occurs twice.
    #[must_use]
    pub const fn schema(self) -> &'static str {
        let [request, record] = SCHEMAS;
        match self {
            Self::RunRequest => request,
            Self::RunRecord => record,
        }
    }

    /// The schema as a value.
    pub(crate) fn parsed(self) -> &'static Value {
        let [request, record] = &*PARSED;
        match self {
            Self::RunRequest => request,
            Self::RunRecord => record,
        }
    }

    /// The schema, generated from its type.
    #[cfg(feature = "schema")]
    #[doc(hidden)]
    #[must_use]
    pub fn generated_schema(self) -> String {
        match self {
            Self::RunRequest => crate::schema::of::<RunRequest>(),
            Self::RunRecord => crate::schema::of::<RunRecord>(),
        }
    }
}
