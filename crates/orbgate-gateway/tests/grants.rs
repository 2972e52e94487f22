//! Grants through the ledger service, over each of its stores: one or many in a message, and names that look the same.

use std::sync::Arc;

use orbgate_ledger::{Clock, Command, Ledger as _, Millis, Sqlite, SystemClock};
use serde_json::{Value, json};

use crate::server::Server;
use crate::stores::{Service, hold};

fn grant(id: &str, account: &str, amount: i64) -> Value {
    json!({ "id": id, "account": account, "amount": amount, "bucket": "paid" })
}

fn available(service: &Service, account: &str) -> Value {
    service.ask("/v1/balance", &json!({ "account": account })).1["available"].clone()
}

/// More than a store does in a transaction. Each has its own answer, in order, and is done once.
fn does_as_many_as_it_takes(service: &Service) {
    let name = |number: usize| format!("many-{}", number % 300);
    let grants: Vec<_> = (0..1_000).map(|number| grant(&format!("many-{number}"), &name(number), 2)).collect();
    for repeated in [false, true] {
        let (status, answers) = service.ask("/v1/grant", &json!(grants));
        let answers = answers.as_array().unwrap();
        assert_eq!((status, answers.len()), (200, 1_000));
        for (number, answer) in answers.iter().enumerate() {
            let told = ["id", "account", "repeated", "new_account"].map(|member| answer[member].clone());
            let expected = [grants[number]["id"].clone(), name(number).into(), repeated.into(), (number < 300).into()];
            assert_eq!(told, expected);
        }
    }
    assert_eq!([available(service, "many-0"), available(service, "many-299")], [json!(8), json!(6)]);
    let more: Vec<_> = (0..1_001).map(|number| grant(&format!("more-{number}"), "more", 2)).collect();
    let (status, refused) = service.ask("/v1/grant", &json!(more));
    assert_eq!((status, &refused["error"]), (400, &json!("invalid")), "{refused}");
    assert_eq!(available(service, "more"), 0);
    assert_eq!(service.ask("/v1/grant", &json!([])), (200, json!([])));
}

/// What can't be done has its own error, and the others are done, by the operator.
fn refuses_each_by_itself(service: &Service) {
    let existing = json!({ "id": "e3", "account": "nobody", "amount": 1, "bucket": "paid", "existing": true });
    let expired = json!({ "id": "e4", "account": "each", "amount": 1, "bucket": "paid", "expires_at": 1 });
    service.grant("e1", "each", 5);
    let message = json!([grant("e1", "each", 6), grant("e2", "each", 7), existing, expired, grant("e5", "each", 9)]);
    let (status, answers) = service.ask("/v1/grant", &message);
    let errors = [0, 1, 2, 3, 4].map(|at| answers[at]["error"].as_str());
    assert_eq!(
        (status, errors),
        (200, [Some("conflict"), None, Some("unknown_account"), Some("expired"), None]),
        "{answers}"
    );
    assert_eq!(available(service, "each"), 21);
    let (_, page) = service.ask("/v1/statement", &json!({ "account": "each", "limit": 1 }));
    assert_eq!((&page["movements"][0]["id"], &page["movements"][0]["author"]), (&json!("e5"), &json!("operator")));
}

/// If one can't be read, each error has its place and nothing is done, not even those before it.
fn reads_all_or_none(service: &Service) {
    let good = grant("r1", "read", 1);
    let table = [
        (json!([good, good]), &[": the id `r1` is already at 1:"][..]),
        (json!([good, grant("r2", "read", 0)]), &["a grant has at least 1 orb"]),
        (
            json!([good, 7, grant("a b", "read", 1), grant("r3", "", -1)]),
            &["invalid type", "an id is", "an account is"],
        ),
        (json!([good, { "id": "r4" }, { "id": "r1", "more": 1 }]), &["missing field", "unknown field", "already at"]),
        (json!([good, { "id": "r5", "account": "read", "amount": 1, "bucket": "paid", "author": "me" }]), &["author"]),
    ];
    for (message, errors) in table {
        let (status, refused) = service.ask("/v1/grant", &message);
        let said = refused["message"].as_str().unwrap();
        assert_eq!((status, &refused["error"]), (400, &json!("invalid")), "{refused}");
        assert!(errors.iter().all(|error| said.contains(error)), "{message}\n{said}");
        assert!(said.lines().all(|line| line.starts_with("1:")), "{said}");
    }
    assert_eq!(available(service, "read"), 0);
    // One that isn't in an array is refused as before.
    let (status, zero) = service.ask("/v1/grant", &grant("r6", "read", 0));
    assert_eq!((status, &zero["error"]), (422, &json!("zero")));
}

/// A new account whose name looks like another's is a warning, in the answer and in the log.
fn warns_of_similar_names(service: &Service) {
    let (_, first) = service.ask("/v1/grant", &grant("n1", "zoe", 1));
    assert_eq!((&first["new_account"], &first["similar"]), (&json!(true), &Value::Null));
    let (status, second) = service.ask("/v1/grant", &grant("n2", "Zo\u{200b}e ", 1));
    assert_eq!((status, &second["similar"]), (200, &json!(["zoe"])), "{second}");
    // Neither a repeated grant nor another one of the account.
    for id in ["n2", "n3"] {
        assert_eq!(service.ask("/v1/grant", &grant(id, "Zo\u{200b}e ", 1)).1["similar"], Value::Null);
    }
    let message = json!([grant("n4", "yan", 1), grant("n5", "ZOE", 1), grant("n6", "Yan", 1)]);
    let (_, answers) = service.ask("/v1/grant", &message);
    let similar = [0, 1, 2].map(|at| answers[at]["similar"].clone());
    assert_eq!(similar, [json!(["Yan"]), json!(["Zo\u{200b}e ", "zoe"]), json!(["yan"])], "{answers}");
    let is_logged = || {
        let said = service.gateway.running.said();
        let warnings = said.lines().filter(|line| line.contains("with a name like that of others"));
        let ids: Vec<_> = ["n2", "n4", "n5", "n6"].map(|id| format!("\"{id}\"")).into();
        let warnings: Vec<_> = warnings.collect();
        assert!(!warnings.iter().any(|line| line.to_lowercase().contains("zoe")), "{said}");
        warnings.len() == 4 && ids.iter().all(|id| warnings.iter().any(|line| line.contains(id)))
    };
    // The service answers before its log has come through the pipe.
    let is_there = (0..500).any(|_| {
        is_logged() || {
            std::thread::sleep(core::time::Duration::from_millis(20));
            false
        }
    });
    assert!(is_there, "{}", service.gateway.running.said());
}

fn script(service: &Service) {
    does_as_many_as_it_takes(service);
    refuses_each_by_itself(service);
    reads_all_or_none(service);
    warns_of_similar_names(service);
}

#[test]
fn many_grants_over_sqlite() {
    script(&Service::start("grants-sqlite", "orbs.db"));
}

#[test]
fn many_grants_over_postgres() {
    let Some(server) = Server::start() else { return };
    script(&Service::start("grants-postgres", &server.new_database()));
    drop(server);
}

/// The clock of two minutes ago, because totals are of a time at least a minute ago.
#[derive(Debug)]
struct Ago;

impl Clock for Ago {
    fn now(&self) -> Millis {
        Millis::new(SystemClock.now().get() - 120_000).unwrap()
    }

    fn runs(&self) -> bool {
        false
    }
}

#[test]
fn totals_have_what_was_granted_and_spent() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("orbs.db");
    let ledger = Sqlite::open_with(&db, None, Arc::new(Ago)).unwrap();
    let expires_at = Ago.now().get() + 30_000;
    let bonus = json!({ "id": "t2", "account": "alice", "amount": 7, "bucket": "bonus", "expires_at": expires_at });
    for grant in [grant("t1", "alice", 100), bonus] {
        ledger.run(Command::Grant(serde_json::from_value(grant).unwrap())).unwrap();
    }
    ledger.run(Command::Hold(serde_json::from_value(hold("h", 30)).unwrap())).unwrap();
    let settle = json!({ "hold": "h", "settlement": { "capture": 12 } });
    ledger.run(Command::Settle(serde_json::from_value(settle).unwrap())).unwrap();
    drop(ledger);
    let service = Service::start("totals", &db.display().to_string());
    let (status, totals) = service.ask("/v1/totals", &json!({}));
    let figures =
        |of: &str| ["granted", "captured", "expired", "outstanding"].map(|sum| totals[of][sum].as_u64().unwrap());
    assert_eq!((status, &totals["outstanding"]), (200, &json!(88)), "{totals}");
    assert_eq!([figures("paid"), figures("bonus")], [[100, 12, 0, 88], [7, 0, 7, 0]]);
    let (_, before) = service.ask("/v1/totals", &json!({ "at": expires_at - 1 }));
    assert_eq!(before["bonus"]["outstanding"], 7, "{before}");
}
