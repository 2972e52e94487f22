//! Opaque tokens: the gateway asks their issuer, with a secret that can change while it runs.

use core::net::SocketAddr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::support::wire::{ask, head, headers, one, request};
use crate::support::{Gateway, folder, free_port};

/// Says of `good` that it is active, until it is revoked. Two secrets are right.
struct Endpoint {
    address: SocketAddr,
    revoked: Arc<AtomicBool>,
    questions: Arc<AtomicUsize>,
}

impl Endpoint {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (revoked, questions) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let (is_revoked, count) = (Arc::clone(&revoked), Arc::clone(&questions));
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let fields = headers(&String::from_utf8(head(&mut stream)).unwrap());
                let mut body = vec![0; one(&fields, "content-length").parse().unwrap()];
                stream.read_exact(&mut body).unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                // gateway:one and gateway:two
                let right = ["Basic Z2F0ZXdheTpvbmU=", "Basic Z2F0ZXdheTp0d28="];
                let status = match right.contains(&one(&fields, "authorization")) {
                    true => "200 OK",
                    false => "401 Unauthorized",
                };
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                let is_active =
                    body == b"token=good&token_type_hint=access_token" && !is_revoked.load(Ordering::SeqCst);
                let says = json!({
                    "active": is_active, "aud": "https://api.example.com", "exp": now.as_secs() + 600,
                    "scope": "read:orbs", "sub": "user-7", "client_id": "my app",
                });
                let says = says.to_string();
                let length = says.len();
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                let _ = stream.write_all((head + &says).as_bytes());
            }
        });
        Self { address, revoked, questions }
    }
}

#[test]
fn the_gateway_asks_the_issuer_of_opaque_tokens() {
    let endpoint = Endpoint::start();
    let (folder, address) = (folder("opaque"), format!("127.0.0.1:{}", free_port()));
    let secret = folder.join("secret");
    fs::write(&secret, "one\n").unwrap();
    let tokens = format!(
        "orbgate_token: 1\nissuers:\n  - issuer: https://id.example.com\n    audience: https://api.example.com\n    kind: user\n    \
         opaque: {{ endpoint: 'http://{}/introspect', client_id: gateway, client_secret_file: '{}', max_cache_seconds: 1 }}\n",
        endpoint.address,
        secret.display()
    );
    let config =
        format!("identity: true\nlisteners: [{{ mode: nginx, listen: {address}, trusted_proxies: [127.0.0.1] }}]\n");
    // It is ready without keys, and without having asked anybody.
    let mut gateway = Gateway::start_with(folder, &tokens, &config);
    assert_eq!(endpoint.questions.load(Ordering::SeqCst), 0);
    let check = |token: &str, uri: &str| {
        let bearer = format!("Bearer {token}");
        let own = [("X-Original-Method", "GET"), ("X-Original-URI", uri), ("Authorization", bearer.as_str())];
        let answer = ask(&address, &request(b"GET", b"/", &own));
        let identity =
            ["subject", "client", "issuer"].map(|name| answer.header(&format!("x-orb-token-{name}")).to_owned());
        let expected = match answer.status {
            200 => ["user-7", "my%20app", "https://id.example.com"],
            _ => ["-"; 3],
        };
        assert_eq!(identity, expected, "{token} {uri}");
        answer.status
    };
    let orbs = "/api/v1/external/orbs";
    assert_eq!(check("good", orbs), 200);
    assert_eq!(check("good", "/api/v1/external/account"), 403, "a decision is never kept");
    assert_eq!(check("good", orbs), 200);
    assert_eq!(endpoint.questions.load(Ordering::SeqCst), 1);
    assert_eq!(check("other", orbs), 401);
    thread::sleep(Duration::from_secs(1));
    // A wrong secret, and then a right one: the file is followed.
    let change = |gateway: &mut Gateway, text: &str, times: usize| {
        fs::write(&secret, text).unwrap();
        gateway.running.signal("HUP");
        gateway
            .running
            .until("the secret is read", |running| running.said().matches("configuration loaded").count() >= times);
    };
    change(&mut gateway, "wrong", 1);
    assert_eq!(check("good", orbs), 401);
    let log = gateway.running.said();
    assert!(!log.contains("wrong"), "{log}");
    change(&mut gateway, "two", 2);
    assert_eq!(check("good", orbs), 200);
    endpoint.revoked.store(true, Ordering::SeqCst);
    thread::sleep(Duration::from_secs(1));
    assert_eq!(check("good", orbs), 401);
    // No gateway without its secret.
    fs::remove_file(&secret).unwrap();
    gateway.running.signal("HUP");
    gateway.running.until("the missing secret is said", |running| {
        let log = running.said();
        log.contains("configuration refused") && log.contains("client_secret_file")
    });
}
