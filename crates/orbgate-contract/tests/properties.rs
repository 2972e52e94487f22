//! Valid documents come back as they were, broken ones are refused, and no text makes the checks panic.

use std::sync::LazyLock;

use jsonschema::Validator;
use orbgate_contract::{Checker, Contract, Finding, Mode, RunRecord, RunRequest};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::support::{any_json, pointers, record, request};

/// A second judge of the committed schemas, which shares no code with the checks.
static JUDGES: LazyLock<[Validator; 2]> = LazyLock::new(|| {
    [Contract::RunRequest, Contract::RunRecord].map(|contract| {
        let schema = serde_json::from_str(contract.schema()).unwrap();
        let options = jsonschema::options().should_validate_formats(true);
        options.build(&schema).unwrap()
    })
});

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_valid_request_comes_back_as_it_was(value in request()) {
        prop_assert_eq!(findings(Contract::RunRequest, &value, Mode::Strict), []);
        prop_assert_eq!(findings(Contract::RunRequest, &value, Mode::Lenient), []);
        let typed = RunRequest::from_json(value.to_string().as_bytes()).unwrap();
        prop_assert_eq!(serde_json::to_value(&typed).unwrap(), value);
        prop_assert_eq!(typed.findings(), []);
    }

    #[test]
    fn a_valid_record_comes_back_as_it_was(value in record()) {
        prop_assert_eq!(findings(Contract::RunRecord, &value, Mode::Strict), []);
        prop_assert_eq!(findings(Contract::RunRecord, &value, Mode::Lenient), []);
        let typed = RunRecord::from_json(value.to_string().as_bytes()).unwrap();
        prop_assert_eq!(serde_json::to_value(&typed).unwrap(), value);
        prop_assert_eq!(typed.findings(), []);
    }

    #[test]
    fn a_missing_member_is_named(value in record(), object in any::<Index>(), member in any::<Index>()) {
        let schema: Value = serde_json::from_str(Contract::RunRecord.schema()).unwrap();
        let mut objects = vec![
            ("", ""), ("/input", "RunInput"), ("/metrics", "Metrics"), ("/metrics/timer", "Timer"),
        ];
        if value["messages"].get(0).is_some() {
            objects.extend([("/messages/0", "Message"), ("/messages/0/metrics", "Metrics")]);
        }
        let (at, name) = *object.get(&objects);
        let schema = if name.is_empty() { &schema } else { &schema["$defs"][name] };
        let required = schema["required"].as_array().unwrap();
        let member = member.get(required).as_str().unwrap();
        let mut value = value;
        value.pointer_mut(at).unwrap().as_object_mut().unwrap().remove(member).unwrap();
        let findings = findings(Contract::RunRecord, &value, Mode::Strict);
        let findings: Vec<_> = findings.iter().map(|finding| finding.pointer.clone()).collect();
        prop_assert_eq!(findings, [format!("{at}/{member}")]);
    }

    #[test]
    fn a_broken_document_is_judged_as_by_its_schema(
        (contract, value) in document(),
        edits in prop::collection::vec((any::<Index>(), any_json(), any::<bool>()), 1..4),
    ) {
        let value = edited(value, &edits);
        let findings = findings(contract, &value, Mode::Strict);
        // A schema takes `1.0` for an integer, and knows no limit of 64 bits.
        prop_assume!(findings.iter().all(|finding| !finding.message.contains("of 64 bits")));
        let shapes = findings.iter().filter(|finding| !is_rule(finding)).count();
        let judge = match contract {
            Contract::RunRequest => &JUDGES[0],
            Contract::RunRecord => &JUDGES[1],
        };
        prop_assert_eq!(judge.is_valid(&value), shapes == 0, "{:?}", findings);
    }

    #[test]
    fn the_types_read_what_lenient_validation_accepts(
        (contract, value) in document(),
        edits in prop::collection::vec((any::<Index>(), any_json(), any::<bool>()), 0..3),
        twice in any::<Option<Index>>(),
    ) {
        let mut text = edited(value, &edits).to_string();
        if let Some(at) = twice {
            // The text before a comma, once more: often a member.
            let commas: Vec<_> = text.match_indices(',').map(|(at, _)| at).collect();
            if !commas.is_empty() {
                let at = *at.get(&commas);
                let start = text[..at].rfind([',', '{', '[']).map_or(0, |start| start + 1);
                text.insert_str(at, &format!(",{}", &text[start..at].to_owned()));
            }
        }
        agree(contract, text.as_bytes());
    }

    #[test]
    fn a_text_in_pieces_is_checked_as_in_one(
        documents in prop::collection::vec(document(), 0..3),
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..8),
        edits in prop::collection::vec((any::<Index>(), any::<u8>()), 0..2),
        cuts in prop::collection::vec(any::<Index>(), 0..40),
        layout in 0..3,
    ) {
        let documents = documents.iter().map(|(_, value)| match layout {
            0 => value.to_string(),
            1 => format!("{value:#}\n\n"),
            _ => format!("\u{feff}{value}"),
        });
        let mut text = (documents.collect::<String>() + &pieces.concat()).into_bytes();
        for (at, byte) in edits {
            if !text.is_empty() {
                *at.get_mut(&mut text) = byte;
            }
        }
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        for mode in [Mode::Lenient, Mode::Strict] {
            let mut checker = Checker::new(Contract::RunRecord, mode);
            let pieces = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
            let mut findings: Vec<_> = pieces.flat_map(|piece| checker.push(piece)).collect();
            let end = checker.finish();
            findings.extend(end.findings);
            let whole = Contract::RunRecord.check(&text, mode);
            prop_assert_eq!((findings, end.documents), (whole.findings, whole.documents));
        }
    }

    #[test]
    fn any_bytes_get_an_answer(bytes in any::<Vec<u8>>()) {
        answered(&bytes);
    }

    #[test]
    fn any_pieces_get_an_answer(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        answered(pieces.concat().as_bytes());
    }

    #[test]
    fn a_document_with_random_edits_gets_an_answer(
        (_, value) in document(),
        edits in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = format!("{value:#}").into_bytes();
        for (at, byte) in edits {
            *at.get_mut(&mut bytes) = byte;
        }
        answered(&bytes);
    }
}

#[test]
fn a_number_may_come_back_into_range() {
    for (first, second) in [(NINES, "e-399"), ("1e400", "0"), ("\n1e400", "0"), ("[0, 1e400", "]")] {
        let mut checker = Checker::new(Contract::RunRecord, Mode::Strict);
        assert_eq!(checker.push(first.as_bytes()), [], "{first}");
        checker.push(second.as_bytes());
        let whole = Contract::RunRecord.check((first.to_owned() + second).as_bytes(), Mode::Strict);
        assert_eq!(checker.finish().documents, whole.documents, "{first}{second}");
    }
}

#[test]
fn a_server_is_told_of_that_many_findings_and_an_audit_of_all() {
    let numbers = vec!["1"; 500].join(",");
    let request = format!(r#"{{"prompt": "", "stream": false, "fileIds": [{numbers}]}}"#);
    let error = RunRequest::from_json(request.as_bytes()).unwrap_err();
    assert_eq!(error.findings().len(), 100);
    let error = RunRequest::from_json("[]".repeat(500).as_bytes()).unwrap_err();
    assert_eq!(error.findings().len(), 100);
    let report = Contract::RunRequest.check(request.as_bytes(), Mode::Lenient);
    assert_eq!(report.findings.len(), 500);
}

/// Out of range, unless an exponent below zero follows.
const NINES: &str = match str::from_utf8(&[b'9'; 400]) {
    Ok(nines) => nines,
    Err(_) => "",
};

/// Pieces that mean something in JSON or in a contract.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\n",
    " ",
    "null",
    "true",
    "0",
    "-1",
    "1e400",
    "e-399",
    NINES,
    "1.5",
    "\"prompt\":",
    "\"stream\":",
    "\"metrics\":",
    "\"timer\":",
    "\"messages\":",
    "\"role\":",
    "\"a\"",
    "{}",
    "[{}]",
    "\u{feff}",
    "\\u0000",
    "é",
];

/// A valid document of either contract.
fn document() -> impl Strategy<Value = (Contract, Value)> {
    prop_oneof![
        request().prop_map(|value| (Contract::RunRequest, value)),
        record().prop_map(|value| (Contract::RunRecord, value)),
    ]
}

/// A document in which values are replaced or removed.
fn edited(mut value: Value, edits: &[(Index, Value, bool)]) -> Value {
    for (at, other, remove) in edits {
        let all = pointers(&value);
        let at = at.get(&all);
        match at.rsplit_once('/') {
            Some((parent, member)) if *remove => {
                let member = member.replace("~1", "/").replace("~0", "~");
                match value.pointer_mut(parent) {
                    Some(Value::Object(members)) => drop(members.remove(&member)),
                    Some(Value::Array(elements)) => drop(elements.pop()),
                    _ => {}
                }
            }
            _ => *value.pointer_mut(at).unwrap() = other.clone(),
        }
    }
    value
}

/// Whether a finding is of a rule, which no schema can state.
fn is_rule(finding: &Finding) -> bool {
    let rules = ["is ", "must be null on", "must be an object on", "only on"];
    rules.iter().any(|rule| finding.message.starts_with(rule))
}

fn findings(contract: Contract, value: &Value, mode: Mode) -> Vec<Finding> {
    let report = contract.check(value.to_string().as_bytes(), mode);
    assert_eq!(report.documents, 1);
    report.findings
}

/// Types and lenient validation accept the same texts.
fn agree(contract: Contract, text: &[u8]) {
    let typed = match contract {
        Contract::RunRequest => RunRequest::from_json(text).err(),
        Contract::RunRecord => RunRecord::from_json(text).err(),
    };
    let report = contract.check(text, Mode::Lenient);
    let text = String::from_utf8_lossy(text);
    match typed {
        None => assert_eq!(report.findings, [], "{text}"),
        Some(error) if report.documents == 1 && !text.starts_with('\u{feff}') => {
            let told = report.findings.iter().take(100).collect::<Vec<_>>();
            assert_eq!(told, error.findings().iter().collect::<Vec<_>>(), "{text}");
        }
        Some(error) => assert!(!error.findings().is_empty()),
    }
}

/// For every text, the findings are about its own lines, and strict finds all that lenient does.
fn answered(text: &[u8]) {
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    for contract in [Contract::RunRequest, Contract::RunRecord] {
        let [lenient, strict] = [Mode::Lenient, Mode::Strict].map(|mode| contract.check(text, mode));
        assert_eq!(lenient.documents, strict.documents);
        for finding in &strict.findings {
            assert!((1..=lines).contains(&finding.line), "{finding}");
        }
        for finding in &lenient.findings {
            let same = |other: &&Finding| (&other.pointer, other.line) == (&finding.pointer, finding.line);
            assert!(strict.findings.iter().any(|other| same(&other)), "{finding}");
        }
        agree(contract, text);
    }
}
