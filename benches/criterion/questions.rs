//! The questions that a backend asks while it runs: why a call is denied, and what a token can call. Each answer is checked before it is
//! timed.
#![allow(missing_docs, clippy::unwrap_used, reason = "a bench stops at its first surprise")]

use criterion::{Criterion, criterion_group, criterion_main};
use orbgate_analysis::ask;
use orbgate_bench::questions::{Asked, asked};
use orbgate_bench::table::Table;

fn questions(c: &mut Criterion) {
    for name in ["external", "github"] {
        let table = Table::named(name);
        let mut group = c.benchmark_group(name);
        for Asked { question, arguments } in asked(&table) {
            let answer = ask(table.engine, question, &arguments).unwrap();
            let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
            match question {
                "explain" => assert_eq!(answer["reason"], "no_route"),
                _ => assert_eq!(answer["allowed"].as_array().unwrap().len(), table.rows.len()),
            }
            group.bench_function(question, |b| b.iter(|| ask(table.engine, question, &arguments)));
        }
        group.finish();
    }
}

criterion_group!(benches, questions);
criterion_main!(benches);
