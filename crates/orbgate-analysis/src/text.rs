//! A file by its lines, the words at its locations, and the nodes of a policy file, for checks of how it is written.

use core::ops::Range as Span;

use orbgate::Location;
use orbgate_yaml::{Diagnostic, Format, Node};
use serde::de::IgnoredAny;

/// A file's contents with the positions of its lines. Lines end as in YAML: LF, CR LF, or a single CR.
#[derive(Clone, Debug)]
pub struct Text {
    text: String,
    /// The first byte of each line.
    starts: Vec<usize>,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl Text {
    /// Takes time linear in the length.
    #[must_use]
    pub fn new(text: String) -> Self {
        let mut starts = vec![0];
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            let next = at.saturating_add(1);
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(next) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                starts.push(next);
            }
        }
        Self { text, starts }
    }

    /// The contents.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The bytes of a line, from 0, without its line ending.
    #[must_use]
    pub fn line(&self, number: usize) -> Option<Span<usize>> {
        let start = *self.starts.get(number)?;
        let next = number.checked_add(1).and_then(|next| self.starts.get(next));
        let end = next.copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end)?;
        let length = line.trim_end_matches(['\r', '\n']).len();
        Some(start..start.saturating_add(length))
    }

    /// The line of a byte, from 0.
    #[must_use]
    pub fn line_of(&self, byte: usize) -> usize {
        let started = self.starts.partition_point(|start| *start <= byte);
        started.saturating_sub(1)
    }

    /// The string at these bytes.
    #[must_use]
    pub fn slice(&self, span: Span<usize>) -> &str {
        self.text.get(span).unwrap_or_default()
    }

    /// The byte at a location; the end of the line or of the document if there is no such
    /// location.
    #[must_use]
    pub fn byte_at(&self, location: Location) -> usize {
        let line = to_usize(location.line.saturating_sub(1));
        let Some(line) = self.line(line) else {
            return self.text.len();
        };
        let written = self.slice(line.clone());
        // A byte-order mark has no column.
        let mark = usize::from(line.start == 0 && written.starts_with(BYTE_ORDER_MARK));
        let column = to_usize(location.column.saturating_sub(1)).saturating_add(mark);
        let mut characters = written.char_indices();
        let byte = characters.nth(column).map(|(at, _)| at);
        byte.map_or(line.end, |at| line.start.saturating_add(at))
    }

    /// The line ending of the first line.
    #[must_use]
    pub fn newline(&self) -> &'static str {
        match self.text.split_once('\n') {
            Some((first, _)) if first.ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// The bytes of the key or value that starts at a location, as written; at most up to the end of its
    /// line.
    #[must_use]
    pub fn word(&self, location: Location) -> Span<usize> {
        let start = self.byte_at(location);
        let end = self.line(self.line_of(start)).map_or(start, |line| line.end);
        let length = word(self.slice(start..end)).len();
        start..start.saturating_add(length)
    }
}

/// The key or value at the start of a line.
fn word(line: &str) -> &str {
    let mut before = ' ';
    let mut braces = 0_usize;
    let quote = line.chars().next().filter(|first| matches!(first, '"' | '\''));
    for (at, character) in line.char_indices() {
        let (here, rest) = line.split_at_checked(at).unwrap_or((line, ""));
        let behind = rest.chars().nth(1);
        let at_end = behind.is_none_or(|behind| matches!(behind, ' ' | '\t'));
        match (quote, character) {
            (Some(quote), _) => {
                let escaped = quote == '"' && before == '\\';
                if at > 0 && character == quote && !escaped {
                    let end = at.saturating_add(quote.len_utf8());
                    return line.get(..end).unwrap_or(line);
                }
            }
            (None, '{') if at > 0 => braces = braces.saturating_add(1),
            (None, '}') if braces > 0 => braces = braces.saturating_sub(1),
            (None, ']' | '}') if at > 0 => return here.trim_end(),
            (None, ':' | ',') if at > 0 && at_end => return here.trim_end(),
            (None, '#') if matches!(before, ' ' | '\t') && at > 0 => return here.trim_end(),
            _ => {}
        }
        // The second of two backslashes escapes nothing.
        before = if (before, character) == ('\\', '\\') { ' ' } else { character };
    }
    line.trim_end()
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

const FORMAT: Format = Format {
    file: "a policy file",
    start: "a policy starts with `orbgate: 1`",
    has_key: |_| false,
    braced: None,
    key_with_colon: None,
};

/// Visits the root of a policy file.
///
/// # Errors
///
/// Returns the errors if it isn't valid YAML.
pub(crate) fn visit(text: &str, mut root: impl FnMut(&Node<'_>)) -> Result<(), Vec<Diagnostic>> {
    let visit = |node: &Node<'_>, _: &mut _| {
        root(node);
        Some(IgnoredAny)
    };
    orbgate_yaml::read(text.as_bytes(), &FORMAT, visit, |_, _| ())
}

#[cfg(test)]
mod tests {
    use orbgate::Location;
    use proptest::prelude::*;

    use super::{Text, word};

    #[test]
    fn a_word_is_a_key_or_a_value() {
        for (line, expected) in [
            ("GET /items/{id}  # all", "GET /items/{id}"),
            ("GET /a, POST /b]", "GET /a"),
            ("GET /a,b]", "GET /a,b"),
            ("GET /x] } }", "GET /x"),
            ("GET /x } }", "GET /x"),
            ("{a}, b", "{a"),
            ("] x", "] x"),
            (": x", ": x"),
            ("# a # b", "# a"),
            ("'GET /it''s' ]", "'GET /it'"),
            ("\"GET /{id}\", x", "\"GET /{id}\""),
            (r#""a\"b\\" x"#, r#""a\"b\\""#),
            ("read:items:", "read:items"),
            ("read:items: {}", "read:items"),
            ("a#b c", "a#b c"),
            ("\"open", "\"open"),
            ("", ""),
            ("# comment", "# comment"),
        ] {
            assert_eq!(word(line), expected, "{line}");
        }
    }

    #[test]
    fn only_a_byte_order_mark_of_the_file_has_no_column() {
        for (text, line, column, byte) in
            [("ab", 1, 2, 1), ("\u{feff}ab", 1, 2, 4), ("a\n\u{feff}b", 2, 2, 5), ("a\n", 1, 3, 1), ("a\n", 3, 1, 2)]
        {
            let at = Text::new(text.to_owned()).byte_at(Location { line, column });
            assert_eq!(at, byte, "{text:?} {line}:{column}");
        }
    }

    proptest! {
        #[test]
        fn every_location_has_its_word(text in "[a\r\n ä€𝄞\u{feff}#'\"{}:,]{0,40}") {
            let text = Text::new(text);
            for line in 0..5 {
                for column in 0..9 {
                    let word = text.word(Location { line, column });
                    prop_assert!(text.as_str().get(word).is_some());
                }
            }
        }
    }
}
