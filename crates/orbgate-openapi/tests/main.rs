//! Policies from OpenAPI documents and back, and operations that have no equal.
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test reads files, takes the time, and stops at its first surprise"
)]

mod closed;
mod drift;
mod faithful;
mod hostile;
mod kinds;
mod needs;
mod options;
mod schemes;
#[allow(dead_code, reason = "the core's tests use all of it")]
#[path = "../../orbgate/tests/support/mod.rs"]
mod support;
mod wider;

use std::collections::HashSet;

use orbgate::{Orbs, Policy};
use orbgate_openapi::{Options, check, export, import};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::valid;

/// Options that state nothing: only the document does.
pub fn nothing() -> Options {
    Options::default()
}

/// Calls consume nothing.
pub fn free() -> Options {
    Options { orbs: Some(Orbs::Free), ..Options::default() }
}

/// A policy becomes a document in both formats, and comes back with its digest; and so does the document.
fn goes_round(policy: &Policy) {
    let document = export(policy);
    for text in [document.to_yaml(), document.to_json()] {
        let imported = import(text.as_bytes(), &nothing());
        let imported = imported.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}\n{text}"));
        assert_eq!(imported.left_out, [], "{text}");
        let again = Policy::from_yaml(&imported.policy).unwrap();
        assert_eq!(again.digest(), policy.digest(), "{text}");
        let routes = policy.apis().iter().flat_map(orbgate::policy::Api::scopes);
        let routes: usize = routes.map(|scope| scope.routes().len()).sum();
        assert_eq!(imported.operations, routes);
        let drift = check(text.as_bytes(), &nothing(), policy).unwrap();
        assert_eq!(drift, [], "{text}");
        // The order of scopes with routes may change once, so the texts agree from the second on.
        let second = export(&again).to_yaml();
        let third = import(second.as_bytes(), &nothing()).unwrap().policy;
        assert_eq!(third, imported.policy);
    }
}

/// Texts that a careless writer of YAML loses.
const TEXTS: &[&str] = &[
    "a",
    "api",
    "no",
    "Null",
    "1",
    "1e3",
    "a: b",
    "a:",
    "a #b",
    "#",
    "- a",
    "'",
    "\"",
    "\\",
    " a",
    "a ",
    "<<",
    "{a}",
    "[",
    "*a",
    "&a",
    "!a",
    "%",
    "@",
    "`",
    "|",
    ">",
    "?",
    "é",
    "\u{1f6cd}",
    "..",
    "---",
    "~",
    "=",
    "0o10",
    "1:30",
    "2026-01-01",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn random_policies_go_round(model in support::policies::policies(), words in vec(select(TEXTS), 3)) {
        let word = |at: usize| serde_json::to_string(words[at]).unwrap();
        let mut text = model.to_yaml();
        let head = format!("orbgate: 1\nname: {}\nheadings: [{}]\n", word(0), word(1));
        text = text.replacen("orbgate: 1\n", &head, 1);
        // A scope of two apis says once what it permits.
        let scopes = model.apis.iter().flat_map(|api| &api.scopes).take(2);
        let scopes: HashSet<_> = scopes.map(|scope| &scope.name).collect();
        let permits = format!("\n        permits: {}\n        routes:", word(2));
        text = text.replacen("\n        routes:", &permits, scopes.len());
        text = text.replacen("  \"api9\":", &format!("  {}:", word(0)), 1);
        goes_round(&Policy::from_yaml(&text).unwrap());
    }
}

#[test]
fn a_policy_of_many_routes_goes_round() {
    let routes: Vec<_> = (0..51_000).map(|number| format!("GET /r{number}")).collect();
    let policy = format!(
        "orbgate: 1\napis: {{ a: {{ base_path: /v1, scopes: {{ s: {{ orbs: 5, routes: [{}] }} }} }} }}\n",
        routes.join(", ")
    );
    let policy = Policy::from_yaml(&policy).unwrap();
    let imported = import(export(&policy).to_yaml().as_bytes(), &nothing()).unwrap();
    assert_eq!((imported.operations, imported.left_out), (routes.len(), vec![]));
    assert_eq!(Policy::from_yaml(&imported.policy).unwrap().digest(), policy.digest());
}

#[test]
fn the_shipped_policies_go_round() {
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let folders = ["policy", "crates/orbgate-cli/testdata"];
    let mut count = 0;
    for (_, yaml) in valid::all() {
        let policy = Policy::from_yaml(&yaml).unwrap();
        goes_round(&policy);
        count += 1;
    }
    for folder in folders {
        let Ok(folder) = std::fs::read_dir(format!("{repository}/{folder}")) else {
            // The archive of the published package has no such files.
            assert!(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml.orig").exists());
            return;
        };
        for file in folder {
            let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
            if let Ok(policy) = Policy::from_bytes(&bytes) {
                goes_round(&policy);
                count += 1;
            }
        }
    }
    assert!(count >= 18, "{count}");
}
