//! The questions that a backend asks while it runs: why a call is denied, and what a token can call. Each answer is checked before it is
//! timed.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a bench stops at its first surprise"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use orbgate_analysis::ask;
use orbgate_bench::table::Table;

fn questions(c: &mut Criterion) {
    for name in ["external", "github"] {
        let Table {
            engine,
            rows,
            scopes,
            ..
        } = Table::named(name);
        let mut group = c.benchmark_group(name);
        let every = scopes.join(" ");
        // Nearly a route of the policy, which `explain` looks for.
        let template = rows[rows.len() / 2].template;
        let segments = template.split('/').map(|name| match name.starts_with('{') {
            true => "1",
            false => name,
        });
        let denied = segments.chain(["near", "by"]).collect::<Vec<_>>().join("/");
        let explain = serde_json::json!({
            "request": { "method": "GET", "target": denied, "token": { "kind": "user", "scopes": every } },
        })
        .to_string();
        let answer = ask(engine, "explain", &explain).unwrap();
        assert!(answer.contains("\"reason\":\"no_route\""), "{answer}");
        group.bench_function("explain", |b| b.iter(|| ask(engine, "explain", &explain)));

        let reach = serde_json::json!({ "token": { "kind": "user", "scopes": every } }).to_string();
        let answer: serde_json::Value =
            serde_json::from_str(&ask(engine, "reach", &reach).unwrap()).unwrap();
        assert_eq!(answer["allowed"].as_array().unwrap().len(), rows.len());
        group.bench_function("reach", |b| b.iter(|| ask(engine, "reach", &reach)));
        group.finish();
    }
}

criterion_group!(benches, questions);
criterion_main!(benches);
