//! What lint keeps of a large policy: this test has a process of its own.
#![cfg(target_os = "linux")]
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a test stops at its first surprise"
)]

use orbgate::Policy;
use orbgate_analysis::lint;

/// The most memory that this process ever had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn long_names_of_many_scopes_take_little_memory() {
    const LETTERS: &[u8; 8] = b"abcdefgh";
    let mut text = "orbgate: 1\napis:\n  a:\n    scopes:\n".to_owned();
    for number in 0..20_000_usize {
        // Names of 64 letters, no two of them alike.
        let mixed = number * 2_654_435_761;
        let name = (0..64).map(|at| char::from(LETTERS[(mixed >> (at % 16 * 2)) & 7]));
        text.push_str("      ");
        text.extend(name);
        text.push_str(": { permits: x, routes: [] }\n");
    }
    text.push_str("...\n");
    let policy = Policy::from_yaml(&text).unwrap();
    let before = peak();
    let findings = lint(&policy, &text);
    let taken = peak() - before;
    assert!(findings.list.len() >= 1_000 && taken < 100 * 1024, "{taken} KiB");
}
