//! Signed tokens, a server on a socket, and requests as they are written on it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "not every test uses all of it, and tests fail by panicking"
)]

use core::time::Duration;
use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::routing::MethodRouter;
use orbgate::Engine;
use orbgate_tower::KeyHolder;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use orbgate_testing::signer::{self, Signer};

/// A router with every template of a policy below a prefix, all served alike.
pub(crate) fn router(engine: &Engine, prefix: &str, served: &MethodRouter) -> Router {
    let below = engine.routes().filter_map(|route| {
        let template = route.template().strip_prefix(prefix)?;
        // The router requires one name for all parameters at one place.
        let segments = template.split('/').enumerate();
        let segments = segments.map(|(at, segment)| match segment.starts_with('{') {
            true => format!("{{p{at}}}"),
            false => segment.to_owned(),
        });
        Some(segments.collect::<Vec<_>>().join("/"))
    });
    let templates: BTreeSet<String> = below.collect();
    let router = Router::new().without_v07_checks();
    templates.iter().fold(router, |router, template| router.route(template, served.clone()))
}

/// Signs tokens that are valid now.
pub(crate) struct Tokens {
    pub(crate) signer: Signer,
}

impl Tokens {
    pub(crate) fn new() -> Self {
        Self { signer: Signer::p256() }
    }

    pub(crate) fn verifier(&self) -> KeyHolder {
        let keys = signer::keys(&[self.signer.jwk("key-1")]);
        KeyHolder::new(signer::verifier(signer::issuer()), keys)
    }

    pub(crate) fn token(&self, kind: &str, scopes: &str) -> String {
        self.expiring(kind, scopes, 600)
    }

    pub(crate) fn expired(&self, kind: &str, scopes: &str) -> String {
        self.expiring(kind, scopes, -120)
    }

    fn expiring(&self, kind: &str, scopes: &str, in_seconds: i64) -> String {
        let mut claims = Self::claims(in_seconds);
        claims["token_kind"] = json!(kind);
        // Scopes are separated by one space; rows of cases have texts that no token may
        // have.
        let scopes: Vec<&str> = scopes.split(' ').filter(|scope| !scope.is_empty()).collect();
        claims["scope"] = Value::from(scopes.join(" "));
        self.sign(&signer::header(), &claims)
    }

    /// The claims of a user's token, issued now.
    pub(crate) fn claims(expiring_in_seconds: i64) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = i64::try_from(now.as_secs()).unwrap();
        let claims = signer::with(signer::claims(), "iat", now - 600);
        signer::with(claims, "exp", now + expiring_in_seconds)
    }

    pub(crate) fn sign(&self, header: &Value, claims: &Value) -> String {
        self.signer.token(header, claims)
    }
}

/// Serves until the test ends; returns the address.
pub(crate) async fn serve(app: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Every denial is a status, and nothing in it says more.
    pub(crate) fn assert_bare(&self, what: &str) {
        assert_eq!(self.body, b"", "{what}");
        assert_eq!(self.header("content-type"), None, "{what}");
    }
}

/// Writes these bytes on a connection of their own, and reads all of the answer.
pub(crate) async fn raw(address: &str, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that refuses a request may close before it has read all of it.
    let _ = stream.write_all(request).await;
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes));
    let _ = read.await.unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    Answer { status: head.split(' ').nth(1).unwrap().parse().unwrap(), head, body: bytes[end + 4..].to_vec() }
}

/// A request line and headers, with a body if it is not empty.
pub(crate) fn request(method: &[u8], target: &[u8], token: Option<&str>, body: &str) -> Vec<u8> {
    let mut bytes = [method, b" ", target, b" HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"].concat();
    if let Some(token) = token {
        bytes.extend(format!("authorization: Bearer {token}\r\n").into_bytes());
    }
    if !body.is_empty() {
        let length = body.len();
        bytes.extend(format!("content-type: application/json\r\ncontent-length: {length}\r\n").into_bytes());
    }
    bytes.extend(b"\r\n");
    bytes.extend(body.as_bytes());
    bytes
}
