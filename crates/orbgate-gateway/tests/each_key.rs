//! Each key of the configuration does something: for each, two files that differ in nothing else, and what a gateway with each
//! shows: answers, headers, files, lines of its log, or that it doesn't start.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::operation::{Ca, ask_securely};
use crate::stores::{GATE, OPERATOR, hold, message};
use crate::support::wire::{Answer, ask, request};
use crate::support::{Issuer, Running, folder, free_port};

/// A secret of nothing else.
const NEXT: &str = "next-secret-0123456789-0123456789";

/// The table of keys, which a unit test makes of the code.
const PAGE: &str = include_str!("../../../docs/gateway/configuration.md");

const POLICY: &str = "\
orbgate: 1
apis:
  a: { base_path: '', scopes: { read: { orbs: false, routes: [GET /a, 'GET /b/{id}'] } } }
  users: { base_path: /users, token: user, organisation: deny, scopes: { infer: { orbs: false, routes: [GET /c] } } }
";
const OTHER_POLICY: &str =
    "orbgate: 1\napis: { a: { base_path: '', scopes: { write: { orbs: false, routes: [GET /a] } } } }\n";
const WIDER_POLICY: &str =
    "orbgate: 1\napis: { a: { base_path: '', scopes: { read: { orbs: false, routes: [GET /a, GET /c] } } } }\n";

/// A gateway doesn't start with the second file of these.
const REFUSED: [&str; 6] = [
    "orbgate_gateway",
    "require_seal",
    "listeners.tls.certificate",
    "listeners.tls.key",
    "ledger",
    // A SQLite file has none.
    "ledger.password_file",
];

struct Row {
    key: &'static str,
    /// What differs from [`usual`]. `null` leaves a key out.
    files: [Value; 2],
    look: fn(&mut Service) -> String,
}

/// A gateway in a folder of its own, with an issuer of its own.
struct Service {
    issuer: Issuer,
    ca: Ca,
    running: Running,
    folder: PathBuf,
    /// Of the first listener, of the second one, and the operators'.
    addresses: [String; 3],
}

impl Service {
    /// Starts it. None if it doesn't start.
    fn start(file: &str) -> Option<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let folder = folder(&format!("each-key-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
        let (issuer, other, ca) = (Issuer::start(), Issuer::start(), Ca::new());
        let certified = ca.sign();
        certified.write(&folder);
        for name in ["server.pem", "server.key"] {
            fs::rename(folder.join(name), folder.join(name.replace("server", "other"))).unwrap();
        }
        ca.sign().write(&folder);
        let (tokens, of_other) = (issuer.tokens_yaml(), other.tokens_yaml());
        let state = folder.join("state");
        fs::create_dir(&state).unwrap();
        let addresses = [(); 3].map(|()| format!("127.0.0.1:{}", free_port()));
        let [first, second, admin] = &addresses;
        let text = file.replace("FIRST", first).replace("SECOND", second).replace("ADMIN", admin);
        for (name, text) in [
            ("policy.yaml", POLICY),
            ("other-policy.yaml", OTHER_POLICY),
            ("tokens.yaml", &tokens),
            ("other-tokens.yaml", &of_other),
            ("gate", GATE),
            ("next", NEXT),
            ("operator", OPERATOR),
            ("gateway.yaml", &text),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbgate-gateway"));
        let running = Running::start(command.args(["--config", "gateway.yaml"]).current_dir(&folder));
        let mut service = Self { issuer, ca, running, folder, addresses };
        let begun = Instant::now();
        loop {
            let is_there = match text.contains("admin:") {
                true => get(&service.addresses[2], "/readyz").status == 200,
                false => service.running.said().contains("listening"),
            };
            if is_there {
                return Some(service);
            }
            if service.running.child.try_wait().unwrap().is_some() {
                return None;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{}\n{text}", service.running.said());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// A question of nginx about this call, with more headers.
    fn question(&self, method: &str, target: &str, token: &str, more: &[(&str, &str)]) -> Vec<u8> {
        let bearer = format!("Bearer {token}");
        let own = [("X-Original-Method", method), ("X-Original-URI", target), ("Authorization", &bearer)];
        let own = if token.is_empty() { &own[..2] } else { &own };
        request(b"GET", b"/", &[own, more].concat())
    }

    /// The usual question, which the usual policy allows.
    fn usual(&self) -> Vec<u8> {
        self.question("GET", "/a", &self.issuer.token("user", "read"), &[])
    }

    /// What the first listener answers to it.
    fn asked(&self) -> Answer {
        ask(&self.addresses[0], &self.usual())
    }

    /// The answer to an AuthZEN message.
    fn evaluated(&self, subject: Value, action: &str, resource: Value) -> String {
        let body = json!({ "subject": subject, "action": { "name": action }, "resource": resource }).to_string();
        let answer = ask(&self.addresses[0], &json_message(&body));
        format!("{} {}", answer.status, answer.body)
    }

    fn evaluated_by_token(&self, action: &str, resource: Value) -> String {
        let properties = json!({ "token": self.issuer.token("user", "read") });
        self.evaluated(json!({ "type": "user", "id": "ann", "properties": properties }), action, resource)
    }

    /// What it says until it ends after a signal.
    fn ended(&mut self) -> String {
        self.running.signal("TERM");
        self.running.child.wait().unwrap();
        // Its last line is read by another thread.
        while !self.running.said().contains("told to end") {
            thread::sleep(Duration::from_millis(10));
        }
        self.running.said()
    }
}

fn get(address: &str, path: &str) -> Answer {
    ask(address, &request(b"GET", path.as_bytes(), &[]))
}

/// An AuthZEN message.
fn json_message(body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST /access/v1/evaluation HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    (head + body).into_bytes()
}

/// Status and headers, without those that differ each time.
fn shown(answer: &Answer) -> String {
    let headers = answer.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("date"));
    format!("{} {:?}", answer.status, headers.collect::<Vec<_>>())
}

fn usual() -> Value {
    json!({
        "orbgate_gateway": 1, "policy": "policy.yaml", "tokens": "tokens.yaml", "admin": "ADMIN",
        "listeners": [listener(&json!({}))],
    })
}

fn listener(changes: &Value) -> Value {
    changed(json!({ "mode": "nginx", "listen": "FIRST", "trusted_proxies": ["127.0.0.1"] }), changes)
}

/// The usual listener with these changes alone.
fn listening(changes: &Value) -> Value {
    json!({ "listeners": [listener(changes)] })
}

fn without_null(mut object: Value) -> Value {
    object.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    object
}

fn changed(mut object: Value, changes: &Value) -> Value {
    for (key, value) in changes.as_object().unwrap() {
        object[key] = value.clone();
    }
    without_null(object)
}

fn file(changes: &Value) -> String {
    let file = changed(usual(), changes);
    let keys = file.as_object().unwrap();
    let (start, rest): (Vec<_>, Vec<_>) = keys.iter().partition(|(key, _)| *key == "orbgate_gateway");
    start.into_iter().chain(rest).map(|(key, value)| format!("{key}: {value}\n")).collect()
}

type Add<'r> = dyn FnMut(&'static str, Value, Value, fn(&mut Service) -> String) + 'r;

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |key: &'static str, one: Value, other: Value, look: fn(&mut Service) -> String| {
        rows.push(Row { key, files: [one, other], look });
    };
    policies(&mut row);
    listeners(&mut row);
    operators(&mut row);
    answers(&mut row);
    authzen(&mut row);
    ledger(&mut row);
    limits(&mut row);
    rows
}

fn asked(service: &mut Service) -> String {
    shown(&service.asked())
}

fn policies(row: &mut Add<'_>) {
    row("orbgate_gateway", json!({}), json!({ "orbgate_gateway": 2 }), asked);
    row("policy", json!({}), json!({ "policy": "other-policy.yaml" }), asked);
    row("require_seal", json!({}), json!({ "require_seal": true }), asked);
    row("refuse_wider", json!({}), json!({ "refuse_wider": true }), |service| {
        fs::write(service.folder.join("policy.yaml"), WIDER_POLICY).unwrap();
        service.running.signal("HUP");
        let question = service.question("GET", "/c", &service.issuer.token("user", "read"), &[]);
        let address = service.addresses[0].clone();
        let is_allowed = || ask(&address, &question).status == 200;
        service.running.until("the policy is read", |running| is_allowed() || !running.errors().is_empty());
        is_allowed().to_string()
    });
    row("public", json!({}), json!({ "public": ["GET /healthz"] }), |service| {
        shown(&ask(&service.addresses[0], &service.question("GET", "/healthz", "", &[])))
    });
    row("cors_preflight", json!({}), json!({ "cors_preflight": "pass" }), |service| {
        let headers = [("Origin", "https://app.example.com"), ("Access-Control-Request-Method", "GET")];
        shown(&ask(&service.addresses[0], &service.question("OPTIONS", "/a", "", &headers)))
    });
    row("tokens", json!({}), json!({ "tokens": "other-tokens.yaml" }), asked);
}

fn listeners(row: &mut Add<'_>) {
    let both = json!({ "listeners": [listener(&json!({})), listener(&json!({ "listen": "SECOND" }))] });
    row("listeners", json!({}), both, |service| shown(&ask(&service.addresses[1], &service.usual())));
    row("listeners.mode", json!({}), listening(&json!({ "mode": "forward_auth" })), asked);
    row("listeners.listen", json!({}), listening(&json!({ "listen": "SECOND" })), asked);
    row("listeners.trusted_proxies", json!({}), listening(&json!({ "trusted_proxies": ["127.0.0.9"] })), asked);
    let tls = |certificate: &str, key: &str, authorities: Value| {
        listening(
            &json!({ "tls": without_null(json!({ "certificate": certificate, "key": key, "client_ca": authorities })) }),
        )
    };
    let usual = || tls("server.pem", "server.key", Value::Null);
    row("listeners.tls", json!({}), usual(), asked);
    let secured = |service: &mut Service| {
        let answer = ask_securely(&service.addresses[0], &service.ca, None, &service.usual());
        answer.is_some().to_string()
    };
    // The other half of the pair doesn't fit.
    row("listeners.tls.certificate", usual(), tls("other.pem", "server.key", Value::Null), secured);
    row("listeners.tls.key", usual(), tls("server.pem", "other.key", Value::Null), secured);
    row("listeners.tls.client_ca", usual(), tls("server.pem", "server.key", json!("other.pem")), secured);
}

fn operators(row: &mut Add<'_>) {
    row("admin", json!({}), json!({ "admin": null }), |service| shown(&get(&service.addresses[2], "/healthz")));
    row("audit", json!({}), json!({ "audit": "audit.jsonl" }), |service| {
        service.asked();
        service.ended();
        fs::read_to_string(service.folder.join("audit.jsonl")).is_ok_and(|text| text.lines().count() == 1).to_string()
    });
    row("debug", json!({}), json!({ "debug": true }), |service| {
        ask(&service.addresses[0], &service.question("GET", "/a", &service.issuer.token("user", "write"), &[]));
        service.ended().contains("\"explanation\"").to_string()
    });
    row("state", json!({}), json!({ "state": "state" }), |service| {
        service.asked();
        service.ended();
        fs::read_dir(service.folder.join("state")).unwrap().next().is_some().to_string()
    });
}

fn answers(row: &mut Add<'_>) {
    row("headers", json!({}), json!({ "headers": "X-Acme-" }), asked);
    row("identity", json!({}), json!({ "identity": true }), asked);
    let denied = |service: &mut Service| {
        let token = service.issuer.token("user", "write");
        shown(&ask(&service.addresses[0], &service.question("GET", "/a", &token, &[])))
    };
    row("challenge", json!({}), json!({ "challenge": "full" }), denied);
    let full = |key: &str, value: &str| json!({ "challenge": "full", key: value });
    row("realm", full("realm", "a"), full("realm", "b"), denied);
    let [one, other] = ["https://a.example.com/metadata", "https://b.example.com/metadata"];
    row("resource_metadata", full("resource_metadata", one), full("resource_metadata", other), denied);
    row("flat_403", json!({}), json!({ "flat_403": true }), |service| {
        shown(&ask(&service.addresses[0], &service.question("GET", "/a", "", &[])))
    });
}

/// A decision point with these settings.
fn point(authzen: Value) -> Value {
    json!({ "listeners": [{ "mode": "authzen", "listen": "FIRST" }], "authzen": authzen })
}

fn authzen(row: &mut Add<'_>) {
    let ann = |key: &str, value: &str| {
        let mut ann = json!({ "type": "user", "id": "ann", "token_kind": "user", "scopes": "read" });
        ann[key] = value.into();
        point(json!({ "subjects": [ann] }))
    };
    let evaluated = |service: &mut Service| {
        service.evaluated(json!({ "type": "user", "id": "ann" }), "GET", json!({ "type": "route", "id": "/a" }))
    };
    row("authzen", point(Value::Null), ann("id", "ann"), evaluated);
    let url = |url: &str| point(json!({ "url": url }));
    row("authzen.url", url("https://a.example.com"), url("https://b.example.com"), |service| {
        get(&service.addresses[0], "/.well-known/authzen-configuration").body
    });
    row("authzen.caller_scope", point(json!({})), point(json!({ "caller_scope": "read" })), evaluated);
    row("authzen.subjects", point(json!({})), ann("id", "ann"), evaluated);
    row("authzen.subjects.type", ann("type", "user"), ann("type", "identity"), evaluated);
    row("authzen.subjects.id", ann("id", "ann"), ann("id", "bea"), evaluated);
    let of_kind = |kind: &str| {
        let subject = json!({ "type": "user", "id": "ann", "token_kind": kind, "scopes": "infer" });
        point(json!({ "subjects": [subject] }))
    };
    row("authzen.subjects.token_kind", of_kind("user"), of_kind("organisation"), |service| {
        let resource = json!({ "type": "route", "id": "/users/c" });
        service.evaluated(json!({ "type": "user", "id": "ann" }), "GET", resource)
    });
    row("authzen.subjects.scopes", ann("scopes", "read"), ann("scopes", "write"), evaluated);
    let acts: fn(&mut Service) -> String =
        |service| service.evaluated_by_token("can_read", json!({ "type": "route", "id": "/a" }));
    let action = |name: &str, method: &str| point(json!({ "actions": [{ "name": name, "method": method }] }));
    row("authzen.actions", point(json!({})), action("can_read", "GET"), acts);
    row("authzen.actions.name", action("can_write", "GET"), action("can_read", "GET"), acts);
    row("authzen.actions.method", action("can_read", "POST"), action("can_read", "GET"), acts);
    let found: fn(&mut Service) -> String =
        |service| service.evaluated_by_token("GET", json!({ "type": "record", "id": "7" }));
    let resource = |kind: &str, path: &str| point(json!({ "resources": [{ "type": kind, "path": path }] }));
    row("authzen.resources", point(json!({})), resource("record", "/b/{id}"), found);
    row("authzen.resources.type", resource("page", "/b/{id}"), resource("record", "/b/{id}"), found);
    row("authzen.resources.path", resource("record", "/d/{id}"), resource("record", "/b/{id}"), found);
}

fn ledger(row: &mut Add<'_>) {
    let serving = |changes: &Value| {
        let ledger =
            changed(json!({ "db": "orbs.db", "gate_secrets": ["gate"], "operator_secrets": ["operator"] }), changes);
        json!({ "policy": null, "listeners": [{ "mode": "ledger", "listen": "FIRST" }], "ledger": ledger })
    };
    let held: fn(&mut Service) -> String = |service| {
        ask(&service.addresses[0], &message("POST", "/v1/hold", GATE, &hold("h", 5).to_string())).status.to_string()
    };
    let without = json!({ "policy": null, "listeners": [{ "mode": "ledger", "listen": "FIRST" }] });
    row("ledger", serving(&json!({})), without, held);
    row("ledger.db", serving(&json!({})), serving(&json!({ "db": "other.db" })), |service| {
        service.folder.join("orbs.db").exists().to_string()
    });
    row("ledger.password_file", serving(&json!({})), serving(&json!({ "password_file": "gate" })), held);
    row("ledger.gate_secrets", serving(&json!({})), serving(&json!({ "gate_secrets": ["next"] })), held);
    let reads: fn(&mut Service) -> String = |service| {
        let message = message("POST", "/v1/accounts", NEXT, "{}");
        ask(&service.addresses[0], &message).status.to_string()
    };
    row("ledger.support_secrets", serving(&json!({})), serving(&json!({ "support_secrets": ["next"] })), reads);
    row("ledger.operator_secrets", serving(&json!({})), serving(&json!({ "operator_secrets": null })), |service| {
        let grant = json!({ "id": "g", "account": "alice", "amount": 100, "bucket": "paid" }).to_string();
        ask(&service.addresses[0], &message("POST", "/v1/grant", OPERATOR, &grant)).status.to_string()
    });
}

fn limits(row: &mut Add<'_>) {
    let limits = |key: &str, value: u64| json!({ "limits": { key: value } });
    let full: fn(&mut Service) -> String = |service| {
        let idle = [(); 2].map(|()| TcpStream::connect(&service.addresses[0]).unwrap());
        let status = service.asked().status.to_string();
        drop(idle);
        status
    };
    row("limits", json!({}), limits("connections", 2), full);
    row("limits.connections", limits("connections", 64), limits("connections", 2), full);
    let of_point = |key: &str, value: u64| changed(point(Value::Null), &limits(key, value));
    row("limits.requests", of_point("requests", 64), of_point("requests", 2), |service| {
        let message = json_message(&" ".repeat(200));
        let mut unfinished = [(); 16].map(|()| {
            let mut stream = TcpStream::connect(&service.addresses[0]).unwrap();
            stream.write_all(&message[..message.len() - 100]).unwrap();
            stream
        });
        is_answered(&mut unfinished[0])
    });
    row("limits.header_bytes", json!({}), limits("header_bytes", 8_192), |service| {
        let question = service.question("GET", "/a", "", &[("X-Long", &"a".repeat(9_000))]);
        ask(&service.addresses[0], &question).status.to_string()
    });
    row("limits.idle_seconds", json!({}), limits("idle_seconds", 1), |service| {
        is_answered(&mut TcpStream::connect(&service.addresses[0]).unwrap())
    });
    row("limits.drain_seconds", json!({}), limits("drain_seconds", 1), |service| {
        // It waits for a key, for up to five seconds.
        service.issuer.stall(true);
        let before = service.issuer.asked();
        let question = service.question("GET", "/a", &service.issuer.of_unknown_key(), &[]);
        let address = service.addresses[0].clone();
        let answer = thread::spawn(move || ask(&address, &question).status);
        let Service { running, issuer, .. } = service;
        running.until("it is under way", |_| issuer.asked() > before);
        running.signal("TERM");
        let status = answer.join().unwrap();
        issuer.stall(false);
        status.to_string()
    });
}

/// Whether bytes, or the connection's end, come within ten seconds.
fn is_answered(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.read(&mut [0; 64]).is_ok().to_string()
}

#[test]
fn each_key_changes_something_that_shows() {
    let keys: BTreeSet<_> = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let rows = rows();
    let tried: BTreeSet<_> = rows.iter().map(|row| row.key).collect();
    assert_eq!(tried, keys, "each key has a row here");
    let (next, silent) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(Row { key, files, look }) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let files = files.each_ref().map(file);
                    let [seen, seen_by_other] = files.each_ref().map(|file| Service::start(file).as_mut().map(look));
                    let is_refused = seen_by_other.is_none();
                    if seen.is_none() || is_refused != REFUSED.contains(key) || seen == seen_by_other {
                        silent
                            .lock()
                            .unwrap()
                            .push(format!("{key}: {seen:?}, {seen_by_other:?}\n{}", files.join("\n")));
                    }
                }
            });
        }
    });
    let silent = silent.into_inner().unwrap();
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}
