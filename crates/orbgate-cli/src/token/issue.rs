//! `orbgate token issue`: runs an issuer on this machine, for testing a service.

use clap::Args;

use crate::output::{Exit, Stop};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Port on 127.0.0.1 to listen on; 0 is any free port
    #[arg(long, default_value_t = 9000)]
    port: u16,

    /// The audience of its tokens: your service [default: https://service.test]
    #[arg(long, value_name = "URI")]
    audience: Option<String>,

    /// The subject of its tokens [default: subject]
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,

    /// The client of its tokens [default: client]
    #[arg(long, value_name = "NAME")]
    client: Option<String>,

    /// The kind of its tokens: user or organisation [default: user]
    #[arg(long)]
    kind: Option<String>,

    /// The seconds until a token expires; a negative number makes expired tokens [default: 600]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    expires_in: Option<String>,

    /// Bind its tokens to the key with this thumbprint, for DPoP: see `orbgate token prove`
    #[arg(long, value_name = "THUMBPRINT")]
    jkt: Option<String>,

    /// Bind its tokens to the client certificate with this SHA-256 in base64url
    #[arg(long, value_name = "THUMBPRINT")]
    x5t: Option<String>,

    /// Another claim: NAME=TEXT, or NAME:=JSON
    #[arg(long, value_name = "CLAIM")]
    claim: Vec<String>,
}

/// Issues tokens until the program is stopped.
#[cfg(feature = "token")]
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let claims = server::claims(arguments)
        .map_err(|error| Stop::Error(format!("--{}", error.to_string().replacen("expires_in:", "expires-in:", 1))))?;
    let port = arguments.port;
    let served = server::serve(port, claims);
    served.map_err(|error| Stop::Error(format!("cannot listen on port {port}: {error}")))
}

/// Explains how to get a command that includes the issuer.
#[cfg(not(feature = "token"))]
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let Arguments { port: _, audience: _, subject: _, client: _, kind: _, expires_in: _, jkt: _, x5t: _, claim: _ } =
        arguments;
    Err(crate::token::without::signatures("the test issuer"))
}

#[cfg(feature = "token")]
mod server {
    use std::io;
    use std::time::SystemTime;

    use http_body_util::Full;
    use hyper::body::Bytes;
    use hyper::{HeaderMap, Request, Response, StatusCode};
    use orbgate_token::{TestClaims, TestIssuer, TestIssuerError, TestRequest, TestServer};

    use crate::loopback;
    use crate::output::{self, Exit, WARNING};
    use crate::token::issue::Arguments;

    /// What its tokens state.
    pub(super) fn claims(arguments: &Arguments) -> Result<TestClaims, TestIssuerError> {
        let Arguments { port: _, audience, subject, client, kind, expires_in, jkt, x5t, claim } = arguments;
        let options = [
            ("audience", audience),
            ("subject", subject),
            ("client", client),
            ("kind", kind),
            ("expires_in", expires_in),
            ("jkt", jkt),
            ("x5t", x5t),
        ];
        let options = options.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let mut options = options.chain(claim.iter().map(|claim| ("claim", claim)));
        options.try_fold(TestClaims::default(), |claims, (name, value)| claims.set(name, value))
    }

    /// Issues tokens until the program is stopped. Fails if it cannot listen.
    pub(super) fn serve(port: u16, claims: TestClaims) -> io::Result<Exit> {
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
            let server = TestServer::new(issuer.claims(claims));
            loopback::serve(listener, move |request| answer(&server, request)).await
        })
    }

    fn answer(server: &TestServer, request: &Request<Bytes>) -> Response<Full<Bytes>> {
        let headers = request.headers().iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let headers: Vec<_> = headers.collect();
        let request = TestRequest {
            method: request.method().as_str(),
            target: request.uri().path_and_query().map_or("/", |target| target.as_str()),
            headers: &headers,
            body: request.body(),
        };
        let answer = server.answer(&request, SystemTime::now());
        let headers =
            answer.headers.into_iter().filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
        let headers: HeaderMap = headers.collect();
        let mut response = Response::new(Full::from(answer.body));
        *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = headers;
        response
    }
}

const HELP: &str = "\
For tests only, never in production. It has a key of its own, listens only on
this machine and gives any client any token:

  /tokens.yaml                         a configuration that trusts it
  /jwks                                its key
  /token?kind=user&scope=read:orbs     a token; `+` separates scopes

The options above state the claims of every token. With the same names, /token
changes them for one token: /token?scope=read:orbs&subject=ada&expires_in=-600

It is also an authorization server, for example for MCP clients. They discover
it, register themselves and get tokens for codes with PKCE, refresh tokens or
client credentials. /authorize grants every request, without a login page.

Examples:
  orbgate token issue &
  curl -s 127.0.0.1:9000/tokens.yaml > tokens.yaml
  TOKEN=$(curl -s '127.0.0.1:9000/token?kind=user&scope=read:orbs')
  orbgate token issue --audience http://127.0.0.1:8000/mcp
  orbgate token issue --jkt $(orbgate token prove --key holder.pem --thumbprint)
  orbgate token issue --subject ada --claim tenant=acme --claim 'roles:=[\"a\"]'

Exit codes:
  0  never: it runs until it is ended
  2  could not run: bad usage, or the port is taken";
