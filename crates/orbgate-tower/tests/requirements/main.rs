#![doc = include_str!("README.md")]
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, clippy::disallowed_methods, reason = "a test waits and fails by panicking")]

mod secrecy;
mod server;
#[path = "../support/mod.rs"]
mod support;
mod token;

use core::convert::Infallible;
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};

use bytes::Bytes;
use http::request::{Builder, Parts};
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use orbgate_tower::{AuditLog, Challenge, Engines, FullChallenge, GateLayer, RequestBody, VerifyToken};
use serde_json::Value;
use tower::{Layer as _, ServiceExt as _, service_fn};

const ORBS: &str = "/api/v1/external/orbs";

/// Each requirement has its test here, or names the file that tests it, or says why there is none.
#[test]
fn every_requirement_has_its_test() {
    let tests = [include_str!("token.rs"), include_str!("server.rs"), include_str!("secrecy.rs")].concat();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rows = include_str!("README.md")
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | "))
        .filter(|(name, _)| name.starts_with(['T', 'S', 'C']));
    let mut count = 0;
    for (name, row) in rows {
        let (kind, number) = name.split_at(1);
        let test = format!("fn {}{number:0>2}_", kind.to_lowercase());
        let elsewhere = row.rsplit('|').nth(1).unwrap().trim();
        let files = elsewhere.split('`').skip(1).step_by(2);
        for file in files.clone() {
            assert!(root.join(file).is_file(), "{name}: {file}");
        }
        let is_told = elsewhere.starts_with("not applicable: ") || files.count() > 0;
        assert!(tests.contains(&test) || is_told, "{name} has no test");
        count += 1;
    }
    assert_eq!(count, 18 + 13 + 17);
}

/// A service inside a layer that tells its caller and its audit as much as it may.
struct Gated<V> {
    gate: GateLayer<V>,
    audit: AuditLog,
    /// One record for each request.
    written: Receiver<Vec<u8>>,
}

/// The outcome of a request.
struct Answered {
    status: u16,
    /// Its record in the audit.
    record: Value,
    /// The request as the service got it; `None` where it did not.
    seen: Option<Parts>,
}

impl<V: VerifyToken> Gated<V> {
    fn new(verifier: V) -> Self {
        Self::with(Engines::external(), verifier)
    }

    fn with(engines: Engines, verifier: V) -> Self {
        secrecy::listen();
        let (sheet, written) = channel();
        let audit = AuditLog::to_writer(Sheet(sheet)).unwrap();
        let gate = GateLayer::outermost(engines, verifier)
            .challenge(Challenge::Full(FullChallenge::new()))
            .audit(audit.clone());
        Self { gate, audit, written }
    }

    async fn ask(&self, request: Builder) -> Answered {
        let service = service_fn(async |request: Request<RequestBody<Full<Bytes>>>| {
            let mut response = Response::new(Full::<Bytes>::default());
            *response.status_mut() = http::StatusCode::NO_CONTENT;
            response.extensions_mut().insert(request.into_parts().0);
            Ok::<_, Infallible>(response)
        });
        let request = request.body(Full::<Bytes>::default()).unwrap();
        let answer = self.gate.layer(service).oneshot(request).await.unwrap();
        self.audit.flush();
        let lines: Vec<u8> = self.written.try_iter().flatten().collect();
        Answered {
            status: answer.status().as_u16(),
            record: serde_json::from_slice(&lines).unwrap(),
            seen: answer.extensions().get::<Parts>().cloned(),
        }
    }

    /// The status of a call that needs `read:orbs`, and why its token is refused.
    async fn present(&self, token: &str) -> (u16, Option<String>) {
        let outcome = self.ask(bearing(get(ORBS), token)).await;
        let refused = outcome.record["token_refused"].as_str().map(str::to_owned);
        (outcome.status, refused)
    }

    /// Every token is refused with 401, for its reason.
    async fn refuses(&self, table: impl IntoIterator<Item = (String, &str)>) {
        for (token, reason) in table {
            let expected = (401, Some(reason.to_owned()));
            assert_eq!(self.present(&token).await, expected, "{token}");
        }
    }
}

fn get(target: &str) -> Builder {
    Request::get(target)
}

fn bearing(request: Builder, token: &str) -> Builder {
    request.header("authorization", format!("Bearer {token}"))
}

fn value(bytes: impl AsRef<[u8]>) -> HeaderValue {
    HeaderValue::from_bytes(bytes.as_ref()).unwrap()
}

/// Passes on what is written.
struct Sheet(Sender<Vec<u8>>);

impl Write for Sheet {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _ = self.0.send(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
