//! Every document in `cases` gets exactly the findings in the file next to it, none if there is no file.

use std::fs;
use std::path::{Path, PathBuf};

use orbgate_contract::{Contract, Mode};

#[test]
fn every_document_gets_exactly_its_findings() {
    let mut wrong = Vec::new();
    for (contract, directory, least) in [
        (Contract::RunRequest, "run-request", 24),
        (Contract::RunRecord, "run-record", 14),
    ] {
        let documents = files(directory, "json");
        let count = documents.len();
        assert!(count >= least, "only {count} documents in {directory}");
        for file in documents {
            let expected = fs::read_to_string(file.with_extension("expected")).unwrap_or_default();
            let found = findings(contract, &fs::read(&file).unwrap());
            if found != expected {
                let name = file.display();
                wrong.push(format!(
                    "=== {name}\n--- expected\n{expected}+++ found\n{found}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_expectation_has_its_document() {
    for directory in ["run-request", "run-record"] {
        for file in files(directory, "expected") {
            assert!(file.with_extension("json").exists(), "{}", file.display());
        }
    }
}

#[test]
fn findings_read_alike() {
    for file in files("run-request", "expected")
        .into_iter()
        .chain(files("run-record", "expected"))
    {
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines().filter(|line| !line.ends_with(':')) {
            let message = line.rsplit(": ").next().unwrap();
            let first = message.chars().next().unwrap();
            assert!(first.is_lowercase() || first == '`', "{line}");
            assert!(!message.ends_with('.') && !message.contains("::"), "{line}");
        }
    }
}

/// What both validations find: each a heading and a line for each finding.
fn findings(contract: Contract, text: &[u8]) -> String {
    let [lenient, strict] = [Mode::Lenient, Mode::Strict].map(|mode| {
        let report = contract.check(text, mode);
        let lines = report.findings.iter().map(|finding| format!("{finding}\n"));
        lines.collect::<String>()
    });
    match (&*lenient, &*strict) {
        ("", "") => String::new(),
        _ => format!("lenient:\n{lenient}strict:\n{strict}"),
    }
}

fn files(directory: &str, extension: &str) -> Vec<PathBuf> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut files: Vec<PathBuf> = fs::read_dir(cases.join(directory))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.extension().is_some_and(|name| name == extension))
        .collect();
    files.sort();
    files
}
