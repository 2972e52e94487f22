//! Every file in `policy/invalid` is refused with exactly the lines beside it, and every file in
//! `policy/valid` is accepted.

use std::fs;
use std::path::{Path, PathBuf};

use orbgate::policy::Policy;

#[test]
fn every_invalid_policy_is_refused_with_exactly_its_diagnostics() {
    let files = yaml_files("invalid");
    assert!(
        files.len() >= 100,
        "only {} invalid policies found",
        files.len()
    );
    let mut wrong = Vec::new();
    for file in files {
        let expected = fs::read_to_string(file.with_extension("expected")).unwrap_or_default();
        let found = diagnostics(&file);
        if found != expected {
            wrong.push(format!("--- expected\n{expected}+++ found\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_expectation_has_its_policy() {
    let orphans: Vec<PathBuf> = files("invalid")
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "expected")
        })
        .filter(|file| !file.with_extension("yaml").exists())
        .collect();
    assert!(orphans.is_empty(), "no policy beside {orphans:?}");
}

#[test]
fn diagnostics_read_alike() {
    for file in yaml_files("invalid") {
        for line in diagnostics(&file).lines() {
            let message = line
                .splitn(4, ':')
                .nth(3)
                .unwrap()
                .strip_prefix(' ')
                .unwrap();
            let first = message.chars().next().unwrap();
            assert!(
                first.is_lowercase() || first == '`',
                "starts in lower case: {line}"
            );
            assert!(!message.ends_with('.'), "has no final period: {line}");
            assert!(
                message.matches('`').count() % 2 == 0 || message.contains("``"),
                "closes its backticks: {line}"
            );
            assert!(
                !message.contains("::") && !message.contains("Some("),
                "names no Rust type: {line}"
            );
            assert!(
                message.chars().all(|c| !c.is_control()),
                "is one line: {line}"
            );
        }
    }
}

#[test]
fn every_valid_policy_is_accepted() {
    let files = yaml_files("valid");
    assert!(
        files.len() >= 15,
        "only {} valid policies found",
        files.len()
    );
    for file in files {
        assert_eq!(diagnostics(&file), "", "{}", file.display());
    }
}

#[test]
fn layout_does_not_change_a_policy() {
    let digest = |name| {
        Policy::from_yaml(&read(&directory("valid").join(name)))
            .unwrap()
            .digest()
    };
    for name in ["crlf.yaml", "markers.yaml", "no-final-newline.yaml"] {
        assert_eq!(digest("byte-order-mark.yaml"), digest(name), "{name}");
    }
}

/// The lines `file:line:column: message` of a policy; none if it is valid.
fn diagnostics(file: &Path) -> String {
    let name = file.file_name().unwrap().to_str().unwrap();
    match Policy::from_yaml(&read(file)) {
        Ok(_) => String::new(),
        Err(error) => format!("{}\n", error.in_file(name)),
    }
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn yaml_files(kind: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = files(kind)
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    files.sort();
    files
}

fn files(kind: &str) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory(kind))
        .unwrap()
        .map(|entry| entry.unwrap().path())
}

fn directory(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../policy")
        .join(kind)
}
