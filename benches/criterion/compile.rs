//! From the text of a policy to an engine: time must be linear in the number of routes.
#![allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a bench stops at its first surprise"
)]

mod support;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use orbgate::{Engine, Policy};

fn compile(c: &mut Criterion) {
    let mut group = c.benchmark_group("compile");
    group.sample_size(10);
    for routes in [37, 1_000, 10_000, 100_000] {
        let yaml = support::policy(routes);
        let policy = Policy::from_yaml(&yaml).unwrap();
        assert_eq!(Engine::new(&policy).routes().len(), routes);
        group.throughput(Throughput::Elements(routes as u64));
        let id = |step| BenchmarkId::new(step, routes);
        group.bench_function(id("read"), |b| b.iter(|| Policy::from_yaml(&yaml).unwrap()));
        group.bench_function(id("compile"), |b| b.iter(|| Engine::new(&policy)));
    }
}

criterion_group!(benches, compile);
criterion_main!(benches);
