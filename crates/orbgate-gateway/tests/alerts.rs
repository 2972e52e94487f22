//! The alerts for a ledger: they name metrics that the service has, and each fires when it should.

use std::collections::BTreeSet;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::process::Command;

use crate::stores::{Service, hold};
use crate::support::wire::{ask, request};

const RULES: &str = include_str!("../../../examples/gateway/prometheus/ledger.rules.yaml");
const TESTS: &str = include_str!("../../../examples/gateway/prometheus/ledger.test.yaml");
const PAGE: &str = include_str!("../../../docs/gateway/ledger.md");

/// The names of the ledger's metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("orbgate_ledger_")).collect()
}

#[test]
fn each_metric_is_exported_and_on_the_page() {
    let service = Service::start("alerts", "orbs.db");
    service.grant("g", "alice", 10);
    assert_eq!(service.ask("/v1/hold", &hold("h", 5)).0, 200);
    let answer = ask(&service.gateway.admin, &request(b"GET", b"/metrics", &[]));
    let exported = names(&answer.body);
    let unknown: Vec<_> =
        names(RULES).into_iter().chain(names(TESTS)).filter(|name| !exported.contains(name)).collect();
    assert_eq!(unknown, Vec::<&str>::new(), "{exported:?}");
    let whole = exported
        .iter()
        .map(|name| ["_bucket", "_sum", "_count"].iter().fold(*name, |name, end| name.trim_end_matches(end)));
    assert_eq!(names(PAGE), whole.collect());
    // Each is of the kind that its name tells, and says what it means.
    let ledgers = answer.body.lines().filter(|line| line.contains("orbgate_ledger_"));
    promtool(&["check", "metrics"], &ledgers.map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn each_alert_fires_when_it_should() {
    let alerts: Vec<_> = RULES.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    for alert in &alerts {
        let fires = format!("alertname: {alert}\n        exp_alerts:\n");
        assert!(TESTS.contains(&fires), "{alert} fires in no test");
        assert!(
            TESTS.contains(&format!("eval_time: 90m, alertname: {alert} }}")),
            "{alert} isn't tried on what is well"
        );
    }
    assert!(alerts.len() > 6);
    promtool(&["check", "rules", "--lint=all", "--lint-fatal", "ledger.rules.yaml"], "");
    promtool(&["test", "rules", "ledger.test.yaml"], "");
}

fn promtool(arguments: &[&str], input: &str) {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway/prometheus");
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input.as_bytes()).unwrap();
    file.rewind().unwrap();
    match Command::new("promtool").args(arguments).current_dir(rules).stdin(file).output() {
        Ok(output) => assert!(output.status.success(), "{arguments:?}: {output:?}"),
        Err(error) => orbgate_testing::skipped::missing(&format!(
            "the alerts for a ledger: `promtool`: {error}: apt-get install prometheus"
        )),
    }
}
