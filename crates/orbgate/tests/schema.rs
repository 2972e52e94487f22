//! The JSON Schema for editors: committed as generated. That it is as strict as a schema can be, `orbgate-testing` tests.

use std::fs;
use std::path::Path;

use orbgate::policy::Policy;

#[test]
fn the_committed_schema_is_the_generated_one() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy/policy.schema.json");
    if std::env::var_os("ORBGATE_UPDATE").is_some_and(|value| value == "1") {
        fs::write(&file, Policy::json_schema()).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == Policy::json_schema(),
        "{} is out of date: run `cargo xtask schema`",
        file.display()
    );
}
