//! Every policy on the pages of `policy/invalid` is rejected with exactly the diagnostics next to it, and every one in
//! `policy/valid.md` is accepted. `ORBGATE_UPDATE=1` rewrites the diagnostics.

use std::fs;
use std::path::Path;

use orbgate::policy::Policy;

use crate::support::invalid::{self, Invalid};
use crate::support::valid;

#[test]
fn every_invalid_policy_is_refused_with_exactly_its_diagnostics() {
    if std::env::var_os("ORBGATE_UPDATE").is_some() {
        return invalid::pages().iter().for_each(|page| rewrite(page));
    }
    let all = invalid::all();
    assert!(all.len() >= 175, "only {} invalid policies", all.len());
    for Invalid { name, yaml, expected } in all {
        assert_eq!(diagnostics(&yaml), expected, "{name}");
    }
}

/// YAML 1.2, section 5.4: LF, CR LF and a single CR end a line.
#[test]
fn every_line_break_keeps_the_diagnostics() {
    for Invalid { name, yaml, expected } in invalid::all() {
        for line_break in ["\r\n", "\r"] {
            assert_eq!(diagnostics(&yaml.replace('\n', line_break)), expected, "{name} with {line_break:?}");
        }
    }
}

#[test]
fn every_name_is_used_once() {
    let mut names: Vec<_> = invalid::all().into_iter().map(|one| one.name).collect();
    names.sort();
    assert!(names.is_sorted_by(|one, two| one < two), "{names:?}");
}

/// Writes the diagnostics of today into a page.
fn rewrite(page: &Path) {
    let mut text = fs::read_to_string(page).unwrap();
    for Invalid { name, yaml, expected } in invalid::sections(&text) {
        let start = text.find(&format!("\n## {name}\n")).unwrap();
        let (before, section) = text.split_at(start);
        let blocks = [&expected, &diagnostics(&yaml)].map(|lines| format!("```text\n{lines}```\n"));
        text = format!("{before}{}", section.replacen(&blocks[0], &blocks[1], 1));
    }
    fs::write(page, text).unwrap();
}

#[test]
fn diagnostics_read_alike() {
    for one in invalid::all() {
        for line in diagnostics(&one.yaml).lines() {
            let message = line.splitn(3, ':').nth(2).unwrap();
            let message = message.strip_prefix(' ').unwrap();
            let first = message.chars().next().unwrap();
            assert!(first.is_lowercase() || first == '`', "starts in lower case: {line}");
            assert!(!message.ends_with('.'), "has no final period: {line}");
            assert!(message.matches('`').count() % 2 == 0 || message.contains("``"), "closes its backticks: {line}");
            assert!(!message.contains("::") && !message.contains("Some("), "names no Rust type: {line}");
            assert!(message.chars().all(|c| !c.is_control()), "is one line: {line}");
        }
    }
}

#[test]
fn every_valid_policy_is_accepted() {
    let all = valid::all();
    assert!(all.len() >= 20, "only {} valid policies", all.len());
    for (name, yaml) in all {
        assert_eq!(diagnostics(&yaml), "", "{name}");
    }
}

#[test]
fn layout_does_not_change_a_policy() {
    let digest = |name| Policy::from_yaml(&valid::policy(name)).unwrap().digest();
    for name in ["byte-order-mark", "crlf", "markers", "no-final-newline"] {
        assert_eq!(digest("layout"), digest(name), "{name}");
    }
}

/// The lines `line:column: message` of a policy; none if it is valid.
fn diagnostics(yaml: &str) -> String {
    let Err(error) = Policy::from_yaml(yaml) else {
        return String::new();
    };
    let lines = error.in_file("");
    let lines = lines.lines().map(|line| line.strip_prefix(':').unwrap());
    lines.map(|line| format!("{line}\n")).collect()
}
