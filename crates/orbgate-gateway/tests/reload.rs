//! How the gateway reads its configuration: at the start, when it is asked to check it, and again on SIGHUP.

use core::time::Duration;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Instant;

use orbgate_testing::expected::Expected;

use crate::questions::{ORBS, bearer, config, gateway, questions};
use crate::support::wire::{Answer, ask};
use crate::support::{Gateway, Issuer, Running, folder, free_port, run};

#[test]
fn a_new_configuration_is_taken_whole_or_not_at_all() {
    let issuer = Issuer::start();
    let (mut gateway, addresses) = gateway("reload", &issuer, "");
    let right = issuer.bearer();
    let [question, ..] = questions("GET", ORBS, &[("Authorization", &right)]);
    let folder = gateway.folder.clone();
    let loads = |gateway: &Gateway, result| gateway.counted(&["orbgate_gateway_loads_total", result]);
    let until = |gateway: &mut Gateway, result, count| {
        gateway.until_counted(&["orbgate_gateway_loads_total", result], count);
    };

    gateway.rewrite(&config(&addresses, "127.0.0.1", "headers: X-Acme-\n"));
    gateway.running.signal("HUP");
    until(&mut gateway, "loaded", 1);
    let answer = ask(&addresses[0], &question);
    assert_eq!((answer.status, answer.header("x-acme-scope")), (200, "read:orbs"));
    assert_eq!(answer.header("x-orb-scope"), "");

    // A file that has errors, by itself, after it has rested.
    gateway.rewrite(&config(&addresses, "127.0.0.1", "headers: Acme\n"));
    until(&mut gateway, "refused", 1);
    let logged = |times| {
        let folder = &folder;
        move |running: &Running| running.refusals(folder).len() == times
    };
    gateway.running.until("it is said", logged(1));
    assert_eq!(ask(&addresses[0], &question).header("x-acme-scope"), "read:orbs");

    // Another address to listen at takes a restart.
    let mut moved = addresses.clone();
    moved[0] = format!("127.0.0.1:{}", free_port());
    gateway.rewrite(&config(&moved, "127.0.0.1", ""));
    gateway.running.signal("HUP");
    until(&mut gateway, "refused", 2);
    gateway.running.until("it is said", logged(2));

    // So do limits, and that hides neither of them, nor an error of another file.
    let tokens = gateway.folder.join("tokens.yaml");
    fs::write(&tokens, "orbgate_token: 2\n").unwrap();
    gateway.rewrite(&config(&moved, "127.0.0.1", "limits: { requests: 7 }\n"));
    gateway.running.signal("HUP");
    until(&mut gateway, "refused", 3);
    gateway.running.until("it is said", logged(3));
    let mut expected = Expected::default();
    let refusals = gateway.running.refusals(&gateway.folder);
    for (what, refusal) in ["a prefix", "an address", "limits, and tokens"].iter().zip(refusals) {
        expected.add(what, [refusal]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "reload: refused configurations");
    fs::write(&tokens, issuer.tokens_yaml()).unwrap();

    // Who may ask does not.
    gateway.rewrite(&config(&addresses, "127.0.0.9", ""));
    gateway.running.signal("HUP");
    until(&mut gateway, "loaded", 2);
    assert_eq!(ask(&addresses[0], &question), Answer::default());

    // Another issuer's tokens count from now on, and the former's no longer.
    let other = Issuer::start();
    fs::write(gateway.folder.join("tokens.yaml"), other.tokens_yaml()).unwrap();
    gateway.rewrite(&config(&addresses, "127.0.0.1", ""));
    gateway.running.signal("HUP");
    until(&mut gateway, "loaded", 3);
    assert_eq!(ask(&addresses[0], &question).status, 401);
    let new = bearer(&other.token("user", "read:orbs"));
    let [question, ..] = questions("GET", ORBS, &[("Authorization", &new)]);
    assert_eq!(ask(&addresses[0], &question).status, 200);
    assert_eq!(loads(&gateway, "refused"), 3);
}

const ONE_ROUTE: &str = concat!(
    "orbgate: 1\napis:\n  a:\n    base_path: /api/v1/external\n    scopes:\n      ",
    "read:orbs: { permits: reads, orbs: false, routes: [GET /orbs] }\n"
);

/// A gateway whose policy, a file, has one route; its issuer, whose question is allowed; and where to ask.
fn with_one_route(name: &str) -> (Gateway, Issuer, String) {
    let (issuer, folder) = (Issuer::start(), folder(name));
    fs::write(folder.join("policy.yaml"), ONE_ROUTE).unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let config = format!(
        "policy: policy.yaml\nlisteners:\n  - {{ mode: nginx, listen: {address}, trusted_proxies: [127.0.0.1] }}\n"
    );
    let gateway = Gateway::start(folder, &issuer, &config);
    assert_eq!(ask(&address, &issuer.question(&[])).status, 200);
    (gateway, issuer, address)
}

#[test]
fn an_operator_is_told_why_nothing_new_counts() {
    let (mut gateway, issuer, address) = with_one_route("told");
    let (policy, question) = (gateway.folder.join("policy.yaml"), issuer.question(&[]));

    // The signal is for the policy, too: each time it says what is wrong, and in which file.
    fs::write(&policy, ONE_ROUTE.replace("orbs: false", "orbs: flase")).unwrap();
    for times in 1..4 {
        gateway.running.signal("HUP");
        gateway.running.until("the policy is refused", |running| {
            let errors = running.errors().into_iter().map(|fields| fields.to_string());
            let refusals = errors.filter(|it| it.contains("policy.yaml") && it.contains(": 6:"));
            refusals.count() >= times
        });
    }
    assert_eq!(ask(&address, &question).status, 200);
    fs::write(&policy, ONE_ROUTE.replace("/orbs]", "/voxies]")).unwrap();
    gateway.running.signal("HUP");
    gateway.running.until("the new policy", |_| ask(&address, &question).status == 403);
    fs::write(&policy, ONE_ROUTE).unwrap();

    // Without keys everybody is denied: that is said, with its reason, and that it is over.
    let tokens = gateway.folder.join("tokens.yaml");
    let right = issuer.tokens_yaml();
    let (head, rest) = right.split_once("jwks_uri: ").unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    let nobody = free_port();
    let wrong = format!("{head}jwks_uri: http://127.0.0.1:{nobody}/jwks\n{rest}");
    fs::write(&tokens, wrong).unwrap();
    gateway.running.signal("HUP");
    gateway.running.until("no keys", |running| {
        let errors = running.errors();
        let messages = errors.iter().filter_map(|fields| fields["message"].as_str());
        messages.into_iter().any(|message| message.starts_with("keys of `") && message.contains("cannot be reached"))
    });
    assert_eq!(ask(&address, &question).status, 401);
    fs::write(&tokens, &right).unwrap();
    gateway.running.signal("HUP");
    gateway.running.until("keys again", |_| ask(&address, &question).status == 200);
}

/// Some process managers signal again and again.
#[test]
fn signals_do_not_delay_a_new_policy() {
    let (mut gateway, issuer, address) = with_one_route("signalled");
    let (policy, question) = (gateway.folder.join("policy.yaml"), issuer.question(&[]));
    let new = ONE_ROUTE.replace("/orbs]", "/voxies]");
    fs::write(&policy, &new).unwrap();
    let is_active = (0..40).any(|_| {
        gateway.running.signal("HUP");
        thread::sleep(Duration::from_millis(500));
        ask(&address, &question).status == 403
    });
    assert!(is_active, "{}", gateway.running.said());
    // The log names the policy that is active afterwards.
    let digest = orbgate::Engine::new(&orbgate::Policy::from_yaml(&new).unwrap()).digest().to_string();
    gateway.running.signal("HUP");
    gateway.running.until("the log names the policy", |running| {
        let said = running.said();
        let mut lines = said.lines().filter(|line| line.contains(&digest));
        lines.clone().any(|line| line.contains("policy unchanged"))
            && lines.any(|line| line.contains("configuration loaded"))
    });
}

/// A file that is being written is valid midway, and the operator signals twice.
#[test]
fn two_signals_do_not_load_half_a_file() {
    let issuer = Issuer::start();
    let (mut gateway, addresses) = gateway("half-file", &issuer, "");
    let [question, ..] = questions("GET", ORBS, &[("Authorization", &issuer.bearer())]);
    let half = config(&addresses, "127.0.0.1", "headers: X-Half-\n");
    let whole = config(&addresses, "127.0.0.1", "headers: X-Whole-\n");
    const LOADED: [&str; 2] = ["orbgate_gateway_loads_total", "loaded"];
    // On a machine that stands still for a second, the half may rest.
    let is_tried = (0..10).any(|_| {
        let (before, begun) = (gateway.counted(&LOADED), Instant::now());
        gateway.rewrite(&half);
        gateway.running.signal("HUP");
        thread::sleep(Duration::from_millis(1));
        gateway.running.signal("HUP");
        thread::sleep(Duration::from_millis(300));
        gateway.rewrite(&whole);
        let is_quick = begun.elapsed() < Duration::from_millis(900);
        gateway
            .running
            .until("the whole one", |_| ask(&addresses[0], &question).header("x-whole-scope") == "read:orbs");
        if is_quick {
            // It is counted once it is active, so an answer may come before its count.
            gateway.until_counted(&LOADED, before + 1);
            thread::sleep(Duration::from_millis(50));
            assert_eq!(gateway.counted(&LOADED), before + 1);
        }
        is_quick
    });
    assert!(is_tried, "this machine is too slow");
}

#[test]
fn wrong_arguments_are_named_and_their_order_is_free() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/gateway/gateway.yaml");
    let ran = |arguments: &[&str]| {
        let (code, stdout, errors) = run(Path::new("."), None, arguments);
        (code, (stdout + &errors).lines().next().unwrap().to_owned())
    };
    let wrong: [&[&str]; 8] = [
        &[],
        &["--confg", file],
        &["--check"],
        &["--config"],
        &["--config", file, "--config", file],
        &["--probe", "localhost:8080", "127.0.0.1:3000", "--config", file],
        &["--probe", "127.0.0.1:1", "127.0.0.1:2", "--config", file],
        &["--probe", "127.0.0.1:1", "127.0.0.1:2", "--config", file, "--check"],
    ];
    let right: [&[&str]; 2] = [&["--config", file, "--check"], &["--check", "--config", file]];
    let mut expected = Expected::default();
    let all = wrong.map(|arguments| (arguments, 2)).into_iter();
    for (arguments, status) in all.chain(right.map(|arguments| (arguments, 0))) {
        let (code, line) = ran(arguments);
        assert_eq!(code, Some(status), "{arguments:?}");
        let [arguments, line] = [arguments.join(" "), line].map(|text| text.replace(file, "FILE"));
        expected.add(&arguments, [line]);
    }
    let nobody = format!("127.0.0.1:{}", free_port());
    let arguments = ["--probe", &nobody, "127.0.0.1:0", "--config", file];
    let (code, _, stderr) = run(Path::new("."), Some("x"), &arguments);
    assert_eq!(code, Some(2), "{stderr}");
    // The error's number isn't the same in each system.
    let (stderr, _) = stderr.split_once(" (os error ").unwrap();
    expected.add("--probe NOBODY 127.0.0.1:0 --config FILE", [stderr.replace(&nobody, "NOBODY")]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "arguments");
    assert!(ran(&["-h"]).1.starts_with("usage: "));
    let version = ran(&["-V"]).1;
    assert!(version.ends_with(env!("CARGO_PKG_VERSION")), "{version}");
}

#[test]
fn a_configuration_with_errors_does_not_start() {
    let folder = folder("start");
    fs::write(folder.join("gateway.yaml"), "orbgate_gateway: 1\ntokens: t.yaml\nlisteners: []\n").unwrap();
    let mut expected = Expected::default();
    for arguments in [&["--check", "--config"][..], &["--config"]] {
        let (code, _, stderr) = run(&folder, None, &[arguments, &["gateway.yaml"]].concat());
        assert_eq!(code, Some(2));
        expected.add(&arguments.join(" "), [stderr]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "start: no listener");
}

#[test]
fn a_look_says_what_is_wrong_in_every_file_and_makes_none() {
    let folder = folder("look");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let look = || {
        let (code, _, stderr) = run(&folder, None, &["--check", "--config", "gateway.yaml"]);
        assert_eq!(code == Some(0), stderr.is_empty(), "{stderr}");
        stderr.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let config = |audit: &str, tls: &str| {
        let text = format!(
            "orbgate_gateway: 1\npolicy: policy.yaml\ntokens: tokens.yaml\naudit: {audit}\nlisteners:\n  \
             - {{ mode: nginx, listen: unix:/a{tls} }}\n"
        );
        write("gateway.yaml", &text);
    };
    config("none/audit.jsonl", ", tls: { certificate: no.pem, key: no.key }");
    write("tokens.yaml", "orbgate_token: 2\nissuers: []\n");
    write("policy.yaml", "orbgate: 1\napis:\n  a:\n    base_path: /v1\n    scopes:\n      b: { orbs: no }\n");
    let mut expected = Expected::default();
    expected.add("every file", look());

    let issuer = Issuer::start();
    write("tokens.yaml", &issuer.tokens_yaml());
    config("audit.jsonl", "");
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy/external.yaml"));
    write("policy.yaml", text);
    assert_eq!(look(), Vec::<String>::new());
    assert!(!folder.join("audit.jsonl").exists());
    config("'.'", "");
    expected.add("an audit that is a folder", look());
    expected.keep(env!("CARGO_MANIFEST_DIR"), "check: each file");
}

#[test]
fn the_configuration_that_is_shipped_is_one() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/gateway/gateway.yaml");
    let (code, _, errors) = run(Path::new("."), None, &["--check", "--config", file]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
}
