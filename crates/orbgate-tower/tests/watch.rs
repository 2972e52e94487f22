//! A policy file that is followed. Alone in its file, because the watcher counts for the whole program.
#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "a test writes files, waits and fails by panicking"
)]

use core::time::Duration;
use std::path::Path;
use std::thread;
use std::time::Instant;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use orbgate::{Engine, Policy};
use orbgate_tower::Engines;

fn policy(orbs: u64) -> String {
    format!(
        "orbgate: 1\napis: {{ api: {{ base_path: '', scopes: {{ a: {{ orbs: true, routes: [\
         {{ route: GET /all, orbs: {orbs} }}] }} }} }} }}\n"
    )
}

/// Waits until the condition holds.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// How many policies had this result so far.
fn loads(metrics: &PrometheusHandle, result: &str) -> u64 {
    let scrape = metrics.render();
    let counter = format!("orbgate_policy_loads_total{{result=\"{result}\"}} ");
    let mut counts = scrape.lines().filter_map(|line| line.strip_prefix(&counter));
    counts.next().map_or(0, |count| count.parse().unwrap())
}

#[test]
fn a_bad_file_never_replaces_a_good_policy() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    metrics::set_global_recorder(recorder).unwrap();
    let [first, second] = [1, 2].map(policy);
    let [first_digest, second_digest] =
        [&first, &second].map(|text| Engine::new(&Policy::from_yaml(text).unwrap()).digest());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched-policy.yaml");
    // As editors and `ConfigMap`s do it: another file takes its name. Nobody sees half of it.
    let put = |text: &str| {
        let other = file.with_extension("new");
        std::fs::write(&other, text).unwrap();
        std::fs::rename(&other, &file).unwrap();
    };
    put(&first);
    let engines = Engines::external();
    let watch = engines.watch(&file, Duration::from_millis(5)).unwrap();
    let now = || engines.load().digest();
    assert_eq!(now(), first_digest);
    // The truncated file is an editor's that writes in place.
    let bad = ["", "orbgate: 1\n", "orbgate: [", &first[..first.len() / 2]];
    for (refused, bad) in (1..).zip(bad) {
        put(bad);
        until("it is read", || loads(&metrics, "refused") == refused);
        assert_eq!(now(), first_digest, "{bad}");
    }
    std::fs::remove_file(&file).unwrap();
    until("its absence is seen", || loads(&metrics, "unreadable") == 1);
    assert_eq!(now(), first_digest);
    put(&second);
    until("the second policy is loaded", || now() == second_digest);
    drop(watch);
    // The watcher ends before it looks again, so there is nothing to wait for but time.
    put(&first);
    thread::sleep(Duration::from_millis(50));
    assert_eq!(now(), second_digest, "nobody watches");
    std::fs::remove_file(&file).unwrap();
    assert!(Engines::from_file(&file).is_err());
}
