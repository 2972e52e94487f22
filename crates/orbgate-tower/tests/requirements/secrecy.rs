//! Nothing of a token in logs, spans, metrics, the audit, errors or `Debug`.

use std::collections::HashSet;
use std::fs::{self, File};
use std::sync::Once;
use std::sync::mpsc::channel;

use axum::Router;
use axum::extract::Request;
use axum::routing::any;
use http::StatusCode;
use metrics_exporter_prometheus::PrometheusBuilder;
use orbgate_token::{TokenError, VerifiedToken};
use orbgate_tower::{Allowed, AuditLog, Challenge, Engines, FullChallenge, GateLayer};
use serde_json::json;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::support::{Tokens, raw, request, serve};
use crate::{ORBS, Sheet};
use orbgate_testing::signer::{self, Signer, header, with, without};

/// How many characters of a token in a row count as a leak.
const PIECE: usize = 12;

/// Texts that occur only in the tokens.
const SECRETS: [&str; 5] = ["subject-5e3d", "client-5e3d", "name-5e3d", "kid-5e3d", "scope-5e3d"];

/// All that the tests of this program log.
const LOG: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/requirements.log");

/// Starts to log, before any request: a span that came earlier would never be logged.
pub(crate) fn listen() {
    static LOGGING: Once = Once::new();
    LOGGING.call_once(|| {
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_span_events(FmtSpan::FULL)
            .with_writer(File::create(LOG).unwrap())
            .finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
    });
}

/// Prints all that it gets, as a service does that looks for an error.
async fn talkative(request: Request) -> StatusCode {
    let (parts, _) = request.into_parts();
    let allowed = parts.extensions.get::<Allowed>();
    let token = parts.extensions.get::<VerifiedToken>();
    tracing::info!(?parts, ?allowed, ?token, "a request");
    StatusCode::NO_CONTENT
}

#[tokio::test]
async fn t18_nothing_of_a_token_is_written_anywhere() {
    listen();
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    metrics::set_global_recorder(recorder).unwrap();

    let tokens = Tokens::new();
    let verifier = tokens.verifier();
    verifier.store(signer::keys(&[tokens.signer.jwk("kid-5e3d")]));
    let (sheet, audited) = channel();
    let audit = AuditLog::to_writer(Sheet(sheet)).unwrap();
    let gate = GateLayer::axum(Engines::external(), verifier.clone())
        .challenge(Challenge::Full(FullChallenge::new()))
        .audit(audit.clone());
    let shown = format!("{gate:?} {verifier:?} {:?}", gate.clone());
    let app = Router::new().route(ORBS, any(talkative)).layer(gate);
    let address = serve(app).await;

    let table = hostile(&tokens);
    let mut answers = Vec::new();
    for (authorization, status) in &table {
        let text =
            format!("GET {ORBS} HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: {authorization}\r\n\r\n");
        let answer = raw(&address, text.as_bytes()).await;
        assert_eq!(answer.status, *status, "{authorization}");
        answers.push(answer.head);
        // In a query, too, where some clients put it.
        let token = authorization.trim_start_matches("Bearer ");
        if token.bytes().all(|byte| byte.is_ascii_graphic()) {
            let target = format!("{ORBS}?access_token={token}");
            answers.push(raw(&address, &request(b"GET", target.as_bytes(), None, "")).await.head);
        }
    }
    audit.flush();

    let logs = fs::read_to_string(LOG).unwrap();
    let audit = String::from_utf8(audited.try_iter().flatten().collect()).unwrap();
    let scrape = metrics.render();
    // Something was written to each of them.
    for words in ["scope_held", "scope_missing", "token_refused", "a request", "Sensitive"] {
        assert!(logs.contains(words), "{words}");
    }
    for code in ["expired", "signature", "authorization_header", "bad_header"] {
        assert!(audit.contains(code) && scrape.contains(code) && logs.contains(code), "{code}");
    }
    let errors: String = TokenError::ALL.iter().map(|error| format!("{error} {error:?}")).collect();
    let written = Written::new(&[&logs, &audit, &scrape, &shown, &errors, &answers.concat()]);
    for (authorization, _) in &table {
        assert!(!written.has_piece_of(authorization), "{authorization}");
    }
    for secret in SECRETS {
        assert!(!written.text.contains(secret), "{secret}");
    }
    // The search finds a secret that is there.
    let careless = Written::new(&[&format!("denied: {:?}", table[0].0.as_bytes()), &table[1].0]);
    assert!(table[..2].iter().all(|(authorization, _)| careless.has_piece_of(authorization)));
}

/// Right, wrong and broken `Authorization`s, with their statuses. Their secrets occur nowhere else.
fn hostile(tokens: &Tokens) -> Vec<(String, u16)> {
    let header = with(header(), "kid", "kid-5e3d");
    let mut claims = Tokens::claims(600);
    for (name, value) in
        [("sub", "subject-5e3d"), ("client_id", "client-5e3d"), ("jti", "name-5e3d"), ("scope", "read:orbs scope-5e3d")]
    {
        claims[name] = json!(value);
    }
    let sign = |header, claims| tokens.sign(&header, &claims);
    let (h, c) = (|| header.clone(), || claims.clone());
    let right = sign(h(), c());
    let parts: Vec<&str> = right.split('.').collect();
    let cut = format!("{}.{}", parts[0], parts[1]);
    let long = format!("{right}{}", "A".repeat(8_192));
    let tokens = [
        (right.clone(), 204),
        (sign(h(), with(c(), "scope", "read:account scope-5e3d")), 403),
        (sign(h(), with(c(), "token_kind", "kind-5e3d")), 401),
        (sign(h(), with(c(), "exp", 1)), 401),
        (sign(h(), with(c(), "iss", "https://issuer-5e3d.example")), 401),
        (sign(h(), with(c(), "aud", "audience-5e3d")), 401),
        (sign(h(), with(c(), "scope", "scope-5e3d  x")), 401),
        (sign(h(), with(c(), "cnf", json!({"jkt": "thumbprint-5e3d"}))), 401),
        (sign(with(h(), "kid", "unknown-kid-5e3d"), c()), 401),
        (sign(with(h(), "kid", 7), c()), 401),
        (sign(with(h(), "alg", "algorithm-5e3d"), c()), 401),
        (sign(with(h(), "crit", json!(["crit-5e3d"])), c()), 401),
        (sign(without(h(), "typ"), c()), 401),
        (Signer::p256().token(&h(), &c()), 401),
        (cut, 401),
        (long, 401),
        (format!("{right}="), 401),
    ];
    let bearer = tokens.into_iter().map(|(token, status)| (format!("Bearer {token}"), status));
    let mut table: Vec<_> = bearer.collect();
    table.extend([
        (format!("Bearer {right} {right}"), 401),
        (format!("Bearer {right}, Bearer {right}"), 401),
        (format!("Basic YQ==,Bearer {right}"), 401),
        (format!("DPoP {right}"), 401),
        (right, 401),
    ]);
    table
}

/// All that was written, and every piece of it.
struct Written {
    text: String,
    pieces: HashSet<Vec<u8>>,
}

impl Written {
    fn new(texts: &[&str]) -> Self {
        let text = texts.join("\n");
        let pieces = text.as_bytes().windows(PIECE).map(<[u8]>::to_vec).collect();
        Self { text, pieces }
    }

    /// Whether there is a piece of this credential, as text or as the numbers that `Debug` prints of bytes.
    fn has_piece_of(&self, authorization: &str) -> bool {
        let token = authorization.rsplit(' ').next().unwrap().as_bytes();
        token.windows(PIECE).any(|piece| {
            let numbers = format!("{piece:?}");
            self.pieces.contains(piece) || self.text.contains(numbers.trim_matches(['[', ']']))
        })
    }
}
