//! Checks a sequence of documents, even if the input arrives in pieces.

use core::mem;

use serde_json::{Deserializer, Value};

use crate::check::check;
use crate::contract::{Contract, Finding, Mode, Report};

/// Checks input that arrives in pieces, as [`Contract::check`] checks complete input. Memory is proportional to the
/// largest document, and time to the number of bytes.
///
/// ```
/// use orbgate_contract::{Checker, Contract, Mode};
///
/// let mut checker = Checker::new(Contract::RunRequest, Mode::Strict);
/// assert!(checker.push(br#"{"prompt": "one", "stre"#).is_empty());
/// let findings = checker.push(br#"am": 1, "allowBonusOrbsUse": false} {"prompt":"#);
/// assert_eq!(findings[0].to_string(), "1: /stream: must be a boolean, not an integer");
/// let report = checker.finish();
/// assert_eq!(report.documents, 1);
/// assert!(report.findings[0].message.starts_with("cannot be read as JSON: the text ends"));
/// ```
#[derive(Clone, Debug)]
pub struct Checker {
    reading: Reading,
    /// Input that isn't checked yet: the start of a document.
    buffer: Vec<u8>,
    /// How far that start was scanned.
    ends: Ends,
    /// If the buffer reaches this length, it is parsed even if no document ends in it, because it
    /// might not be JSON.
    wait: usize,
    at_start: bool,
    /// How many bytes were parsed, including repetitions.
    #[cfg(test)]
    work: usize,
}

impl Checker {
    /// A new check, without input.
    #[must_use]
    pub const fn new(contract: Contract, mode: Mode) -> Self {
        Self {
            reading: Reading::new(contract, mode, usize::MAX),
            buffer: Vec::new(),
            ends: Ends::Between,
            wait: 0,
            at_start: true,
            #[cfg(test)]
            work: 0,
        }
    }

    /// Adds the next piece of input. Returns the findings of the documents that it completes.
    ///
    /// An object, an array or a string is complete with its last byte. A number, `true`, `false` or `null` as a
    /// document is complete when another byte follows.
    pub fn push(&mut self, piece: &[u8]) -> Vec<Finding> {
        if !self.is_done() {
            self.buffer.extend_from_slice(piece);
            self.look(piece.len());
        }
        mem::take(&mut self.reading.findings)
    }

    /// Whether checking has stopped, because the input isn't valid JSON.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.reading.done
    }

    /// Ends the input. Returns the number of documents that were checked, and the remaining
    /// findings.
    #[must_use]
    pub fn finish(mut self) -> Report {
        if !self.is_done() {
            self.start();
            self.read(More::Never);
        }
        self.reading.report()
    }

    /// Scans the newest bytes of the buffer, and parses the buffer if a document ends in them.
    fn look(&mut self, mut new: usize) {
        if self.at_start {
            if BYTE_ORDER_MARK.starts_with(&self.buffer) {
                // The byte-order mark, or a part of it.
                return;
            }
            self.start();
            new = self.buffer.len();
        }
        let old = self.buffer.len().saturating_sub(new);
        let ends = self.ends.scan(self.buffer.get(old..).unwrap_or_default());
        if ends || self.buffer.len() >= self.wait {
            self.read(More::MayCome);
        }
    }

    /// Skips a byte order mark.
    fn start(&mut self) {
        if mem::take(&mut self.at_start) && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
    }

    fn read(&mut self, more: More) {
        #[cfg(test)]
        {
            self.work = self.work.saturating_add(self.buffer.len());
        }
        let passed = self.reading.read(&self.buffer, more);
        self.buffer.drain(..passed.min(self.buffer.len()));
        // The rest started in the last piece, or is parsed again only after it has doubled, so no byte is parsed too
        // often.
        self.wait = self.buffer.len().saturating_mul(2);
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Checks all documents of complete input, up to this many findings.
pub(crate) fn check_text(contract: Contract, text: &[u8], mode: Mode, most: usize) -> Report {
    let mut reading = Reading::new(contract, mode, most);
    reading.read(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text), More::Never);
    reading.report()
}

/// What follows the input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    MayCome,
    Never,
}

/// How far the input has been read.
#[derive(Clone, Debug)]
struct Reading {
    contract: Contract,
    mode: Mode,
    most: usize,
    documents: usize,
    findings: Vec<Finding>,
    /// The start of the next document.
    location: Position,
    /// Whether reading has stopped.
    done: bool,
}

/// A position in the input: its line, and the number of characters before it on that line.
#[derive(Clone, Copy, Debug)]
struct Position {
    line: usize,
    characters: usize,
}

impl Position {
    /// The position after this string.
    fn after(self, text: &str) -> Self {
        let newlines = text.bytes().filter(|byte| *byte == b'\n').count();
        match text.rsplit_once('\n') {
            None => Self { line: self.line, characters: self.characters.saturating_add(text.chars().count()) },
            Some((_, rest)) => Self { line: self.line.saturating_add(newlines), characters: rest.chars().count() },
        }
    }
}

impl Reading {
    const fn new(contract: Contract, mode: Mode, most: usize) -> Self {
        Self {
            contract,
            mode,
            most,
            documents: 0,
            findings: Vec::new(),
            location: Position { line: 1, characters: 0 },
            done: false,
        }
    }

    /// Reads the documents at the start of the input. Returns the number of bytes that were read.
    fn read(&mut self, text: &[u8], more: More) -> usize {
        let (text, is_text) = match str::from_utf8(text) {
            Ok(text) => (text, true),
            Err(error) => {
                let valid = text.get(..error.valid_up_to()).unwrap_or_default();
                let cut = error.error_len().is_none() && more == More::MayCome;
                (str::from_utf8(valid).unwrap_or_default(), cut)
            }
        };
        let begin = self.location;
        let is_whole = more == More::Never && is_text;
        let mut documents = Deserializer::from_str(text).into_iter::<Value>();
        let mut start = 0;
        loop {
            let document = documents.next();
            let end = documents.byte_offset();
            match document {
                None => {
                    self.pass(text, start, end);
                    start = end;
                    break;
                }
                // More of it might follow.
                Some(Ok(value)) if !is_whole && end == text.len() && is_open(&value) => break,
                Some(Err(error)) if !is_whole && (error.is_eof() || is_in_number(&error, text)) => {
                    break;
                }
                Some(Ok(value)) => {
                    self.document(text.get(start..end).unwrap_or_default(), &value);
                    self.pass(text, start, end);
                    start = end;
                }
                Some(Err(error)) => self.stop(unreadable(&error, text, begin)),
            }
            if self.done {
                return text.len();
            }
        }
        if !is_text {
            let rest = text.get(start..).unwrap_or_default();
            let line = self.location.after(rest).line;
            self.stop(Finding::whole(line, "not UTF-8".to_owned()));
        }
        start
    }

    fn document(&mut self, text: &str, value: &Value) {
        self.documents = self.documents.saturating_add(1);
        let left = self.most.saturating_sub(self.findings.len());
        for mut finding in check(self.contract, text, value, self.mode, left) {
            let before = self.location.line.saturating_sub(1);
            finding.line = finding.line.saturating_add(before);
            self.findings.push(finding);
        }
        self.done = self.findings.len() >= self.most;
    }

    fn pass(&mut self, text: &str, start: usize, end: usize) {
        self.location = self.location.after(text.get(start..end).unwrap_or_default());
    }

    fn stop(&mut self, finding: Finding) {
        self.findings.push(finding);
        self.done = true;
    }

    fn report(mut self) -> Report {
        if self.documents == 0 && !self.done {
            self.stop(Finding::whole(1, "no JSON document".to_owned()));
        }
        Report { documents: self.documents, findings: self.findings }
    }
}

/// Whether a value could continue: `1` might become `12`.
const fn is_open(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(_) | Value::Number(_))
}

/// Whether the error is in the number at the end of the input. A negative exponent might bring a number that is out of
/// range back into range.
fn is_in_number(error: &serde_json::Error, text: &str) -> bool {
    let mut lines = text.split('\n').skip(error.line().saturating_sub(1));
    let line = lines.next().unwrap_or_default();
    let rest = line.as_bytes().get(error.column().saturating_sub(1)..);
    let of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    lines.next().is_none() && rest.is_some_and(|rest| rest.iter().all(of_number))
}

/// A parse error in the parser's words, with its column.
fn unreadable(error: &serde_json::Error, text: &str, begin: Position) -> Finding {
    let message = error.to_string();
    let location = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&location).unwrap_or(&message);
    let message = message.replace("EOF while parsing", "the text ends within");
    let lines = error.line().saturating_sub(1);
    let line = text.split('\n').nth(lines).unwrap_or_default().as_bytes();
    let before = line.get(..error.column()).unwrap_or(line);
    let mut column = String::from_utf8_lossy(before).chars().count();
    if lines == 0 {
        column = column.saturating_add(begin.characters);
    }
    let column = column.max(1);
    Finding::whole(begin.line.saturating_add(lines), format!("cannot be read as JSON: {message} at column {column}"))
}

/// The state of a scan through a sequence of documents. It only knows brackets and quotes. Invalid JSON also ends
/// somewhere, and the parser then reports the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
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
    fn scan(&mut self, piece: &[u8]) -> bool {
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
    use super::{Checker, Ends};
    use crate::contract::{Contract, Mode};

    const TEXTS: &[&str] = &[
        r#"{"prompt": "a", "stream": true}"#,
        r#"{"prompt": "\\\"}]", "stream": [1, {"a": null}], "allowBonusOrbsUse": "no"}"#,
        "[[], {}, \"é\u{1f6cd}\", 1e5]",
        "\"a \\u00e9 \\\" text\"",
        "\u{feff}{}",
        "17 ",
        "-0.5e3\n",
        "1e400 ",
        "null\n",
        "true\t",
        "nonsense\n",
        "{]",
        "]",
    ];

    #[test]
    fn a_document_is_answered_when_it_is_whole_wherever_it_is_cut() {
        for text in TEXTS {
            let whole = Contract::RunRequest.check(text.as_bytes(), Mode::Strict);
            assert_ne!(whole.findings, [], "{text}");
            for cut in 0..=text.len() {
                let mut checker = Checker::new(Contract::RunRequest, Mode::Strict);
                let (one, other) = text.as_bytes().split_at(cut);
                let mut findings = checker.push(one);
                findings.extend(checker.push(other));
                assert_eq!(findings, whole.findings, "{text} cut at {cut}");
            }
            let mut checker = Checker::new(Contract::RunRequest, Mode::Strict);
            let bytes = text.as_bytes().iter();
            let findings: Vec<_> = bytes.flat_map(|byte| checker.push(&[*byte])).collect();
            assert_eq!(findings, whole.findings, "{text} byte by byte");
        }
    }

    #[test]
    fn every_document_of_a_stream_is_answered_before_the_next_comes() {
        let mut checker = Checker::new(Contract::RunRequest, Mode::Strict);
        let documents = TEXTS.iter().filter(|text| text.starts_with(['{', '[', '"'])).take(4);
        for (line, text) in (1..).zip(documents) {
            let (last, before) = text.as_bytes().split_last().unwrap();
            assert_eq!(checker.push(before), [], "{text}");
            let findings = checker.push(&[*last]);
            assert!(findings.iter().all(|finding| finding.line == line) && !findings.is_empty());
            assert_eq!(checker.push(b"\n"), []);
        }
    }

    /// Counted instead of timed: every byte is parsed at most four times, for pieces of any size.
    #[test]
    fn the_work_is_linear_in_the_bytes() {
        let long = format!("{{\"prompt\": \"{}\"}}\n", "a".repeat(20_000));
        let deep = format!("[{}]\n", vec!["{\"a\": []}"; 3_000].join(","));
        for text in [
            "{}\n".repeat(5_000),
            "1 ".repeat(5_000),
            "\n".repeat(5_000),
            long.repeat(3),
            deep.repeat(3),
            format!("{{}}{long}{{}}{deep}"),
            "[".repeat(5_000),
            "\0".repeat(5_000),
        ] {
            for size in [1, 2, 7, 1_000, text.len()] {
                let mut checker = Checker::new(Contract::RunRequest, Mode::Lenient);
                for piece in text.as_bytes().chunks(size) {
                    checker.push(piece);
                }
                let (work, most) = (checker.work, text.len().saturating_mul(4));
                assert!(work <= most, "{work} > {most}, in pieces of {size}");
            }
        }
    }

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
            let end = text.bytes().position(|byte| ends.scan(&[byte]));
            assert_eq!(end.map(|position| position + 1), Some(at), "{text}");
        }
        for text in ["{", "12", "\"a", "[\"]\"", " ", "{\"a\": [}"] {
            assert!(!Ends::Between.scan(text.as_bytes()), "{text}");
        }
    }
}
