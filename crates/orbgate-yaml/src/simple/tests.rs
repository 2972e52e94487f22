//! Which files are simple, and that two libraries read them the same way.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_yaml::Value;

use super::read;
use crate::{Content, Diagnostics, Entry, Format, Node, tree};

const FORMAT: Format =
    Format { file: "a file", start: "anything", has_key: |_| false, braced: None, key_with_colon: None };

const SIMPLE: &str = "
# Everything that is simple.
number: 12
text: it's text, \"all\" of it {a} [b] x#y & more
empty: ''   # a comment
quoted: \"a # b: c\"
  # An indented comment.
nested:
    read:all:
      orbs: true
      none: []
      items:
        - GET /a/{b}

        - /c   # another
        - 'GET /d'
    write: no text for nobody
    both: [GET /a, 'GET /b/{c}' , \"\", 12,true]
    more: [ a, ]   # a comment
    flow: {a: b, c: [d, {e: 'f, }'}, [[]]], g:   {},  }
list: # the dashes may be right below
- item: POST /e
  orbs: 5
- item: PUT /f
  more:
  - x
  - inner:
      deep: z
last: false";

/// Pieces that could interfere with a line, or start or end it.
const PIECES: [&str; 40] = [
    "\n", "\n", "\n  ", "\r", "\t", " ", "  ", "    ", "-", "- ", "? ", ": ", ":", ":\n", ",", "[", "]", "{", "}", "#",
    " #", "&a ", "*a", "!", "|", ">", "'", "\"", "''", "%", "`", "---", "...", "~", "null", "0", "7", "x", "\\", "é",
];

fn parsed(text: &str) -> Option<Node<'_>> {
    let mut diagnostics = Diagnostics::default();
    tree::parse(text, &FORMAT, &mut diagnostics).filter(|_| diagnostics.is_empty())
}

/// Whether the file is simple. If it is, both libraries read it the same way, and with the same locations.
fn is_simple(text: &str) -> bool {
    let Some(root) = read(text) else {
        return false;
    };
    assert_eq!(parsed(text).as_ref(), Some(&root), "{text}");
    let value = serde_yaml::from_str(text);
    assert!(value.is_ok_and(|value| is(&root, &value)), "{text}");
    true
}

/// Whether the library reads the same value.
fn is(node: &Node<'_>, value: &Value) -> bool {
    match (&node.kind, value) {
        (Content::Scalar(scalar), Value::String(text)) => scalar.text == text.as_str(),
        (Content::Scalar(scalar), Value::Bool(is)) => scalar.text == is.to_string(),
        (Content::Scalar(scalar), Value::Number(number)) => scalar.text == number.to_string(),
        (Content::Sequence(items), Value::Sequence(values)) => {
            let mut pairs = items.iter().zip(values);
            items.len() == values.len() && pairs.all(|(item, value)| is(item, value))
        }
        (Content::Mapping(entries), Value::Mapping(values)) => {
            let mut pairs = entries.iter().zip(values);
            let is_entry = |(name, value): (&Value, &Value), entry: &Entry<'_>| {
                name.as_str() == Some(&entry.key.text) && is(&entry.value, value)
            };
            entries.len() == values.len() && pairs.all(|(entry, pair)| is_entry(pair, entry))
        }
        _ => false,
    }
}

#[test]
fn a_simple_text_is_read_line_by_line() {
    assert!(is_simple(SIMPLE));
    for end in ["...", "...\n# The end.\n", "... # sha256:\n\n"] {
        assert!(is_simple(&format!("{SIMPLE}\n{end}")), "{end}");
    }
}

#[test]
fn what_is_not_simple_is_left_to_a_library() {
    for text in [
        "",
        "a",
        "[]",
        "a: [b",
        "a: {b: c, d}",
        "a: {b: }",
        "a: {b:c}",
        "a: {'b': c}",
        "a: {b:  c",
        "a: {b: c}}",
        "a: {b: c, , d: e}",
        "a: {? b: c}",
        "a: [b: c]",
        "a: [b:c]",
        "a: [b,, c]",
        "a: [,]",
        "a: [b,\n  c]",
        "a: [b]c",
        "a: [b] c",
        "a: [b -, c]",
        "a: {b: c -}",
        "a: ['b' c]",
        "{a: b}",
        "'a': b",
        "a:\tb",
        "a: b\r\n",
        "a: |\n  b",
        "a: >-\n  b",
        "a: b\n  c",
        "a: 'b\n  c'",
        "a: \"b\\n\"",
        "a: 'it''s'",
        "a: é",
        "a:",
        "a: null",
        "a: yes",
        "a: 0x1F",
        "a: 012",
        "a: 1.5",
        "a: -1",
        "a: +1",
        "a: 1_000",
        "a: 2001-12-14",
        "a: .inf",
        "a: ~",
        "yes: b",
        "1: b",
        "--- # b\na: b",
        "a: b\n...#c",
        "a: b\n ...",
        "a: b\n...\n...",
        "a: b\n...\nc: d",
        "a: b\n b: c",
        "a:\n  b: c\n d: e",
        "a:\n- b\n c: d",
        "a: b\na: c",
        "a: {b: c, b: d}",
        "a: {b: [{c: [{d: [{e: []}]}]}]}",
        &format!("a: {}", ",".repeat(32_768)),
        &"- [1,1,1,1,1]\n".repeat(5_000),
        "? a\n: b",
        "- - a",
        "-  a: b\n   c: d",
        "a: :b",
        "a: @b",
        "a: '1' 2",
        "a:\n  []",
        "a b: c",
        "a:\n-\n  b",
        "a: 'b'#c",
    ] {
        assert!(!is_simple(text), "{text}");
    }
}

/// Most policies in this repository are simple, and a library reads them the same way.
#[test]
fn most_policies_of_the_project_are_simple() {
    let policies = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy");
    let Ok(cases) = std::fs::read_dir(format!("{policies}/cases/policies")) else {
        return; // the crate alone, from its archive
    };
    let mut files: Vec<_> = cases.map(|file| file.unwrap().path()).collect();
    files.push(format!("{policies}/external.yaml").into());
    let mut simple = 0;
    for file in &files {
        if is_simple(&std::fs::read_to_string(file).unwrap()) {
            simple += 1;
        }
    }
    assert!(simple * 2 > files.len(), "{simple} of {}", files.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_library_reads_the_same(
        edits in vec((any::<Index>(), 0_usize..4, select(&PIECES[..])), 1..4),
    ) {
        let mut letters: Vec<String> = SIMPLE.chars().map(String::from).collect();
        for (position, removed, piece) in edits {
            let at = position.index(letters.len());
            let end = letters.len().min(at.saturating_add(removed));
            letters.splice(at..end, [piece.to_owned()]);
        }
        let text = letters.concat();
        is_simple(&text);
    }
}
