//! Finds the end of a JSON document byte by byte, without parsing it.

/// The state of a scan through a sequence of documents. It only knows brackets and quotes. Invalid JSON also ends
/// somewhere, and the parser then reports the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Between documents.
    Between,
    /// In a number, `true`, `false` or `null` that is a whole document. It ends before the next byte.
    Word,
    /// Within this many open brackets.
    Within(usize),
    /// In a string within this many open brackets; 0 if the string is a whole document.
    Text(usize),
    /// After a `\` in such a string.
    Escape(usize),
}

impl Ends {
    /// Scans the next piece of input. Returns whether a document ends in it.
    pub(crate) fn scan(&mut self, piece: &[u8]) -> bool {
        let mut ends = false;
        for byte in piece {
            let next = self.after(*byte);
            ends |= next == Self::Between && *self != Self::Between;
            // A word ends before the byte that starts the next document.
            ends |= *self == Self::Word && next != Self::Word;
            *self = next;
        }
        ends
    }

    const fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Escape(depth), _) => Self::Text(depth),
            (Self::Text(depth), b'\\') => Self::Escape(depth),
            (Self::Text(0), b'"') => Self::Between,
            (Self::Text(depth), b'"') => Self::Within(depth),
            (Self::Text(depth), _) => Self::Text(depth),
            (Self::Within(depth), b'"') => Self::Text(depth),
            (Self::Within(depth), b'{' | b'[') => Self::Within(depth.saturating_add(1)),
            (Self::Within(..=1), b'}' | b']') => Self::Between,
            (Self::Within(depth), b'}' | b']') => Self::Within(depth.saturating_sub(1)),
            (Self::Within(depth), _) => Self::Within(depth),
            (Self::Between | Self::Word, b'"') => Self::Text(0),
            (Self::Between | Self::Word, b'{' | b'[') => Self::Within(1),
            (Self::Between | Self::Word, b' ' | b'\t' | b'\r' | b'\n') => Self::Between,
            (Self::Between | Self::Word, _) => Self::Word,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ends;

    #[test]
    fn a_document_ends_with_its_last_byte_and_a_word_before_the_next() {
        for (text, at) in [
            ("{}", 2),
            ("[[{}], 1]", 9),
            (r#"{"a": "}", "b\"": "\\"} "#, 23),
            (r#""a\"b" "#, 6),
            ("12 ", 3),
            ("null[", 5),
            ("1\"", 2),
            (" \n\t[]", 5),
            ("é\n", 3),
        ] {
            let mut ends = Ends::Between;
            let found = text.bytes().position(|byte| ends.scan(&[byte]));
            assert_eq!(found.map(|position| position + 1), Some(at), "{text}");
        }
        for text in ["{", "12", "\"a", "[\"]\"", " ", "{\"a\": [}"] {
            assert!(!Ends::Between.scan(text.as_bytes()), "{text}");
        }
    }
}
