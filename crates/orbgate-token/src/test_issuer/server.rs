//! The requests that a test issuer answers, without I/O.

use core::fmt;
use std::sync::PoisonError;
use std::time::{SystemTime, UNIX_EPOCH};

use orbgate::TokenKind;
use serde_json::{Map, Value, json};

use super::claims::TestIssuerError;
use super::clients::{GRANTS, METHODS};
use super::form::Form;
use super::grants::{Granted, Grants};
use super::issuer::TestIssuer;
use super::oauth::OAuthError;

/// A request, as received.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "its fields are those of HTTP")]
pub struct TestRequest<'r> {
    /// The method.
    pub method: &'r str,
    /// The path with its query.
    pub target: &'r str,
    /// Names in any letter case, and values.
    pub headers: &'r [(&'r str, &'r str)],
    /// The whole body.
    pub body: &'r [u8],
}

/// What to respond.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TestResponse {
    /// The status.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
}

/// An issuer that clients can talk to. Serve it only on a loopback address, because it gives any client any token.
///
/// | request | response |
/// |---|---|
/// | `GET /tokens.yaml` | a configuration that trusts it |
/// | `GET /jwks` | its key |
/// | `GET /token?kind=user&scope=read:orbs` | a token. The [options of claims](crate::TestClaims::set) are further parameters |
/// | `GET /.well-known/oauth-authorization-server` (RFC 8414) or `/.well-known/openid-configuration` | its endpoints |
/// | `POST /register` | a client registers itself (RFC 7591) |
/// | `GET /authorize` | a code, without a question to anyone. It requires PKCE with S256 and exactly a registered address |
/// | `POST /token` | a token for a code, a refresh token or a client's secret. `resource` is its audience (RFC 8707) |
///
/// Pages of this machine, such as `http://localhost:6274`, may send all of them. It keeps the last 1,024 clients, and as many codes and
/// refresh tokens.
pub struct TestServer {
    issuer: TestIssuer,
    grants: Shared<Grants>,
}

#[allow(clippy::disallowed_types, reason = "a server for tests has a lock")]
type Shared<T> = std::sync::Mutex<T>;

impl TestServer {
    /// Serves this issuer, whose name is the address of the server.
    #[must_use]
    pub fn new(issuer: TestIssuer) -> Self {
        Self { issuer, grants: Shared::default() }
    }

    /// What it issues.
    #[must_use]
    pub const fn issuer(&self) -> &TestIssuer {
        &self.issuer
    }

    /// Answers a request.
    #[must_use]
    pub fn answer(&self, request: &TestRequest<'_>, now: SystemTime) -> TestResponse {
        // Any name can lead to this address, and pages of that name could then read tokens.
        if !self.is_named(request) {
            return TestResponse::text(421, format!("send requests to {}\n", self.issuer.url));
        }
        let page = request.header("origin").ok().flatten().filter(|origin| is_local(origin));
        let mut response = match (request.method, page) {
            ("OPTIONS", Some(_)) => TestResponse::text(204, String::new()),
            _ => self.respond(request, now),
        };
        if let Some(page) = page {
            response.headers.extend(PAGES.map(|(name, value)| (name, value.to_owned())));
            response.headers.push(("access-control-allow-origin", page.to_owned()));
        }
        response
    }

    fn respond(&self, request: &TestRequest<'_>, now: SystemTime) -> TestResponse {
        let (path, query) = request.target.split_once('?').unwrap_or((request.target, ""));
        match (request.method, path) {
            ("GET", "/tokens.yaml") => TestResponse::text(200, format!("{}\n", self.issuer.tokens_yaml())),
            ("GET", "/jwks") => TestResponse::json(200, self.issuer.jwks()),
            ("GET", "/token") => match self.token(query, now) {
                Ok(token) => TestResponse::text(200, token),
                Err(error) => TestResponse::text(400, format!("{error}\n")),
            },
            ("GET", "/.well-known/oauth-authorization-server" | "/.well-known/openid-configuration") => {
                TestResponse::json(200, self.metadata().to_string())
            }
            ("POST", "/register") => json_or_error(201, self.register(request, now)),
            ("GET", "/authorize") => match self.grants().authorize(query, &self.issuer.url, now) {
                Ok(location) => {
                    let mut response = TestResponse::text(302, String::new());
                    response.headers.push(("location", location));
                    response
                }
                Err(error) => TestResponse::text(400, format!("{}\n", error.description)),
            },
            ("POST", "/token") => json_or_error(200, self.exchange(request, now)),
            _ => TestResponse::text(404, "nothing here\n".to_owned()),
        }
    }

    fn grants(&self) -> impl core::ops::DerefMut<Target = Grants> + '_ {
        // No method leaves them half changed.
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn metadata(&self) -> Value {
        let url = &self.issuer.url;
        json!({
            "issuer": url, "jwks_uri": format!("{url}/jwks"), "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"), "registration_endpoint": format!("{url}/register"),
            "response_types_supported": ["code"], "grant_types_supported": GRANTS,
            "token_endpoint_auth_methods_supported": METHODS, "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            // OpenID Connect requires these. It gives no ID tokens, because no service may accept one.
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
        })
    }

    fn register(&self, request: &TestRequest<'_>, now: SystemTime) -> Result<Value, OAuthError> {
        request.of_type("application/json")?;
        let client = self.grants().register(request.body)?;
        Ok(client.registered(now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()))
    }

    fn exchange(&self, request: &TestRequest<'_>, now: SystemTime) -> Result<Value, OAuthError> {
        request.of_type("application/x-www-form-urlencoded")?;
        let authorization = request.header("authorization")?;
        let (granted, refresh) = self.grants().token(authorization, request.body, now)?;
        let Granted { client, scopes, resource, is_machine } = granted;
        let mut claims = self.issuer.claims.clone();
        if is_machine {
            (claims.kind, claims.subject) = (TokenKind::Organisation, client.clone());
        }
        claims.client = client;
        claims.audience = resource.unwrap_or(claims.audience);
        let token = self.issuer.sign(&claims, &scopes, &Map::new(), now);
        let mut answer = json!({
            "access_token": token, "token_type": if claims.jkt.is_some() { "DPoP" } else { "Bearer" }, "expires_in": claims.expires_in.max(0), "scope": scopes,
        });
        if let (Some(refresh), Value::Object(answer)) = (refresh, &mut answer) {
            answer.insert("refresh_token".to_owned(), refresh.into());
        }
        Ok(answer)
    }

    fn is_named(&self, request: &TestRequest<'_>) -> bool {
        let own = self.issuer.url.split_once("://").map_or("", |(_, own)| own);
        let port = own.rsplit_once(':').map_or("", |(_, port)| port);
        matches!(request.header("host"), Ok(Some(host)) if host == own || host == format!("localhost:{port}"))
    }

    /// The token that a query describes.
    fn token(&self, query: &str, now: SystemTime) -> Result<String, TestIssuerError> {
        let query = Form::parse(query).ok_or_else(|| TestIssuerError::option("query", "has a wrong escape"))?;
        let (mut claims, mut scopes) = (self.issuer.claims.clone(), "");
        for (name, value) in query.pairs() {
            if name != "claim" && query.all(name).count() > 1 {
                return Err(TestIssuerError::option(name, "occurs twice"));
            }
            match name {
                "scope" => scopes = value,
                _ => claims = claims.set(name, value)?,
            }
        }
        Ok(self.issuer.sign(&claims, scopes, &Map::new(), now))
    }
}

impl<'r> TestRequest<'r> {
    /// A header, which may occur only once.
    fn header(&self, name: &str) -> Result<Option<&'r str>, OAuthError> {
        let mut values = self.headers.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| *value);
        let first = values.next();
        match values.next() {
            Some(_) => Err(OAuthError::new("invalid_request", &format!("{name}: occurs twice"))),
            None => Ok(first),
        }
    }

    fn of_type(&self, kind: &str) -> Result<(), OAuthError> {
        let given = self.header("content-type")?.unwrap_or_default();
        let (given, _) = given.split_once(';').unwrap_or((given, ""));
        let wrong = || OAuthError::new("invalid_request", &format!("content-type: must be {kind}"));
        given.trim().eq_ignore_ascii_case(kind).then_some(()).ok_or_else(wrong)
    }
}

/// What a page of this machine may do.
const PAGES: [(&str, &str); 4] = [
    ("vary", "origin"),
    ("access-control-allow-methods", "GET, POST"),
    ("access-control-allow-headers", "authorization, content-type, mcp-protocol-version"),
    ("access-control-expose-headers", "www-authenticate"),
];

/// Whether only a program on this machine can have this origin.
fn is_local(origin: &str) -> bool {
    let host = origin.strip_prefix("http://").unwrap_or_default();
    let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
    matches!(name, "localhost" | "127.0.0.1" | "[::1]") && port.parse::<u16>().is_ok()
}

fn json_or_error(status: u16, answer: Result<Value, OAuthError>) -> TestResponse {
    match answer {
        Ok(answer) => TestResponse::json(status, answer.to_string()),
        Err(OAuthError { error, description }) => {
            let status = if error == "invalid_client" { 401 } else { 400 };
            let mut response =
                TestResponse::json(status, json!({ "error": error, "error_description": description }).to_string());
            if status == 401 {
                response.headers.push(("www-authenticate", "Basic".to_owned()));
            }
            response
        }
    }
}

impl fmt::Debug for TestServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestServer").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

impl TestResponse {
    fn new(status: u16, kind: &str, body: String) -> Self {
        let headers = [("content-type", kind), ("cache-control", "no-store"), ("x-content-type-options", "nosniff")];
        let headers = headers.map(|(name, value)| (name, value.to_owned()));
        Self { status, headers: headers.into(), body }
    }

    fn text(status: u16, body: String) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body)
    }

    fn json(status: u16, body: String) -> Self {
        Self::new(status, "application/json", body)
    }
}
