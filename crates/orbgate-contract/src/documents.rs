//! A text's documents, one after the other, also where the text comes piece by piece.

use core::mem;

use serde_json::{Deserializer, Value};

use crate::check::check;
use crate::contract::{Contract, Mode, Report};
use crate::finding::Finding;

/// Checks a text that comes piece by piece, as [`Contract::check`] checks one that is there: in memory for its
/// largest document, in time for its bytes.
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
    /// What has come and is not checked: the beginning of a document.
    buffer: Vec<u8>,
    /// The buffer is read when it is so long.
    wait: usize,
    at_start: bool,
}

impl Checker {
    /// Nothing has come.
    #[must_use]
    pub const fn new(contract: Contract, mode: Mode) -> Self {
        Self {
            reading: Reading::new(contract, mode, usize::MAX),
            buffer: Vec::new(),
            // A byte order mark, if there is one.
            wait: BYTE_ORDER_MARK.len(),
            at_start: true,
        }
    }

    /// Takes the next piece of the text; the findings are those of the documents that it completes.
    pub fn push(&mut self, piece: &[u8]) -> Vec<Finding> {
        if !self.is_done() {
            self.buffer.extend_from_slice(piece);
        }
        if self.buffer.len() >= self.wait {
            self.read(More::MayCome);
        }
        mem::take(&mut self.reading.findings)
    }

    /// Whether nothing more is checked, because the text cannot be read.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.reading.done
    }

    /// The text is at its end: how many documents were checked, and the findings that are left.
    #[must_use]
    pub fn finish(mut self) -> Report {
        if !self.is_done() {
            self.read(More::Never);
        }
        self.reading.report()
    }

    fn read(&mut self, more: More) {
        let mut start = 0;
        if mem::take(&mut self.at_start) && self.buffer.starts_with(BYTE_ORDER_MARK) {
            start = BYTE_ORDER_MARK.len();
        }
        let text = self.buffer.get(start..).unwrap_or_default();
        let passed = self.reading.read(text, more).saturating_add(start);
        self.buffer.drain(..passed.min(self.buffer.len()));
        // The beginning of a document is read again when twice as much is there: no byte is read too often.
        self.wait = self.buffer.len().saturating_mul(2);
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Checks the documents of a text that is there, up to this many findings.
pub(crate) fn check_text(contract: Contract, text: &[u8], mode: Mode, most: usize) -> Report {
    let mut reading = Reading::new(contract, mode, most);
    reading.read(
        text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text),
        More::Never,
    );
    reading.report()
}

/// What comes behind a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    MayCome,
    Never,
}

/// How far a text has been read.
#[derive(Clone, Debug)]
struct Reading {
    contract: Contract,
    mode: Mode,
    most: usize,
    documents: usize,
    findings: Vec<Finding>,
    /// Where the next document begins.
    place: Position,
    /// Nothing more is read.
    done: bool,
}

/// A place in a text: its line, and the characters before it on that line.
#[derive(Clone, Copy, Debug)]
struct Position {
    line: usize,
    characters: usize,
}

impl Position {
    /// The place after this text.
    fn after(self, text: &str) -> Self {
        let newlines = text.bytes().filter(|byte| *byte == b'\n').count();
        match text.rsplit_once('\n') {
            None => Self {
                line: self.line,
                characters: self.characters.saturating_add(text.chars().count()),
            },
            Some((_, rest)) => Self {
                line: self.line.saturating_add(newlines),
                characters: rest.chars().count(),
            },
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
            place: Position {
                line: 1,
                characters: 0,
            },
            done: false,
        }
    }

    /// Reads the documents at the beginning of a text. Says how many bytes were read.
    fn read(&mut self, text: &[u8], more: More) -> usize {
        let (text, is_text) = match str::from_utf8(text) {
            Ok(text) => (text, true),
            Err(error) => {
                let valid = text.get(..error.valid_up_to()).unwrap_or_default();
                let cut = error.error_len().is_none() && more == More::MayCome;
                (str::from_utf8(valid).unwrap_or_default(), cut)
            }
        };
        let begin = self.place;
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
                // More may come of it.
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
            let line = self.place.after(rest).line;
            self.stop(Finding::whole(line, "not UTF-8".to_owned()));
        }
        start
    }

    fn document(&mut self, text: &str, value: &Value) {
        self.documents = self.documents.saturating_add(1);
        let left = self.most.saturating_sub(self.findings.len());
        for mut finding in check(self.contract, text, value, self.mode, left) {
            let before = self.place.line.saturating_sub(1);
            finding.line = finding.line.saturating_add(before);
            self.findings.push(finding);
        }
        self.done = self.findings.len() >= self.most;
    }

    fn pass(&mut self, text: &str, start: usize, end: usize) {
        self.place = self.place.after(text.get(start..end).unwrap_or_default());
    }

    fn stop(&mut self, finding: Finding) {
        self.findings.push(finding);
        self.done = true;
    }

    fn report(mut self) -> Report {
        if self.documents == 0 && !self.done {
            self.stop(Finding::whole(1, "no JSON document".to_owned()));
        }
        Report {
            documents: self.documents,
            findings: self.findings,
        }
    }
}

/// Whether a value does not say itself where it ends, as `1`, which may become `12`.
const fn is_open(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(_) | Value::Number(_))
}

/// Whether what cannot be read is the number that the text ends in: a number out of range comes back into it with an
/// exponent below zero.
fn is_in_number(error: &serde_json::Error, text: &str) -> bool {
    let mut lines = text.split('\n').skip(error.line().saturating_sub(1));
    let line = lines.next().unwrap_or_default();
    let rest = line.as_bytes().get(error.column().saturating_sub(1)..);
    let of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    lines.next().is_none() && rest.is_some_and(|rest| rest.iter().all(of_number))
}

/// What cannot be read, in the reader's words, and at which character of its line.
fn unreadable(error: &serde_json::Error, text: &str, begin: Position) -> Finding {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    let message = message.replace("EOF while parsing", "the text ends within");
    let lines = error.line().saturating_sub(1);
    let line = text.split('\n').nth(lines).unwrap_or_default().as_bytes();
    let before = line.get(..error.column()).unwrap_or(line);
    let mut column = String::from_utf8_lossy(before).chars().count();
    if lines == 0 {
        column = column.saturating_add(begin.characters);
    }
    let column = column.max(1);
    Finding::whole(
        begin.line.saturating_add(lines),
        format!("cannot be read as JSON: {message} at column {column}"),
    )
}
