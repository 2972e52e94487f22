//! What the gateway answers to questions as proxies put them, without a proxy.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Instant;

use crate::support::wire::{Answer, ask, request};
use crate::support::{Gateway, Issuer, PROMISED, folder, free_port};

pub(super) const ORBS: &str = "/api/v1/external/orbs";

/// A gateway with a listener of each mode, and their addresses.
pub(super) fn gateway(name: &str, issuer: &Issuer, more: &str) -> (Gateway, [String; 3]) {
    let addresses = [(); 3].map(|()| format!("127.0.0.1:{}", free_port()));
    let gateway = Gateway::start(folder(name), issuer, &config(&addresses, "127.0.0.1", more));
    (gateway, addresses)
}

pub(super) fn config(addresses: &[String; 3], trusted: &str, more: &str) -> String {
    let modes = ["nginx", "forward_auth", "envoy_http"];
    let listener = |(mode, address): (&str, &String)| {
        format!("  - {{ mode: {mode}, listen: {address}, trusted_proxies: [{trusted}] }}\n")
    };
    let listeners = modes.into_iter().zip(addresses).map(listener);
    format!("listeners:\n{}{more}", listeners.collect::<String>())
}

/// A question of each mode.
pub(super) fn questions(method: &str, target: &str, headers: &[(&str, &str)]) -> [Vec<u8>; 3] {
    let with = |own: [(&'static str, &str); 2]| {
        let all = own.iter().chain(headers).map(|(name, value)| (*name, *value));
        request(b"GET", b"/", &all.collect::<Vec<_>>())
    };
    [
        with([("X-Original-Method", method), ("X-Original-URI", target)]),
        with([("X-Forwarded-Method", method), ("X-Forwarded-Uri", target)]),
        request(method.as_bytes(), target.as_bytes(), headers),
    ]
}

pub(super) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// What an answer promises, in the order of the words.
fn promised(answer: &Answer) -> [String; 8] {
    PROMISED.map(|word| answer.header(&format!("x-orb-{word}")).to_owned())
}

#[test]
fn each_mode_answers_in_its_own_terms_and_keeps_every_promise() {
    let issuer = Issuer::start();
    let (gateway, addresses) = gateway("answers", &issuer, "challenge: full\naudit: audit.jsonl\n");
    let right = issuer.bearer();
    let wrong = bearer(&issuer.token("user", "read:account"));
    let expired = bearer(&issuer.expiring("user", "read:orbs", -120));
    let table: [(&str, &str, Option<&str>, [u16; 3]); 7] = [
        ("GET", ORBS, Some(&right), [200; 3]),
        ("GET", ORBS, Some(&wrong), [403; 3]),
        ("GET", ORBS, Some(&expired), [401; 3]),
        ("GET", ORBS, None, [401; 3]),
        ("GET", "/secret", Some(&right), [403, 404, 404]),
        ("PUT", ORBS, Some(&right), [403, 405, 405]),
        ("GET", "//orbs?secret=1", Some(&right), [403, 400, 400]),
    ];
    let digest = orbgate::Engine::external().digest().to_string();
    for (method, target, authorization, statuses) in table {
        let headers = authorization.map(|value| ("Authorization", value));
        let headers = headers.as_slice();
        for (at, question) in questions(method, target, headers).iter().enumerate() {
            let answer = ask(&addresses[at], question);
            let address = format!("{method} {target} {at}: {answer:?}");
            assert_eq!(answer.status, statuses[at], "{address}");
            assert_eq!(answer.body, "", "{address}");
            let unflattened = statuses[2].to_string();
            let expected = match statuses[at] {
                200 => {
                    ["allow", "-", "scope_held", "read:orbs", "GET /api/v1/external/orbs", "unstated", &digest, "user"]
                }
                _ => ["deny", &unflattened, "-", "-", "-", "-", "-", "-"],
            };
            assert_eq!(promised(&answer), expected, "{address}");
            assert_eq!(answer.header("cache-control"), if statuses[at] == 200 { "" } else { "no-store" }, "{address}");
            let challenge = answer.header("www-authenticate");
            assert_eq!(!challenge.is_empty(), [401, 403].contains(&statuses[2]), "{address}");
            assert_eq!(answer.header("allow"), if statuses[2] == 405 { "GET" } else { "" });
        }
    }
    let counted = gateway.counted(&["orbgate_decisions_total", "scope_held"]);
    assert_eq!(counted, 3);
    assert_eq!(gateway.counted(&["orbgate_tokens_refused_total", "expired"]), 3);
    // Told to end, it writes the audit first.
    let Gateway { mut running, folder, .. } = gateway;
    running.signal("TERM");
    assert!(running.child.wait().unwrap().success());
    let audit = fs::read_to_string(folder.join("audit.jsonl")).unwrap();
    assert_eq!(audit.lines().count(), 7 * 3);
    for text in [audit, running.said()] {
        assert!(!text.contains("secret") && !text.contains("eyJ"), "{text}");
    }
}

#[test]
fn no_cache_may_keep_a_denial_that_explains_nothing() {
    let issuer = Issuer::start();
    for setting in ["flat_403: true\n", "challenge: none\n"] {
        let (_gateway, addresses) = gateway("unexplained", &issuer, setting);
        for target in [ORBS, "/secret", "//"] {
            for (address, question) in addresses.iter().zip(questions("GET", target, &[])) {
                let answer = ask(address, &question);
                let told = (answer.status, answer.header("cache-control"));
                assert_eq!(told, (403, "no-store"), "{setting} {target} {address}");
            }
        }
    }
}

#[test]
fn a_target_with_a_fragment_is_malformed_in_every_mode() {
    let issuer = Issuer::start();
    let (gateway, addresses) = gateway("fragment", &issuer, "");
    let right = issuer.bearer();
    for target in ["/api/v1/external/orbs#x", "/api/v1/external/orbs?x#y", "/api/v1/external/orbs#"] {
        let questions = questions("GET", target, &[("Authorization", &right)]);
        for (at, question) in questions.iter().enumerate() {
            let status = ask(&addresses[at], question).status;
            assert_eq!(status, [403, 400, 400][at], "{target} {at}");
        }
    }
    assert_eq!(gateway.counted(&["orbgate_decisions_total", "scope_held"]), 0);
}

#[test]
fn what_is_no_question_of_the_mode_is_denied_counted_and_said() {
    let issuer = Issuer::start();
    let (mut gateway, addresses) = gateway("errors", &issuer, "");
    let right = issuer.bearer();
    let token = ("Authorization", right.as_str());
    let [original, forwarded, plain] = questions("GET", ORBS, &[token]);
    let twice = questions("GET", ORBS, &[token, ("X-Original-URI", ORBS), ("X-Forwarded-Uri", ORBS)]);
    let forged = questions("GET", ORBS, &[token, ("X.Orb.Charge", "-1")]);
    let subject = questions("GET", ORBS, &[token, ("X-Orb-Token-Subject", "admin")]);
    let one = |name, value| request(b"GET", b"/", &[token, (name, value)]);
    let table = [
        (0, &forwarded, "foreign_header"),
        (1, &original, "foreign_header"),
        (2, &original, "foreign_header"),
        (0, &plain, "missing_header"),
        (1, &plain, "missing_header"),
        (0, &one("X-Original-Method", "GET"), "missing_header"),
        (
            0,
            &request(
                b"GET",
                b"/",
                &[token, ("X-Original-Method", "GET"), ("X-Original-URI", ORBS), ("X-Original-URI", ORBS)],
            ),
            "repeated_header",
        ),
        (0, &twice[0], "foreign_header"),
        (1, &twice[1], "foreign_header"),
        (1, &one("X-Forwarded-Prefix", "/a"), "foreign_header"),
        (1, &one("X_Forwarded_Uri", ORBS), "foreign_header"),
        (2, &one("X-Envoy-Original-Path", ORBS), "foreign_header"),
        (1, &one("X.Rewrite.URL", ORBS), "foreign_header"),
        (0, &forged[0], "forged_header"),
        (1, &forged[1], "forged_header"),
        (2, &forged[2], "forged_header"),
        (2, &subject[2], "forged_header"),
    ];
    for (at, question, error) in table {
        let words = ["orbgate_gateway_errors_total", &addresses[at], error];
        let before = gateway.counted(&words);
        let answer = ask(&addresses[at], question);
        assert_eq!(answer.status, 403, "{at} {error}");
        let expected = ["deny", "-", "-", "-", "-", "-", "-", "-"];
        assert_eq!(promised(&answer), expected);
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(gateway.counted(&words), before.saturating_add(1), "{at} {error}");
    }
    for error in ["foreign_header", "forged_header", "missing_header", "repeated_header"] {
        let error = format!("\"error\":\"{error}\"");
        gateway.running.until("it is said", |running| running.said().contains(&error));
    }
    let log = gateway.running.said();
    // The line about charging is made of the policy, before any question.
    let of_questions = log.lines().filter(|line| !line.contains("\"message\":\"charging: "));
    let log = of_questions.map(|line| format!("{line}\n")).collect::<String>();
    assert!(!log.contains("orbs") && !log.contains("eyJ"), "{log}");
    // The family of the mode alone is right.
    let [original, forwarded, plain] = questions("GET", ORBS, &[token]);
    for (address, question) in addresses.iter().zip([original, forwarded, plain]) {
        assert_eq!(ask(address, &question).status, 200);
    }
}

#[test]
fn an_address_that_is_not_trusted_gets_no_answer() {
    let issuer = Issuer::start();
    let addresses = [(); 3].map(|()| format!("127.0.0.1:{}", free_port()));
    let gateway = Gateway::start(folder("peers"), &issuer, &config(&addresses, "127.0.0.9", ""));
    let right = issuer.bearer();
    let questions = questions("GET", ORBS, &[("Authorization", &right)]);
    for (address, question) in addresses.iter().zip(questions) {
        assert_eq!(ask(address, &question), Answer::default());
        assert_eq!(gateway.counted(&["untrusted_peer", address]), 1);
    }
}

#[test]
fn a_unix_socket_asks_without_an_address_and_goes_with_its_gateway() {
    let issuer = Issuer::start();
    let folder = folder("unix");
    let socket = folder.join("gateway.sock");
    // The socket of a program that has ended.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let config = format!("listeners:\n  - {{ mode: nginx, listen: 'unix:{}' }}\n", socket.display());
    let mut gateway = Gateway::start(folder, &issuer, &config);
    let right = issuer.bearer();
    let mut stream = UnixStream::connect(&socket).unwrap();
    stream.write_all(&questions("GET", ORBS, &[("Authorization", &right)])[0]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    gateway.running.signal("TERM");
    assert!(gateway.running.child.wait().unwrap().success());
    assert!(!socket.exists());
}

#[test]
fn past_its_limits_it_answers_less_and_never_allows() {
    let issuer = Issuer::start();
    let limits = "limits: { connections: 2, header_bytes: 8192, idle_seconds: 1, drain_seconds: 1 }\n";
    let (gateway, [address, ..]) = gateway("limits", &issuer, limits);
    let right = issuer.bearer();
    let long = "a".repeat(9_000);
    let [question, ..] = questions("GET", ORBS, &[("Authorization", &right)]);
    let [large, ..] = questions("GET", ORBS, &[("Authorization", &right), ("X-Long", &long)]);
    assert_eq!(ask(&address, &question).status, 200);
    assert_eq!(ask(&address, &large).status, 431);
    // Two that say nothing take all there are, until their time is over.
    let idle = [(); 2].map(|()| TcpStream::connect(&address).unwrap());
    let full = ask(&address, &question);
    assert_eq!(full.status, 503);
    assert_eq!(promised(&full), ["deny", "-", "-", "-", "-", "-", "-", "-"]);
    assert_eq!(full.header("connection"), "close");
    assert_eq!(gateway.counted(&["too_many_connections", &address]), 1);
    // Nor is there room for any number of those that wait to be told so.
    let more: Vec<_> = (0..80).map(|_| TcpStream::connect(&address)).collect();
    assert_eq!(ask(&address, &question), Answer::default());
    assert!(gateway.counted(&["connection_dropped", &address]) >= 1);
    assert_eq!(gateway.counted(&["orbgate_decisions_total", "allow"]), 1, "nothing was decided past the limit");
    drop(more);
    thread::sleep(Duration::from_millis(1_500));
    assert_eq!(ask(&address, &question).status, 200);
    drop(idle);
}

#[test]
fn more_questions_than_the_limit_are_denied_at_once() {
    let issuer = Issuer::start();
    let [address, other] = [(); 2].map(|()| format!("127.0.0.1:{}", free_port()));
    let config = format!(
        "limits: {{ requests: 1 }}\nlisteners:\n  - {{ mode: authzen, listen: {address} }}\n  - {{ mode: nginx, listen: {other}, \
         trusted_proxies: [127.0.0.1] }}\n"
    );
    let gateway = Gateway::start(folder("overload"), &issuer, &config);
    let head = "POST /access/v1/evaluation";
    let more = "HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n";
    let message = format!("{head} {more}Content-Length: 2\r\n\r\n{{}}");
    // Messages that take their time to answer, from more clients than there may be questions.
    let one = r#"{"subject":{"type":"user","id":"a"},"action":{"name":"GET"},"resource":{"type":"route","id":"/"}}"#;
    let all = format!(r#"{{"evaluations":[{}]}}"#, vec![one; 1_000].join(","));
    let long = format!("{head}s {more}Content-Length: {}\r\n\r\n{all}", all.len());
    let denied = AtomicBool::new(false);
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !denied.load(Ordering::SeqCst) {
                    let status = ask(&address, long.as_bytes()).status;
                    assert!([200, 503].contains(&status), "{status}");
                    denied.fetch_or(status == 503, Ordering::SeqCst);
                    assert!(begun.elapsed().as_secs() < 60, "none was denied");
                }
            });
        }
        // Each listener has its own limit.
        while !denied.load(Ordering::SeqCst) {
            assert_eq!(ask(&other, &issuer.question(&[])).status, 200);
        }
    });
    assert!(gateway.counted(&["overloaded", &address]) >= 1);
    assert!((0..100).any(|_| ask(&address, message.as_bytes()).status == 400), "the permit stays taken");
}

/// Anyone can send tokens of unknown keys, which wait for the issuer. Whose keys are there never pays.
#[test]
fn a_slow_issuer_stalls_no_caller_whose_keys_are_there() {
    let issuer = Issuer::start();
    let limits = "limits: { requests: 4, connections: 64 }\n";
    let (gateway, [address, ..]) = gateway("slow", &issuer, limits);
    let right = issuer.bearer();
    let [question, ..] = questions("GET", ORBS, &[("Authorization", &right)]);
    assert_eq!(ask(&address, &question).status, 200);
    let unknown = bearer(&issuer.of_unknown_key());
    let [waiting, ..] = questions("GET", ORBS, &[("Authorization", &unknown)]);
    issuer.stall(true);
    let before = issuer.asked();
    let forged: Vec<_> = (0..40)
        .map(|_| {
            let (address, waiting) = (address.clone(), waiting.clone());
            thread::spawn(move || {
                let begun = Instant::now();
                (ask(&address, &waiting).status, begun.elapsed())
            })
        })
        .collect();
    while issuer.asked() == before {
        thread::sleep(Duration::from_millis(5));
    }
    for _ in 0..40 {
        assert_eq!(ask(&address, &question).status, 200);
    }
    assert_eq!(gateway.counted(&["overloaded", &address]), 0);
    // Half as many as there may be connections wait for the whole attempt, 5 s, and the others for 1 s.
    let mut waited: Vec<_> = forged
        .into_iter()
        .map(|forged| forged.join().unwrap())
        .inspect(|(status, _)| assert_eq!(*status, 401))
        .map(|(_, waited)| waited)
        .collect();
    waited.sort();
    assert!(waited[8] > waited[7] + Duration::from_secs(2), "{waited:?}");
    issuer.stall(false);
}

/// Neither the new issuer's keys are awaited, nor those that are there already.
#[test]
fn a_new_issuer_that_is_slow_delays_nobody() {
    let (issuer, slow) = (Issuer::start(), Issuer::start());
    let (mut gateway, [address, ..]) = gateway("slow-issuer", &issuer, "");
    let right = issuer.bearer();
    let [question, ..] = questions("GET", ORBS, &[("Authorization", &right)]);
    assert_eq!(ask(&address, &question).status, 200);
    issuer.stall(true);
    slow.stall(true);
    let own = issuer.tokens_yaml();
    let both = slow.tokens_yaml();
    let (_, second) = both.split_once("issuers:\n").unwrap();
    // Both have the same settings after their issuers.
    let (first, _) = own.split_once("max_token_bytes").unwrap();
    let tokens = first.to_owned() + second;
    fs::write(gateway.folder.join("tokens.yaml"), tokens).unwrap();
    gateway.running.signal("HUP");
    gateway.running.until("it is loaded", |running| running.said().contains("configuration loaded"));
    // Its keys cannot have been fetched again.
    assert_eq!(ask(&address, &question).status, 200);
    issuer.stall(false);
    slow.stall(false);
}
