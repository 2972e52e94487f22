//! The exchanges of `policy/cases/gate`, as far as each proxy lets them through. What it does not is listed, with why.

use std::collections::BTreeMap;
use std::fs;

use orbgate::Engine;
use orbgate_testing::exchange::{World, Written, written};

use super::backend::Backend;
use super::program::{Program, Proxy, find, get};
use super::{Bench, Called, Caller, gateway};
use crate::support::wire::ask;
use crate::support::{Issuer, free_port};

/// Of each proxy, which exchanges have another answer than from a gate: the proxy, the exchange, the status, why.
const OTHERWISE: &str = include_str!("otherwise.tsv");

/// The rows of a proxy: the status of each exchange by its location.
fn otherwise(kind: Program) -> BTreeMap<&'static str, u16> {
    let rows = OTHERWISE.lines().skip(1).map(|line| {
        let cells: Vec<_> = line.split('\t').collect();
        let [proxies, location, status, why] = cells.as_slice() else {
            panic!("{line}");
        };
        assert!(!why.is_empty(), "{line}");
        let name = format!("{kind:?}");
        let is_its = proxies.split(' ').any(|proxy| proxy == name);
        is_its.then(|| (*location, status.parse().unwrap()))
    });
    rows.flatten().collect()
}

/// A proxy before a gateway that trusts the issuers of the exchanges.
fn bench(kind: Program, world: &World) -> Option<Bench> {
    let binary = find(kind)?;
    let (issuer, backend) = (Issuer::start(), Backend::start());
    let listen = format!("127.0.0.1:{}", free_port());
    let mode = kind.mode();
    let tokens = fs::read_to_string(world.tokens()).unwrap();
    let gateway = gateway(&tokens, &listen, mode, "");
    let mut proxy = Proxy::start(kind, &binary, &listen, &backend.address);
    proxy.wait_for(&gateway, get);
    Some(Bench { proxy, gateway, backend, issuer, engine: Engine::external().clone(), address: listen, mode })
}

/// How an answer differs from that of a gate.
fn differs(kind: Program, exchange: &Written, called: &Called) -> Option<String> {
    let (expected, answer) = (&exchange.expected, &called.answer);
    let reached = usize::from(expected.status == 200);
    if answer.status != expected.status || called.reached.len() != reached {
        return Some(format!("{} reached {}", answer.status, called.reached.len()));
    }
    if let (Some(call), [reached]) = (&expected.saw, called.reached.as_slice()) {
        let came = (reached.method.as_slice(), reached.target.as_slice());
        let same = came == (call.method.as_bytes(), call.target.as_bytes());
        return (!same).then(|| format!("{reached:?}"));
    }
    // nginx writes its own answers, all but the 401.
    let own = kind == Program::Nginx && expected.status != 401;
    let headers = [("www-authenticate", &expected.www_authenticate), ("allow", &expected.allow)];
    let mut wrong =
        headers.iter().filter(|(name, value)| !own && answer.header(name) != value.as_deref().unwrap_or_default());
    wrong.next().map(|(name, _)| format!("{name}: {answer:?}"))
}

fn has_token(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    text.contains("\r\nauthorization:")
}

fn every_exchange(kind: Program) {
    let world = World::new().unwrap();
    let Some(bench) = bench(kind, &world) else {
        return;
    };
    let mut known = otherwise(kind);
    let (mut wrong, mut refused, mut read, mut count) = (Vec::new(), BTreeMap::<_, u64>::new(), 0_u64, 0);
    for exchange in written(&world).unwrap() {
        // The bench's gateway has the specification's policy.
        if exchange.policy != "external" {
            continue;
        }
        let sent = &exchange.sent;
        let own = known.remove(sent.location.as_str());
        // A proxy that takes away why the token does not count lets a right token through.
        let token = match own {
            Some(200) => exchange.token.as_ref(),
            _ => sent.token.as_ref(),
        };
        let caller = token.map(|(kind, scopes)| Caller { kind, scopes, seconds: 600 });
        let called = bench.send(&sent.location, caller, || ask(&bench.proxy.address, &sent.bytes));
        match own {
            Some(status) if called.answer.status == status => {}
            Some(status) => wrong.push(format!("{}: not {status}, {:?}", sent.location, called.answer)),
            None => wrong.extend(differs(kind, &exchange, &called).map(|why| format!("{}\t{why}", sent.location))),
        }
        match (exchange.refused, own) {
            (Some(code), None) => *refused.entry(code).or_default() += 1,
            // What a gate denies before it reads the token, this proxy lets the gateway read.
            (_, Some(401)) if has_token(&sent.bytes) => read += 1,
            _ => {}
        }
        count += 1;
    }
    assert!(count > 60, "{count}");
    assert!(wrong.is_empty(), "{kind:?}:\n{}", wrong.join("\n"));
    assert!(known.is_empty(), "no exchange is called {known:?}");
    for (code, times) in refused {
        let words = ["orbgate_tokens_refused_total", &format!("\"{code}\"")];
        let counted = bench.gateway.counted(&words);
        read = read
            .checked_sub(counted.checked_sub(times).unwrap())
            .unwrap_or_else(|| panic!("{code}: {counted}, not {times}"));
    }
    assert_eq!(read, 0);
}

through_proxies! { every_exchange;
    the_exchanges_have_a_gates_answers_through_nginx: Nginx,
    the_exchanges_have_a_gates_answers_through_caddy: Caddy,
    the_exchanges_have_a_gates_answers_through_traefik: Traefik,
    the_exchanges_have_a_gates_answers_through_haproxy: Haproxy,
    the_exchanges_have_a_gates_answers_through_envoy_over_http: EnvoyHttp,
    the_exchanges_have_a_gates_answers_through_envoy_over_grpc: EnvoyGrpc,
}
