//! The test issuer's server.

use std::io;
use std::time::SystemTime;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Method, Request, Response, StatusCode};
use orbgate_token::TestIssuer;

use crate::loopback;
use crate::output::{self, Exit, WARNING};

/// Issues tokens until the program is stopped. Fails if it cannot listen.
pub(super) fn serve(port: u16) -> io::Result<Exit> {
    loopback::runtime()?.block_on(async {
        let listener = loopback::listen(port).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let issuer = TestIssuer::new(&url).map_err(io::Error::other)?;
        output::explain(|err| {
            writeln!(
                err,
                "{WARNING}FOR TESTS ONLY, never in production:{WARNING:#} every program on this machine can get any token"
            )?;
            writeln!(err, "  curl -s {url}/tokens.yaml > tokens.yaml    # trust this issuer")?;
            writeln!(err, "  curl -s '{url}/token?kind=user&scope=read:orbs'")
        });
        loopback::serve(listener, move |request| answer(&issuer, request)).await
    })
}

fn answer<B>(issuer: &TestIssuer, request: &Request<B>) -> Response<Full<Bytes>> {
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
    response
}
