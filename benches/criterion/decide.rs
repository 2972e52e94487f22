//! The whole decision: byte checks, route, method, scope and charge, on 16,384 different requests in
//! random order. Every answer is checked before it is timed.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a bench stops at its first surprise"
)]

mod support;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use orbgate::{Engine, Policy, Request, ScopeSet, Scopes, Token};
use support::Ask;

const STREAM: usize = 16_384;

fn decide(c: &mut Criterion) {
    let large = Engine::new(&Policy::from_yaml(&support::policy(1_000)).unwrap());
    for (name, engine) in [("37 routes", Engine::external()), ("1000 routes", &large)] {
        let asks = support::hits(engine, STREAM);
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(STREAM as u64));

        let sets: Vec<ScopeSet> = asks.iter().map(|ask| engine.scopes(&ask.scope)).collect();
        let interned: Vec<_> = asks.iter().zip(&sets).map(|(ask, set)| request(ask, set)).collect();
        check(engine, &asks, &interned);
        group.bench_function("scopes interned", |b| b.iter(|| allowed(engine, &interned)));

        let texts: Vec<_> = asks.iter().map(|ask| format!("openid read:profile {} email", ask.scope)).collect();
        let raw: Vec<_> = asks.iter().zip(&texts).map(|(ask, text)| request(ask, text.as_str())).collect();
        check(engine, &asks, &raw);
        group.bench_function("scopes as text", |b| b.iter(|| allowed(engine, &raw)));
        group.finish();
    }
}

fn request<'a>(ask: &'a Ask, scopes: impl Into<Scopes<'a>>) -> Request<'a> {
    Request {
        method: ask.method.as_bytes(),
        target: ask.target.as_bytes(),
        token: Some(Token::user(scopes)),
        allow_bonus_orbs_use: false,
    }
}

/// Every request gets the route and scope that it was made for.
fn check(engine: &Engine, asks: &[Ask], requests: &[Request<'_>]) {
    for (ask, request) in asks.iter().zip(requests) {
        let decision = engine.decide(request);
        assert!(decision.is_allow(), "{}", ask.target);
        assert_eq!(decision.route_name(), Some(ask.route.as_str()));
    }
}

fn allowed(engine: &Engine, requests: &[Request<'_>]) -> usize {
    requests.iter().filter(|request| engine.decide(request).is_allow()).count()
}

criterion_group!(benches, decide);
criterion_main!(benches);
