//! The JSON Schema of a policy, judged by somebody else's validator: as strict as a schema can be. The core tests that
//! the committed file is the generated one.
#![cfg(test)]
#![allow(clippy::disallowed_methods, reason = "a test reads its files and fails by panicking")]

#[allow(unreachable_pub, dead_code, reason = "the tests of the core use the rest")]
#[path = "../../orbgate/tests/support/invalid.rs"]
mod invalid;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use orbgate_testing::valid;
use serde_json::Value;

/// What a schema cannot say: it sees values, not their spelling, and knows nothing of other locations.
const BEYOND_A_SCHEMA: &[&str] = &[
    // How a value is spelled.
    "amount-exponent",
    "amount-float",
    "amount-hexadecimal",
    "amount-octal-1-2",
    "amount-plus",
    "amount-true-capital",
    "anchor",
    "api-name-is-a-boolean",
    "api-name-is-a-number",
    "bidi-in-comment",
    "heading-is-a-number",
    "invisible-in-comment",
    "name-is-a-boolean",
    "name-is-a-date",
    "permits-is-a-boolean",
    "scope-is-a-boolean",
    "scope-is-base-60",
    "scope-is-tilde",
    "tag",
    "version-float",
    // A key that the editor's own reader has already dropped.
    "duplicate-api",
    "duplicate-key-in-flow",
    "duplicate-key",
    "duplicate-orbs",
    "duplicate-scope",
    // Locations that conflict or are too many, or the length of a whole path.
    "base-path-case",
    "many-conflicts",
    "route-case-below-parameter",
    "route-case",
    "route-parameter-twice",
    "route-same-shape",
    "route-segment-too-long",
    "route-too-many-segments",
    "route-tuples",
    "route-twice-across-apis",
    "route-twice-on-a-line",
    "route-twice",
    "scope-in-two-apis",
    "apis-differ",
    "other-tokens",
    "scopes-twice",
    "scopes-unknown",
    "scopes-misspelt",
    // The reader of an editor takes it for a space.
    "tab-after-colon",
];

#[test]
fn the_schema_accepts_every_valid_policy() {
    let schema = schema();
    let external = fs::read_to_string(policy_directory().join("external.yaml")).unwrap();
    let all = valid::all().into_iter().chain([("external", external)]);
    for (name, text) in all {
        let value = value(&text).unwrap_or_else(|| panic!("{name} is not YAML"));
        let errors: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
}

#[test]
fn the_schema_refuses_every_invalid_policy_that_it_can() {
    let schema = schema();
    let accepted: BTreeSet<String> = invalid::all()
        .into_iter()
        .filter(|one| value(&one.yaml).is_some_and(|value| schema.is_valid(&value)))
        .map(|one| one.name)
        .collect();
    let expected: BTreeSet<String> = BEYOND_A_SCHEMA.iter().map(ToString::to_string).collect();
    assert_eq!(accepted, expected);
}

fn schema() -> Validator {
    let committed = fs::read_to_string(policy_directory().join("policy.schema.json")).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&committed).unwrap()).unwrap()
}

/// What an editor sees; `None` where the file is not YAML for it.
fn value(text: &str) -> Option<Value> {
    serde_yaml::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()
}

fn policy_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy")
}
