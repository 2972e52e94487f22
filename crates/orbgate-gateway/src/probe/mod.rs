//! Asks a proxy instead of reading its configuration: sends probes through it, takes the backend's place, and compares what arrives
//! with what was allowed.

mod tries;
mod wire;

use core::net::SocketAddr;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::Receiver;

use orbgate::{Engine, Request, Token, TokenKind};

use self::tries::{concrete, lies, spellings};
use self::wire::{Arrived, exchange, reachable, receive};
use crate::promises::Promises;
use crate::state::{StartError, State};

/// What a client writes into headers that are not its own.
const LIE: &str = "client";

/// Where probes go, where they arrive, and by what they are judged.
struct Probe<'p> {
    proxy: SocketAddr,
    arrived: Receiver<Arrived>,
    engine: &'p Engine,
    promises: &'p Promises,
    token: &'p str,
    findings: BTreeSet<String>,
}

/// Probes a proxy whose backend is at `backend`, with a token that may make at least one call. What it returns are the findings, a
/// sentence each; none if all is well.
///
/// # Errors
///
/// Where the configuration cannot be loaded, no proxy is there, or nothing can listen at `backend`.
pub fn probe(
    file: &Path,
    proxy: SocketAddr,
    backend: SocketAddr,
    token: &str,
) -> Result<Vec<String>, StartError> {
    let runtime = tokio::runtime::Runtime::new().map_err(StartError::Runtime)?;
    let _inside = runtime.enter();
    let state = State::look(file)?;
    reachable(proxy).map_err(|error| StartError::Proxy(proxy, error))?;
    let arrived =
        receive(backend).map_err(|error| StartError::Listen(backend.to_string(), error))?;
    let mut probe = Probe {
        proxy,
        arrived,
        engine: &state.gate.engines().load(),
        promises: &state.config.promises,
        token,
        findings: BTreeSet::new(),
    };
    probe.everything();
    Ok(probe.findings.into_iter().collect())
}

impl Probe<'_> {
    fn everything(&mut self) {
        let engine = self.engine;
        let calls: Vec<_> = engine
            .routes()
            .map(|route| (route.method(), concrete(route.template(), "1")))
            .collect();
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        for (method, target) in calls {
            let arrives = self.send(method, &target, true, &[]);
            if self.send(method, &target, false, &[]) {
                self.find(&format!("{method} {target} arrives without a token"));
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
        for route in engine
            .routes()
            .filter(|route| route.template().contains('{'))
        {
            for value in ["a%20b", "a%2Fb", "..", "%2e%2e", "a;b", "A"] {
                self.send(
                    route.method(),
                    &concrete(route.template(), value),
                    true,
                    &[],
                );
            }
        }
        // The client names a call that it may make, and makes another one.
        for (other, secret) in closed.iter().take(8) {
            for lie in lies(method, &target) {
                self.send(other, secret, true, &lie);
            }
        }
        let names = self.promises.names().map(str::to_owned).collect::<Vec<_>>();
        for name in names {
            for name in [name.clone(), name.replace('-', "_")] {
                self.send(method, &target, true, &[(&name, LIE)]);
            }
        }
    }

    /// Nothing arrives as it is: perhaps something does that the client names.
    fn with_lies_alone(&mut self, calls: &[(&str, String)]) {
        for (method, target) in calls {
            for lie in lies(method, target) {
                if self.send(method, "/", true, &lie) {
                    return;
                }
            }
        }
        self.find("nothing arrives: the token may make no call, or the backend is another one");
    }

    /// Sends a request, judges what arrives, and says whether something did.
    fn send(
        &mut self,
        method: &str,
        target: &str,
        with_token: bool,
        headers: &[(&str, &str)],
    ) -> bool {
        let mut request = format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n"
        );
        if with_token {
            request.push_str(&format!("Authorization: Bearer {}\r\n", self.token));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Err(error) = exchange(self.proxy, (request + "\r\n").as_bytes()) {
            self.find(&format!("the proxy does not answer: {error}"));
        }
        let arrived: Vec<_> = self.arrived.try_iter().collect();
        let sent = match headers {
            [] => format!("{method} {target}"),
            [(name, value), ..] => format!("{method} {target} with {name}: {value}"),
        };
        for arrived in &arrived {
            if let Some(wrong) = self.judge(arrived) {
                self.find(&format!(
                    "{sent} arrives as {} {}: {wrong}",
                    arrived.method, arrived.target
                ));
            }
        }
        !arrived.is_empty()
    }

    /// What is wrong with a request that arrived: it was not allowed under this method and target, or has a header of the client's.
    fn judge(&self, arrived: &Arrived) -> Option<&'static str> {
        let mut said = Vec::new();
        for name in self.promises.names() {
            let same = |(own, _): &&(String, String)| own.eq_ignore_ascii_case(name);
            let mut values = arrived
                .headers
                .iter()
                .filter(same)
                .map(|(_, value)| value.as_str());
            match (values.next(), values.next()) {
                (Some(value), None) => said.push(value),
                _ => {
                    return Some(
                        "a promised header is missing, or there twice: `auth_request`, `forward_auth`, `ext_authz` or the list of headers",
                    );
                }
            }
        }
        let is_promised = |own: &str| {
            self.promises
                .names()
                .any(|name| own.replace('_', "-").eq_ignore_ascii_case(name))
        };
        if arrived
            .headers
            .iter()
            .any(|(name, value)| value == LIE && is_promised(name))
        {
            return Some("a promised header is the client's");
        }
        let [allowed, _, _, scope, route, _, policy, kind] = said.as_slice() else {
            return Some("a promised header is missing");
        };
        if *policy != self.engine.digest().to_string() {
            return Some("another policy decided");
        }
        let decision = self.engine.decide(&Request {
            method: arrived.method.as_bytes(),
            target: arrived.target.as_bytes(),
            token: Some(Token {
                kind: TokenKind::from_name(kind),
                scopes: (*scope).into(),
            }),
            allow_bonus_orbs_use: false,
        });
        let is_it = *allowed == "allow" && decision.is_allow() && decision.route() == Some(route);
        (!is_it).then_some("another call was allowed than this one")
    }

    fn find(&mut self, finding: &str) {
        self.findings.insert(finding.to_owned());
    }
}
