//! One script for the ledger service over each of its stores: what it answers, what it logs, and what its health says, while its
//! database goes, its disk is full, a neighbour's transaction is open, a copy is restored and it gets a signal to end.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::fs;
use std::path::PathBuf;
use std::process::Command as Process;
use std::sync::Arc;
use std::thread;

use orbgate_ledger::{ClockChange, Command, Ledger, Postgres, Sqlite};
use serde_json::{Value, json};

use crate::server::Server;
use crate::support::wire::{ask, request};
use crate::support::{Gateway, folder, free_port};

const TOKENS: &str = include_str!("../../../examples/gateway/tokens.yaml");

pub(crate) const GATE: &str = "gate-secret-0123456789-0123456789";
pub(crate) const OPERATOR: &str = "operator-secret-0123456789-0123456789";

pub(crate) fn message(method: &str, path: &str, secret: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {secret}\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    (head + body).into_bytes()
}

pub(crate) fn hold(id: &str, amount: u64) -> Value {
    json!({ "id": id, "account": "alice", "amount": amount, "bonus": false, "ttl": 60_000 })
}

/// A small disk. It is gone with the value.
struct Disk(tempfile::TempDir);

impl Disk {
    /// None if this isn't allowed here, which is a failure in CI.
    fn new() -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("orbs").tempdir_in("/tmp").unwrap();
        let mut mount = Process::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m,mode=777", "orbgate"]).arg(folder.path());
        match mount.output() {
            Ok(output) if output.status.success() => Some(Self(folder)),
            failed => {
                orbgate_testing::skipped::missing(&format!("a full disk of a ledger: `mount` fails: {failed:?}"));
                None
            }
        }
    }

    fn grow(&self) {
        let grown = Process::new("mount").args(["-o", "remount,size=64m"]).arg(self.0.path()).status().unwrap();
        assert!(grown.success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Process::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

/// A service over a store.
pub(crate) struct Service {
    pub(crate) gateway: Gateway,
    address: String,
    folder: PathBuf,
    config: String,
}

impl Service {
    pub(crate) fn start(name: &str, db: &str) -> Self {
        Self::start_with(name, &format!("db: '{db}'"), &[])
    }

    /// With these keys of the ledger and these files.
    fn start_with(name: &str, keys: &str, files: &[(&str, &str)]) -> Self {
        let (folder, address) = (folder(&format!("stores-{name}")), format!("127.0.0.1:{}", free_port()));
        for (file, secret) in [("gate", GATE), ("operator", OPERATOR)].iter().chain(files) {
            fs::write(folder.join(file), secret).unwrap();
        }
        let config = format!(
            "listeners: [{{ mode: ledger, listen: {address} }}]\n\
             ledger: {{ {keys}, gate_secrets: [gate], operator_secrets: [operator] }}\n"
        );
        let gateway = Gateway::start_with(folder.clone(), TOKENS, &config);
        Self { gateway, address, folder, config }
    }

    pub(crate) fn ask(&self, path: &str, body: &Value) -> (u16, Value) {
        let answer = ask(&self.address, &message("POST", path, OPERATOR, &body.to_string()));
        (answer.status, serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}")))
    }

    fn health(&self) -> (u16, String) {
        let answer = ask(&self.gateway.admin, &request(b"GET", b"/healthz", &[]));
        (answer.status, answer.body.trim().to_owned())
    }

    pub(crate) fn grant(&self, id: &str, account: &str, amount: u64) {
        let grant = json!({ "id": id, "account": account, "amount": amount, "bucket": "paid" });
        assert_eq!(self.ask("/v1/grant", &grant).0, 200);
    }

    /// The causes in the log of a ledger that fails.
    fn failures(&self) -> Vec<String> {
        let errors = self.gateway.running.errors().into_iter();
        let errors = errors.filter(|fields| fields["message"] == "the ledger fails");
        errors.map(|fields| fields["error"].as_str().unwrap().to_owned()).collect()
    }

    fn has_recovered(&self) -> bool {
        self.gateway.running.said().contains("the ledger answers again")
    }

    /// The service answers before its log has come through the pipe.
    fn logs(&self, is_there: impl Fn(&Self) -> bool) {
        let there = (0..1_000).any(|_| {
            is_there(self) || {
                thread::sleep(Duration::from_millis(20));
                false
            }
        });
        assert!(there, "{}", self.gateway.running.said());
    }

    /// A signal ends it: it ends well, and says nothing of a panic.
    fn end(&mut self) {
        self.gateway.running.signal("TERM");
        let status = self.gateway.running.child.wait().unwrap();
        let said = self.gateway.running.said();
        assert!(status.code() == Some(0) && !said.contains("panicked"), "{status:?} {said}");
    }

    fn start_again(&mut self) {
        self.gateway = Gateway::start_with(self.folder.clone(), TOKENS, &self.config);
    }
}

/// Commands of one message about one hold or one account are done in the order of the message, each with its own answer.
fn does_commands_in_order(service: &Service) {
    service.grant("order", "alice", 1_000);
    let ids: Vec<_> = (0..100).map(|at| format!("order-{at}")).collect();
    for id in &ids {
        assert_eq!(service.ask("/v1/hold", &hold(id, 5)).1["hold"], "held");
    }
    let settle = |hold: &str, settlement: Value| json!({ "hold": hold, "settlement": settlement });
    let message: Vec<_> =
        ids.iter().flat_map(|id| [settle(id, json!("void")), settle(id, json!({ "capture": 5 }))]).collect();
    let (_, answers) = service.ask("/v1/settle", &json!(message));
    for pair in answers.as_array().unwrap().chunks(2) {
        assert_eq!((&pair[0]["state"], &pair[1]["error"]), (&json!("voided"), &json!("settled")), "{pair:?}");
    }
    // What the first releases is what the second takes.
    for round in 0..20 {
        let account = format!("bob {round}");
        service.grant(&format!("order-{round}"), &account, 10);
        for (id, amount) in [("first", 9), ("second", 1)] {
            let hold = json!({ "id": format!("{id}-{round}"), "account": account, "amount": amount, "bonus": false, "ttl": 60_000 });
            assert_eq!(service.ask("/v1/hold", &hold).1["hold"], "held");
        }
        let message = [
            settle(&format!("first-{round}"), json!("void")),
            settle(&format!("second-{round}"), json!({ "capture": 10 })),
        ];
        let (_, answers) = service.ask("/v1/settle", &json!(message));
        assert_eq!((&answers[1]["captured"], &answers[1]["shortfall"]), (&json!(10), &json!(0)), "{answers}");
    }
}

/// Gates read answers of at most 1 MiB. The longest are those of settlements that are otherwise settled.
fn answers_are_short_enough_for_gates(service: &Service) {
    let account = "\"".repeat(512);
    service.grant("long", &account, 1_000_000);
    let most = orbgate_gate::LedgerReply::MOST_BYTES;
    let ids: Vec<_> = (0..500).map(|at| format!("{at:0>3}{}", "\\".repeat(125))).collect();
    thread::scope(|scope| {
        for ids in ids.chunks(63) {
            let account = &account;
            scope.spawn(move || {
                for id in ids {
                    let hold = json!({ "id": id, "account": account, "amount": 1, "bonus": false, "ttl": 3_600_000 });
                    assert_eq!(service.ask("/v1/hold", &hold).1["hold"], "held");
                }
            });
        }
    });
    let much = (1_u64 << 53) - 1;
    for (amount, done) in [(much, "captured"), (much - 1, "error")] {
        let settle = ids.iter().map(|id| json!({ "hold": id, "settlement": { "capture": amount } }));
        let body = json!(settle.collect::<Vec<_>>()).to_string();
        let answer = ask(&service.address, &message("POST", "/v1/settle", GATE, &body));
        let answers: Vec<Value> = serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{}", answer.status));
        assert!(answers.len() == 500 && answers.iter().all(|answer| !answer[done].is_null()), "{:?}", answers[0]);
        assert!(answer.body.len() > most / 2 && answer.body.len() < most, "{}", answer.body.len());
    }
}

/// What waits is measured, each command is timed, and a hold that expires is counted once.
fn measures(service: &mut Service) {
    service.grant("measured", "carol", 10);
    let before = service.gateway.counted(&["orbgate_ledger_pending_holds"]);
    let expired = service.gateway.counted(&["orbgate_ledger_expired_holds_total"]);
    for (id, ttl) in [("measured", 60_000), ("short", 1)] {
        let hold = json!({ "id": id, "account": "carol", "amount": 1, "bonus": false, "ttl": ttl });
        assert_eq!(service.ask("/v1/hold", &hold).1["hold"], "held");
    }
    service.gateway.until_counted(&["orbgate_ledger_expired_holds_total"], expired + 1);
    assert_eq!(service.gateway.counted(&["orbgate_ledger_pending_holds"]), before + 1);
    assert_eq!(service.gateway.counted(&["orbgate_ledger_waiting_commands"]), 0);
    let done = service.gateway.counted(&["orbgate_ledger_commands_total", "\"grant\"", "done"]);
    assert_eq!(service.gateway.counted(&["orbgate_ledger_command_seconds_count", "\"grant\""]), done);
    assert_eq!(service.gateway.counted(&["orbgate_ledger_command_seconds_bucket", "\"grant\"", "\"30\""]), done);
}

/// Reads entries after a cursor until one with this id is there, and returns their ids and the cursor after it.
fn entries_until(service: &Service, after: &str, last: &str) -> (Vec<String>, String) {
    let (mut ids, mut cursor) = (Vec::new(), after.to_owned());
    for _ in 0..1_000 {
        let (status, page) = service.ask("/v1/entries", &json!({ "after": cursor, "limit": 1_000 }));
        assert_eq!(status, 200, "{page}");
        let entries = page["entries"].as_array().unwrap();
        ids.extend(entries.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()));
        if ids.iter().any(|id| id == last) {
            return (ids, page["next"].as_str().unwrap().to_owned());
        }
        match entries.is_empty() {
            true => thread::sleep(Duration::from_millis(10)),
            false => page["next"].as_str().unwrap().clone_into(&mut cursor),
        }
    }
    panic!("`{last}` is never read");
}

/// While a neighbour's transaction is open: commands are done, and their entries are read.
fn hides_nothing(service: &Service, name: &str) {
    service.grant(name, "erin", 1);
    entries_until(service, "", name);
}

/// A signal comes while commands run: what was answered is there, and the rest is done when it is sent again, once.
fn ends_while_it_works(service: &mut Service) {
    service.grant("ends", "dora", 1_000_000);
    let answered: [AtomicU64; 4] = Default::default();
    let callers = u64::try_from(answered.len()).unwrap();
    let of_caller = |caller: u64, at: u64| json!({ "id": format!("ends-{caller}-{at}"), "account": "dora", "amount": 1, "bonus": false, "ttl": 3_600_000 });
    let address = service.address.clone();
    thread::scope(|scope| {
        for (caller, answered) in (0..).zip(&answered) {
            let address = &address;
            scope.spawn(move || {
                let body = || of_caller(caller, answered.load(Ordering::SeqCst)).to_string();
                while ask(address, &message("POST", "/v1/hold", GATE, &body())).status == 200 {
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        while answered.iter().any(|count| count.load(Ordering::SeqCst) < 10) {
            thread::sleep(Duration::from_millis(1));
        }
        service.end();
    });
    service.start_again();
    let held =
        |service: &Service| service.ask("/v1/balance", &json!({ "account": "dora" })).1["held"].as_u64().unwrap();
    let count: u64 = answered.iter().map(|count| count.load(Ordering::SeqCst)).sum();
    assert!((count..=count + callers).contains(&held(service)), "{count} {}", held(service));
    for (caller, answered) in (0..).zip(&answered) {
        assert_eq!(service.ask("/v1/hold", &of_caller(caller, answered.load(Ordering::SeqCst))).1["hold"], "held");
    }
    assert_eq!(held(service), count + callers);
}

/// A copy is restored: a cursor from after it is known no more, and an earlier one continues. What it has forgotten is done again.
fn forgets_what_a_copy_has_not(service: &mut Service, copy: impl Fn(), restore: impl Fn()) {
    service.grant("restore", "frank", 10);
    let of_frank = |id: &str| json!({ "id": id, "account": "frank", "amount": 1, "bonus": false, "ttl": 3_600_000 });
    assert_eq!(service.ask("/v1/hold", &of_frank("kept")).1["hold"], "held");
    let (_, before) = entries_until(service, "", "kept");
    service.end();
    copy();
    service.start_again();
    assert_eq!(service.ask("/v1/hold", &of_frank("lost")).1["hold"], "held");
    let (ids, later) = entries_until(service, &before, "lost");
    assert_eq!(ids, ["lost"]);
    service.end();
    restore();
    service.start_again();
    let (status, answer) = service.ask("/v1/entries", &json!({ "after": later }));
    assert_eq!((status, &answer["error"]), (422, &json!("cursor")), "{answer}");
    for (id, repeated) in [("kept", true), ("lost", false)] {
        assert_eq!(service.ask("/v1/hold", &of_frank(id)).1["repeated"], repeated, "{id}");
    }
    let (ids, again) = entries_until(service, &before, "lost");
    assert!(ids == ["lost"] && again != later, "{ids:?}");
}

/// Holds until the disk is full, and returns how many were answered.
fn fill(service: &Service) -> u64 {
    service.grant("full", "alice", 1_000_000);
    for at in 0..100_000_u64 {
        let (status, answer) = service.ask("/v1/hold", &hold(&format!("full-{at}"), 1));
        if status != 200 {
            assert_eq!((status, &answer["error"]), (503, &json!("unknown")), "{answer}");
            return at;
        }
    }
    panic!("the disk is never full");
}

/// After a full disk has room again: nothing that was answered is lost, and the command that wasn't is done once.
fn goes_on(service: &Service, answered: u64) {
    let (status, answer) = service.ask("/v1/hold", &hold(&format!("full-{answered}"), 1));
    assert_eq!((status, &answer["hold"]), (200, &json!("held")), "{answer}");
    let balance = service.ask("/v1/balance", &json!({ "account": "alice" })).1;
    assert_eq!(balance["held"], answered + 1);
}

/// A clock of a time long ago.
#[derive(Debug)]
pub(crate) struct Old;

impl orbgate_ledger::Clock for Old {
    fn now(&self) -> orbgate_ledger::Millis {
        orbgate_ledger::Millis::ZERO
    }

    fn runs(&self) -> bool {
        false
    }
}

/// For a service, the clock has leapt since the newest entry: it does no command until an operator accepts this. It needs no restart.
fn does_nothing_after_a_leap(name: &str, db: &str, before: &dyn Ledger, accept: &dyn Fn()) {
    let mut service = Service::start(name, db);
    let grant = json!({ "id": "before", "account": "alice", "amount": 9, "bucket": "paid" });
    before.run(Command::Grant(serde_json::from_value(grant).unwrap())).unwrap();
    for (path, body) in [
        ("/v1/hold", hold("leap", 1)),
        ("/v1/balance", json!({ "account": "alice" })),
        ("/v1/settle", json!([{ "hold": "leap", "settlement": "void" }])),
    ] {
        let (status, answer) = service.ask(path, &body);
        let refusal = if path == "/v1/settle" { &answer[0] } else { &answer };
        assert_eq!((status == 200, &refusal["error"]), (path == "/v1/settle", &json!("clock")), "{answer}");
        assert!(refusal["message"].as_str().unwrap().contains("clock --accept"), "{answer}");
    }
    // What has moved can still be read.
    entries_until(&service, "", "before");
    let (status, page) = service.ask("/v1/entries", &json!({}));
    assert_eq!((status, page["entries"].as_array().map(Vec::len)), (200, Some(1)));
    assert!(page["complete_until"].as_u64() < Some(60_000), "{page}");
    let ready = ask(&service.gateway.admin, &request(b"GET", b"/readyz", &[]));
    assert!(ready.status == 503 && ready.body.contains("clock --accept"), "{ready:?}");
    let metrics = ask(&service.gateway.admin, &request(b"GET", b"/metrics", &[])).body;
    assert!(metrics.contains(r#"orbgate_ledger_commands_total{command="hold",result="clock"} 1"#), "{metrics}");
    service.logs(|service| !service.failures().is_empty());
    assert_eq!((service.failures().len(), service.health().0), (1, 200));
    accept();
    let (status, answer) = service.ask("/v1/hold", &hold("leap", 1));
    assert_eq!((status, &answer["hold"]), (200, &json!("held")), "{answer}");
    service.logs(Service::has_recovered);
    service.end();
}

#[test]
fn the_script_over_sqlite() {
    let mut service = Service::start("sqlite", "orbs.db");
    let (file, copy) = (service.folder.join("orbs.db"), service.folder.join("copy.db"));
    let neighbour = rusqlite::Connection::open(&file).unwrap();
    neighbour.execute_batch("BEGIN; SELECT count(*) FROM entry").unwrap();
    hides_nothing(&service, "beside-a-reader");
    neighbour.execute_batch("ROLLBACK; BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let waits = scope.spawn(|| hides_nothing(&service, "after-a-writer"));
        thread::sleep(Duration::from_millis(100));
        neighbour.execute_batch("ROLLBACK").unwrap();
        waits.join().unwrap();
    });
    drop(neighbour);
    ends_while_it_works(&mut service);
    let moved = |from: &PathBuf, to: &PathBuf| {
        // A ledger that has ended well is one file.
        assert!(!from.with_extension("db-wal").exists());
        fs::copy(from, to).unwrap();
    };
    forgets_what_a_copy_has_not(&mut service, || moved(&file, &copy), || moved(&copy, &file));
    does_commands_in_order(&service);
    answers_are_short_enough_for_gates(&service);
    measures(&mut service);
    assert_eq!((service.failures(), service.health()), (Vec::new(), (200, "ok".to_owned())));
    service.end();

    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("orbs.db");
    let old = Sqlite::open_with(&db, None, Arc::new(Old)).unwrap();
    let accept = || drop(Sqlite::open(&db).unwrap().clock(ClockChange::Accept).unwrap());
    does_nothing_after_a_leap("sqlite-leap", &db.display().to_string(), &old, &accept);
    drop(old);

    let Some(disk) = Disk::new() else { return };
    let mut service = Service::start("sqlite-full", &disk.0.path().join("orbs.db").display().to_string());
    let answered = fill(&service);
    // It stops, says so once with the cause, and only a restart helps.
    let (status, why) = service.health();
    assert!(status == 503 && why.starts_with("the ledger has stopped: ") && why.contains("full"), "{why}");
    assert_eq!(service.ask("/v1/balance", &json!({ "account": "alice" })).0, 503);
    service.logs(|service| !service.failures().is_empty());
    let failures = service.failures();
    assert!(failures.len() == 1 && failures[0].contains("full"), "{failures:?}");
    disk.grow();
    assert_eq!(service.health().0, 503);
    service.end();
    service.start_again();
    assert_eq!(service.health().0, 200);
    goes_on(&service, answered);
    service.end();
}

#[test]
fn the_script_over_postgres() {
    let Some(mut server) = Server::start() else { return };
    let (url, postgres) = (server.new_database(), server.url("dbname=postgres"));
    let mut service = Service::start("postgres", &url);
    server.run(&url, "CREATE TABLE public.neighbour (n int)");
    server.run(&url, "BEGIN; INSERT INTO public.neighbour VALUES (1); PREPARE TRANSACTION 'orphan'");
    let neighbours = [&url, &postgres].map(|url| {
        let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
        client
            .batch_execute("BEGIN; CREATE TABLE public.another (n int); INSERT INTO public.another VALUES (1)")
            .unwrap();
        client
    });
    hides_nothing(&service, "beside-writers");
    drop(neighbours);
    server.run(&url, "ROLLBACK PREPARED 'orphan'");
    ends_while_it_works(&mut service);
    let name = url.split("dbname=").nth(1).unwrap();
    let moved = |from: &str, to: &str| {
        server.run(&postgres, &format!("DROP DATABASE IF EXISTS {to} WITH (FORCE)"));
        server.run(&postgres, &format!("CREATE DATABASE {to} TEMPLATE {from}"));
    };
    forgets_what_a_copy_has_not(&mut service, || moved(name, "copy"), || moved("copy", name));
    does_commands_in_order(&service);
    answers_are_short_enough_for_gates(&service);
    measures(&mut service);
    assert_eq!((service.failures(), service.health()), (Vec::new(), (200, "ok".to_owned())));
    // The server goes, and comes back: one line for each. It comes back by itself, so health stays.
    server.kill();
    assert_eq!(service.ask("/v1/hold", &hold("gone", 1)).0, 503);
    service.logs(|service| !service.failures().is_empty());
    let failures = service.failures();
    assert!(failures.len() == 1 && failures[0].contains("postgres: "), "{failures:?}");
    assert_eq!(service.ask("/v1/hold", &hold("gone", 1)).0, 503);
    assert!(!service.has_recovered() && service.failures().len() == 1 && service.health().0 == 200);
    server.start_again();
    assert_eq!(service.ask("/v1/hold", &hold("gone", 1)).1["hold"], "held");
    service.logs(Service::has_recovered);
    service.end();

    let url = server.new_database();
    let old = Postgres::open_with(&url, None, Some(Arc::new(Old))).unwrap();
    let accept = || drop(Postgres::open(&url).unwrap().clock(ClockChange::Accept).unwrap());
    does_nothing_after_a_leap("postgres-leap", &url, &old, &accept);
    drop(old);

    let Some(disk) = Disk::new() else { return };
    let url = server.new_database();
    let small = disk.0.path().join("tables");
    server.own_folder(&small);
    server.run(&url, &format!("CREATE TABLESPACE small LOCATION '{}'", small.display()));
    server.run(&url, "ALTER DATABASE CURRENT_DB SET default_tablespace = small");
    let mut service = Service::start("postgres-full", &url);
    let answered = fill(&service);
    service.logs(|service| !service.failures().is_empty());
    let failures = service.failures();
    assert!(failures.len() == 1 && failures[0].contains("No space left"), "{failures:?}");
    assert_eq!(service.health().0, 200);
    disk.grow();
    goes_on(&service, answered);
    service.logs(Service::has_recovered);
    service.end();
    drop(server);
}

#[test]
fn a_password_is_in_a_file_and_not_in_the_log() {
    const PASSWORD: &str = "hunter2 of the gateway";

    let Some(mut server) = Server::start() else { return };
    let url = server.new_database();
    server.run(&url, &format!("CREATE ROLE gate LOGIN PASSWORD '{PASSWORD}'"));
    server.run(&url, "ALTER DATABASE CURRENT_DB OWNER TO gate");
    server.write("pg_hba.conf", "local all gate scram-sha-256\nlocal all all trust\n");
    server.kill();
    server.start_again();
    let keys = format!("db: '{}', password_file: password", url.replace("user=orbs", "user=gate"));
    let mut service = Service::start_with("password", &keys, &[("password", &format!("{PASSWORD}\n"))]);
    service.grant("g", "alice", 5);
    assert_eq!((service.failures(), service.health()), (Vec::new(), (200, "ok".to_owned())));
    // The file is read again for a new connection.
    fs::write(service.folder.join("password"), "hunter2, a wrong one\n").unwrap();
    server.kill();
    server.start_again();
    assert_eq!(service.ask("/v1/hold", &hold("h", 1)).0, 503);
    service.logs(|service| !service.failures().is_empty());
    assert_eq!(service.failures(), ["postgres: password authentication failed for user \"gate\""]);
    let said = service.gateway.running.said();
    assert!(!said.contains("hunter2"), "{said}");
    service.end();
    drop(server);
}
