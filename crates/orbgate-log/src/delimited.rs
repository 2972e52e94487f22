//! Parses rows of delimited values (RFC 4180). A missing closing quote affects only one row.
//!
//! Our own code, because the crate `csv` accepts all input without errors: after a stray quote, it reads everything up
//! to the next quote or the end as one value.

use std::borrow::Cow;

use crate::{LINE_LIMIT, TOO_LONG};

/// The maximum number of lines of a quoted value.
pub const MOST_LINES: usize = 100;

/// A row: how much of the input it takes, and its error.
///
/// A quoted value can contain delimiters, line endings and doubled quotes. If a quote isn't closed properly, it is
/// unknown how many rows it would include. So the row ends with the line in which that quote opens and is an error, and
/// the next line starts a new row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelimitedRow {
    /// The length of the row in bytes, including the end of its last line.
    pub bytes: usize,
    /// The number of lines in the row.
    pub lines: usize,
    /// The row's error, if there is one, with its line counted from 1 within the row.
    pub diagnostic: Option<(Diagnostic, usize)>,
}

/// Why a row is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnostic {
    /// The input ends within quotes.
    OpenAtEnd,
    /// A quoted value has more than [`MOST_LINES`] lines.
    TooManyLines,
    /// The closing quote is followed by neither a delimiter nor the end of the line.
    TextAfterQuote,
    /// The row is longer than [`LINE_LIMIT`] bytes.
    TooLong,
}

impl Diagnostic {
    /// The message for a row; `line` is the line in the whole input.
    #[must_use]
    pub fn message(self, line: usize) -> String {
        match self {
            Self::OpenAtEnd => format!("line {line}: a quote opens, and nothing closes it"),
            Self::TooManyLines => {
                format!("line {line}: a quote opens, and does not close within {MOST_LINES} lines")
            }
            Self::TextAfterQuote => {
                format!("line {line}: a quote opens, and text comes after the quote that closes it")
            }
            Self::TooLong => format!("line {line}: {TOO_LONG}"),
        }
    }
}

impl DelimitedRow {
    /// Parses the row at the start of complete lines, and its values. `is_end` means that no lines follow. Returns
    /// nothing if further lines are needed to find the end of the row, or if there is no line.
    pub fn parse<'a>(text: &'a [u8], delimiter: u8, is_end: bool, values: &mut Vec<Cow<'a, [u8]>>) -> Option<Self> {
        values.clear();
        if text.is_empty() {
            return None;
        }
        let mut row = Scan { text, at: 0, lines: 1 };
        let diagnostic = loop {
            let piece = match row.rest().first() {
                Some(b'"') => row.quoted(delimiter, is_end),
                _ => row.bare(delimiter, is_end),
            };
            match piece {
                Ok((value, end)) => {
                    values.push(value);
                    if end == End::Row {
                        break (row.at > LINE_LIMIT.saturating_add(1)).then_some((Diagnostic::TooLong, 1));
                    }
                }
                Err(Stop::More) => return None,
                Err(Stop::Diagnostic(diagnostic)) => {
                    let rest = row.rest();
                    let line = rest.iter().position(|byte| *byte == b'\n');
                    row.take(line.map_or(rest.len(), |end| end.saturating_add(1)));
                    break Some((diagnostic, row.lines));
                }
            }
        };
        Some(Self { bytes: row.at, lines: row.lines, diagnostic })
    }
}

/// The state of parsing a row.
struct Scan<'a> {
    text: &'a [u8],
    /// The start of the next value.
    at: usize,
    /// The number of lines that have started.
    lines: usize,
}

/// What follows a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Value,
    Row,
}

/// Why there is no value.
enum Stop {
    More,
    Diagnostic(Diagnostic),
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// A value without quotes around it. Quotes within it are part of the value.
    fn bare(&mut self, delimiter: u8, is_end: bool) -> Result<(Cow<'a, [u8]>, End), Stop> {
        let rest = self.rest();
        let length = rest.iter().position(|byte| *byte == delimiter || *byte == b'\n');
        let (length, end) = match length {
            Some(length) if rest.get(length) == Some(&delimiter) => (length, End::Value),
            Some(length) => (length, End::Row),
            None if is_end => (rest.len(), End::Row),
            None => return Err(self.more()),
        };
        let value = rest.get(..length).unwrap_or_default();
        let value = match end {
            End::Row => value.strip_suffix(b"\r").unwrap_or(value),
            End::Value => value,
        };
        self.take(length.saturating_add(1));
        Ok((Cow::Borrowed(value), end))
    }

    /// A value in quotes.
    fn quoted(&mut self, delimiter: u8, is_end: bool) -> Result<(Cow<'a, [u8]>, End), Stop> {
        let inner = self.rest().get(1..).unwrap_or_default();
        let mut is_doubled = false;
        let mut ends_of_lines = 0_usize;
        let mut bytes = inner.iter().enumerate();
        let length = loop {
            match bytes.next() {
                None if is_end => return Err(Stop::Diagnostic(Diagnostic::OpenAtEnd)),
                None => return Err(self.more()),
                Some((_, b'\n')) => {
                    ends_of_lines = ends_of_lines.saturating_add(1);
                    if ends_of_lines >= MOST_LINES {
                        return Err(Stop::Diagnostic(Diagnostic::TooManyLines));
                    }
                }
                Some((at, b'"')) => match inner.get(at.saturating_add(1)) {
                    Some(b'"') => {
                        is_doubled = true;
                        bytes.next();
                    }
                    None if !is_end => return Err(self.more()),
                    _ => break at,
                },
                Some(_) => {}
            }
        };
        let after = inner.get(length.saturating_add(1)..).unwrap_or_default();
        let (more, end) = match after {
            [byte, ..] if *byte == delimiter => (1, End::Value),
            [b'\n', ..] => (1, End::Row),
            [b'\r', b'\n', ..] => (2, End::Row),
            [] | [b'\r'] if is_end => (after.len(), End::Row),
            [] | [b'\r'] => return Err(self.more()),
            _ => return Err(Stop::Diagnostic(Diagnostic::TextAfterQuote)),
        };
        let value = inner.get(..length).unwrap_or_default();
        self.lines = self.lines.saturating_add(ends_of_lines);
        self.take(length.saturating_add(2).saturating_add(more));
        Ok((if is_doubled { undoubled(value) } else { Cow::Borrowed(value) }, end))
    }

    fn take(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.text.len());
    }

    /// More input is needed, unless the row already exceeds the limit.
    const fn more(&self) -> Stop {
        if self.text.len() > LINE_LIMIT { Stop::Diagnostic(Diagnostic::TooLong) } else { Stop::More }
    }
}

/// A value with its doubled quotes reduced to one.
fn undoubled(value: &[u8]) -> Cow<'_, [u8]> {
    let mut before = 0;
    let once = value.iter().filter(|byte| {
        before = if **byte == b'"' { before ^ 1 } else { 0 };
        **byte != b'"' || before == 1
    });
    Cow::Owned(once.copied().collect())
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "small numbers of tests")]
mod tests {
    use super::*;
    use crate::expected::Expected;

    /// The rows of a string, each as its values or its error.
    fn rows(text: &str) -> Vec<String> {
        let (mut rest, mut line, mut rows) = (text.as_bytes(), 1, Vec::new());
        let mut values = Vec::new();
        while let Some(row) = DelimitedRow::parse(rest, b',', true, &mut values) {
            let shown = values.iter().map(|value| String::from_utf8_lossy(value));
            rows.push(match row.diagnostic {
                Some((diagnostic, at)) => diagnostic.message(line + at - 1),
                None => shown.collect::<Vec<_>>().join("|"),
            });
            line += row.lines;
            rest = &rest[row.bytes..];
        }
        assert!(rest.is_empty(), "{rest:?}");
        rows
    }

    #[test]
    fn rows_are_those_of_rfc_4180() {
        for (text, expected) in [
            ("", &[][..]),
            ("a,b\n", &["a|b"]),
            ("a,b\r\nc,d", &["a|b", "c|d"]),
            ("\n,\n", &["", "|"]),
            ("\"a,\"\"b\"\"\nc\",d\r\ne,f\n", &["a,\"b\"\nc|d", "e|f"]),
            ("\"\",\"\"\"\"\n", &["|\""]),
            ("a\"b\",c d\"\n", &["a\"b\"|c d\""]),
            ("a\rb,c\n", &["a\rb|c"]),
        ] {
            assert_eq!(rows(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_stray_quote_takes_no_other_row_with_it() {
        let mut expected = Expected::default();
        for text in [
            "a,b\nc,\"d\ne,f\ng,h\n",
            "a,b\nc,\"",
            "a,b\nc,\"d\"e\nf,g\n",
            "a,b\nc,\"d\ne,f\ng,\"h\"\n",
            // The unclosed quote is in the second line of its row.
            "\"a\nb\",\"c\nd,e\n",
        ] {
            expected.add(text, rows(text));
        }
        let long = |lines| format!("\"{}\"\nlast", "x\n".repeat(lines));
        assert_eq!(rows(&long(MOST_LINES - 1)).len(), 2);
        let too_long = rows(&long(MOST_LINES));
        assert_eq!(too_long.len(), MOST_LINES + 2);
        expected.add("a quote of too many lines", &too_long[..1]);
        expected.keep(env!("CARGO_MANIFEST_DIR"), "rows: stray quotes");
    }

    #[test]
    fn a_row_that_is_too_long_is_an_error() {
        let vast = "x".repeat(LINE_LIMIT);
        let parsed = rows(&format!("{vast}\n{vast}x\n\"{vast}\n"));
        let message = "longer than 16 MiB";
        assert_eq!(parsed[0].len(), LINE_LIMIT);
        assert_eq!(parsed[1], format!("line 2: {message}"));
        let mut expected = Expected::default();
        expected.add("an open quote after a row that is too long", &parsed[2..]);
        expected.keep(env!("CARGO_MANIFEST_DIR"), "rows: too long");
        let mut values = Vec::new();
        let open = format!("\"{vast}\nrest\n");
        let row = DelimitedRow::parse(open.as_bytes(), b',', false, &mut values).unwrap();
        assert_eq!((row.diagnostic, row.bytes), (Some((Diagnostic::TooLong, 1)), LINE_LIMIT + 2));
    }

    proptest::proptest! {
        /// Quoted values are read back unchanged, however the lines are split into pieces.
        #[test]
        fn what_is_quoted_is_read_back(table: Vec<[String; 2]>, cut: proptest::sample::Index) {
            let quoted = |value: &String| format!("\"{}\"", value.replace('"', "\"\""));
            let lines = table.iter().map(|row| row.each_ref().map(quoted).join(",") + "\n");
            let text: String = lines.collect();
            let expected: Vec<_> = table.iter().map(|row| row.join("|")).collect();
            proptest::prop_assert_eq!(rows(&text), expected);
            let ends: Vec<_> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
            if !ends.is_empty() {
                let first = &text.as_bytes()[..ends[cut.index(ends.len())]];
                let (mut some, mut whole) = (Vec::new(), Vec::new());
                let row = DelimitedRow::parse(first, b',', false, &mut some);
                let same = DelimitedRow::parse(text.as_bytes(), b',', true, &mut whole);
                proptest::prop_assert!(row.is_none() || (row == same && some == whole));
            }
        }

        /// Any bytes are rows, and every line belongs to exactly one row.
        #[test]
        fn every_line_is_in_a_row(text in "[ab\",\r\n]{0,60}") {
            let (mut rest, mut lines) = (text.as_bytes(), 0);
            let mut values = Vec::new();
            while let Some(row) = DelimitedRow::parse(rest, b',', true, &mut values) {
                proptest::prop_assert!(row.bytes > 0 && (row.diagnostic.is_some() || !values.is_empty()));
                let taken = &rest[..row.bytes];
                proptest::prop_assert_eq!(row.lines, taken.split_inclusive(|byte| *byte == b'\n').count());
                lines += row.lines;
                rest = &rest[row.bytes..];
            }
            proptest::prop_assert_eq!(lines, text.split_inclusive('\n').count());
        }
    }
}
