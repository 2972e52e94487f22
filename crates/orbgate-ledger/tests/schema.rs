//! The JSON Schema: committed as generated, and what answers are.

#[allow(unreachable_pub, reason = "a module of another crate")]
#[path = "../../orbgate-testing/src/json.rs"]
mod json;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use orbgate_ledger::{
    Accounts, Answer, Bucket, Cause, Cursor, Entry, Event, Line, Listing, Model, Note, Order, Part, schema, suite,
};
use serde_json::{Value, json};

use crate::support::{account, id, millis, orbs};

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
    let names = ["grant", "revoke", "hold", "extend", "settle", "refund", "freeze", "balance", "holds"];
    let names = names.map(|name| (name, validator(name)));
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
            Answer::Refunded(done) => ("refund", json!(done)),
            Answer::Frozen(done) => ("freeze", json!(done)),
            Answer::Balance(balance) => ("balance", json!(balance)),
            Answer::Holds(holds) => ("holds", json!(holds)),
        };
        check(name, &answer);
        seen.insert(name);
    }
    assert_eq!(seen.len(), names.len());
    let later = millis(100_000_000);
    let accounts = model.accounts(&Listing::default(), later).unwrap();
    assert!(accounts.len() > 1 && accounts.iter().all(|listed| validator("account").is_valid(&json!(listed))));
    assert!(validator("accounts").is_valid(&json!(Accounts::new(accounts.clone(), 1))));
    for listed in accounts {
        let statement = model.statement(&Part::newest(listed.balance.account), later).unwrap();
        assert!(validator("statement").is_valid(&json!(statement)), "{statement:?}");
    }
    assert!(validator("totals").is_valid(&json!(model.totals(None, later).unwrap())));
    // It isn't a schema of everything.
    assert!(!names[0].1.is_valid(&json!({"id": "g"})));
    let (entry, event, verify) = (validator("entry"), validator("event"), validator("verify"));
    let mut ids = BTreeSet::new();
    let page = model.entries(&Cursor::default(), usize::MAX, millis(0)).unwrap();
    let (mut told, mut left, mut late) = ([0_i64; 2], [0_i64; 2], 0_u32);
    for (_, item) in page.entries {
        assert!(entry.is_valid(&json!(item)), "{item:?}");
        for body in Event::of(&item, "/ledger").into_iter().map(|event| json!(event)) {
            assert!(event.is_valid(&body), "{body}");
            let id = body["id"].as_str().unwrap().to_owned();
            late += u32::from(id.contains("/expired/"));
            assert!(ids.insert(id), "each event has an id of its own: {body}");
            let sign = match body["type"].as_str().unwrap().rsplit_once('.').unwrap().1 {
                "granted" | "refunded" => 1,
                "captured" | "revoked" | "grant_expired" => -1,
                _ => 0,
            };
            for (sum, name) in told.iter_mut().zip(["paid", "bonus"]) {
                *sum += sign * body["data"][name].as_i64().unwrap();
            }
            let amount = body["data"]["paid"].as_u64().unwrap() + body["data"]["bonus"].as_u64().unwrap();
            assert_eq!(body["data"]["amount"], amount);
        }
        for line in &item.lines {
            left[usize::from(line.bucket == Bucket::Bonus)] += line.available + line.held;
        }
    }
    // The events account for every orb of each bucket: those that were granted, and didn't go, are still there.
    assert_eq!(told, left);
    assert!(late > 5 && told.iter().all(|sum| *sum > 0), "{late} {told:?}");
    assert!(verify.is_valid(&json!(model.verify())));
}

/// Ids of commands from pieces that event ids are made of, too: each event keeps an id of its own, and says which it is.
#[test]
fn no_ids_of_commands_make_two_events_equal() {
    const PIECES: [&str; 9] = ["a", "/", "%", "%2F", "%25", "expired", "captured", "pending", "grant_expired"];
    const CAUSES: [Cause; 11] = [
        Cause::Grant,
        Cause::Revoke,
        Cause::Hold,
        Cause::Capture,
        Cause::Void,
        Cause::HoldExpired,
        Cause::GrantExpired,
        Cause::Refund,
        Cause::Freeze,
        Cause::Unfreeze,
        Cause::ClockReset,
    ];
    let mut names: Vec<String> = PIECES.map(str::to_owned).into();
    for start in PIECES {
        for (middle, end) in PIECES.iter().flat_map(|middle| PIECES.map(|end| (middle, end))) {
            names.push(format!("{start}{middle}{end}"));
        }
    }
    let grants: BTreeSet<&String> = names.iter().step_by(7).chain(&names[..PIECES.len()]).collect();
    // What each event is about, by its id.
    let mut known = BTreeMap::new();
    let names: BTreeSet<&String> = names.iter().collect();
    for cause in CAUSES {
        for name in &names {
            // Orbs that the hold releases after their grants have expired.
            let gone = |grant: &&String| {
                let (grant, bucket) = (id(grant.as_str()), Bucket::Paid);
                Line { grant, bucket, available: 0, held: -1, captured: 0 }
            };
            let lines = if cause == Cause::Void { grants.iter().map(gone).collect() } else { Vec::new() };
            let entry = Entry {
                account: account("a"),
                seq: 1,
                at: millis(1),
                cause,
                id: id(name.as_str()),
                lines,
                note: Note::default(),
                author: Note::default(),
                hold: None,
                paid: orbs(0),
                bonus: orbs(0),
                held: orbs(0),
                shortfall: orbs(0),
            };
            let about = core::iter::once(None).chain(grants.iter().filter(|_| cause == Cause::Void).map(Some));
            let events = Event::of(&entry, "/ledger");
            assert_eq!(events.len(), about.clone().count());
            for (event, grant) in events.iter().zip(about) {
                let event = json!(event)["id"].as_str().unwrap().to_owned();
                let before = known.insert(event.clone(), (cause, *name, grant));
                assert_eq!(before, None, "`{event}` is also about {name} {cause:?} {grant:?}");
            }
        }
    }
    assert!(known.len() > 50_000, "{}", known.len());
}
