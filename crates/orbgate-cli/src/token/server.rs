//! The test issuer's server, on a loopback address.

use core::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use orbgate_token::TestIssuer;
use tokio::net::TcpListener;

use crate::output::{self, Exit, WARNING};

/// Issues tokens until the program is stopped.
pub(super) async fn serve(port: u16) -> io::Result<Exit> {
    // Not configurable, so that only clients on this machine can request tokens.
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let issuer = Arc::new(TestIssuer::new(&url).map_err(io::Error::other)?);
    output::explain(|err| {
        writeln!(
            err,
            "{WARNING}FOR TESTS ONLY, never in production:{WARNING:#} every program on this machine can get any token"
        )?;
        writeln!(err, "  curl -s {url}/tokens.yaml > tokens.yaml    # trust this issuer")?;
        writeln!(err, "  curl -s '{url}/token?kind=user&scope=read:orbs'")
    });
    loop {
        let (stream, _) = listener.accept().await?;
        let issuer = Arc::clone(&issuer);
        let service = service_fn(move |request| core::future::ready(answer(&issuer, &request)));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        // A broken connection only affects its client.
        drop(tokio::spawn(async move { drop(connection.await) }));
    }
}

fn answer(issuer: &TestIssuer, request: &Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let body = match *request.method() {
        Method::GET => issuer.response(target, SystemTime::now()),
        _ => None,
    };
    let status = match body {
        Some(_) => StatusCode::OK,
        None => StatusCode::NOT_FOUND,
    };
    let mut response = Response::new(Full::from(body.unwrap_or_default()));
    *response.status_mut() = status;
    Ok(response)
}
