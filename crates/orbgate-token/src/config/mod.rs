//! The configuration as people write it in YAML, read as strictly as a policy.

mod document;
mod read;
mod rules;

use orbgate_yaml::{self as yaml, Format};

use crate::config_error::ConfigError;
use crate::verifier::Verifier;

impl Verifier {
    /// Reads and checks a configuration file; the crate's README shows one.
    ///
    /// # Errors
    ///
    /// Every fault of the file, each with its place.
    pub fn from_yaml(text: &str) -> Result<Self, ConfigError> {
        yaml::read(
            text.as_bytes(),
            &FORMAT,
            read::document,
            |document, faults| rules::verifier(&document, faults),
        )
        .map_err(ConfigError::of_file)
    }
}

/// What the reader of YAML must know of the format.
const FORMAT: Format = Format {
    file: "a token configuration",
    start: "a token configuration starts with `orbgate_token: 1`",
    keys: &read::KEYS,
    braced: None,
    key_with_colon: None,
};

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
