//! What stands around a gateway that `benches/gateway.py` puts under load: a backend, an authorizer that always says yes, over HTTP and
//! over gRPC, and an issuer.
//!
//! The arguments are their four ports. It prints a token that may call `GET /api/v1/external/files/{fileId}`. For each line on its
//! standard input the issuer has one more key, and a token of that key is printed. It ends with its standard input.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program reads its arguments and the clock, and prints"
)]

use core::convert::Infallible;
use core::error::Error;
use std::io;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use bytes::Bytes;
use envoy_types::ext_authz::v3::pb::{
    Authorization, AuthorizationServer, CheckRequest, CheckResponse, HttpResponse, OkHttpResponse,
};
use envoy_types::pb::google::rpc;
use http::Response;
use http_body_util::Full;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use orbgate_testing::signer::{self, Signer};
use serde_json::json;
use tokio::net::TcpListener;

fn main() -> Result<(), Box<dyn Error>> {
    let ports: Vec<u16> = std::env::args().skip(1).map(|port| port.parse()).collect::<Result<_, _>>()?;
    let [backend, yes, yes_grpc, issuer] = ports.as_slice() else {
        return Err("usage: backend BACKEND YES YES_GRPC ISSUER".into());
    };
    let runtime = tokio::runtime::Runtime::new()?;
    let _inside = runtime.enter();
    let keys = Arc::new(ArcSwap::from_pointee(String::new()));
    runtime.block_on(async {
        let open = async |port: &u16| TcpListener::bind(("127.0.0.1", *port)).await;
        tokio::spawn(serve(open(backend).await?, Arc::default(), &[]));
        tokio::spawn(serve(open(yes).await?, Arc::default(), &SAID));
        tokio::spawn(serve(open(issuer).await?, Arc::clone(&keys), &[]));
        tokio::spawn(agree(open(yes_grpc).await?));
        io::Result::Ok(())
    })?;
    let mut published = Vec::new();
    let lines = io::stdin().lines();
    for (number, line) in core::iter::once(Ok(String::new())).chain(lines).enumerate() {
        line?;
        let (signer, name) = (Signer::p256(), format!("key-{number}"));
        published.push(signer.jwk(&name));
        // The first one stays, and the last two: what a rotation leaves.
        if published.len() > 3 {
            published.remove(1);
        }
        keys.store(Arc::new(json!({ "keys": published }).to_string()));
        println!("{}", token(&signer, &name, *issuer)?);
    }
    Ok(())
}

/// What the authorizer that says yes promises, as much as a gateway does.
const SAID: [(&str, &str); 8] = [
    ("x-orb-decision", "allow"),
    ("x-orb-status", "-"),
    ("x-orb-reason", "scope_held"),
    ("x-orb-scope", "read:files"),
    ("x-orb-route", "GET /api/v1/external/files/{fileId}"),
    ("x-orb-charge", "0"),
    ("x-orb-policy", "-"),
    ("x-orb-token-kind", "user"),
];

/// Answers everything with this text and these headers.
async fn serve(listener: TcpListener, text: Arc<ArcSwap<String>>, headers: &'static [(&'static str, &'static str)]) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let text = Arc::clone(&text);
        let answer = service_fn(move |_| {
            let body = Full::<Bytes>::from(text.load().as_bytes().to_vec());
            let response =
                headers.iter().fold(Response::builder(), |response, (name, value)| response.header(*name, *value));
            async move { response.body(body) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}

struct Yes;

#[tonic::async_trait]
impl Authorization for Yes {
    async fn check(&self, _: tonic::Request<CheckRequest>) -> Result<tonic::Response<CheckResponse>, tonic::Status> {
        let allowed = CheckResponse {
            status: Some(rpc::Status::default()),
            http_response: Some(HttpResponse::OkResponse(OkHttpResponse::default())),
            ..CheckResponse::default()
        };
        Ok(tonic::Response::new(allowed))
    }
}

/// Says yes over gRPC.
async fn agree(listener: TcpListener) -> Result<(), Infallible> {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(AuthorizationServer::new(Yes));
        let http = http2::Builder::new(TokioExecutor::new());
        tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
    }
    Ok(())
}

/// A token for a day.
fn token(signer: &Signer, key: &str, issuer: u16) -> Result<String, Box<dyn Error>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let claims = signer::with(signer::claims(), "iss", format!("http://127.0.0.1:{issuer}"));
    let claims = signer::with(claims, "iat", now);
    let claims = signer::with(claims, "exp", now.saturating_add(24 * 60 * 60));
    let claims = signer::with(claims, "token_kind", "user");
    let claims = signer::with(claims, "scope", "read:files");
    let header = signer::with(signer::header(), "kid", key);
    Ok(signer.token(&header, &claims))
}
