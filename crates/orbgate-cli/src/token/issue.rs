//! `orbgate token issue`: runs an issuer on this machine, for testing a service.

use clap::Args;

use crate::output::{Exit, Stop};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Port on 127.0.0.1 to listen on; 0 is any free port
    #[arg(long, default_value_t = 9000)]
    port: u16,
}

/// Issues tokens until the program is stopped.
#[cfg(feature = "token")]
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let port = arguments.port;
    let served = server::serve(port);
    served.map_err(|error| Stop::Error(format!("cannot listen on port {port}: {error}")))
}

/// Explains how to get a command that includes the issuer.
#[cfg(not(feature = "token"))]
pub(crate) fn run(_: &Arguments) -> Result<Exit, Stop> {
    let message = "this `orbgate` was built without the test issuer, which the packages include; \
                   from a clone: cargo install --locked --path crates/orbgate-cli --features token";
    Err(Stop::Error(message.to_owned()))
}

#[cfg(feature = "token")]
mod server {
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
}

const HELP: &str = "\
For tests only, never in production. It has a key of its own, listens only on
this machine and gives any client a token that is valid for ten minutes:

  /tokens.yaml                         a configuration that trusts it
  /jwks                                its key
  /token?kind=user&scope=read:orbs     a token; `+` separates scopes

Examples:
  orbgate token issue &
  curl -s 127.0.0.1:9000/tokens.yaml > tokens.yaml
  TOKEN=$(curl -s '127.0.0.1:9000/token?kind=user&scope=read:orbs')

Exit codes:
  0  never: it runs until it is ended
  2  could not run: the port is taken";
