//! The configuration as people write it in YAML, read as strictly as a policy.

pub(crate) mod derived;
pub(crate) mod document;
pub(crate) mod error;
mod rules;

use orbgate::Location;
use orbgate_yaml::{self as yaml, Format, Value as _};

use self::document::Document;
use self::error::ConfigError;
use crate::verifier::Verifier;

impl Verifier {
    /// Reads and checks a configuration file; docs/tokens.md shows one. A file can't configure HMAC, because it contains no
    /// secret: use [`Verifier::new`] and [`KeySet::from_secrets`](crate::KeySet::from_secrets).
    ///
    /// # Errors
    ///
    /// Every error of the file, each with its location.
    pub fn from_yaml(text: &str) -> Result<Self, ConfigError> {
        Self::from_yaml_with_derived(text).map(|(verifier, _)| verifier)
    }

    /// The same, and each name in a `derive` with its location.
    ///
    /// # Errors
    ///
    /// As [`from_yaml`](Self::from_yaml).
    pub(crate) fn from_yaml_with_derived(text: &str) -> Result<(Self, Vec<(String, Location)>), ConfigError> {
        yaml::read(text.as_bytes(), &FORMAT, yaml::document("the configuration"), |document, diagnostics| {
            (rules::verifier(&document, diagnostics), rules::derived_scopes(&document))
        })
        .map_err(ConfigError::of_file)
    }
}

/// What the reader of YAML must know of the format.
const FORMAT: Format = Format {
    file: "a token configuration",
    start: "a token configuration starts with `orbgate_token: 1`",
    has_key: |key| Document::SHAPE.has_key(key),
    braced: None,
    key_with_colon: None,
};

#[cfg(test)]
mod tests {
    use orbgate_yaml::Value as _;

    use super::Document;

    #[test]
    fn the_page_has_the_table_of_the_keys() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tokens.md");
        orbgate_testing::expected::keep_part(page, "keys", &Document::SHAPE.table());
    }
}
