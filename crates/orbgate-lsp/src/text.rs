//! The contents of a document, with conversions between the two kinds of positions: ours, in characters from 1, and the
//! protocol's, in code units from 0.

use core::ops::Range as Span;

use gen_lsp_types::{Position, PositionEncodingKind, Range};
use orbgate::Location;

/// The units in which the protocol counts positions on a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// The encoding that every client supports.
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    /// The first encoding that the client offers and that is supported here.
    pub(crate) fn negotiate(offered: &[PositionEncodingKind]) -> Self {
        let known = |kind: &PositionEncodingKind| match kind {
            PositionEncodingKind::UTF8 => Some(Self::Utf8),
            PositionEncodingKind::UTF16 => Some(Self::Utf16),
            PositionEncodingKind::UTF32 => Some(Self::Utf32),
            PositionEncodingKind::Custom(_) => None,
        };
        offered.iter().find_map(known).unwrap_or_default()
    }

    pub(crate) const fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    const fn units(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// A string with the positions of its lines. Lines end as in YAML and the protocol: LF, CR LF, or a single CR.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    text: String,
    /// The first byte of each line.
    starts: Vec<usize>,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl Text {
    pub(crate) fn new(text: String) -> Self {
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

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The bytes of a line, from 0, without its line ending.
    pub(crate) fn line(&self, number: usize) -> Option<Span<usize>> {
        let start = *self.starts.get(number)?;
        let next = number.checked_add(1).and_then(|next| self.starts.get(next));
        let end = next.copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end)?;
        let length = line.trim_end_matches(['\r', '\n']).len();
        Some(start..start.saturating_add(length))
    }

    /// The line of a byte, from 0.
    pub(crate) fn line_of(&self, byte: usize) -> usize {
        let started = self.starts.partition_point(|start| *start <= byte);
        started.saturating_sub(1)
    }

    /// The string at these bytes.
    pub(crate) fn slice(&self, span: Span<usize>) -> &str {
        self.text.get(span).unwrap_or_default()
    }

    /// The byte at one of our locations; the end of the line or of the document if there is no such
    /// location.
    pub(crate) fn byte_at(&self, location: Location) -> usize {
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

    /// The byte at a position of the protocol; the end of the line or of the document if the position is after
    /// it.
    pub(crate) fn byte_of(&self, position: Position, encoding: Encoding) -> usize {
        let Some(line) = self.line(to_usize(position.line)) else {
            return self.text.len();
        };
        let mut units = to_usize(position.character);
        for (at, character) in self.slice(line.clone()).char_indices() {
            let width = encoding.units(character);
            if units < width {
                return line.start.saturating_add(at);
            }
            units = units.saturating_sub(width);
        }
        line.end
    }

    /// The protocol's position for a byte.
    pub(crate) fn position(&self, byte: usize, encoding: Encoding) -> Position {
        let line = self.line_of(byte);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let before = self.slice(start..byte);
        let units: usize = before
            .chars()
            .map(|character| encoding.units(character))
            .sum();
        Position::new(to_u32(line), to_u32(units))
    }

    pub(crate) fn range(&self, span: Span<usize>, encoding: Encoding) -> Range {
        let [start, end] = [span.start, span.end].map(|byte| self.position(byte, encoding));
        Range { start, end }
    }

    /// The bytes of the key or value that starts at a location, as written; at most up to the end of its
    /// line.
    pub(crate) fn word(&self, location: Location) -> Span<usize> {
        let start = self.byte_at(location);
        let end = self
            .line(self.line_of(start))
            .map_or(start, |line| line.end);
        let length = word(self.slice(start..end)).len();
        start..start.saturating_add(length)
    }
}

/// The key or value at the start of a line.
fn word(line: &str) -> &str {
    let mut before = ' ';
    let mut braces = 0_usize;
    let quote = line
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''));
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
        before = if (before, character) == ('\\', '\\') {
            ' '
        } else {
            character
        };
    }
    line.trim_end()
}

pub(crate) fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use gen_lsp_types::{Position, PositionEncodingKind};
    use orbgate::Location;
    use proptest::prelude::*;

    use super::{Encoding, Text, word};

    #[test]
    fn the_client_says_what_is_counted() {
        let kinds = [PositionEncodingKind::UTF8, PositionEncodingKind::UTF16];
        assert_eq!(Encoding::negotiate(&kinds), Encoding::Utf8);
        assert_eq!(Encoding::negotiate(&[]), Encoding::Utf16);
        let strange = PositionEncodingKind::Custom("utf-7".into());
        assert_eq!(
            Encoding::negotiate(core::slice::from_ref(&strange)),
            Encoding::Utf16
        );
        let kinds = [strange, PositionEncodingKind::UTF32];
        assert_eq!(Encoding::negotiate(&kinds), Encoding::Utf32);
    }

    #[test]
    fn a_location_has_its_position_in_every_encoding() {
        let text = Text::new("a\r\nä€𝄞x\rlast\n".to_owned());
        let location = Location { line: 2, column: 4 };
        let byte = text.byte_at(location);
        assert_eq!(text.slice(byte..byte + 1), "x");
        for (encoding, character) in [
            (Encoding::Utf8, 9),
            (Encoding::Utf16, 4),
            (Encoding::Utf32, 3),
        ] {
            let position = Position::new(1, character);
            assert_eq!(text.position(byte, encoding), position);
            assert_eq!(text.byte_of(position, encoding), byte);
        }
        // Within a character, after the end of a line, after the end of the document.
        let at = |line, character| text.byte_of(Position::new(line, character), Encoding::Utf16);
        assert_eq!(at(1, 3), text.byte_at(Location { line: 2, column: 3 }));
        assert_eq!(at(0, 99), 1);
        assert_eq!(at(9, 0), text.as_str().len());
        assert_eq!(text.line_of(byte), 1);
    }

    #[test]
    fn a_byte_order_mark_has_no_column_of_ours() {
        let text = Text::new("\u{feff}ab\n".to_owned());
        let byte = text.byte_at(Location { line: 1, column: 2 });
        assert_eq!(text.position(byte, Encoding::Utf16), Position::new(0, 2));
    }

    #[test]
    fn a_word_is_a_key_or_a_value() {
        for (line, expected) in [
            ("GET /items/{id}  # all", "GET /items/{id}"),
            ("GET /a, POST /b]", "GET /a"),
            ("GET /a,b]", "GET /a,b"),
            ("GET /x] } }", "GET /x"),
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

    proptest! {
        #[test]
        fn every_byte_of_a_character_has_a_position_and_back(text in "[a\r\n ä€𝄞\u{feff}#'\"{}:,]{0,40}") {
            let text = Text::new(text);
            for (byte, _) in text.as_str().char_indices() {
                for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                    let position = text.position(byte, encoding);
                    let back = text.byte_of(position, encoding);
                    // The characters of a line ending have no positions of their own.
                    let line = text.line(usize::try_from(position.line).unwrap()).unwrap();
                    prop_assert_eq!(back, byte.min(line.end));
                }
            }
            for line in 0..5 {
                for column in 0..9 {
                    let word = text.word(Location { line, column });
                    prop_assert!(text.as_str().get(word).is_some());
                }
            }
        }
    }
}
