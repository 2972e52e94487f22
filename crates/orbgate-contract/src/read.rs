//! Reads and checks documents and values of the two types.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::contract::{Contract, ContractError, Finding, Mode, Report};
use crate::documents::check_text;
use crate::record::RunRecord;
use crate::request::RunRequest;

/// The maximum number of findings that a server gets about a request. The sender needs no more.
const SERVED: usize = 100;

impl Contract {
    /// Checks a sequence of JSON documents: a single one, several in a row, or one on each line. A byte-order
    /// mark is skipped.
    ///
    /// Invalid JSON is a finding, and nothing after that line is checked. Input without a document is also a
    /// finding. Time and memory are proportional to the input.
    #[must_use]
    pub fn check(self, text: &[u8], mode: Mode) -> Report {
        check_text(self, text, mode, usize::MAX)
    }

    /// Reads one document leniently.
    fn read<T: DeserializeOwned>(self, text: &[u8]) -> Result<T, ContractError> {
        serde_json::from_slice(text).map_err(|error| {
            let mut findings = check_text(self, text, Mode::Lenient, SERVED).findings;
            if findings.is_empty() {
                // There is more than one document, or a byte-order mark, which is allowed only in
                // files.
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
    /// Reads a request for serving, with [`Mode::Lenient`].
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
    /// Fails if the input isn't one JSON document, or not a valid request. Returns up to 100
    /// findings.
    pub fn from_json(text: &[u8]) -> Result<Self, ContractError> {
        Contract::RunRequest.read(text)
    }

    /// The findings of strict validation for the request as it would be written.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        Contract::RunRequest.findings(self)
    }
}

impl RunRecord {
    /// Reads a record for serving, with [`Mode::Lenient`].
    ///
    /// # Errors
    ///
    /// Fails if the input isn't one JSON document, or not a valid record. Returns up to 100
    /// findings.
    pub fn from_json(text: &[u8]) -> Result<Self, ContractError> {
        Contract::RunRecord.read(text)
    }

    /// The findings of strict validation for the record as it would be written.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        Contract::RunRecord.findings(self)
    }
}
