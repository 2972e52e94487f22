//! The JSON Schema: committed as generated, and what answers are.

#[allow(unreachable_pub, reason = "a module of another crate")]
#[path = "../../orbgate-testing/src/json.rs"]
mod json;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use orbgate_ledger::{Answer, Cursor, Event, Model, Order, schema, suite};
use serde_json::{Value, json};

use crate::support::millis;

#[test]
fn the_committed_schema_is_the_generated_one() {
    let generated = json::print(&schema());
    let file = "schema/orbs.schema.json";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("ORBGATE_UPDATE").is_some_and(|value| value == "1") {
        fs::write(&path, &generated).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == generated, "{file} is out of date: run `cargo xtask schema`");
}

#[test]
fn every_answer_is_as_the_schema_says() {
    let schema = schema();
    let validator = |name: &str| {
        let mut schema = schema.clone();
        schema["$ref"] = Value::String(format!("#/$defs/{name}"));
        jsonschema::validator_for(&schema).unwrap()
    };
    let names = ["grant", "revoke", "hold", "extend", "settle", "balance", "holds"].map(|name| (name, validator(name)));
    let check = |name: &str, answer: &Value| {
        let (_, validator) = names.iter().find(|(known, _)| *known == name).unwrap();
        let errors: Vec<_> = validator.iter_errors(answer).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {answer}: {errors:?}");
    };
    let mut model = Model::new(Order::default());
    let mut seen = BTreeSet::new();
    for suite::Step { now, command } in suite::random(3, 2000) {
        let Ok(answer) = model.run(&command, now) else {
            continue;
        };
        let (name, answer) = match answer {
            Answer::Granted(done) => ("grant", json!(done)),
            Answer::Revoked(done) => ("revoke", json!(done)),
            Answer::Hold(answer) => ("hold", json!(answer)),
            Answer::Extended(done) => ("extend", json!(done)),
            Answer::Settled(done) => ("settle", json!(done)),
            Answer::Balance(balance) => ("balance", json!(balance)),
            Answer::Holds(holds) => ("holds", json!(holds)),
        };
        check(name, &answer);
        seen.insert(name);
    }
    assert_eq!(seen.len(), names.len());
    // It isn't a schema of everything.
    assert!(!names[0].1.is_valid(&json!({"id": "g"})));
    let (entry, event, verify) = (validator("entry"), validator("event"), validator("verify"));
    let mut ids = BTreeSet::new();
    let page = model.entries(&Cursor::default(), usize::MAX, millis(0)).unwrap();
    let count = page.entries.len();
    for (_, item) in page.entries {
        assert!(entry.is_valid(&json!(item)), "{item:?}");
        let body = json!(Event::new(&item, "/ledger"));
        assert!(event.is_valid(&body), "{body}");
        ids.insert(body["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), count, "each event has an id of its own");
    assert!(verify.is_valid(&json!(model.verify())));
}
