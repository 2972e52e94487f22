//! Tests a proxy instead of reading its configuration: sends requests through it, acts as its backend, and compares the
//! requests that arrive with those that were allowed.

mod tries;
mod wire;

use core::hash::BuildHasher as _;
use core::net::SocketAddr;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::RandomState;
use std::path::Path;
use std::sync::mpsc::Receiver;

use orbgate::{Engine, Request, Token, TokenKind};
use orbgate_gate::{PublicRoutes, same_header};

use self::tries::{Header, SUFFIXES, UPGRADES, WEBSOCKET, concrete, lies, names, spellings};
use self::wire::{Arrived, exchange, exchange_all, reachable, receive};
use crate::authorize::state::State;
use crate::config::error::StartError;
use crate::config::promises::Promises;

/// What findings show in place of a probe's mark, so that two runs have the same findings.
const MARK: &str = "MARK";

/// The oldest proxies with which the tests of the examples pass. Older ones might do something that no line of an example prevents.
pub const OLDEST: &str = "nginx 1.22, HAProxy 2.6, Caddy 2.6, Traefik 3.5, Envoy 1.36";

/// Where requests are sent, where they arrive, and how they are checked.
struct Probe<'p> {
    proxy: SocketAddr,
    backend: SocketAddr,
    arrived: Receiver<Arrived>,
    engine: &'p Engine,
    public: Option<&'p PublicRoutes>,
    promises: &'p Promises,
    token: &'p str,
    /// What this probe writes into headers that a client must not set. It is random, so no proxy, issuer or policy has the same
    /// value.
    mark: String,
    status: Option<u16>,
    findings: BTreeSet<String>,
}

/// Probes a proxy whose backend is at `backend`, with a token that may make at least one call. Returns the findings,
/// one sentence each; empty if there aren't any.
///
/// # Errors
///
/// Fails if the configuration can't be loaded, if no proxy responds, or if `backend` can't be
/// listened on.
pub fn probe(file: &Path, proxy: SocketAddr, backend: SocketAddr, token: &str) -> Result<Vec<String>, StartError> {
    let runtime = tokio::runtime::Runtime::new().map_err(StartError::Runtime)?;
    let _inside = runtime.enter();
    let state = State::look(file)?;
    reachable(proxy).map_err(|error| StartError::Proxy(proxy, error))?;
    let arrived = receive(backend).map_err(|error| StartError::Listen(backend.to_string(), error))?;
    let mut probe = Probe {
        proxy,
        backend,
        arrived,
        engine: &state.gate.engines().load(),
        public: state.config.policy.public.as_deref(),
        promises: &state.config.promises,
        token,
        mark: random_mark(),
        status: None,
        findings: BTreeSet::new(),
    };
    probe.everything();
    Ok(probe.findings.into_iter().collect())
}

impl Probe<'_> {
    fn everything(&mut self) {
        let engine = self.engine;
        let calls: Vec<_> = engine.routes().map(|route| (route.method(), concrete(route.template(), "1"))).collect();
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        for (method, target) in calls {
            let arrives = self.send(method, &target, true, &[]);
            if self.send(method, &target, false, &[]) {
                self.find(&format!("{method} {target} arrives without a token"));
            } else if let Some(status) = self.status.filter(|status| !is_denial(*status)) {
                self.find(&format!(
                    "{method} {target} is answered with {status} without a token, and does not arrive: another backend or the proxy itself answers"
                ));
            }
            if arrives { &mut open } else { &mut closed }.push((method, target));
        }
        let Some((method, target)) = open.first().cloned() else {
            return self.with_lies_alone(&closed);
        };
        for other in ["/", "/index.html", "/static/x", "/.git/config", "/healthz"] {
            self.send("GET", other, true, &[]);
            self.send("GET", other, false, &[]);
        }
        for spelling in spellings(&target) {
            self.send(method, &spelling, true, &[]);
        }
        for route in engine.routes().filter(|route| route.template().contains('{')) {
            for value in ["a%20b", "a%40b", "a%2Fb", "..", "%2e%2e", "a;b", "A"] {
                self.send(route.method(), &concrete(route.template(), value), true, &[]);
            }
        }
        // The client's headers name a call that it may make, but it makes another one, or vice
        // versa.
        for (other, secret) in closed.iter().take(8) {
            for lie in lies(method, &self.marked(&target)) {
                self.send(other, secret, true, &lie);
            }
            for lie in lies(other, &self.marked(secret)) {
                self.send(method, &target, true, &lie);
            }
        }
        self.locations_of_their_own(&open);
        for headers in UPGRADES {
            let headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).into(), *value)).collect();
            for with_token in [true, false] {
                self.send(method, &target, with_token, &headers);
            }
        }
        self.connect(&target);
        self.promised(method, &target);
    }

    /// The client sends the promised headers itself, or names them in `Connection` so that a proxy removes them.
    fn promised(&mut self, method: &str, target: &str) {
        let (promises, mark) = (self.promises, self.mark.clone());
        for name in promises.reserved() {
            for name in names(name) {
                self.send(method, target, true, &[(name, &*mark)]);
            }
        }
        for name in promises.names() {
            self.send(method, target, true, &[("Connection".into(), &format!("close, {name}"))]);
            let named = format!("Upgrade, {name}");
            let handshake = [("Connection", named.as_str()), ("Upgrade", "websocket")].into_iter().chain(WEBSOCKET);
            let handshake: Vec<_> = handshake.map(|(name, value)| (name.into(), value)).collect();
            self.send(method, target, true, &handshake);
        }
    }

    /// Paths with the suffixes of files, with each method, because a configuration might serve such
    /// paths differently.
    fn locations_of_their_own(&mut self, open: &[(&str, String)]) {
        for (method, target) in open.iter().take(8) {
            for suffix in SUFFIXES {
                self.send(method, &format!("{target}{suffix}"), true, &[]);
            }
        }
        let mut methods = BTreeSet::new();
        for route in self.engine.routes() {
            if !methods.insert((route.method(), route.template().ends_with('}'))) {
                continue;
            }
            for suffix in SUFFIXES {
                let target = concrete(route.template(), "1") + suffix;
                self.send(route.method(), &target, false, &[]);
            }
        }
    }

    /// Requests a tunnel to the backend, and sends a request through it.
    fn connect(&mut self, target: &str) {
        for to in [self.backend.to_string(), target.to_owned()] {
            let bearer = format!("Authorization: Bearer {}\r\n", self.token);
            for authorization in ["", &bearer] {
                let request = format!(
                    "CONNECT {to} HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\nGET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                );
                exchange_all(self.proxy, request.as_bytes());
                self.judge_all("CONNECT", &to, &[]);
            }
        }
    }

    /// No honest request arrived; perhaps one does that names another call in its headers.
    fn with_lies_alone(&mut self, calls: &[(&str, String)]) {
        for (method, target) in calls {
            for lie in lies(method, &self.marked(target)) {
                if self.send(method, "/", true, &lie) {
                    return;
                }
            }
        }
        self.find("nothing arrives: the token may make no call, or the backend is another one");
    }

    /// Sends a request, checks the requests that arrive, and returns whether any did.
    fn send(&mut self, method: &str, target: &str, with_token: bool, headers: &[Header<'_>]) -> bool {
        let mut request = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n");
        if !headers.iter().any(|(name, _)| name == "Connection") {
            request.push_str("Connection: close\r\n");
        }
        if with_token {
            request.push_str(&format!("Authorization: Bearer {}\r\n", self.token));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        self.status = match exchange(self.proxy, (request + "\r\n").as_bytes()) {
            Ok(status) => status,
            Err(error) => {
                self.find(&format!("the proxy does not answer: {error}"));
                None
            }
        };
        self.judge_all(method, target, headers)
    }

    /// Checks the requests that arrived after this was sent, and returns whether any did.
    fn judge_all(&mut self, method: &str, target: &str, headers: &[Header<'_>]) -> bool {
        let arrived: Vec<_> = self.arrived.try_iter().collect();
        let with = headers.first().map_or_else(String::new, |(name, value)| format!(" with {name}: {value}"));
        for arrived in &arrived {
            let wrong = self.judge(method, target, arrived).map(Cow::Borrowed);
            if let Some(wrong) = wrong.or_else(|| misleading(arrived, headers, &self.mark)) {
                self.find(&format!(
                    "{method} {target}{with} arrives as {} {}: {wrong}",
                    arrived.method, arrived.target
                ));
            }
        }
        !arrived.is_empty()
    }

    /// The error in a request that arrived: it wasn't allowed with this method and target, it was sent with others that
    /// are allowed, or it has a header from the client.
    fn judge(&self, sent_method: &str, sent_target: &str, arrived: &Arrived) -> Option<&'static str> {
        let mut promised = Vec::new();
        for name in self.promises.names() {
            let same = |(own, _): &&(String, String)| own.eq_ignore_ascii_case(name);
            let mut values = arrived.headers.iter().filter(same).map(|(_, value)| value.as_str());
            match (values.next(), values.next()) {
                (Some(value), None) => promised.push(value),
                _ => {
                    return Some(
                        "a promised header is missing, or there twice: `auth_request`, `forward_auth`, `ext_authz` or the list of headers",
                    );
                }
            }
        }
        let is_promised = |own: &str| self.promises.reserved().any(|name| same_header(own.as_bytes(), name.as_bytes()));
        if arrived.headers.iter().any(|(name, value)| value.contains(&self.mark) && is_promised(name)) {
            return Some("a promised header is the client's");
        }
        let connections = arrived.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("Connection"));
        let mut named = connections.flat_map(|(_, value)| value.split(',').map(str::trim));
        if named.any(|own| self.promises.names().any(|name| own.eq_ignore_ascii_case(name))) {
            return Some("the client's `Connection` names a promised header: a proxy behind this one would remove it");
        }
        let [allowed, _, reason, scope, route, _, policy, kind, ..] = promised.as_slice() else {
            return Some("a promised header is missing");
        };
        if *policy != self.engine.digest().to_string() {
            return Some("another policy decided");
        }
        let decide = |method: &str, target: &str| {
            let (method, target) = (method.as_bytes(), target.as_bytes());
            let public = self.public.and_then(|public| public.decide(self.engine, method, target));
            public.unwrap_or_else(|| {
                self.engine.decide(&Request {
                    method,
                    target,
                    token: Some(Token { kind: TokenKind::from_name(kind), scopes: (*scope).into() }),
                    allow_bonus_orbs_use: false,
                })
            })
        };
        let decision = decide(&arrived.method, &arrived.target);
        let is_it = *allowed == "allow"
            && decision.is_allow()
            && decision.reason().as_str() == *reason
            && decision.route_name().unwrap_or("-") == *route;
        if !is_it {
            return Some("another call was allowed than this one");
        }
        // Some proxies ask about the path that they normalised, which is fine if the other spelling is denied.
        let is_same = sent_method == arrived.method && path(sent_target) == path(&arrived.target);
        (!is_same && decide(sent_method, sent_target).is_allow()).then_some("the proxy has changed an allowed call")
    }

    fn find(&mut self, finding: &str) {
        self.findings.insert(finding.replace(&self.mark, MARK));
    }

    /// A target in a header that a proxy can't have written itself. No decision depends on its query.
    fn marked(&self, target: &str) -> String {
        format!("{target}?{}", self.mark)
    }
}

/// The standard library's hasher has keys of the system's random numbers.
fn random_mark() -> String {
    let halves = [0_u8, 1].map(|half| format!("{:016x}", RandomState::new().hash_one(half)));
    format!("orbgate-probe-{}", halves.concat())
}

/// A target without its query, which no decision depends on.
fn path(target: &str) -> &str {
    target.split_once('?').map_or(target, |(path, _)| path)
}

/// Whether a response can be a denial. Denials are never redirects, and nothing that a client does causes a 5xx.
fn is_denial(status: u16) -> bool {
    (400..500).contains(&status)
}

/// How a backend could misread the headers of an allowed request: as another protocol, or as another call.
fn misleading(arrived: &Arrived, sent: &[Header<'_>], mark: &str) -> Option<Cow<'static, str>> {
    let mut upgrades = arrived.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("Upgrade"));
    let is_websocket = |value: &str| value.eq_ignore_ascii_case("websocket");
    match (upgrades.next(), upgrades.next()) {
        (None, _) => {}
        (Some((_, value)), None) if is_websocket(value) => {}
        _ => return Some("the backend can upgrade it, and nothing decides what comes then".into()),
    }
    if arrived.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("HTTP2-Settings")) {
        return Some("the client's `HTTP2-Settings` arrives, which belongs to an upgrade to `h2c`".into());
    }
    let mut lies = sent.iter().filter(|(name, value)| name.starts_with('X') && *value != mark);
    let arrives = |(name, value): &&Header<'_>| {
        let is_clients = |actual: &str| match value.contains(mark) {
            true => actual.contains(mark),
            // A method can't have a mark. The one that arrives is true, whoever wrote it.
            false => actual == *value && actual != arrived.method,
        };
        let mut headers = arrived.headers.iter();
        headers.any(|(own, actual)| same_header(own.as_bytes(), name.as_bytes()) && is_clients(actual))
    };
    let (name, _) = lies.find(arrives)?;
    Some(format!("the client's `{name}` arrives, and names another call to backends that read it").into())
}

#[cfg(test)]
mod tests {
    use super::{Arrived, MARK, OLDEST, misleading, random_mark};

    #[test]
    fn the_page_has_the_oldest_versions() {
        let page = include_str!("../../../../docs/gateway/proxies.md");
        let (_, rows) = page.split_once("| at least |\n|---|---|\n").unwrap();
        let rows: Vec<_> = rows.lines().map_while(|row| row.strip_prefix("| ")?.strip_suffix(" |")).collect();
        assert_eq!(rows.join(", ").replace(" | ", " "), OLDEST);
    }

    #[test]
    fn each_probe_has_a_mark_of_its_own() {
        let marks = [random_mark(), random_mark()];
        assert_ne!(marks[0], marks[1]);
        assert!(marks.iter().all(|mark| mark.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')));
    }

    type Lines<'l> = &'l [(&'l str, &'l str)];

    #[test]
    fn only_a_header_that_changes_what_a_backend_does_misleads() {
        let method = [("X-HTTP-Method-Override", "DELETE")];
        let table: [(Lines<'_>, Lines<'_>, bool); 14] = [
            (&[], &[], false),
            (&[("Upgrade", "WebSocket")], &[], false),
            (&[("upgrade", "h2c")], &[], true),
            (&[("http2-settings", "AAMAAABk")], &[], true),
            (&[("Upgrade", "websocket"), ("Upgrade", "h2c")], &[], true),
            (&[("x_http_method-override", "DELETE")], &method, true),
            (&[("x.http!method_override", "DELETE")], &method, true),
            (&[("X-HTTP-Method-Override", "GET")], &method, false),
            (&[("X-Orb-Scope", "DELETE")], &method, false),
            (&[("Connection", "close")], &[("Connection", "close")], false),
            (&[("X-Orb-Scope", MARK)], &[("X-Orb-Scope", MARK)], false),
            (&[("X-Original-Method", "GET")], &[("X-Original-Method", "GET")], false),
            (&[("X-Original-URI", "/a")], &[("X-Original-URI", "/a?MARK")], false),
            (&[("X-Original-URI", "/v1/a?MARK")], &[("X-Original-URI", "/a?MARK")], true),
        ];
        for (headers, sent, misleads) in table {
            let headers = headers.iter();
            let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let arrived = Arrived { method: "GET".to_owned(), target: "/".to_owned(), headers: headers.collect() };
            let sent: Vec<_> = sent.iter().map(|(name, value)| ((*name).into(), *value)).collect();
            let is_misleading = misleading(&arrived, &sent, MARK).is_some();
            assert_eq!(is_misleading, misleads, "{arrived:?} {sent:?}");
        }
    }
}
