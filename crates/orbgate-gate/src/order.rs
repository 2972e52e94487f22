//! The order in which a gate decides, the same for every driver and every verifier.

use std::borrow::Cow;

use orbgate::{Decision, Detail, Engine, Reason, Route, Token};
use orbgate_token::Presented;

use crate::answer::{Answer, Denial};
use crate::credentials::{Credentials, Verified};
use crate::header::is_overridden;
use crate::mcp::endpoint::Mcp;
use crate::mcp::target::METHOD;
use crate::next::Next;
use crate::public::lacks;
use crate::request::Request;
use crate::rules::{CorsPreflight, Rules};

/// A request, decided as far as possible without its token.
///
/// 1. [`Rules::open`]: denies a page's origin that an MCP endpoint doesn't accept, an upgrade to `h2c`, an overridden
///    method and a malformed target, regardless of the token. Answers a preflight from a page that it accepts. Allows a public
///    route.
/// 2. [`Opened::token`]: finds the bearer token. If the request doesn't have exactly one, the credentials are already
///    known. A verifier checks the token.
/// 3. [`Opened::decide`]: the engine decides. At an MCP endpoint, [`Rules::decide_body`] decides after the body is read.
/// 4. [`Rules::routed`]: the allowed route must be the router's.
/// 5. [`Answer::allowing_bonus_orbs`]: only now is the body of an allowed request read.
#[derive(Clone, Debug)]
#[must_use = "a request that is not answered is not protected"]
pub struct Opened<'e, 'r> {
    rules: &'r Rules,
    engine: &'e Engine,
    request: &'r Request<'r>,
    /// The decision without a token. It contains the route that the request matches, so that the target
    /// is read only once.
    tokenless: Decision<'e>,
    /// Set if the request needs no token. Then the decision is an allow.
    public: Option<Public<'r>>,
    /// The MCP endpoint that the request is for, with its template.
    endpoint: Option<(&'r Mcp, &'r str)>,
    /// The response that the gate gives itself to a request that needs no token.
    served: Option<Denial>,
}

/// Why a request needs no token.
#[derive(Clone, Debug)]
struct Public<'r> {
    /// The template of a public route, or of the route that a preflight asks about.
    template: Cow<'r, str>,
    preflight: bool,
}

impl Rules {
    /// Decides a request as far as possible without its token.
    pub fn open<'e, 'r>(&'r self, engine: &'e Engine, request: &'r Request<'r>) -> Opened<'e, 'r> {
        let endpoint = self.mcp.as_deref().and_then(|mcp| Some((mcp, mcp.template(engine, request.target)?)));
        let tokenless = if endpoint.is_some_and(|(mcp, _)| !mcp.accepts(request.origin)) {
            engine.deny_malformed(Detail::Form)
        } else if lists_h2c(request.upgrade) || endpoint.is_some() && !request.upgrade.is_empty() {
            // Nothing would decide the messages of a WebSocket.
            engine.deny_malformed(Detail::Upgrade)
        } else if !self.ignore_method_override && is_overridden(request.header_names) {
            engine.deny_malformed(Detail::Method)
        } else if request.method == METHOD.as_bytes() {
            // It is virtual: its routes are operations, which only bodies name.
            engine.deny_malformed(Detail::Method)
        } else {
            engine.decide(&orbgate::Request {
                method: request.method,
                target: request.target,
                token: None,
                allow_bonus_orbs_use: request.allow_bonus_orbs_use,
            })
        };
        let metadata = self.metadata.as_ref().filter(|_| lacks(&tokenless));
        let served = metadata.and_then(|metadata| metadata.response(request));
        let served = served.or_else(|| endpoint.filter(|_| lacks(&tokenless))?.0.preflight(request));
        let public = match lacks(&tokenless) {
            true if served.is_some() => Some(Public { template: "".into(), preflight: false }),
            true if endpoint.is_none() => self.public_route(engine, request),
            _ => None,
        };
        Opened {
            endpoint,
            served,
            rules: self,
            engine,
            request,
            tokenless: match &public {
                Some(_) => engine.allow_public(),
                None => tokenless,
            },
            public,
        }
    }

    fn public_route<'r>(&'r self, engine: &Engine, request: &Request<'_>) -> Option<Public<'r>> {
        let public = |method: &[u8]| self.public.as_ref()?.template(engine, method, request.target);
        if let Some(template) = public(request.method) {
            return Some(Public { template: template.into(), preflight: false });
        }
        // A CORS preflight: a browser asks whether it may send a request with this method, and
        // sends no token.
        let verb = match (self.cors_preflight, request.method, request.origin, request.access_control_request_method) {
            (CorsPreflight::Pass, b"OPTIONS", [_], [verb]) => *verb,
            _ => return None,
        };
        if verb == METHOD.as_bytes() {
            return None;
        }
        let declared = engine.decide(&orbgate::Request {
            method: verb,
            target: request.target,
            token: None,
            allow_bonus_orbs_use: false,
        });
        let template = match declared.about() {
            Some(route) => route.template().to_owned().into(),
            None => public(verb)?.into(),
        };
        Some(Public { template, preflight: true })
    }
}

impl<'e, 'r> Opened<'e, 'r> {
    /// The token to verify before calling [`Opened::decide`].
    ///
    /// # Errors
    ///
    /// Not an error, but credentials that need no verifier. The token of a malformed request or of a public route isn't
    /// read, so the request doesn't wait for keys.
    pub fn token<T>(&self) -> Result<&'r str, Credentials<T>> {
        match self.tokenless.reason() {
            Reason::NoToken => Credentials::bearer(self.request.authorization.iter().copied()),
            _ => Err(Credentials::None),
        }
    }

    /// The same for a verifier that also takes tokens with the scheme `DPoP`: the token, with what the request
    /// [presents](Presented) for it.
    ///
    /// # Errors
    ///
    /// As [`Opened::token`].
    pub fn presented<T>(&self) -> Result<(&'r str, Presented<'r>), Credentials<T>> {
        let (scheme, token) = match self.tokenless.reason() {
            Reason::NoToken => Credentials::bearer_or_dpop(self.request.authorization.iter().copied())?,
            _ => return Err(Credentials::None),
        };
        let Request { dpop, method, target, certificate, repeats, .. } = *self.request;
        Ok((token, Presented { scheme, dpop, method, target, certificate, repeats }))
    }

    /// What follows, given the credentials.
    pub fn decide<T: Verified>(self, credentials: Credentials<T>) -> Next<'e, T> {
        let decision = self.decide_unrouted(credentials.token());
        if let (Some(endpoint), None) = (self.endpoint, &self.public) {
            return self.rules.at_endpoint(self.engine, self.request, endpoint, decision, credentials);
        }
        let answer = self.rules.answer(decision, credentials, None);
        let answer = match self.public {
            Some(Public { template, preflight }) => {
                Answer { public: Some(template.into_owned().into()), preflight, ..answer }
            }
            None => answer,
        };
        if self.served.is_some() {
            return Next::Answer(Answer { denial: self.served, ..answer });
        }
        Next::Answer(self.rules.routed(self.engine, answer, self.request.matched))
    }

    /// Decides. If the route is already known, only its scope remains to be checked.
    fn decide_unrouted(&self, token: Option<Token<'_>>) -> Decision<'e> {
        if token.is_none() || self.tokenless.reason() != Reason::NoToken {
            return self.tokenless;
        }
        let bonus = self.request.allow_bonus_orbs_use;
        let decision = match self.tokenless.about() {
            Some(route) => self.engine.decide_route(route.id(), token, bonus),
            None => self.engine.decide(&orbgate::Request {
                method: self.request.method,
                target: self.request.target,
                token,
                allow_bonus_orbs_use: bonus,
            }),
        };
        let Decision::Deny(deny) = decision else { return decision };
        let is_virtual = |route: Route<'_>| route.methods().all(|method| method == METHOD);
        match deny.reason() == Reason::MethodNotDeclared && deny.route().is_some_and(is_virtual) {
            // No request can have a path that only operations have.
            true => self.engine.deny_misrouted(),
            false => decision,
        }
    }
}

/// Whether these values of `Upgrade` list `h2c`.
///
/// A server that accepts the upgrade answers 101, and reads further requests from the same connection as HTTP/2. The
/// gate or proxy that decided the first request sees none of them.
fn lists_h2c(values: &[&[u8]]) -> bool {
    let mut protocols = values.iter().flat_map(|value| value.split(|byte| *byte == b','));
    protocols.any(is_h2c)
}

/// Whether any server could read this name as `h2c`, regardless of surrounding characters.
///
/// Netty drops spaces even inside the name, Jetty drops quotes and backslashes, Python's servers drop non-ASCII spaces,
/// and others drop a version or parameter after the name. So only letters and digits count. No registered name contains
/// these three characters.
fn is_h2c(protocol: &[u8]) -> bool {
    let mut last = [0; 3];
    let letters = protocol.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters.into_iter().any(|byte| {
        let [_, second, third] = last;
        last = [second, third, byte.to_ascii_lowercase()];
        last == *b"h2c"
    })
}

#[cfg(test)]
mod tests {
    use super::lists_h2c;

    #[test]
    fn every_spelling_that_some_server_accepts_is_found() {
        let spellings: &[&[u8]] = &[
            b"h2c",
            b"H2C",
            b" h2c\t",
            b"websocket, h2c",
            b"h2c,websocket",
            b"websocket,\th2C ,foo",
            b",,h2c",
            b"h2c/2.0",
            b"h2c-17",
            b"h2c;q=1",
            b"\"h2c\"",
            b"\"h\\2c\"",
            b"h 2c",
            b"h2c\xa0",
            b"\x1fh2c",
            b"\0h2c",
            b"websocket h2c",
        ];
        for spelling in spellings {
            assert!(lists_h2c(&[spelling]), "{}", spelling.escape_ascii());
            assert!(lists_h2c(&[b"websocket", spelling]));
        }
        let others: &[&[u8]] =
            &[b"", b"websocket", b"h2", b"h2, c", b"h2,connect-udp", b"TLS/1.0", b"HTTP/2.0", b"h3c"];
        for other in others {
            assert!(!lists_h2c(&[other]), "{}", other.escape_ascii());
        }
        assert!(!lists_h2c(&[]));
        assert!(!lists_h2c(&[b"h2", b"c"]));
    }
}
