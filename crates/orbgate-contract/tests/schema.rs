//! The JSON Schemas: committed as generated.

#[allow(unreachable_pub, reason = "a module of another crate")]
#[path = "../../orbgate-testing/src/json.rs"]
mod json;

use std::fs;
use std::path::Path;

use orbgate_contract::Contract;

#[test]
fn the_committed_schemas_are_the_generated_ones() {
    for (contract, name) in [(Contract::RunRequest, "run-request"), (Contract::RunRecord, "run-record")] {
        let generated = json::print(&serde_json::from_str(&contract.generated_schema()).unwrap());
        let file = format!("schema/{name}.schema.json");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
        if std::env::var_os("ORBGATE_UPDATE").is_some_and(|value| value == "1") {
            fs::write(&path, &generated).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap();
        assert!(committed == generated, "{file} is out of date: run `cargo xtask schema`");
    }
}
