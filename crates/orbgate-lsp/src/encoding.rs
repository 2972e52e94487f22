//! Conversions between the two kinds of positions: ours, in bytes, and the protocol's, in code units of a line, from 0.

use core::ops::Range as Span;

use gen_lsp_types::{Position, PositionEncodingKind, Range};
use orbgate_analysis::Text;

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

    /// The byte at a position of the protocol; the end of the line or of the document if the position is after
    /// it.
    pub(crate) fn byte_of(self, text: &Text, position: Position) -> usize {
        let Some(line) = text.line(to_usize(position.line)) else {
            return text.as_str().len();
        };
        let mut units = to_usize(position.character);
        for (at, character) in text.slice(line.clone()).char_indices() {
            let width = self.units(character);
            if units < width {
                return line.start.saturating_add(at);
            }
            units = units.saturating_sub(width);
        }
        line.end
    }

    /// The protocol's position for a byte.
    pub(crate) fn position(self, text: &Text, byte: usize) -> Position {
        let line = text.line_of(byte);
        let start = text.line(line).map_or(0, |line| line.start);
        let before = text.slice(start..byte);
        let units: usize = before.chars().map(|character| self.units(character)).sum();
        Position::new(to_u32(line), to_u32(units))
    }

    pub(crate) fn range(self, text: &Text, span: Span<usize>) -> Range {
        let [start, end] = [span.start, span.end].map(|byte| self.position(text, byte));
        Range { start, end }
    }
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use gen_lsp_types::{Position, PositionEncodingKind};
    use orbgate::Location;
    use orbgate_analysis::Text;
    use proptest::prelude::*;

    use super::Encoding;

    #[test]
    fn the_client_says_what_is_counted() {
        let kinds = [PositionEncodingKind::UTF8, PositionEncodingKind::UTF16];
        assert_eq!(Encoding::negotiate(&kinds), Encoding::Utf8);
        assert_eq!(Encoding::negotiate(&[]), Encoding::Utf16);
        let strange = PositionEncodingKind::Custom("utf-7".into());
        assert_eq!(Encoding::negotiate(core::slice::from_ref(&strange)), Encoding::Utf16);
        let kinds = [strange, PositionEncodingKind::UTF32];
        assert_eq!(Encoding::negotiate(&kinds), Encoding::Utf32);
    }

    #[test]
    fn a_location_has_its_position_in_every_encoding() {
        let text = Text::new("a\r\nä€𝄞x\rlast\n".to_owned());
        let location = Location { line: 2, column: 4 };
        let byte = text.byte_at(location);
        assert_eq!(text.slice(byte..byte + 1), "x");
        for (encoding, character) in [(Encoding::Utf8, 9), (Encoding::Utf16, 4), (Encoding::Utf32, 3)] {
            let position = Position::new(1, character);
            assert_eq!(encoding.position(&text, byte), position);
            assert_eq!(encoding.byte_of(&text, position), byte);
        }
        // Within a character, after the end of a line, after the end of the document.
        let at = |line, character| Encoding::Utf16.byte_of(&text, Position::new(line, character));
        assert_eq!(at(1, 3), text.byte_at(Location { line: 2, column: 3 }));
        assert_eq!(at(0, 99), 1);
        assert_eq!(at(9, 0), text.as_str().len());
        assert_eq!(text.line_of(byte), 1);
    }

    #[test]
    fn a_byte_order_mark_has_no_column_of_ours() {
        let text = Text::new("\u{feff}ab\n".to_owned());
        let byte = text.byte_at(Location { line: 1, column: 2 });
        assert_eq!(Encoding::Utf16.position(&text, byte), Position::new(0, 2));
    }

    proptest! {
        #[test]
        fn every_byte_of_a_character_has_a_position_and_back(text in "[a\r\n ä€𝄞\u{feff}#'\"{}:,]{0,40}") {
            let text = Text::new(text);
            for (byte, _) in text.as_str().char_indices() {
                for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                    let position = encoding.position(&text, byte);
                    let back = encoding.byte_of(&text, position);
                    // The characters of a line ending have no positions of their own.
                    let line = text.line(usize::try_from(position.line).unwrap()).unwrap();
                    prop_assert_eq!(back, byte.min(line.end));
                }
            }
        }
    }
}
