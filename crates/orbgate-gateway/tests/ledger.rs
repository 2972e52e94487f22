//! The mode `ledger`: who may do what, commands that are sent again, several at once, secrets that change, and readiness.

use core::time::Duration;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::operation::{Ca, ask_securely};
use crate::server::Server;
use crate::stores::{GATE, OPERATOR, hold, message};
use crate::support::wire::{Answer, ask, ask_on, request};
use crate::support::{Gateway, folder, free_port, run};

const TOKENS: &str = include_str!("../../../examples/gateway/tokens.yaml");

const NEXT: &str = "next-secret-0123456789-0123456789";
const SUPPORT: &str = "support-secret-0123456789-0123456789";

struct Service {
    gateway: Gateway,
    address: String,
}

impl Service {
    /// It is ready without keys, because it decides nothing. So its log states no policy.
    fn start(name: &str) -> Self {
        let (folder, address) = (folder(&format!("ledger-{name}")), format!("127.0.0.1:{}", free_port()));
        for (file, secret) in [("gate", GATE), ("next", NEXT), ("support", SUPPORT), ("operator", OPERATOR)] {
            fs::write(folder.join(file), format!("{secret}\n")).unwrap();
        }
        let config = config(&address, "[gate, next]");
        let mut gateway = Gateway::start_with(folder, TOKENS, &config);
        gateway.running.until("it listens", |running| running.said().contains("listening"));
        let log = gateway.running.said();
        assert!(!["built-in policy", "\"digest\"", "charging: "].iter().any(|it| log.contains(it)), "{log}");
        Self { gateway, address }
    }

    fn send(&self, method: &str, path: &str, secret: &str, body: &str) -> Answer {
        post(&self.address, method, path, secret, body)
    }

    fn ask(&self, path: &str, secret: &str, body: &Value) -> (u16, Value) {
        let answer = self.send("POST", path, secret, &body.to_string());
        assert_eq!(answer.header("cache-control"), "no-store");
        (answer.status, serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}")))
    }

    fn balance(&self, account: &str) -> Value {
        self.ask("/v1/balance", OPERATOR, &json!({ "account": account })).1
    }
}

fn config(address: &str, gates: &str) -> String {
    format!(
        "listeners: [{{ mode: ledger, listen: {address} }}]\n\
         ledger: {{ db: orbs.db, gate_secrets: {gates}, support_secrets: [support], operator_secrets: [operator] }}\n"
    )
}

fn post(address: &str, method: &str, path: &str, secret: &str, body: &str) -> Answer {
    ask(address, &message(method, path, secret, body))
}

/// Each path is for its roles only: 200 or an error of the command, but 403 for all others.
#[test]
fn each_path_has_its_roles() {
    let service = Service::start("each-role");
    let account = json!({ "account": "alice" });
    let settle = json!([]);
    for (path, body, roles) in [
        ("/v1/hold", hold("h", 30), "gate operator"),
        ("/v1/extend", settle.clone(), "gate operator"),
        ("/v1/settle", settle, "gate operator"),
        ("/v1/grant", json!({ "id": "g", "account": "alice", "amount": 100, "bucket": "paid" }), "operator"),
        ("/v1/revoke", json!({ "id": "r", "account": "alice", "grant": "g", "amount": 1 }), "operator"),
        ("/v1/refund", json!({ "id": "f", "hold": "h" }), "operator"),
        ("/v1/freeze", json!({ "id": "z", "account": "alice", "frozen": false }), "operator"),
        ("/v1/balance", account.clone(), "support operator"),
        ("/v1/holds", account.clone(), "support operator"),
        ("/v1/entries", json!({}), "support operator"),
        ("/v1/accounts", json!({}), "support operator"),
        ("/v1/statement", account, "support operator"),
        ("/v1/totals", json!({}), "support operator"),
    ] {
        for (role, secret) in [("gate", GATE), ("support", SUPPORT), ("operator", OPERATOR)] {
            let (status, answer) = service.ask(path, secret, &body);
            assert_eq!(status == 403, !roles.contains(role), "{path} {role}: {status} {answer}");
            assert!(status != 401 && status < 500, "{path} {role}: {status} {answer}");
        }
    }
    let (_, denied) = service.ask("/v1/statement", GATE, &json!({ "account": "alice" }));
    let message = "`/v1/statement` requires a secret of `support_secrets` or `operator_secrets`";
    assert_eq!(denied["message"], message);
}

#[test]
fn support_reads_accounts_statements_and_totals() {
    let service = Service::start("support");
    for (id, account, amount) in [("g1", "alice", 100), ("g2", "alan", 5), ("g3", "bob", 7)] {
        let grant = json!({ "id": id, "account": account, "amount": amount, "bucket": "paid" });
        assert_eq!(service.ask("/v1/grant", OPERATOR, &grant).0, 200);
    }
    let digest = format!("sha256:{}", "0f".repeat(32));
    let mut held = hold("h", 30);
    held["note"] = format!("POST /api/v1/voxies {digest}").into();
    assert_eq!(service.ask("/v1/hold", GATE, &held).0, 200);
    let settle = json!([{ "hold": "h", "settlement": { "capture": 12 } }]);
    assert_eq!(service.ask("/v1/settle", GATE, &settle).0, 200);

    let (status, page) = service.ask("/v1/accounts", SUPPORT, &json!({ "prefix": "al", "limit": 1 }));
    assert_eq!((status, &page["accounts"][0]["account"], &page["next"]), (200, &json!("alan"), &json!("alan")));
    let (_, page) = service.ask("/v1/accounts", SUPPORT, &json!({ "prefix": "al", "after": "alan" }));
    assert_eq!(
        (&page["accounts"][0]["posted"], &page["accounts"][1], &page["next"]),
        (&json!(88), &Value::Null, &Value::Null)
    );

    let (_, statement) = service.ask("/v1/statement", SUPPORT, &json!({ "account": "alice" }));
    assert_eq!(statement["balance"], service.balance("alice"));
    let charge = &statement["movements"][2];
    assert_eq!((&charge["paid_change"], &charge["posted"]), (&json!(-12), &statement["balance"]["posted"]));
    assert_eq!((&charge["route"], &charge["policy"]), (&json!("POST /api/v1/voxies"), &json!(digest)));
    let (_, newest) = service.ask("/v1/statement", SUPPORT, &json!({ "account": "alice", "limit": 1 }));
    assert_eq!((&newest["movements"][0], &newest["earlier"]), (charge, &json!(3)));
    let (status, unknown) = service.ask("/v1/statement", SUPPORT, &json!({ "account": "carol" }));
    assert_eq!((status, &unknown["error"]), (404, &json!("unknown_account")));

    let (_, entries) = service.ask("/v1/entries", SUPPORT, &json!({ "account": "bob" }));
    assert_eq!((&entries["entries"][0]["id"], &entries["entries"][1]), (&json!("g3"), &Value::Null));
    // The cursor goes on, although no entry is of that time.
    let (_, entries) = service.ask("/v1/entries", SUPPORT, &json!({ "to": 1, "limit": 2 }));
    assert!(entries["entries"].as_array().unwrap().is_empty() && entries["next"].is_string(), "{entries}");

    assert_eq!(service.ask("/v1/totals", SUPPORT, &json!({})).1["outstanding"], 0);
    let (status, recent) = service.ask("/v1/totals", SUPPORT, &json!({ "at": 9_007_199_254_740_991_u64 }));
    assert_eq!((status, &recent["error"]), (422, &json!("too_recent")));
}

#[test]
fn a_gate_holds_extends_and_settles_and_the_operator_does_the_rest() {
    let service = Service::start("roles");
    let grant = json!({ "id": "g", "account": "alice", "amount": 100, "bucket": "paid" });
    for (path, body) in [
        ("/v1/grant", grant.clone()),
        ("/v1/revoke", json!({ "id": "r", "account": "alice", "grant": "g" })),
        ("/v1/refund", json!({ "id": "f", "hold": "h" })),
        ("/v1/freeze", json!({ "id": "z", "account": "alice", "frozen": true })),
        ("/v1/balance", json!({ "account": "alice" })),
        ("/v1/holds", json!({ "account": "alice" })),
        ("/v1/entries", json!({})),
    ] {
        let (status, answer) = service.ask(path, GATE, &body);
        assert_eq!((status, &answer["error"]), (403, &json!("forbidden")), "{path}");
        for secret in ["", "gate-secret", &GATE[1..], &format!("{GATE}x")] {
            assert_eq!(service.ask(path, secret, &body).0, 401, "{path} {secret}");
        }
    }
    // Without the right secret, even unknown paths and methods are 401, and no body is read.
    assert_eq!(service.send("GET", "/nothing", "no", "").status, 401);
    let twice = [("Authorization", format!("Bearer {GATE}")), ("Authorization", format!("Bearer {GATE}"))];
    let twice = twice.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(ask(&service.address, &request(b"POST", b"/v1/hold", &twice)).status, 401);
    assert_eq!(service.send("GET", "/v1/hold", GATE, "").header("allow"), "POST");
    assert_eq!(service.send("POST", "/v1/nothing", GATE, "{}").status, 404);

    assert_eq!(service.ask("/v1/grant", OPERATOR, &grant).0, 200);
    let (status, held) = service.ask("/v1/hold", GATE, &hold("h", 30));
    assert_eq!((status, &held["hold"], &held["repeated"]), (200, &json!("held"), &json!(false)));
    // The same id and content is the same receipt, with either secret; other content is a conflict.
    let (_, again) = service.ask("/v1/hold", NEXT, &hold("h", 30));
    assert_eq!((&again["at"], &again["repeated"]), (&held["at"], &json!(true)));
    let (status, conflict) = service.ask("/v1/hold", GATE, &hold("h", 31));
    assert_eq!((status, &conflict["error"]), (409, &json!("conflict")));
    // A denial is an answer.
    let (status, denied) = service.ask("/v1/hold", GATE, &hold("too-much", 71));
    assert_eq!((status, &denied["hold"], &denied["reason"]), (200, &json!("denied"), &json!("temporarily_held")));
    let (_, holds) = service.ask("/v1/holds", OPERATOR, &json!({ "account": "alice" }));
    assert_eq!(holds[0]["id"], "h");

    let beat = json!([
        { "id": "h.1", "hold": "h", "ttl": 120_000 },
        { "id": "n.1", "hold": "nothing", "ttl": 120_000 },
    ]);
    let (status, extended) = service.ask("/v1/extend", GATE, &beat);
    assert_eq!(status, 200);
    assert!(extended[0]["expires_at"].as_u64() > held["expires_at"].as_u64(), "{extended}");
    assert_eq!(extended[1]["error"], "unknown_hold");

    let settle = json!([
        { "hold": "h", "settlement": { "capture": 12 } },
        { "hold": "late", "settlement": "void" },
    ]);
    for repeated in [false, true] {
        let (_, settled) = service.ask("/v1/settle", GATE, &settle);
        assert_eq!((&settled[0]["captured"], &settled[0]["repeated"]), (&json!(12), &json!(repeated)));
        assert_eq!(settled[1]["state"], "voided");
    }
    let (_, otherwise) = service.ask("/v1/settle", GATE, &json!([{ "hold": "h", "settlement": "void" }]));
    assert_eq!((&otherwise[0]["error"], &otherwise[0]["settled"]["captured"]), (&json!("settled"), &json!(12)));
    // A hold that comes after its void isn't held.
    let (status, late) = service.ask("/v1/hold", GATE, &hold("late", 1));
    assert_eq!((status, &late["error"]), (409, &json!("settled")));
    assert_eq!(service.balance("alice")["posted"], 88);

    let (_, page) = service.ask("/v1/entries", OPERATOR, &json!({ "limit": 2 }));
    let (_, rest) = service.ask("/v1/entries", OPERATOR, &json!({ "after": page["next"] }));
    let causes = [&page, &rest].map(|page| page["entries"].as_array().unwrap().clone()).concat();
    let causes_at: Vec<_> = causes.iter().map(|entry| entry["at"].as_u64().unwrap()).collect();
    let causes: Vec<_> = causes.iter().map(|entry| entry["cause"].as_str().unwrap()).collect();
    assert_eq!(causes, ["grant", "hold", "capture"]);
    assert_eq!(service.gateway.counted(&["orbgate_ledger_commands_total", "\"hold\"", "temporarily_held"]), 1);
    assert_eq!(service.gateway.counted(&["orbgate_ledger_commands_total", "\"settle\"", "\"done\""]), 4);
    assert!(rest["complete_until"].as_u64() >= causes_at.last().copied(), "{rest}");
    for name in ["accounts", "seconds", "entries"] {
        assert_eq!(service.gateway.counted(&[&format!("orbgate_ledger_backlog_{name}")]), 0, "{name}");
    }
    let log = service.gateway.running.said();
    assert!(![GATE, NEXT, OPERATOR, "alice"].iter().any(|secret| log.contains(secret)), "{log}");

    // What an operator does has the name of the secret's file as its author, whatever a message says.
    let refund = json!({ "id": "f", "hold": "h", "amount": 5, "note": "no answer" });
    let (status, refunded) = service.ask("/v1/refund", OPERATOR, &refund);
    assert_eq!((status, &refunded["amount"], &refunded["repeated"]), (200, &json!(5), &json!(false)));
    let (status, too_much) = service.ask("/v1/refund", OPERATOR, &json!({ "id": "f2", "hold": "h", "amount": 8 }));
    assert_eq!((status, &too_much["error"]), (409, &json!("too_much")));
    let forged = json!({ "id": "f2", "hold": "h", "author": "somebody" });
    assert_eq!(service.ask("/v1/refund", OPERATOR, &forged).0, 400);
    let freeze = json!({ "id": "z", "account": "alice", "frozen": true });
    assert_eq!(service.ask("/v1/freeze", OPERATOR, &freeze).1["frozen"], true);
    assert_eq!(service.ask("/v1/hold", GATE, &hold("frozen", 1)).1["reason"], "frozen");
    let existing = json!({ "id": "g2", "account": "alcie", "amount": 1, "bucket": "paid", "existing": true });
    let (status, unknown) = service.ask("/v1/grant", OPERATOR, &existing);
    assert_eq!((status, &unknown["error"]), (404, &json!("unknown_account")));
    let (_, page) = service.ask("/v1/entries", OPERATOR, &json!({}));
    let told = |at: usize| ["cause", "note", "author", "hold"].map(|name| page["entries"][at][name].clone());
    assert_eq!(told(0), ["grant".into(), "".into(), "operator".into(), Value::Null]);
    assert_eq!(told(3), ["refund".into(), "no answer".into(), "operator".into(), Value::from("h")]);
    assert_eq!(told(4), ["freeze".into(), "".into(), "operator".into(), Value::Null]);
}

/// The example on a port of its own, whose work fails if the request asks for that. It ends with its input.
const CHARGING: &str = "
import charging, sys, threading
class Failing(charging.Service):
    def work(self):
        if self.path == '/fail':
            raise ValueError
        return super().work()
server = charging.ThreadingHTTPServer(('127.0.0.1', 0), Failing)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
";

#[test]
fn the_service_of_the_example_charges_by_the_proxy_headers() {
    let service = Service::start("charging");
    let mut python = Command::new("python3");
    python.args(["-c", CHARGING]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    python.env("PYTHONPATH", concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/gateway"));
    python.env("PYTHONDONTWRITEBYTECODE", "1").env("GATE_SECRET", GATE);
    python.env("LEDGER", format!("http://{}", service.address));
    let Ok(mut python) = python.spawn() else {
        return orbgate_testing::skipped::missing("the service that charges behind a proxy: `python3` is missing");
    };
    let mut port = String::new();
    BufReader::new(python.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let address = format!("127.0.0.1:{}", port.trim());
    let account = "https://issuer.example#alice b";
    let grant = json!({ "id": "g", "account": account, "amount": 10, "bucket": "paid" });
    assert_eq!(service.ask("/v1/grant", OPERATOR, &grant).0, 200);
    let call = |target: &str, subject: &str, charge: &str| {
        let identity = [
            ("X-Orb-Token-Issuer", "https%3A%2F%2Fissuer.example"),
            ("X-Orb-Token-Subject", subject),
            ("X-Orb-Charge", charge),
        ];
        ask(&address, &request(b"POST", target.as_bytes(), &identity)).status
    };
    let left = || service.balance(account)["available"].clone();
    assert_eq!((call("/", "alice%20b", "4"), left()), (200, json!(6)));
    // The connection ends without an answer.
    assert_eq!((call("/fail", "alice%20b", "4"), left()), (0, json!(6)));
    assert_eq!((call("/", "alice%20b", "7"), left()), (402, json!(6)));
    for (subject, charge) in [("-", "4"), ("alice%20b", "unstated"), ("alice%20b", "0")] {
        assert_eq!(call("/", subject, charge), 403, "{subject} {charge}");
    }
    drop(service);
    assert_eq!(call("/", "alice%20b", "4"), 503);
    drop(python.stdin.take());
    python.wait().unwrap();
}

#[test]
fn messages_are_read_strictly() {
    let service = Service::start("strict");
    let mut typo = hold("h", 1);
    typo["tll"] = json!(1);
    for (path, body) in [
        ("/v1/hold", typo.to_string()),
        ("/v1/hold", json!(["h", "alice", 1, false, 1000, ""]).to_string()),
        ("/v1/hold", hold("h", 1 << 53).to_string()),
        ("/v1/hold", hold("a b", 1).to_string()),
        ("/v1/hold", String::new()),
        ("/v1/hold", hold("h", 1).to_string().replace("\"id\"", "\"id\":\"x\",\"id\"")),
        ("/v1/settle", json!({ "hold": "h", "settlement": "void" }).to_string()),
        ("/v1/settle", json!(vec![json!({ "hold": "h", "settlement": "void" }); 501]).to_string()),
    ] {
        let answer = service.send("POST", path, GATE, &body);
        assert_eq!(answer.status, 400, "{path} {} {answer:?}", &body[..body.len().min(80)]);
        assert!(answer.body.contains("\"error\":\"invalid\""), "{answer:?}");
    }
    let answer = service.send("POST", "/v1/hold", GATE, &"x".repeat(512 * 1024 + 1));
    assert_eq!(answer.status, 413);
    let (status, zero) = service.ask("/v1/hold", GATE, &hold("h", 0));
    assert_eq!((status, &zero["error"]), (422, &json!("zero")));
    // 500 settlements are one message.
    let most: Vec<_> = (0..500).map(|at| json!({ "hold": format!("h{at}"), "settlement": "void" })).collect();
    let (status, answers) = service.ask("/v1/settle", GATE, &json!(most));
    assert_eq!((status, answers.as_array().unwrap().len()), (200, 500));
    assert!(answers.as_array().unwrap().iter().all(|answer| answer["state"] == "voided"));
}

#[test]
fn concurrent_gates_hold_exactly_what_there_is() {
    let service = Service::start("concurrent");
    let grant = json!({ "id": "g", "account": "alice", "amount": 500, "bucket": "paid" });
    service.ask("/v1/grant", OPERATOR, &grant);
    let held: usize = thread::scope(|scope| {
        let threads = (0..16).map(|thread| {
            let service = &service;
            scope.spawn(move || {
                let ids = (0..10).map(|at| format!("{thread}-{at}"));
                ids.filter(|id| service.ask("/v1/hold", GATE, &hold(id, 10)).1["hold"] == "held").count()
            })
        });
        threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(held, 50);
    assert_eq!(service.balance("alice")["available"], 0);
}

#[test]
fn secrets_change_while_it_serves() {
    let mut service = Service::start("secrets");
    let file = service.gateway.folder.join("gate");
    let newer = "newer-secret-0123456789-0123456789";
    fs::write(&file, newer).unwrap();
    service.gateway.running.signal("HUP");
    let address = service.address.clone();
    let status = |secret: &str| post(&address, "POST", "/v1/hold", secret, "").status;
    service.gateway.running.until("the new secret is valid", |_| status(newer) == 400);
    assert_eq!((status(GATE), status(NEXT)), (401, 400));
    // A secret that is too short is refused, and the valid ones stay.
    fs::write(&file, "short").unwrap();
    service.gateway.running.signal("HUP");
    service.gateway.running.until("it is refused", |running| running.said().contains("a secret is 32 to 256"));
    assert_eq!(status(newer), 400);
}

/// Two listeners of one ledger. A server that is gone is no denial: nothing was held, and the same command is done later.
#[test]
fn a_ledger_in_postgres_serves_a_socket_and_tls_and_comes_back() {
    let Some(mut server) = Server::start() else { return };
    let (folder, secure) = (folder("ledger-postgres"), format!("127.0.0.1:{}", free_port()));
    // The path of a socket must be short.
    let socket = tempfile::tempdir_in("/tmp").unwrap();
    let socket = socket.path().join("orbs");
    let ca = Ca::new();
    ca.sign().write(&folder);
    for (file, secret) in [("gate", GATE), ("operator", OPERATOR)] {
        fs::write(folder.join(file), secret).unwrap();
    }
    let config = format!(
        "listeners:\n  - {{ mode: ledger, listen: 'unix:{}' }}\n  \
         - {{ mode: ledger, listen: {secure}, tls: {{ certificate: server.pem, key: server.key }} }}\n\
         ledger: {{ db: '{}', gate_secrets: [gate], operator_secrets: [operator] }}\n",
        socket.display(),
        server.new_database(),
    );
    let mut gateway = Gateway::start_with(folder, TOKENS, &config);
    let send = |path: &str, secret: &str, body: &Value| {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let answer = ask_on(&mut stream, &message("POST", path, secret, &body.to_string()));
        (answer.status, serde_json::from_str::<Value>(&answer.body).unwrap_or_else(|_| panic!("{answer:?}")))
    };
    let grant = json!({ "id": "g", "account": "alice", "amount": 100, "bucket": "paid" });
    assert_eq!(send("/v1/grant", OPERATOR, &grant).0, 200);
    assert_eq!(send("/v1/hold", GATE, &hold("before", 30)).1["hold"], "held");
    let balance = message("POST", "/v1/balance", OPERATOR, &json!({ "account": "alice" }).to_string());
    let (answer, _) = ask_securely(&secure, &ca, None, &balance).unwrap();
    assert!(answer.contains("\"available\":70"), "{answer}");
    assert_eq!(ask(&secure, &balance), Answer::default(), "without TLS");

    server.kill();
    let (status, failed) = send("/v1/hold", GATE, &hold("during", 30));
    assert_eq!(status, 503, "{failed}");
    assert!(["busy", "unknown"].iter().any(|error| failed["error"] == *error), "{failed}");
    let admin = gateway.admin.clone();
    let ready = || ask(&admin, &request(b"GET", b"/readyz", &[]));
    // Operators see why.
    gateway.running.until("it isn't ready", |_| ready().body.starts_with("no ledger: postgres: "));
    assert_eq!(ready().status, 503);
    server.start_again();
    gateway.running.until("it is ready again", |_| ready().status == 200);
    assert_eq!(send("/v1/hold", GATE, &hold("during", 30)).1["hold"], "held");
    let (_, holds) = send("/v1/holds", OPERATOR, &json!({ "account": "alice" }));
    assert_eq!(holds.as_array().map(Vec::len), Some(2), "{holds}");
    let (_, balance) = send("/v1/balance", OPERATOR, &json!({ "account": "alice" }));
    assert_eq!(balance["available"], 40);
}

#[test]
fn what_could_not_be_used_is_refused_at_the_start() {
    let folder = folder("ledger-refused");
    fs::write(folder.join("tokens.yaml"), TOKENS).unwrap();
    fs::write(folder.join("secret"), GATE).unwrap();
    let check = |config: &str| {
        let text = format!("orbgate_gateway: 1\ntokens: tokens.yaml\n{config}");
        fs::write(folder.join("gateway.yaml"), text).unwrap();
        let (status, _, errors) = run(&folder, None, &["--check", "--config", "gateway.yaml"]);
        (status, errors)
    };
    let ledger = "ledger: { db: orbs.db, gate_secrets: [secret] }\n";
    let near = "listeners: [{ mode: ledger, listen: 127.0.0.1:1 }]\n";
    assert_eq!(check(&format!("{near}{ledger}")).0, Some(0));
    assert!(!folder.join("orbs.db").exists(), "a check creates nothing");
    let database = "ledger: { db: 'host=/nowhere user=orbs', password_file: secret, gate_secrets: [secret] }\n";
    assert_eq!(check(&format!("{near}{database}")).0, Some(0), "a check connects to nothing");
    let no_certificate = folder.join("secret").display().to_string();
    for (config, place) in [
        (near.to_owned(), "3:21: the mode `ledger` requires"),
        (
            format!("listeners: [{{ mode: ledger, listen: 10.0.0.1:1 }}]\n{ledger}"),
            "3:37: the secrets would be readable",
        ),
        (
            format!("listeners: [{{ mode: nginx, listen: unix:/a }}]\n{ledger}"),
            "3:12: no listener has the mode `ledger`",
        ),
        (format!("{near}ledger: {{ db: orbs.db, gate_secrets: [] }}\n"), "it must be 1 to 2 files"),
        (format!("{near}ledger: {{ db: orbs.db, gate_secrets: [a, b, c] }}\n"), "it must be 1 to 2 files"),
        (format!("{near}ledger: {{ db: orbs.db, gate_secrets: [nowhere] }}\n"), "nowhere: No such file"),
        (
            format!("{near}ledger: {{ db: orbs.db, gate_secrets: [secret], operator_secrets: [secret] }}\n"),
            "secrets of gates, support and operators can't be the same",
        ),
        (
            format!("{near}ledger: {{ db: orbs.db, password_file: secret, gate_secrets: [secret] }}\n"),
            "4:39: a SQLite file has no password",
        ),
        (
            format!("{near}ledger: {{ db: 'postgres://orbs:hunter2@db.test/orbs', gate_secrets: [secret] }}\n"),
            "4:15: postgres: the connection would not be encrypted: add `sslmode=verify-full`",
        ),
        (
            format!("{near}ledger: {{ db: 'host=localhost password=hun ter2', gate_secrets: [secret] }}\n"),
            "4:15: postgres: no `=` after the keyword at byte 29",
        ),
        // What opening the database would read.
        (
            format!(
                "{near}ledger: {{ db: 'host=/nowhere user=orbs', password_file: nothing, gate_secrets: [secret] }}\n"
            ),
            "nothing: No such file",
        ),
        (
            format!(
                "{near}ledger: {{ db: 'host=db.test sslmode=verify-full sslrootcert={no_certificate}', gate_secrets: [secret] }}\n"
            ),
            "secret: it has no certificate in PEM",
        ),
    ] {
        let (status, errors) = check(&config);
        assert_eq!(status, Some(2), "{config}");
        assert!(errors.contains(place), "{place}: {errors}");
        assert!(!errors.contains("hunter2") && !errors.contains("ter2"), "{errors}");
    }
}
