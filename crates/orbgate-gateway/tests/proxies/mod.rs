//! Real proxies with the configurations that are shipped, before a backend that keeps what reaches it.
//!
//! Whatever a client sends: what the backend got was allowed under exactly the method and target that it got, or nothing reached it.

/// A test for each line: its name, and the proxies with which it calls the function.
macro_rules! through_proxies {
    ($function:ident; $($name:ident: $($proxy:ident)+,)+) => {
        $(
            #[test]
            #[ignore = "starts a proxy: cargo xtask test gateway envoy"]
            fn $name() {
                $($function($crate::proxies::program::Program::$proxy);)+
            }
        )+
    };
}

mod backend;
mod cases;
mod exchanges;
mod http2;
mod lines;
mod php;
mod probes;
mod program;
mod quick_start;
mod rates;
mod servers;
mod upgrades;

use std::fs;
use std::path::Path;
use std::process::Command;

use orbgate::{Engine, Policy, Request, Token};

use self::backend::{Backend, Reached};
use self::program::{Proxy, find, get};
use crate::support::wire::{Answer, ask, one, request};
use crate::support::{Gateway, Issuer, folder, free_port};

/// Headers with which a client lies, apart from those of its case.
const LIES: [(&str, &str); 5] = [
    ("X-Orb-Decision", "allow"),
    ("X-Orb-Scope", "client"),
    ("x-orb-token-kind", "client"),
    ("X-Orb-Status", "client"),
    ("X-Orb-Client", "client"),
];

/// A proxy, its gateway, and what is behind them.
struct Bench {
    proxy: Proxy,
    gateway: Gateway,
    backend: Backend,
    issuer: Issuer,
    engine: Engine,
    address: String,
    mode: &'static str,
}

#[derive(Clone, Copy)]
struct Caller<'c> {
    kind: &'c str,
    scopes: &'c str,
    seconds: i64,
}

struct Called {
    answer: Answer,
    reached: Vec<Reached>,
}

impl Bench {
    /// `None`, and said why, if the proxy is not on this machine.
    fn start(kind: program::Program) -> Option<Self> {
        Self::start_with(kind, ("", ""), get)
    }

    /// The same with a line of the proxy's example changed.
    fn start_with(kind: program::Program, change: (&str, &str), get: impl Fn(&str)) -> Option<Self> {
        let binary = find(kind)?;
        let (issuer, backend) = (Issuer::start(), Backend::start());
        let address = format!("127.0.0.1:{}", free_port());
        let mode = kind.mode();
        let gateway = gateway(&issuer.tokens_yaml(), &address, mode, "");
        let mut proxy = Proxy::start_with(kind, &binary, &address, &backend.address, change);
        proxy.wait_for(&gateway, get);
        let engine = Engine::external().clone();
        Some(Self { proxy, gateway, backend, issuer, engine, address, mode })
    }

    /// Decides by another policy from now on.
    fn decide_by(&mut self, policy: &str) {
        self.restart(policy, "");
        self.proxy.wait_for(&self.gateway, get);
    }

    /// Another gateway instead of the first, with more settings.
    fn restart(&mut self, policy: &str, more: &str) {
        let _ = self.gateway.running.child.kill();
        let _ = self.gateway.running.child.wait();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy");
        let file = match policy {
            "external" => format!("{folder}/external.yaml"),
            _ => format!("{folder}/cases/policies/{policy}.yaml"),
        };
        let text = fs::read_to_string(&file).unwrap();
        self.engine = Engine::new(&Policy::from_yaml(&text).unwrap());
        let config = format!("policy: {file}\n{more}");
        self.gateway = gateway(&self.issuer.tokens_yaml(), &self.address, self.mode, &config);
    }

    /// Calls, and holds what has reached the backend against the engine.
    fn call(&self, method: &[u8], target: &[u8], caller: Option<Caller<'_>>, headers: &[(&str, &str)]) -> Called {
        let token = caller.map(|it| self.issuer.expiring(it.kind, it.scopes, it.seconds));
        let bearer = token.map(|token| format!("Bearer {token}"));
        let bearer = bearer.as_deref().map(|bearer| ("Authorization", bearer));
        let length = (!matches!(method, b"GET" | b"HEAD")).then_some(("Content-Length", "0"));
        let all: Vec<_> = bearer.into_iter().chain(length).chain(LIES).chain(headers.iter().copied()).collect();
        let name = String::from_utf8_lossy(target).into_owned();
        self.send(&name, caller, || ask(&self.proxy.address, &request(method, target, &all)))
    }

    /// Sends in some way, and holds what has reached the backend against the engine.
    fn send(&self, name: &str, caller: Option<Caller<'_>>, send: impl FnOnce() -> Answer) -> Called {
        let answer = send();
        let reached = self.backend.take();
        for reached in &reached {
            self.judge(reached, caller);
        }
        assert!(reached.len() <= 1, "{name}: {reached:?}");
        // What the client sees of a backend, it has reached.
        assert!(answer.body != "reached" || reached.len() == 1, "{name}: {answer:?}");
        Called { answer, reached }
    }

    /// Calls with these headers and a `Connection` that names another one.
    fn call_hop_by_hop(&self, target: &[u8], connection: &str, more: &[(&str, &str)]) -> Called {
        let token = self.issuer.bearer();
        let own = [("Authorization", token.as_str()), ("Connection", connection)];
        let bytes = request(b"GET", target, &[&own, more].concat());
        // The first `Connection`, which a request usually has.
        let text = String::from_utf8(bytes).unwrap().replacen("Connection: close\r\n", "", 1);
        let caller = Caller { kind: "user", scopes: "read:orbs", seconds: 600 };
        self.send(connection, Some(caller), || ask(&self.proxy.address, text.as_bytes()))
    }

    fn judge(&self, reached: &Reached, caller: Option<Caller<'_>>) {
        let caller = caller.filter(|caller| caller.seconds > 0);
        let token = caller
            .map(|caller| Token { kind: orbgate::TokenKind::from_name(caller.kind), scopes: caller.scopes.into() });
        let decision = self.engine.decide(&Request {
            method: &reached.method,
            target: &reached.target,
            token,
            allow_bonus_orbs_use: false,
        });
        let orbgate::Decision::Allow(allow) = decision else { panic!("{decision:?}: {reached:?}") };
        let charge = allow.charge().map_or_else(
            || "-".to_owned(),
            |charge| charge.amount.map_or_else(|| "unstated".to_owned(), |orbs| orbs.to_string()),
        );
        let expected = [
            ("x-orb-decision", "allow".to_owned()),
            ("x-orb-status", "-".to_owned()),
            ("x-orb-reason", decision.reason().to_string()),
            ("x-orb-scope", decision.scope().unwrap().name().to_owned()),
            ("x-orb-route", decision.route_name().unwrap().to_owned()),
            ("x-orb-charge", charge),
            ("x-orb-policy", decision.policy().to_string()),
            ("x-orb-token-kind", caller.unwrap().kind.to_owned()),
        ];
        for (name, value) in expected {
            assert_eq!(one(&reached.headers, name), value, "{name}: {reached:?}");
        }
        // A proxy behind this one would take it away.
        let connections = reached.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
        for (_, value) in connections {
            assert!(!value.to_ascii_lowercase().contains("x-orb"), "{reached:?}");
        }
        let lies = reached.headers.iter().filter(|(_, value)| value == "client");
        let lies: Vec<_> = lies.filter(|(name, _)| !name.eq_ignore_ascii_case("x-orb-client")).collect();
        assert!(lies.is_empty(), "{lies:?}");
    }
}

/// A gateway for a proxy, with this file of issuers and more settings.
pub(super) fn gateway(tokens: &str, address: &str, mode: &str, more: &str) -> Gateway {
    let folder = folder(&format!("proxy-{mode}-{}", address.replace(':', "-")));
    let config = format!("listeners: [{{ mode: {mode}, listen: {address}, trusted_proxies: [127.0.0.1] }}]\n{more}");
    Gateway::start_with(folder, tokens, &config)
}

/// systemd's own check of the units that are shipped, with another program instead of the gateway, and that the folder of `state` is
/// one that a dynamic user can write to.
#[test]
#[ignore = "runs systemd-analyze: cargo xtask test gateway"]
fn systemd_accepts_the_units() {
    let folder = folder("units");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway");
    let mut verify = Command::new("systemd-analyze");
    verify.arg("verify");
    for unit in ["orbgate-gateway.service", "orbgate-gateway.socket"] {
        let text = fs::read_to_string(examples.join(unit)).unwrap();
        let text = text.replace("/usr/local/bin/orbgate-gateway", "/bin/true");
        fs::write(folder.join(unit), &text).unwrap();
        verify.arg(folder.join(unit));
        let state = text.contains("DynamicUser=yes\n") && text.contains("StateDirectory=orbgate\n");
        assert_eq!(state, unit.ends_with(".service"), "{unit}");
    }
    let output = verify.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    let guide = include_str!("../../../../docs/gateway/configuration.md");
    let state = guide.lines().find(|line| line.starts_with("state: "));
    assert_eq!(state.unwrap().trim_end(), "state: /var/lib/orbgate");
}
