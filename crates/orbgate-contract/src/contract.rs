//! The two contracts, and checking texts against them.

use std::sync::LazyLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::documents::check_text;
use crate::finding::{ContractError, Finding};
use crate::record::RunRecord;
use crate::request::RunRequest;

/// What a document must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contract {
    /// A run request (specification §2.1).
    RunRequest,
    /// A run record (specification §2.2 to §2.4).
    RunRecord,
}

/// How much is required of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// For serving: the members that have no default and may not be null are there, and every known member
    /// is of its type. An absent `allowBonusOrbsUse` is false.
    Lenient,
    /// For auditing: every member that the specification lists is there, null only where it is marked
    /// nullable, and what must agree agrees.
    Strict,
}

/// What was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How many JSON documents were checked.
    pub documents: usize,
    /// What is wrong with them, in the order of the text.
    pub findings: Vec<Finding>,
}

/// The most findings that a server is told of a request: the sender needs no more.
const SERVED: usize = 100;

/// The committed schemas, which are also what the checks walk along: shapes are described once, by the types.
const SCHEMAS: [&str; 2] = [
    include_str!("../schema/run-request.schema.json"),
    include_str!("../schema/run-record.schema.json"),
];

static PARSED: LazyLock<[Value; 2]> = LazyLock::new(|| {
    // If a schema could not be read, every document would be refused, not accepted.
    SCHEMAS.map(|schema| serde_json::from_str(schema).unwrap_or(Value::Bool(false)))
});

impl Contract {
    /// The JSON Schema (draft 2020-12) of a document that strict validation accepts, as pretty-printed JSON.
    ///
    /// A schema says less than [`Contract::check`] does: it cannot compare numbers, and it says nothing
    /// of a member that occurs twice.
    #[must_use]
    pub const fn schema(self) -> &'static str {
        let [request, record] = SCHEMAS;
        match self {
            Self::RunRequest => request,
            Self::RunRecord => record,
        }
    }

    /// Checks every JSON document of a text: one, or several, one after the other or one on each line. A byte
    /// order mark is skipped.
    ///
    /// A text that cannot be read as JSON is a finding, and nothing below that line is checked; so is a text
    /// without a document. Takes time and memory in proportion to the text.
    #[must_use]
    pub fn check(self, text: &[u8], mode: Mode) -> Report {
        check_text(self, text, mode, usize::MAX)
    }

    /// The schema as a value.
    pub(crate) fn parsed(self) -> &'static Value {
        let [request, record] = &*PARSED;
        match self {
            Self::RunRequest => request,
            Self::RunRecord => record,
        }
    }

    /// The schema as its type generates it.
    #[cfg(feature = "schema")]
    #[doc(hidden)]
    #[must_use]
    pub fn generated_schema(self) -> String {
        match self {
            Self::RunRequest => crate::schema::of::<RunRequest>(),
            Self::RunRecord => crate::schema::of::<RunRecord>(),
        }
    }

    /// Reads one document, leniently.
    fn read<T: DeserializeOwned>(self, text: &[u8]) -> Result<T, ContractError> {
        serde_json::from_slice(text).map_err(|error| {
            let mut findings = check_text(self, text, Mode::Lenient, SERVED).findings;
            if findings.is_empty() {
                // More than one document, or a byte order mark, which only a file may have.
                let message = format!("cannot be read as one JSON document: {error}");
                findings.push(Finding::whole(error.line(), message));
            }
            ContractError::new(findings)
        })
    }

    /// Checks the JSON that would be written for a value.
    fn findings<T: Serialize>(self, value: &T) -> Vec<Finding> {
        match serde_json::to_vec(value) {
            Ok(text) => self.check(&text, Mode::Strict).findings,
            Err(error) => {
                let message = format!("cannot be written as JSON: {error}");
                vec![Finding::whole(1, message)]
            }
        }
    }
}

impl RunRequest {
    /// Reads a request for serving: [`Mode::Lenient`].
    ///
    /// ```
    /// use orbgate_contract::RunRequest;
    ///
    /// let request = RunRequest::from_json(br#"{"prompt": "hello", "stream": false}"#)?;
    /// assert!(!request.allow_bonus_orbs_use);
    ///
    /// let error = RunRequest::from_json(br#"{"stream": "no"}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "1: /prompt: missing, and required\n1: /stream: must be a boolean, not a string");
    /// # Ok::<(), orbgate_contract::ContractError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Where the text is not one JSON document, or not such a request: up to 100 findings.
    pub fn from_json(text: &[u8]) -> Result<Self, ContractError> {
        Contract::RunRequest.read(text)
    }

    /// What strict validation finds in the request as it would be written.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        Contract::RunRequest.findings(self)
    }
}

impl RunRecord {
    /// Reads a record for serving: [`Mode::Lenient`].
    ///
    /// # Errors
    ///
    /// Where the text is not one JSON document, or not such a record: up to 100 findings.
    pub fn from_json(text: &[u8]) -> Result<Self, ContractError> {
        Contract::RunRecord.read(text)
    }

    /// What strict validation finds in the record as it would be written.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        Contract::RunRecord.findings(self)
    }
}
