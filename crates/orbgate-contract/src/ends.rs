//! Where a JSON document ends, seen byte by byte without reading it.

/// Where a scan is in a text of documents. It knows only brackets and quotes: text that is not JSON ends somewhere,
/// too, and the reader says what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Before a document.
    Between,
    /// In a number, `true`, `false` or `null` that is a document of its own: it ends before the next byte.
    Word,
    /// In brackets: how many are open.
    Within(usize),
    /// In a string, and how many brackets are open; 0 where it is a document of its own.
    Text(usize),
    /// After a `\` in such a string.
    Escape(usize),
}

impl Ends {
    /// Scans the next piece of the text, and says whether a document ends in it.
    pub(crate) fn scan(&mut self, piece: &[u8]) -> bool {
        let mut ends = false;
        for byte in piece {
            let next = self.after(*byte);
            ends |= next == Self::Between && *self != Self::Between;
            // A word ends before the byte that begins the next document.
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
