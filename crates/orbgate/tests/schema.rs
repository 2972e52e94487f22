//! The JSON Schema for editors, and the page's table of keys: committed as generated. That the schema is as strict as a schema can
//! be, `orbgate-testing` tests.

#[allow(unreachable_pub, reason = "a module of another crate")]
#[path = "../../orbgate-testing/src/json.rs"]
mod json;

use std::fs;
use std::path::Path;

use orbgate::policy::Policy;

use crate::support::expected::keep_part;

#[test]
fn the_page_has_the_table_of_the_keys() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy/README.md");
    keep_part(readme, "keys", &Policy::key_table());
}

#[test]
fn the_committed_schema_is_the_generated_one() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy/policy.schema.json");
    let generated = json::print(&serde_json::from_str(&Policy::json_schema()).unwrap());
    if std::env::var_os("ORBGATE_UPDATE").is_some_and(|value| value == "1") {
        fs::write(&file, &generated).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == generated, "{} is out of date: run `cargo xtask schema`", file.display());
}
