//! The second reading of a simple file: does it say, line by line, what the first reading found?
//!
//! Most files are written in block style: a value is on the key's line or on the lines below that are indented
//! further, and a text is written as it is or in quotes without escapes. All readers of YAML agree on what such a
//! file says, and no library is needed to see it. The same is true of flow style on one line. What is not as
//! simple (flow style over several lines, blocks of text, escapes, texts over several lines, numbers other than
//! whole ones …) is not judged here.

use crate::node::{Content, Entry, Node, Scalar};
use crate::scalar::other_reading;

/// Whether the text is simple and says the same as this tree.
pub(super) fn says(text: &str, root: &Node<'_>) -> bool {
    let has_other_layout = text
        .bytes()
        .fold(false, |has, byte| has | matches!(byte, b'\t' | b'\r'));
    let mut lines = Lines::of(text);
    !has_other_layout && lines.are(root, 0) && lines.end()
}

/// A line that is neither blank nor a comment.
#[derive(Clone, Copy)]
struct Line<'t> {
    indent: usize,
    content: &'t str,
}

/// The lines that have not been read yet.
struct Lines<'t> {
    next: Option<Line<'t>>,
    rest: &'t str,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let mut lines = Self {
            next: None,
            rest: text,
        };
        lines.advance();
        lines
    }

    fn advance(&mut self) {
        self.next = loop {
            if self.rest.is_empty() {
                break None;
            }
            // Lines are too short for a search of many bytes at a time to pay.
            let end = self.rest.bytes().position(|byte| byte == b'\n');
            let end = end.unwrap_or(self.rest.len());
            let line = self.rest.get(..end).unwrap_or_default();
            self.rest = self.rest.get(end.saturating_add(1)..).unwrap_or_default();
            let content = line.trim_start_matches(' ');
            if !content.is_empty() && !content.starts_with('#') {
                let indent = line.len().saturating_sub(content.len());
                break Some(Line { indent, content });
            }
        }
    }

    /// Whether the next lines, indented by `least` or more, are this mapping or list.
    fn are(&mut self, node: &Node<'_>, least: usize) -> bool {
        let Some(Line { indent, .. }) = self.next.filter(|line| line.indent >= least) else {
            return false;
        };
        match &node.kind {
            Content::Mapping(entries) if !entries.is_empty() => {
                entries.iter().all(|entry| self.are_entry(entry, indent))
            }
            Content::Sequence(items) if !items.is_empty() => {
                items.iter().all(|item| self.are_item(item, indent))
            }
            _ => false,
        }
    }

    /// Whether the next lines are `key: value`, or a key with its value below.
    fn are_entry(&mut self, entry: &Entry<'_>, indent: usize) -> bool {
        let value = self.at(indent).and_then(|content| {
            let behind_key = content.strip_prefix(entry.key.text.as_ref())?;
            let is_key = entry.key.plain && is_key(&entry.key.text);
            behind_key.strip_prefix(':').filter(|_| is_key)
        });
        match value {
            None => false,
            Some(value) if is_end(value) => {
                self.advance();
                // The dashes of a list may be right below its key.
                let is_list = matches!(entry.value.kind, Content::Sequence(_));
                self.are(&entry.value, indent.saturating_add((!is_list).into()))
            }
            Some(value) => {
                self.advance();
                value.starts_with(' ') && is_value(value.trim_start_matches(' '), &entry.value)
            }
        }
    }

    /// Whether the next lines are an item of a list.
    fn are_item(&mut self, item: &Node<'_>, indent: usize) -> bool {
        let Some(content) = self.at(indent).and_then(|line| line.strip_prefix("- ")) else {
            return false;
        };
        if matches!(item.kind, Content::Mapping(_)) {
            // Its first key comes after the dash, the others right below that.
            let indent = indent.saturating_add(2);
            self.next = Some(Line { indent, content });
            return self.are(item, indent);
        }
        self.advance();
        is_value(content, item)
    }

    /// Whether nothing is left, or nothing but the end marker.
    fn end(&mut self) -> bool {
        if self.at(0) == Some("...") {
            self.advance();
        }
        self.next.is_none()
    }

    /// The content of the next line, if it is indented like this.
    fn at(&self, indent: usize) -> Option<&'t str> {
        let line = self.next.filter(|line| line.indent == indent);
        line.map(|line| line.content)
    }
}

/// Whether the rest of a line is this value, with at most a comment after it.
fn is_value(rest: &str, node: &Node<'_>) -> bool {
    let behind = match &node.kind {
        Content::Scalar(scalar) => behind_text(rest, scalar),
        _ => behind_flow(rest, node),
    };
    behind.is_some_and(is_end)
}

/// The rest of the line after this text; `None` where it starts with something else.
fn behind_text<'t>(rest: &'t str, scalar: &Scalar<'_>) -> Option<&'t str> {
    let text = scalar.text.as_ref();
    if scalar.plain {
        return rest.strip_prefix(text).filter(|_| is_plain(text));
    }
    let inner = |quote: char| {
        rest.strip_prefix(quote)?
            .strip_prefix(text)?
            .strip_prefix(quote)
    };
    let behind = inner('\'').or_else(|| inner('"'));
    behind.filter(|_| is_same_in_quotes(text))
}

/// The rest after this value in flow style.
fn behind_flow<'t>(rest: &'t str, node: &Node<'_>) -> Option<&'t str> {
    let is_bare = |text: &str| !text.contains([',', '[', ']', '{', '}', ':', '?']);
    match &node.kind {
        Content::Scalar(scalar) => {
            behind_text(rest, scalar).filter(|_| !scalar.plain || is_bare(&scalar.text))
        }
        Content::Sequence(items) => behind_items(rest, ['[', ']'], items, behind_flow),
        Content::Mapping(entries) => behind_items(rest, ['{', '}'], entries, |rest, entry| {
            let key = entry.key.text.as_ref();
            let value = rest.strip_prefix(key)?.strip_prefix(": ")?;
            let is_key = entry.key.plain && is_key(key) && is_bare(key);
            behind_flow(value.trim_start_matches(' '), &entry.value).filter(|_| is_key)
        }),
        Content::Refused => None,
    }
}

/// The rest after items in brackets. A comma is between two items, and may follow the last.
fn behind_items<'t, T>(
    rest: &'t str,
    [open, close]: [char; 2],
    items: &[T],
    behind: impl Fn(&'t str, &T) -> Option<&'t str>,
) -> Option<&'t str> {
    let comma = |rest: &'t str| rest.trim_start_matches(' ').strip_prefix(',');
    let mut rest = rest.strip_prefix(open)?;
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            rest = comma(rest)?;
        }
        rest = behind(rest.trim_start_matches(' '), item)?;
    }
    if !items.is_empty() {
        rest = comma(rest).unwrap_or(rest);
    }
    rest.trim_start_matches(' ').strip_prefix(close)
}

/// Whether a line ends here, perhaps with a comment.
fn is_end(rest: &str) -> bool {
    let behind = rest.trim_start_matches(' ');
    behind.is_empty() || (behind.starts_with('#') && rest.starts_with(' '))
}

/// A key without a space: the first colon followed by one ends it.
fn is_key(text: &str) -> bool {
    // YAML requires the colon within 1,024 characters.
    let fits = text.len() <= 256 && starts_like_text(text) && !text.ends_with(':');
    let mut bytes = text.bytes();
    fits && other_reading(text).is_none()
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_:./-~".contains(&byte))
}

/// What every reader reads alike: a text, a whole number, `true` or `false`.
fn is_plain(text: &str) -> bool {
    let is_number = || {
        let is_short = (1..=18).contains(&text.len()) && !text.starts_with('0');
        is_short && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let goes_on = |pair: &[u8]| matches!(pair, b": " | b" #");
    let is_text = || {
        let ends_well = !text.ends_with([' ', ':']);
        let is_known = matches!(text, "true" | "false") || other_reading(text).is_none();
        ends_well && is_known && is_visible(text) && !text.as_bytes().windows(2).any(goes_on)
    };
    if starts_like_text(text) {
        is_text()
    } else {
        is_number()
    }
}

fn starts_like_text(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'_'))
}

fn is_same_in_quotes(text: &str) -> bool {
    is_visible(text) && !text.contains(['"', '\'', '\\'])
}

fn is_visible(text: &str) -> bool {
    let is_visible = |byte| matches!(byte, b' '..=b'~');
    text.bytes().fold(true, |all, byte| all & is_visible(byte))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test reads its files")]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};
    use serde_yaml::Value;

    use super::says;
    use crate::{Content, Faults, Format, Node, tree};

    const FORMAT: Format = Format {
        file: "a file",
        start: "anything",
        keys: &[],
        braced: None,
        key_with_colon: None,
    };

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

    /// What a line of a file may be in the way of, and what it may begin or end with.
    const PIECES: [&str; 40] = [
        "\n", "\n", "\n  ", "\r", "\t", " ", "  ", "    ", "-", "- ", "? ", ": ", ":", ":\n", ",",
        "[", "]", "{", "}", "#", " #", "&a ", "*a", "!", "|", ">", "'", "\"", "''", "%", "`",
        "---", "...", "~", "null", "0", "7", "x", "\\", "é",
    ];

    fn parsed(text: &str) -> Option<Node<'_>> {
        let mut faults = Faults::default();
        tree::parse(text, &FORMAT, &mut faults).filter(|_| faults.is_empty())
    }

    /// Whether the library reads the same.
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
                let is_entry = |(name, value): (&Value, &Value), entry: &super::Entry<'_>| {
                    name.as_str() == Some(&entry.key.text) && is(&entry.value, value)
                };
                entries.len() == values.len() && pairs.all(|(entry, pair)| is_entry(pair, entry))
            }
            _ => false,
        }
    }

    #[test]
    fn a_simple_text_is_read_line_by_line() {
        let root = parsed(SIMPLE).unwrap();
        assert!(says(SIMPLE, &root));
        assert!(is(&root, &serde_yaml::from_str(SIMPLE).unwrap()));
        let marked = format!("{SIMPLE}\n...\n# The end.\n");
        assert!(says(&marked, &parsed(&marked).unwrap()));
        assert!(is(&root, &serde_yaml::from_str(&marked).unwrap()));
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
            "a: b\n... # c",
            "a: b\n...\n...",
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
            if let Some(root) = parsed(text) {
                assert!(!says(text, &root), "{text}");
            }
        }
    }

    /// Most of the project's policies need no library, and a library reads them the same.
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
            let text = std::fs::read_to_string(file).unwrap();
            let root = parsed(&text).unwrap();
            if says(&text, &root) {
                simple += 1;
                let value = serde_yaml::from_str(&text).unwrap();
                assert!(is(&root, &value), "{}", file.display());
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
            for (place, removed, piece) in edits {
                let at = place.index(letters.len());
                let end = letters.len().min(at.saturating_add(removed));
                letters.splice(at..end, [piece.to_owned()]);
            }
            let text = letters.concat();
            let before = parsed(SIMPLE).unwrap();
            for root in [Some(before), parsed(&text)].into_iter().flatten() {
                if says(&text, &root) {
                    let value = serde_yaml::from_str(&text);
                    prop_assert!(value.is_ok_and(|value| is(&root, &value)), "{}", text);
                }
            }
        }
    }
}
