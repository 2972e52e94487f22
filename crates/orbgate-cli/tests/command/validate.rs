//! `orbgate validate`.

use core::time::Duration;
use std::thread;

use crate::{Piped, command, file, of_the_repository, orbgate, orbgate_reading};

const REQUEST: &str = r#"{"prompt": "hello", "stream": false, "allowBonusOrbsUse": false}"#;

/// Two requests, on lines 1 and 3; the second has no `allowBonusOrbsUse`.
const TWO: &str = "{\"prompt\": \"one\", \"stream\": false, \"allowBonusOrbsUse\": true}\n\n{\"prompt\": \"two\",\n\"stream\": false}\n";

#[test]
fn a_fine_file_is_0_and_prints_nothing() {
    let fine = file("validate-fine.json", REQUEST);
    let ran = orbgate(&["validate", "run-request", &fine]);
    assert_eq!((ran.code, &*ran.out), (0, ""));
    assert_eq!(ran.err, format!("{fine}: ok: 1 run request\n"));
}

#[test]
fn findings_are_1_and_name_line_and_pointer() {
    let two = file("validate-two.jsonl", TWO);
    let ran = orbgate(&["validate", "run-request", &two]);
    assert_eq!((ran.code, &*ran.err, ran.out.lines().count()), (1, "", 1));
    let start = format!("{two}:3: /allowBonusOrbsUse: missing, ");
    assert!(ran.out.starts_with(&start), "{}", ran.out);
}

#[test]
fn lenient_takes_a_default_for_what_is_absent() {
    let two = file("validate-lenient.jsonl", TWO);
    for arguments in [
        ["validate", "run-request", "--lenient", &two],
        ["validate", "--lenient", "run-request", &two],
        ["validate", "run-request", &two, "--lenient"],
    ] {
        let ran = orbgate(&arguments);
        assert_eq!((ran.code, &*ran.out), (0, ""));
        assert_eq!(ran.err, format!("{two}: ok: 2 run requests\n"));
    }
    let bad = file("validate-lenient-bad.json", "{\"stream\": 1}");
    let ran = orbgate(&["validate", "run-request", "--lenient", &bad]);
    assert_eq!(ran.code, 1);
    let starts = ["1: /prompt: missing", "1: /stream: "].map(|start| format!("{bad}:{start}"));
    assert_eq!(ran.out.lines().count(), starts.len(), "{}", ran.out);
    for (line, start) in ran.out.lines().zip(&starts) {
        assert!(line.starts_with(start), "{line}");
    }
}

#[test]
fn the_two_contracts_are_told_apart() {
    let Some(cases) = of_the_repository("crates/orbgate-contract/testdata/run-record.md") else {
        return;
    };
    let cases = std::fs::read_to_string(cases).unwrap();
    let record = cases.split("```").nth(1).unwrap().strip_prefix("json\n").unwrap();
    let record = file("validate-record.json", record);
    let ran = orbgate(&["validate", "run-record", &record]);
    assert_eq!((ran.code, ran.err), (0, format!("{record}: ok: 1 run record\n")));
    let ran = orbgate(&["validate", "run-request", &record]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with(&format!("{record}:1: /prompt: missing")));
}

#[test]
fn what_is_no_json_is_a_finding() {
    for (name, text, finding) in [
        ("cut", &b"{\"prompt\":\n"[..], "2: cannot be "),
        ("empty", b"", "1: no JSON document"),
        ("bytes", b"{\"prompt\": \"\xff\"}", "1: not UTF-8"),
        ("text", b"prompt: hello", "1: cannot be "),
    ] {
        let bad = file(&format!("validate-{name}.json"), text);
        for mode in [&["--lenient"][..], &[]] {
            let ran = orbgate(&[&["validate", "run-record", &bad], mode].concat());
            assert_eq!((ran.code, &*ran.err), (1, ""));
            let line = ran.out.strip_prefix(&format!("{bad}:{finding}")).unwrap();
            assert!(line.ends_with(" at column 1\n") == finding.contains("cannot be "), "{line}");
        }
    }
}

#[test]
fn standard_input_is_a_file_named_by_a_dash() {
    let ran = orbgate_reading(&["validate", "run-request", "-"], TWO.as_bytes());
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with("-:3: /allowBonusOrbsUse: "), "{}", ran.out);
    let ran = orbgate_reading(&["validate", "run-request", "-", "-"], TWO.as_bytes());
    assert_eq!((ran.code, &*ran.out), (2, ""));
    let message = "error: standard input ";
    assert!(ran.err.starts_with(message), "{}", ran.err);
    assert!(ran.err.contains("Usage: orbgate validate"), "{}", ran.err);
}

#[test]
fn a_file_that_cannot_be_read_is_2_and_the_others_are_validated() {
    let two = file("validate-others.jsonl", TWO);
    let ran = orbgate(&["validate", "run-request", &two, "/nowhere.json", &two]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.starts_with("error: cannot read `/nowhere.json`: "), "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 2);
    let ran = orbgate(&["validate", "run-request", env!("CARGO_TARGET_TMPDIR")]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
}

#[test]
fn what_to_validate_must_be_said() {
    for arguments in
        [&["validate"][..], &["validate", "run-request"], &["validate", "body.json"], &["validate", "run", "body.json"]]
    {
        let ran = orbgate(arguments);
        assert_eq!((ran.code, &*ran.out), (2, ""), "{arguments:?}");
    }
}

/// Each comes in two pieces, cut at every location, with a pause between them that a busy machine would not make.
#[test]
fn each_document_is_answered_before_the_next_is_waited_for() {
    let mut command = Piped::start(&["validate", "run-request", "-"]);
    let mut line = 1;
    for document in [
        "{\"prompt\": \"}\\\"{\", \"stream\": true}\n",
        "[{\"é\": [1, []]}]\n",
        "\"a \\\\ text\"\n",
        "-1.5e3\n",
        "null\n",
    ] {
        for cut in 1..document.len() {
            let (one, other) = document.as_bytes().split_at(cut);
            command.write(one);
            thread::sleep(Duration::from_millis(2));
            command.write(other);
            let answer = command.answer();
            assert!(answer.starts_with(&format!("-:{line}: ")), "{answer}");
            // An array or a text is answered with one finding, and so is each of the others.
            line += 1;
        }
    }
    assert_eq!(command.end(), Some(1));
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let bad = file("validate-pipe.jsonl", "{}\n".repeat(20_000));
    let mut child = command(&["validate", "run-record", &bad, &bad]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
