//! The configuration as people write it in YAML, read as strictly as a policy; what is wrong with a
//! configuration, and where.

mod document;
mod read;
mod rules;

use core::fmt;

use orbgate::Place;
use orbgate_yaml::{self as yaml, Fault, Format};

use crate::check::KeyFault;
use crate::verifier::Verifier;

impl Verifier {
    /// Reads and checks a configuration file; the crate's README shows one.
    ///
    /// # Errors
    ///
    /// Every fault of the file, each with its place.
    pub fn from_yaml(text: &str) -> Result<Self, ConfigError> {
        yaml::read(text.as_bytes(), &FORMAT, read::document, rules::issuers)
            .map(Self::of)
            .map_err(ConfigError::of_file)
    }
}

/// What the reader of YAML must know of the format.
const FORMAT: Format = Format {
    file: "a token configuration",
    start: "a token configuration starts with `orbgate_token: 1`",
    keys: &[
        "orbgate_token",
        "issuers",
        "issuer",
        "audience",
        "kind",
        "jwks_uri",
        "algorithms",
        "extra_types",
        "scopes",
        "client_claim",
        "require",
        "skew_seconds",
        "max_lifetime_seconds",
        "allow_unverified_cnf",
        "rsa_exponent_min",
        "claim",
        "equals",
        "one_of",
        "present",
        "equals_claim",
        "differs_from_claim",
        "format",
        "conflict",
        "user",
        "organisation",
    ],
    braced: None,
    key_with_colon: None,
};

/// A configuration that cannot be used: every fault found in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    faults: Vec<ConfigFault>,
}

/// One thing wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigFault {
    /// Where it is in the file; `None` for a configuration written in Rust.
    pub place: Option<Place>,
    /// What is wrong: lower case, no final period, input in backticks.
    pub message: String,
}

impl ConfigError {
    /// The error of a configuration written in Rust: each message names issuer and key.
    pub(crate) fn of_keys(faults: &[KeyFault]) -> Self {
        let faults = faults.iter().map(|fault| {
            let message = match fault.key.name {
                "" => fault.message.clone(),
                _ => format!("issuers[{}]: {}", fault.key.issuer, fault.message),
            };
            ConfigFault {
                place: None,
                message,
            }
        });
        Self {
            faults: faults.collect(),
        }
    }

    /// The error of a file.
    fn of_file(faults: Vec<Fault>) -> Self {
        let faults = faults.into_iter().map(|fault| ConfigFault {
            place: Some(Place {
                line: fault.place.line,
                column: fault.place.column,
            }),
            message: fault.message,
        });
        Self {
            faults: faults.collect(),
        }
    }

    /// The faults as lines `file:line:column: message`, for a terminal or an editor.
    #[must_use]
    pub fn in_file(&self, file: &str) -> String {
        let lines: Vec<_> = self
            .faults
            .iter()
            .map(|fault| format!("{file}:{fault}"))
            .collect();
        lines.join("\n")
    }

    /// Every fault; never empty.
    #[must_use]
    pub fn faults(&self) -> &[ConfigFault] {
        &self.faults
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(place) => write!(f, "{place}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl fmt::Display for ConfigError {
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

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde::de::DeserializeOwned;

    use super::FORMAT;
    use super::document::{Document, IssuerDocument, KindClaims, ScopesDocument, TestDocument};

    /// The keys that a type lists when it refuses another one.
    fn keys<T: DeserializeOwned>() -> BTreeSet<String> {
        let refused = serde_json::from_str::<T>(r#"{"no such key": 0}"#).err();
        let message = refused.unwrap().to_string();
        let (_, expected) = message.split_once("expected ").unwrap();
        let words = expected.split('`').skip(1).step_by(2);
        words.map(str::to_owned).collect()
    }

    /// A key that is missing in one of the lists is named.
    #[test]
    fn the_document_the_format_and_the_guide_have_the_same_keys() {
        let of_documents: BTreeSet<_> = [
            keys::<Document>(),
            keys::<IssuerDocument>(),
            keys::<KindClaims>(),
            keys::<TestDocument>(),
            keys::<ScopesDocument>(),
        ]
        .into_iter()
        .flatten()
        .collect();
        let of_format = FORMAT.keys.iter().map(|key| (*key).to_owned()).collect();
        assert_eq!(of_documents, of_format);
        let guide = include_str!("../../README.md");
        let is_told = |key: &String| {
            guide.contains(&format!("{key}:")) || guide.contains(&format!("`{key}`"))
        };
        let untold: Vec<_> = of_documents.iter().filter(|key| !is_told(key)).collect();
        assert!(untold.is_empty(), "README.md: {untold:?}");
    }
}
