//! Every document on the pages of `testdata` gets exactly the findings next to it, none if there is no list.

use std::fs;

use orbgate_contract::{Contract, Mode};

const PAGES: [(Contract, &str, usize); 2] =
    [(Contract::RunRequest, "run-request", 24), (Contract::RunRecord, "run-record", 14)];

#[test]
fn every_document_gets_exactly_its_findings() {
    let mut wrong = Vec::new();
    for (contract, page, least) in PAGES {
        let documents = documents(page);
        let count = documents.len();
        assert!(count >= least, "only {count} documents in {page}");
        for Document { name, text, expected } in documents {
            let actual = findings(contract, &text);
            if actual != expected {
                wrong.push(format!("=== {page}, {name}\n--- expected\n{expected}+++ found\n{actual}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn findings_read_alike() {
    for document in PAGES.into_iter().flat_map(|(_, page, _)| documents(page)) {
        for line in document.expected.lines() {
            let message = line.rsplit(": ").next().unwrap();
            let first = message.chars().next().unwrap();
            assert!(first.is_lowercase() || first == '`', "{line}");
            assert!(!message.ends_with('.') && !message.contains("::"), "{line}");
        }
    }
}

/// A line for each finding, marked if only one of the validations has it. Both list the others in one order.
fn findings(contract: Contract, text: &[u8]) -> String {
    let [lenient, strict] = [Mode::Lenient, Mode::Strict].map(|mode| {
        let findings = contract.check(text, mode).findings;
        findings.iter().map(ToString::to_string).collect::<Vec<_>>()
    });
    let common =
        |one: &[String], other: &[String]| one.iter().filter(|it| other.contains(it)).cloned().collect::<Vec<_>>();
    assert_eq!(common(&lenient, &strict), common(&strict, &lenient));
    let marked = |mark: &str, one: &[String], other: &[String]| {
        let lines = one.iter().map(|it| format!("{}{it}\n", if other.contains(it) { "" } else { mark }));
        lines.collect::<Vec<_>>()
    };
    let mut lines = marked("strict ", &strict, &lenient);
    lines.extend(marked("lenient ", &lenient, &strict).into_iter().filter(|line| line.starts_with("lenient ")));
    lines.concat()
}

/// One section of a page.
struct Document {
    name: String,
    text: Vec<u8>,
    expected: String,
}

fn documents(page: &str) -> Vec<Document> {
    let file = format!("{}/testdata/{page}.md", env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(file).unwrap();
    let mut documents: Vec<Document> = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let (name, blocks) = section.split_once("\n\n```").unwrap();
        let (kind, blocks) = blocks.split_once('\n').unwrap();
        let (block, rest) = blocks.split_once("```\n").unwrap();
        let text = match kind {
            "json" => block.as_bytes().to_vec(),
            "json escaped" => unescaped(block.strip_suffix('\n').unwrap()),
            "diff" => changed(&documents[0], block),
            other => panic!("{name}: {other}"),
        };
        let expected = match rest.trim() {
            "" => "",
            list => list.strip_prefix("```text\n").and_then(|list| list.strip_suffix("```")).unwrap(),
        };
        documents.push(Document { name: name.to_owned(), text, expected: expected.to_owned() });
    }
    documents
}

/// With each `\u{…}` as its character, and each `\x{…}` as its byte.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("\\u{").into_iter().chain(rest.find("\\x{")).min() {
        let (before, escape) = rest.split_at(start);
        let (digits, after) = escape[3..].split_once('}').unwrap();
        let number = u32::from_str_radix(digits, 16).unwrap();
        bytes.extend(before.bytes());
        if escape.starts_with("\\x") {
            bytes.push(u8::try_from(number).unwrap());
        } else {
            let character = char::from_u32(number).unwrap();
            bytes.extend(character.to_string().bytes());
        }
        rest = after;
    }
    bytes.extend(rest.bytes());
    bytes
}

/// A document with the changes of a diff without context.
fn changed(document: &Document, diff: &str) -> Vec<u8> {
    let text = str::from_utf8(&document.text).unwrap();
    let mut old = text.lines().zip(1_usize..).peekable();
    let mut new = String::new();
    for line in diff.lines() {
        let (sign, changed) = line.split_at(1);
        match sign {
            "@" => {
                let range = changed.strip_prefix("@ -").unwrap();
                let range = range.split(' ').next().unwrap();
                let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                let start = start.parse::<usize>().unwrap() + usize::from(count == "0");
                while let Some((kept, _)) = old.next_if(|(_, number)| *number < start) {
                    new.extend([kept, "\n"]);
                }
            }
            "-" => assert_eq!(old.next().unwrap().0, changed),
            "+" => new.extend([changed, "\n"]),
            _ => panic!("{line}"),
        }
    }
    old.for_each(|(kept, _)| new.extend([kept, "\n"]));
    new.into_bytes()
}
