//! What `benches/load.py` puts under load: the routes of `service.rs`, behind the layer in several ways, or bare:
//!
//! ```sh
//! cargo run --release -p orbgate-tower --all-features --example load -- ES256
//! ```
//!
//! The argument says what is around the routes: `bare` nothing, `known` the layer with a verifier that has stored
//! the token, `RS256`, `ES256` or `EdDSA` the layer with keys and tokens of that algorithm, and `audited` the same
//! as `ES256` with an audit, written to nowhere. It prints where it listens and a token that may call `GET
//! /api/v1/external/files/{fileId}`, and serves on one thread until its standard input ends.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program reads its arguments and the clock, and prints"
)]

#[expect(dead_code, reason = "an example has a `main`, and more than is used here")]
#[path = "service.rs"]
mod service;

use core::error::Error;
use core::future::{Future, ready};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::{Router, serve};
use metrics_exporter_prometheus::PrometheusBuilder;
use orbgate_testing::signer::{self, Signer};
use orbgate_token::{Algorithm, VerifiedToken};
use orbgate_tower::{AuditLog, Engines, KeyHolder, Refused, VerifyToken};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let setting = std::env::args().nth(1).unwrap_or_default();
    let algorithm = match setting.as_str() {
        "bare" | "known" | "audited" => Algorithm::Es256,
        name => Algorithm::from_name(name).ok_or("usage: load bare|known|RS256|ES256|EdDSA|audited")?,
    };
    let (verifier, token) = world(algorithm)?;
    let engines = Engines::external();
    // The layer also counts, and that is part of its cost.
    PrometheusBuilder::new().install_recorder()?;
    let app: Router = match setting.as_str() {
        "bare" => service::routes(),
        "known" => {
            let verified = verifier.verify(&token).await?;
            service::app(service::gate(engines, Known { token: token.clone(), verified })?)
        }
        "audited" => {
            let audit = AuditLog::to_writer(std::io::sink())?;
            service::app(service::gate(engines, verifier)?.audit(audit))
        }
        _ => service::app(service::gate(engines, verifier)?),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}\n{token}", listener.local_addr()?);
    tokio::select! {
        served = serve(listener, app) => Ok(served?),
        ended = async { tokio::io::stdin().read_to_end(&mut Vec::new()).await } => Ok(ended.map(drop)?),
    }
}

/// A key, a verifier with it, and a token that is valid for a day.
fn world(algorithm: Algorithm) -> Result<(KeyHolder, String), Box<dyn Error>> {
    let signer = match algorithm {
        Algorithm::Rs256 => Signer::rsa(),
        Algorithm::EdDsa => Signer::ed25519(),
        _ => Signer::p256(),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let mut claims = signer::with(signer::claims(), "scope", "read:account read:files write:voxies");
    claims = signer::with(claims, "iat", now);
    claims = signer::with(claims, "exp", now.saturating_add(24 * 60 * 60));
    let header = signer::with(signer::header(), "alg", algorithm.as_str());
    let verifier = signer::verifier(signer::issuer().algorithms([algorithm]));
    let keys = signer::keys(&[signer.jwk("key-1")]);
    Ok((KeyHolder::new(verifier, keys), signer.token(&header, &claims)))
}

/// Accepts one stored token, to measure the layer without checking a signature.
struct Known {
    token: String,
    verified: VerifiedToken,
}

impl VerifyToken for Known {
    type Verified = VerifiedToken;

    fn verify(&self, token: &str) -> impl Future<Output = Result<VerifiedToken, Refused>> + Send {
        let known = token == self.token;
        ready(known.then(|| self.verified.clone()).ok_or(Refused::new("unknown")))
    }
}
