//! TLS with certificates that change, and sockets that the service manager opens.

use core::time::Duration;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orbgate_testing::expected::Expected;
use orbgate_testing::signer::{self, Signer};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer as Authority, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, Stream};
use serde_json::{Value, json};

use crate::support::wire::{Answer, ask, request};
use crate::support::{Gateway, Issuer, Running, folder, free_port, run};

const METADATA: &[u8] = b"GET /.well-known/authzen-configuration HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// An authority, and what it signs.
pub(crate) struct Ca {
    certificate: CertificateDer<'static>,
    authority: Authority<'static, KeyPair>,
}

pub(crate) struct Certified {
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

impl Ca {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { certificate: certificate.der().clone(), authority: Authority::new(params, key) }
    }

    pub(crate) fn sign(&self) -> Certified {
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.authority).unwrap();
        Certified { certificate: certificate.der().clone(), key }
    }
}

impl Certified {
    pub(crate) fn write(&self, folder: &Path) {
        pem(&folder.join("server.pem"), "CERTIFICATE", &self.certificate);
        pem(&folder.join("server.key"), "PRIVATE KEY", self.key.serialized_der());
    }
}

/// Writes DER as PEM, whole or not at all.
fn pem(file: &Path, label: &str, der: &[u8]) {
    let text = STANDARD.encode(der);
    let text = format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n");
    fs::write(file.with_extension("new"), text).unwrap();
    fs::rename(file.with_extension("new"), file).unwrap();
}

/// Asks over TLS, with a certificate or without, and says whose the server's was; nothing if there is no answer.
pub(crate) fn ask_securely(
    address: &str,
    ca: &Ca,
    client: Option<&Certified>,
    bytes: &[u8],
) -> Option<(String, CertificateDer<'static>)> {
    let mut roots = RootCertStore::empty();
    roots.add(ca.certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots);
    let config = match client {
        None => config.with_no_client_auth(),
        Some(own) => {
            let key = PrivateKeyDer::try_from(own.key.serialize_der()).unwrap();
            let chain = vec![own.certificate.clone()];
            config.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let name = ServerName::try_from("localhost").unwrap();
    let mut connection = ClientConnection::new(config.into(), name).unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    let mut stream = Stream::new(&mut connection, &mut socket);
    stream.write_all(bytes).ok()?;
    let mut answer = Vec::new();
    // An end without TLS's own end is an error, after the answer.
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8(answer).unwrap();
    let shown = connection.peer_certificates()?.first()?.clone();
    text.starts_with("HTTP/1.1 200 ").then_some((text, shown.into_owned()))
}

#[test]
fn a_new_certificate_counts_once_it_is_whole() {
    let (issuer, folder) = (Issuer::start(), folder("tls"));
    let address = format!("127.0.0.1:{}", free_port());
    let ca = Ca::new();
    let [first, second, third] = [(); 3].map(|()| ca.sign());
    first.write(&folder);
    let config = format!(
        "listeners:\n  - {{ mode: nginx, listen: {address}, trusted_proxies: [127.0.0.1], tls: {{ certificate: server.pem, key: server.key }} }}\n"
    );
    let mut gateway = Gateway::start(folder.clone(), &issuer, &config);
    let question = issuer.question(&[]);
    let shown = || ask_securely(&address, &ca, None, &question).map(|(_, shown)| shown);
    assert_eq!(shown(), Some(first.certificate.clone()));
    // Nobody asks without TLS, or trusts another authority.
    assert_eq!(ask(&address, &question), Answer::default());
    assert!(ask_securely(&address, &Ca::new(), None, &question).is_none());
    gateway.until_counted(&["tls_handshake", &address], 2);

    second.write(&folder);
    gateway.running.signal("HUP");
    let shows = |certificate: &_| shown().as_ref() == Some(certificate);
    gateway.running.until("the second", |_| shows(&second.certificate));

    // Another certificate's key, no certificate, no file: the active one stays, and the log says so.
    let (mut expected, mut former) = (Expected::default(), None);
    let mut refused = |gateway: &mut Gateway, what: &str| {
        gateway.running.signal("HUP");
        let refusal = |running: &Running| running.refusals(&folder).pop();
        gateway.running.until(what, |running| refusal(running) != former);
        former = refusal(&gateway.running);
        expected.add(what, &former);
        assert!(shows(&second.certificate), "{what}");
    };
    pem(&folder.join("server.pem"), "CERTIFICATE", &first.certificate);
    refused(&mut gateway, "another certificate's key");
    fs::write(folder.join("server.pem"), "half").unwrap();
    refused(&mut gateway, "no certificate");
    second.write(&folder);
    fs::remove_file(folder.join("server.key")).unwrap();
    refused(&mut gateway, "no key");
    expected.keep(env!("CARGO_MANIFEST_DIR"), "reload: refused certificates");
    assert!(gateway.counted(&["orbgate_gateway_loads_total", "refused"]) >= 3);

    // By itself, once the files have rested.
    third.write(&folder);
    gateway.running.until("the third", |_| shows(&third.certificate));
}

/// Only `derive` and the gateway's own list give it.
#[test]
fn an_authzen_caller_cannot_claim_a_scope_that_must_be_earned() {
    let (issuer, folder, address) = (Issuer::start(), folder("earned"), format!("127.0.0.1:{}", free_port()));
    let policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { earned:any: { orbs: false, routes: [GET /any] }, \
                  read: { orbs: false, routes: [GET /read] } } } }\n...\n";
    fs::write(folder.join("policy.yaml"), policy).unwrap();
    let config = format!(
        "policy: policy.yaml\nauthzen: {{ subjects: [{{ type: user, id: ann, token_kind: user, scopes: 'earned:any' }}] }}\n\
         listeners: [{{ mode: authzen, listen: {address} }}]\n"
    );
    let tokens = issuer.tokens_yaml().replace("    kind:", "    derive: { 'earned:any': always }\n    kind:");
    assert!(tokens.contains("earned"), "{tokens}");
    let _gateway = Gateway::start_with(folder, &tokens, &config);
    let decides = |id: &str, properties: Value, path: &str| {
        let subject = json!({ "type": "user", "id": id, "properties": properties });
        let resource = json!({ "type": "route", "id": path });
        let body = json!({ "subject": subject, "action": { "name": "GET" }, "resource": resource }).to_string();
        let head = format!(
            "POST /access/v1/evaluation HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        let answer = ask(&address, (head + &body).as_bytes());
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        body["decision"].as_bool().unwrap()
    };
    let claims = || json!({ "scopes": "earned:any read" });
    assert!(!decides("bob", claims(), "/any"));
    assert!(decides("bob", claims(), "/read"));
    assert!(decides("ann", json!({}), "/any"));
    let token = |scopes: &str| json!({ "token": issuer.token("user", scopes) });
    assert!(decides("bob", token("read"), "/any"));
}

#[test]
fn a_silent_client_does_not_hold_a_gateway_that_is_told_to_end() {
    let (issuer, folder) = (Issuer::start(), folder("ending"));
    let addresses = [(); 4].map(|()| format!("127.0.0.1:{}", free_port()));
    let [nginx, grpc, secure, authzen] = &addresses;
    Ca::new().sign().write(&folder);
    let config = format!(
        "limits: {{ drain_seconds: 600, idle_seconds: 3600 }}\nlisteners:\n  \
         - {{ mode: nginx, listen: {nginx}, trusted_proxies: [127.0.0.1] }}\n  \
         - {{ mode: envoy_grpc, listen: {grpc}, trusted_proxies: [127.0.0.1] }}\n  \
         - {{ mode: nginx, listen: {secure}, trusted_proxies: [127.0.0.1], tls: {{ certificate: server.pem, key: server.key }} }}\n  \
         - {{ mode: authzen, listen: {authzen} }}\n"
    );
    let mut gateway = Gateway::start(folder, &issuer, &config);
    let admin = gateway.admin.clone();
    let begun = ["", "GET / HTTP/1.1\r\nHost: a\r\n", "PRI * HTTP/2.0\r\n"];
    let everywhere = addresses.iter().chain([&admin]);
    let silent: Vec<_> = everywhere
        .flat_map(|address| begun.map(|begun| (address, begun)))
        .map(|(address, begun)| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(begun.as_bytes()).unwrap();
            stream
        })
        .collect();
    // Under way: it waits for a key, longer than a silent client may hold the gateway.
    issuer.stall(true);
    let before = issuer.asked();
    let unknown = format!("Bearer {}", issuer.of_unknown_key());
    let question = request(
        b"GET",
        b"/",
        &[
            ("Authorization", unknown.as_str()),
            ("X-Original-Method", "GET"),
            ("X-Original-URI", "/api/v1/external/orbs"),
        ],
    );
    let address = nginx.clone();
    let answer = thread::spawn(move || ask(&address, &question));
    gateway.running.until("it is under way", |_| issuer.asked() > before);
    gateway.running.signal("TERM");
    thread::sleep(Duration::from_secs(3));
    issuer.stall(false);
    assert_eq!(answer.join().unwrap().status, 401);
    let ended = |gateway: &mut Gateway| gateway.running.child.try_wait().unwrap();
    let waited = Instant::now();
    while ended(&mut gateway).is_none() {
        assert!(waited.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(20));
    }
    assert!(ended(&mut gateway).unwrap().success());
    drop(silent);
}

#[test]
fn a_caller_shows_a_certificate_where_one_is_asked_for() {
    let (issuer, folder) = (Issuer::start(), folder("mtls"));
    let address = format!("127.0.0.1:{}", free_port());
    let (ca, callers) = (Ca::new(), Ca::new());
    ca.sign().write(&folder);
    pem(&folder.join("callers.pem"), "CERTIFICATE", &callers.certificate);
    let tls = "tls: { certificate: server.pem, key: server.key, client_ca: callers.pem }";
    let config = format!(
        "authzen: {{ url: 'https://pdp.example.com' }}\nlisteners: [{{ mode: authzen, listen: {address}, {tls} }}]\n"
    );
    let mut gateway = Gateway::start(folder, &issuer, &config);
    let asks = |client: Option<&Certified>| ask_securely(&address, &ca, client, METADATA).is_some();
    assert!(asks(Some(&callers.sign())));
    assert!(!asks(None));
    assert!(!asks(Some(&ca.sign())));
    gateway.until_counted(&["tls_handshake", &address], 2);
}

/// Opens sockets at these addresses, and becomes the program with them as its descriptors from 3 on: what systemd does.
const ACTIVATE: &str = r#"
import os, socket, sys
addresses, command = sys.argv[1].split(), sys.argv[2:]
for at, address in enumerate(addresses):
    if address.startswith("/"):
        opened = socket.socket(socket.AF_UNIX)
        opened.bind(address)
    else:
        opened = socket.socket()
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        host, port = address.split(":")
        opened.bind((host, int(port)))
    opened.listen()
    os.dup2(opened.fileno(), 10 + at)
    opened.close()
for at in range(len(addresses)):
    os.dup2(10 + at, 3 + at)
    os.close(10 + at)
os.environ.update(LISTEN_FDS=str(len(addresses)), LISTEN_PID=str(os.getpid()))
os.execv(command[0], command)
"#;

#[test]
#[ignore = "needs Python: cargo xtask test gateway"]
fn sockets_that_are_passed_are_used_and_none_is_left_over() {
    let (issuer, folder) = (Issuer::start(), folder("sockets"));
    let [address, admin] = [(); 2].map(|()| format!("127.0.0.1:{}", free_port()));
    let socket = folder.join("passed.sock");
    fs::write(folder.join("tokens.yaml"), issuer.tokens_yaml()).unwrap();
    let file = folder.join("gateway.yaml");
    let listeners = format!(
        "  - {{ mode: nginx, listen: {address}, trusted_proxies: [127.0.0.1] }}\n  - {{ mode: nginx, listen: 'unix:{}' }}\n",
        socket.display()
    );
    let head = format!("orbgate_gateway: 1\ntokens: tokens.yaml\nadmin: {admin}\nlisteners:\n");
    let start = |listeners: &str| {
        fs::write(&file, format!("{head}{listeners}")).unwrap();
        let _ = fs::remove_file(&socket);
        let mut python = Command::new("python3");
        let program = env!("CARGO_BIN_EXE_orbgate-gateway");
        let addresses = format!("{address} {}", socket.display());
        python.args(["-c", ACTIVATE, &addresses, program, "--config"]).arg(&file);
        python
    };
    let mut running = Running::start(&mut start(&listeners));
    running.until("it is ready", |_| ask(&admin, &request(b"GET", b"/readyz", &[])).status == 200);
    let log = running.said();
    assert_eq!(log.matches("\"is_passed\":true").count(), 2, "{log}");
    assert_eq!(log.matches("\"is_passed\":false").count(), 1, "{log}");
    let question = issuer.question(&[]);
    assert_eq!(ask(&address, &question).status, 200);
    let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    stream.write_all(&question).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    running.signal("TERM");
    assert!(running.child.wait().unwrap().success());
    // The service manager keeps what it has made.
    assert!(socket.exists());

    let (one, _) = listeners.split_once("\n").unwrap();
    let python = start(&format!("{one}\n"));
    // Ended if it serves.
    let mut limited = Command::new("timeout");
    let limited = limited.arg("20").arg(python.get_program());
    let output = limited.args(python.get_args()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let address = format!("unix:{}", socket.display());
    let names_it = |line: &str| line.contains("`LISTEN_FDS`") && line.contains(&address);
    assert!(stderr.lines().any(names_it), "{stderr}");
}

/// A listener of nginx, with what is trusted and more settings.
fn config(address: &str, trusted: &str, more: &str) -> String {
    format!("{more}listeners: [{{ mode: nginx, listen: {address}, trusted_proxies: [{trusted}] }}]\n")
}

#[test]
fn an_address_that_is_trusted_no_longer_gets_no_answer_on_an_open_connection() {
    let issuer = Issuer::start();
    let address = format!("127.0.0.1:{}", free_port());
    let trusting = config(&address, "127.0.0.1", "");
    let mut gateway = Gateway::start(folder("trusted"), &issuer, &trusting);
    let question = String::from_utf8(issuer.question(&[])).unwrap();
    let question = question.replace("Connection: close\r\n", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    let patience = Some(Duration::from_secs(20));
    stream.set_read_timeout(patience).unwrap();
    stream.write_all(question.as_bytes()).unwrap();
    let head = crate::support::wire::head(&mut stream);
    assert!(head.starts_with(b"HTTP/1.1 200 "), "{head:?}");

    gateway.rewrite(&config(&address, "127.0.0.9", ""));
    gateway.running.signal("HUP");
    gateway.until_counted(&["orbgate_gateway_loads_total", "loaded"], 1);
    let _ = stream.write_all(question.as_bytes());
    assert_eq!(crate::support::wire::head(&mut stream), b"");
    gateway.until_counted(&["untrusted_peer"], 1);
    let allowed = ["orbgate_decisions_total", "allow"];
    assert_eq!(gateway.counted(&allowed), 1);
}

#[test]
fn connections_of_operators_silence_no_listener() {
    let (issuer, folder) = (Issuer::start(), folder("operators"));
    let [address, admin] = [(); 2].map(|()| format!("127.0.0.1:{}", free_port()));
    fs::write(folder.join("tokens.yaml"), issuer.tokens_yaml()).unwrap();
    let settings = format!("orbgate_gateway: 1\ntokens: tokens.yaml\nadmin: {admin}\n");
    let file = folder.join("gateway.yaml");
    fs::write(&file, config(&address, "127.0.0.1", &settings)).unwrap();
    for (limit, is_enough) in [("-S", true), ("", false)] {
        let program = env!("CARGO_BIN_EXE_orbgate-gateway");
        let script = format!("ulimit {limit} -n 1024 && exec {program} --config \"$0\"");
        let mut shell = Command::new("bash");
        let mut running = Running::start(shell.arg("-c").arg(script).arg(&file));
        running.until("it is ready", |_| ask(&admin, &request(b"GET", b"/readyz", &[])).status == 200);
        assert_eq!(running.said().contains("`LimitNOFILE`"), !is_enough);
        let limits = fs::read_to_string(format!("/proc/{}/limits", running.child.id()));
        let files = limits.unwrap().lines().find_map(|line| {
            let soft = line.strip_prefix("Max open files")?;
            soft.split_whitespace().next()?.parse::<u32>().ok()
        });
        assert_eq!(files, Some(if is_enough { 1_280 } else { 1_024 }));
        let silent: Vec<_> = (0..1_100).map_while(|_| TcpStream::connect(&admin).ok()).collect();
        assert!(silent.len() > 200, "{}", silent.len());
        assert_eq!(ask(&address, &issuer.question(&[])).status, 200);
        drop(silent);
        running
            .until("operators are answered again", |_| ask(&admin, &request(b"GET", b"/healthz", &[])).status == 200);
    }
}

#[test]
fn operators_may_ask_by_head() {
    let issuer = Issuer::start();
    let settings = config(&format!("127.0.0.1:{}", free_port()), "127.0.0.1", "");
    let gateway = Gateway::start(folder("head"), &issuer, &settings);
    for (path, length) in [(&b"/healthz"[..], "3"), (b"/readyz", "6")] {
        let answers = [&b"GET"[..], b"HEAD"].map(|method| ask(&gateway.admin, &request(method, path, &[])));
        let [get, head] = &answers;
        assert_eq!((get.status, head.status, head.body.as_str()), (200, 200, ""));
        assert_eq!(head.header("content-length"), length);
        assert_eq!(get.header("content-length"), length);
    }
    assert_eq!(ask(&gateway.admin, &request(b"POST", b"/healthz", &[])).status, 404);
}

#[test]
fn operators_past_their_connections_are_told() {
    let issuer = Issuer::start();
    let address = format!("127.0.0.1:{}", free_port());
    let settings = config(&address, "127.0.0.1", "");
    let mut gateway = Gateway::start(folder("told-operators"), &issuer, &settings);
    let (admin, health) = (gateway.admin.clone(), request(b"GET", b"/healthz", &[]));
    let silent: Vec<_> = (0..64).map(|_| TcpStream::connect(&admin)).collect();
    assert_eq!(ask(&admin, &health).status, 503);
    drop(silent);
    gateway.running.until("again", |_| ask(&admin, &health).status == 200);
    assert!(gateway.counted(&["too_many_connections", "\"admin\""]) > 0);
}

/// An issuer elsewhere, as far as the gateway is concerned: it serves its keys over TLS.
fn serve_keys_over_tls(ca: &Ca, signer: &Signer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let of = ca.sign();
    let key = PrivateKeyDer::try_from(of.key.serialize_der()).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(builder.with_single_cert(vec![of.certificate], key).unwrap());
    let keys = json!({ "keys": [signer.jwk("key-1")] }).to_string();
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{keys}", keys.len());
    thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = Stream::new(&mut connection, &mut socket);
            let mut head = [0; 4096];
            if stream.read(&mut head).is_ok() {
                let _ = stream.write_all(answer.as_bytes());
                connection.send_close_notify();
                let _ = connection.complete_io(&mut socket);
            }
        }
    });
    origin
}

/// The proxy in front ends the TLS of clients, so no certificate of theirs arrives.
#[test]
fn no_gateway_takes_tokens_that_are_bound_to_certificates() {
    let (issuer, folder) = (Issuer::start(), folder("certificates"));
    let proving = |proof: &str| {
        let tokens = issuer.tokens_yaml().replacen("    kind:", &format!("    proof: {proof}\n    kind:"), 1);
        format!("{tokens}public_urls: [https://api.example.com]\n")
    };
    let config = config(&format!("127.0.0.1:{}", free_port()), "127.0.0.1", "");
    let mut gateway = Gateway::start_with(folder.clone(), &proving("dpop"), &config);
    for proof in ["mtls", "[dpop, mtls]", "{ when_bound: mtls }"] {
        fs::write(folder.join("tokens.yaml"), proving(proof)).unwrap();
        let (code, _, errors) = run(&folder, None, &["--check", "--config", "gateway.yaml"]);
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains("names `mtls`, and this gate sees no certificate of a client"), "{errors}");
    }
    gateway.running.signal("HUP");
    gateway.running.until("it is refused", |running| running.said().contains("configuration refused"));
}

#[test]
fn a_gateway_starts_without_roots_and_takes_those_that_come() {
    let (here, folder, ca, signer) = (Issuer::start(), folder("roots"), Ca::new(), Signer::p256());
    let (roots, none) = (folder.join("roots.pem"), folder.join("none"));
    let variables = [("SSL_CERT_FILE", roots.as_path()), ("SSL_CERT_DIR", none.as_path())];
    let address = format!("127.0.0.1:{}", free_port());
    let config = config(&address, "127.0.0.1", "");
    let mut gateway = Gateway::start_in(&variables, folder.clone(), &here.tokens_yaml(), &config);
    assert_eq!(ask(&address, &here.question(&[])).status, 200);

    // An issuer over TLS is refused while there are no roots, on reload and at the start.
    let elsewhere = serve_keys_over_tls(&ca, &signer);
    let entry = |issuer: &str| {
        format!(
            "  - issuer: {issuer}\n    audience: {}\n    jwks_uri: {issuer}/jwks\n    algorithms: [ES256]\n    kind: user\n",
            signer::AUDIENCE
        )
    };
    let own = here.tokens_yaml();
    let tokens = own.replacen("issuers:\n", &format!("issuers:\n{}", entry(&elsewhere)), 1);
    fs::write(folder.join("tokens.yaml"), &tokens).unwrap();
    gateway.running.signal("HUP");
    gateway.running.until("it is refused", |running| running.said().contains("configuration refused"));
    assert!(gateway.running.said().contains("the system's certificates: "), "{}", gateway.running.said());
    assert_eq!(ask(&address, &here.question(&[])).status, 200);
    let mut second = Command::new(env!("CARGO_BIN_EXE_orbgate-gateway"));
    let second = second.args(["--config", "gateway.yaml"]).current_dir(&folder).envs(variables).output().unwrap();
    assert!(!second.status.success(), "{second:?}");
    assert!(String::from_utf8_lossy(&second.stderr).contains("the system's certificates: "), "{second:?}");

    // The roots that are there at the next reload count.
    pem(&roots, "CERTIFICATE", &ca.certificate);
    gateway.running.signal("HUP");
    gateway.running.until("it is loaded", |running| running.said().contains("configuration loaded"));
    let claims = signer::with(signer::claims(), "iss", elsewhere);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let claims = signer::with(signer::with(claims, "iat", now - 600), "exp", now + 600);
    let claims = signer::with(claims, "scope", "read:orbs");
    let bearer = format!("Bearer {}", signer.token(&signer::header(), &claims));
    let question =
        [("Authorization", &*bearer), ("X-Original-Method", "GET"), ("X-Original-URI", "/api/v1/external/orbs")];
    let answer = ask(&address, &request(b"GET", b"/", &question));
    assert_eq!(answer.status, 200, "{}", gateway.running.said());
}

#[test]
fn a_check_and_the_log_name_the_policy() {
    let issuer = Issuer::start();
    let folder = folder("named");
    let text = "orbgate: 1\napis: { a: { base_path: '', scopes: { r: { orbs: false, routes: [GET /a, GET /b] }, w: { routes: [] } } } }\n...\n";
    fs::write(folder.join("policy.yaml"), text).unwrap();
    let of_file = orbgate::Policy::from_yaml(text).unwrap().digest().to_string();
    let built_in = orbgate::Engine::external();
    let counts = (built_in.routes().len(), built_in.scope_count());
    for (more, file, digest, (routes, scopes)) in [
        ("", "built in", built_in.digest().to_string(), counts),
        ("policy: policy.yaml\n", "policy.yaml", of_file, (2, 2)),
    ] {
        let address = format!("127.0.0.1:{}", free_port());
        let gateway = Gateway::start(folder.clone(), &issuer, &config(&address, "127.0.0.1", more));
        let lines = gateway.running.said();
        let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut lines = lines.map(|line| line["fields"].clone()).filter(|fields| fields["digest"].is_string());
        let logged = lines.next().unwrap();
        let actual = ["digest", "routes", "scopes"].map(|name| logged[name].clone());
        assert_eq!(actual, [Value::from(digest.as_str()), Value::from(routes), Value::from(scopes)], "{logged}");
        assert!(logged["file"].as_str().is_none_or(|named| named.ends_with(file)), "{logged}");
        assert_eq!(logged["file"].is_null(), more.is_empty(), "{logged}");
        let (code, stdout, _) = run(&folder, None, &["--check", "--config", "gateway.yaml"]);
        let end = format!("{file}: {digest}, routes: {routes}, scopes: {scopes}\n");
        assert!(code == Some(0) && stdout.contains("\npolicy: ") && stdout.ends_with(&end), "{stdout}");
    }
}

/// At the start, for each new policy, and once more if another file has it.
#[test]
fn the_log_states_what_the_gateway_leaves_to_charge() {
    let issuer = Issuer::start();
    let folder = folder("charging");
    let text = |orbs: &str| {
        format!(
            "orbgate: 1\napis: {{ a: {{ base_path: '', scopes: {{ r: {{ orbs: {orbs}, routes: [GET /a] }} }} }} }}\n...\n"
        )
    };
    fs::write(folder.join("policy.yaml"), text("false")).unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let with = |file: &str| config(&address, "127.0.0.1", &format!("policy: {file}\n"));
    let mut gateway = Gateway::start(folder.clone(), &issuer, &with("policy.yaml"));
    let states = |running: &Running| {
        let lines = running.said();
        let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let messages = lines.filter_map(|line| line["fields"]["message"].as_str().map(str::to_owned));
        messages.filter(|message| message.starts_with("charging: ")).collect::<Vec<_>>()
    };
    let by_the_service =
        |routes: &str| format!("charging: only by the service behind the proxy; routes that consume orbs: {routes}");
    let mut expected = vec![by_the_service("0")];
    assert_eq!(states(&gateway.running), expected);
    fs::write(folder.join("policy.yaml"), text("5")).unwrap();
    expected.push(by_the_service("1, such as `GET /a`"));
    gateway.running.until("a policy with a price", |running| states(running) == expected);
    fs::write(folder.join("other.yaml"), text("7")).unwrap();
    gateway.rewrite(&with("other.yaml"));
    expected.push(by_the_service("1, such as `GET /a`"));
    gateway.running.until("another file", |running| states(running) == expected);
}

#[test]
fn an_answer_that_nobody_could_read_is_no_success() {
    for argument in ["--help", "--version"] {
        let ask = |out: Stdio| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_orbgate-gateway"));
            let output = program.arg(argument).stdout(out).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let (code, said) = ask(full.into());
        let is_said = said.starts_with("cannot write to standard output: ") && said.lines().count() == 1;
        assert!(code == Some(2) && is_said, "{code:?} {said}");
        // Its reader has left.
        let (_, left) = std::io::pipe().unwrap();
        assert_eq!(ask(left.into()), (Some(2), String::new()));
    }
}

#[test]
fn a_check_warns_of_what_is_probably_not_meant() {
    let folder = folder("warnings");
    let tokens = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/gateway/tokens.yaml"));
    let tokens = tokens.unwrap();
    let checked = |admin: &str, tokens: &str, code: i32| {
        fs::write(folder.join("tokens.yaml"), tokens).unwrap();
        let settings = format!("orbgate_gateway: 1\ntokens: tokens.yaml\nadmin: {admin}\n");
        fs::write(folder.join("gateway.yaml"), config("127.0.0.1:1", "127.0.0.1", &settings)).unwrap();
        let (status, _, stderr) = run(&folder, None, &["--check", "--config", "gateway.yaml"]);
        assert_eq!(status, Some(code), "{stderr}");
        stderr
    };
    let check = |admin: &str, tokens: &str| checked(admin, tokens, 0);
    assert_eq!(check("127.0.0.1:2", &tokens), "");
    let derives = tokens.replace("    audience:", "    derive: { earned:unused: always }\n    audience:");
    let stderr = check("127.0.0.1:2", &derives);
    assert!(stderr.starts_with("warning: ") && stderr.ends_with(": no policy uses `earned:unused`\n"), "{stderr}");
    for admin in ["0.0.0.0:2", "'[::]:2'"] {
        let stderr = check(admin, &tokens);
        assert!(stderr.starts_with("warning: `admin: "), "{stderr}");
    }
    let plain = tokens.replace("https://id.example.com", "http://id.example.com");
    let mut expected = Expected::default();
    expected.add("issuer: http://id.example.com", [checked("127.0.0.1:2", &plain, 2)]);
    // The usual limit of a head is 32768 bytes.
    let at_most =
        |bytes: usize| tokens.replace("orbgate_token: 1\n", &format!("orbgate_token: 1\nmax_token_bytes: {bytes}\n"));
    expected.add("max_token_bytes: 28673", [checked("127.0.0.1:2", &at_most(28_673), 2)]);
    assert_eq!(check("127.0.0.1:2", &at_most(28_672)), "");
    expected.keep(env!("CARGO_MANIFEST_DIR"), "check: what can't work");
    let elsewhere = plain.replace("    audience:", "    jwks_uri: https://id.example.com/jwks\n    audience:");
    assert_eq!(check("127.0.0.1:2", &elsewhere), "");
    // As many files as all connections may need, and one less.
    for (files, is_enough) in [(1_280, true), (1_279, false)] {
        let program = env!("CARGO_BIN_EXE_orbgate-gateway");
        let script = format!("ulimit -n {files} && exec {program} --check --config gateway.yaml");
        let mut shell = Command::new("bash");
        let shell = shell.args(["-c", &script]).current_dir(&folder);
        let stderr = String::from_utf8(shell.output().unwrap().stderr).unwrap();
        assert_eq!(stderr.is_empty(), is_enough, "{stderr}");
    }
}

#[test]
fn an_audit_that_was_renamed_is_opened_again_at_the_signal() {
    let (issuer, folder) = (Issuer::start(), folder("audit"));
    let address = format!("127.0.0.1:{}", free_port());
    let settings = config(&address, "127.0.0.1", "audit: audit.jsonl\n");
    let mut gateway = Gateway::start(folder.clone(), &issuer, &settings);
    let (now, before) = (folder.join("audit.jsonl"), folder.join("audit.1"));
    let lines = |file: &Path| fs::read_to_string(file).unwrap_or_default().lines().count();
    let question = issuer.question(&[]);
    for (times, file) in [(1, &now), (2, &before)] {
        assert_eq!(ask(&address, &question).status, 200);
        gateway.running.until("the line is there", |_| lines(file) == times);
        if times == 1 {
            fs::rename(&now, &before).unwrap();
        }
    }
    assert!(!now.exists());
    gateway.running.signal("HUP");
    // Each line goes to one of the two files, from some line on to the new one.
    let count = core::cell::Cell::new(2);
    gateway.running.until("a line in the new file", |_| {
        assert_eq!(ask(&address, &question).status, 200);
        count.set(count.get() + 1);
        lines(&now) > 0
    });
    gateway.running.until("every line is there", |_| lines(&now) + lines(&before) == count.get());
    let lost = ["orbgate_audit_lost_total"];
    assert_eq!(gateway.counted(&lost), 0);
}

#[test]
fn a_denial_is_explained_in_the_log_on_request() {
    let (issuer, folder) = (Issuer::start(), folder("debug"));
    let address = format!("127.0.0.1:{}", free_port());
    let mut gateway = Gateway::start(folder, &issuer, &config(&address, "127.0.0.1", ""));
    let bearer = issuer.bearer();
    let deny_with = |target: &str, token: &str, header| {
        let headers = [("Authorization", token), ("X-Original-Method", "GET"), ("X-Original-URI", target), header];
        let answer = ask(&address, &request(b"GET", b"/", &headers));
        assert!([401, 403].contains(&answer.status), "{}", answer.status);
    };
    let accept = ("Accept", "text/html");
    let deny = |target: &str, token: &str| deny_with(target, token, accept);
    let explained = |running: &Running| {
        let log = running.said();
        let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
        let lines = lines.filter(|line: &Value| line["fields"]["explanation"].is_string());
        lines.map(|line| line["fields"].clone()).collect::<Vec<_>>()
    };
    deny("/api/v1/external/orb?secret=1", &bearer);
    assert!(explained(&gateway.running).is_empty());
    gateway.rewrite(&config(&address, "127.0.0.1", "debug: true\n"));
    gateway.running.signal("HUP");
    gateway.running.until("a denial is explained", |running| {
        deny("/api/v1/external/orb?secret=1", &bearer);
        !explained(running).is_empty()
    });
    let first = explained(&gateway.running).swap_remove(0);
    assert_eq!((&first["method"], &first["path"]), (&json!("GET"), &json!("/api/v1/external/orb")));
    let explanation: Value = serde_json::from_str(first["explanation"].as_str().unwrap()).unwrap();
    assert_eq!(explanation["reason"], "no_route");
    assert_eq!(explanation["near"][0]["meant"], "/api/v1/external/orbs");
    deny("/api/v1/external/orbs", "Bearer nonsense");
    gateway.running.until("another one", |running| {
        let last = explained(running).pop().unwrap();
        last["explanation"].as_str().unwrap().contains("invalid_token")
    });
    // `explain` gets neither headers nor the query, so it would answer `allow`.
    for (target, header, detail) in [
        ("?secret", ("Upgrade", "h2c"), "upgrade"),
        ("?secret", ("X-HTTP-Method-Override", "DELETE"), "method"),
        ("?secret#", accept, "fragment"),
    ] {
        let before = explained(&gateway.running).len();
        deny_with(&format!("/api/v1/external/orbs{target}"), &bearer, header);
        let running = &mut gateway.running;
        running.until("a third", |running| explained(running).len() > before);
        let last = explained(running).pop().unwrap();
        let actual: Value = serde_json::from_str(last["explanation"].as_str().unwrap()).unwrap();
        let decision = json!({
            "decision": "deny", "status": 400, "reason": "malformed_request", "detail": detail, "api": null,
            "route": null, "scope": null, "orbs": null, "policy": explanation["policy"],
        });
        assert_eq!(actual, decision);
    }
    let log = gateway.running.said();
    assert!(!["secret", "nonsense", "eyJ"].iter().any(|it| log.contains(it)), "{log}");
}
