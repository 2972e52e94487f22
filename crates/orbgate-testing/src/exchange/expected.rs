//! A request, and the response that it should get.

use orbgate::{Engine, Request, Scopes, Token, TokenKind};
use serde::Deserialize;

use crate::exchange::wire::{self, Answer};

/// The expected response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    pub status: u16,
    #[serde(default)]
    pub www_authenticate: Option<String>,
    #[serde(default)]
    pub allow: Option<String>,
    #[serde(skip)]
    pub saw: Option<Saw>,
}

/// A service's description of the call that it saw.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saw {
    pub method: String,
    pub target: String,
    pub route: Option<String>,
    pub scope: Option<String>,
    pub kind: Option<String>,
    pub consumes: Option<bool>,
}

/// A request, with its expected properties.
#[derive(Clone, Debug)]
pub struct Sent {
    pub location: String,
    pub bytes: Vec<u8>,
    pub method: Vec<u8>,
    pub target: Vec<u8>,
    /// The kind and scopes of its token; `None` without a token, or if the token must be rejected.
    pub token: Option<(String, String)>,
}

impl Sent {
    /// A request with this bearer token, which has this kind and these scopes, or must be rejected.
    pub(crate) fn new(
        location: impl Into<String>,
        (method, target): (&[u8], &[u8]),
        bearer: Option<&str>,
        token: Option<(&str, &str)>,
    ) -> Self {
        Self {
            location: location.into(),
            bytes: wire::request(method, target, bearer),
            method: method.to_vec(),
            target: target.to_vec(),
            token: token.map(|(kind, scopes)| (kind.to_owned(), scopes.to_owned())),
        }
    }

    pub(crate) fn token(&self) -> Option<Token<'_>> {
        self.token.as_ref().map(|(kind, scopes)| token(kind, scopes))
    }
}

impl Expected {
    /// The response that follows from a decision.
    pub(crate) fn of(engine: &Engine, method: &[u8], target: &[u8], token: Option<Token<'_>>) -> Self {
        let decision = engine.decide(&Request { method, target, token, allow_bonus_orbs_use: false });
        let route = decision.route();
        let charge = decision.charge();
        let call = decision.is_allow().then(|| Saw {
            method: String::from_utf8_lossy(method).into_owned(),
            target: String::from_utf8_lossy(target).into_owned(),
            route: route.map(|route| route.as_str().to_owned()),
            scope: decision.scope().map(|scope| scope.name().to_owned()),
            kind: token.map(|token| token.kind.as_str().to_owned()),
            consumes: charge.map(|charge| charge.consumes),
        });
        let methods = route.map(|route| route.methods().collect::<Vec<_>>().join(", "));
        let status = decision.status().unwrap_or(200);
        Self {
            status,
            www_authenticate: matches!(status, 401 | 403).then(|| "Bearer".to_owned()),
            allow: methods.filter(|_| status == 405),
            saw: call,
        }
    }

    /// Whether a response is as expected.
    pub(crate) fn is(&self, answer: &Answer) -> bool {
        self.differs(answer).is_none()
    }

    /// The difference between a response and the expected one.
    pub(crate) fn differs(&self, answer: &Answer) -> Option<String> {
        if answer.status != self.status {
            return Some(format!("the status is not {}", self.status));
        }
        if !answer.rest.is_empty() {
            return Some("there is a second answer".to_owned());
        }
        if self.status == 200 {
            let call: Result<Saw, _> = serde_json::from_slice(&answer.body);
            return match call {
                Ok(call) if self.saw.as_ref().is_none_or(|expected| *expected == call) => None,
                Ok(_) => Some(format!("the service should have seen {:?}", self.saw)),
                Err(error) => Some(format!("the body: {error}")),
            };
        }
        let headers = [
            ("WWW-Authenticate", &self.www_authenticate),
            ("Allow", &self.allow),
            ("Content-Type", &None),
            ("Cache-Control", &Some("no-store".to_owned())),
        ];
        let mut wrong = headers.iter().filter(|(name, value)| answer.header(name) != **value);
        match wrong.next() {
            Some((name, value)) => Some(format!("`{name}` is not {value:?}")),
            None if answer.body.is_empty() => None,
            None => Some("a denial has a body".to_owned()),
        }
    }
}

/// A token in the form that an engine takes.
pub(crate) fn token<'t>(kind: &'t str, scopes: &'t str) -> Token<'t> {
    Token { kind: TokenKind::from_name(kind), scopes: Scopes::Text(scopes.as_bytes()) }
}
