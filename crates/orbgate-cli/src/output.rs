//! Exit codes, standard output and styles.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
pub(crate) use orbgate_analysis::shown::one_line;
use orbgate_analysis::shown::{json, lines};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// The outcome of a command that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Allowed, or no findings.
    Fine,
    /// Denied, or findings.
    Findings,
    /// Something failed, and was already reported.
    CouldNotRun,
}

impl From<Exit> for ExitCode {
    fn from(outcome: Exit) -> Self {
        Self::from(match outcome {
            Exit::Fine => 0,
            Exit::Findings => 1,
            Exit::CouldNotRun => 2,
        })
    }
}

/// Why the command stopped early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Standard output was closed, as in `orbgate table | head`.
    BrokenPipe,
    /// An error message for users.
    Error(String),
    /// The errors of a policy file, one on each line.
    Diagnostics(String),
}

impl Stop {
    /// Reports the error on standard error.
    pub(crate) fn report(self) -> Exit {
        match self {
            Self::BrokenPipe => {}
            Self::Error(message) => error(&message),
            Self::Diagnostics(text) => {
                // There is nowhere else to report an error if standard error is closed.
                let _ = writeln!(anstream::stderr(), "{}", lines(&text));
            }
        }
        Exit::CouldNotRun
    }
}

impl From<io::Error> for Stop {
    /// An error while writing. Errors while reading have a message with the file's name.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Error(format!("cannot write to standard output: {error}")),
        }
    }
}

/// Prints `error: …` on standard error, on one line, because the message might contain a file name.
pub(crate) fn error(message: &str) {
    let message = one_line(message);
    // As above.
    let _ = writeln!(anstream::stderr(), "{ERROR}error:{ERROR:#} {message}");
}

/// Prints a warning, which changes no exit code.
#[cfg(feature = "orbs")]
pub(crate) fn warning(message: &str) {
    let message = one_line(message);
    // As above.
    let _ = writeln!(anstream::stderr(), "{WARNING}warning:{WARNING:#} {message}");
}

/// Prints a sentence on standard error that is no error.
pub(crate) fn note(message: &str) {
    // As above.
    let _ = writeln!(anstream::stderr(), "{}", one_line(message));
}

/// Prints a help text or a usage error. Returns its exit code: 0 for `--help`, 2 for an error.
pub(crate) fn usage(usage: &clap::Error) -> ExitCode {
    match print_usage(usage) {
        Ok(()) if usage.exit_code() == 0 => Exit::Fine.into(),
        _ => Exit::CouldNotRun.into(),
    }
}

fn print_usage(usage: &clap::Error) -> io::Result<()> {
    let mut arguments = std::env::args_os();
    if !arguments.any(|argument| argument.to_string_lossy().contains(char::is_control)) {
        return usage.print();
    }
    // It repeats the arguments between its own styles. Without the styles, control characters can be
    // escaped.
    let text = usage.render().to_string();
    let shown: Vec<_> = text.lines().map(one_line).collect();
    writeln!(anstream::stderr(), "{}", lines(&shown.join("\n")))
}

/// Lines in which no name of a file, scope or api can act as a command to the program that reads
/// the log.
fn harmless(text: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(text) {
        Cow::Borrowed(text) => lines(text),
        Cow::Owned(text) => Cow::Owned(lines(&text).into_owned()),
    }
}

/// Writes to standard output incrementally, because even a short policy can give long output. Styles are written only
/// to a terminal.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Stop> {
    stream(Harmless::new(anstream::stdout().lock()), write)
}

/// Writes an explanation of the output to standard error, incrementally.
pub(crate) fn explain(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    // If standard error is closed, the explanation isn't wanted.
    let _ = stream(Harmless::new(anstream::stderr().lock()), write);
}

/// Writes lines to standard output incrementally, for a page or a spreadsheet. They contain no styles, so searching for
/// styles is skipped.
pub(crate) fn print_page(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Stop> {
    stream(Harmless::new(io::stdout().lock()), write)
}

/// Writes to standard output unchanged and incrementally: the user's own string, or one that is harmless anyway.
pub(crate) fn print_raw(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Stop> {
    stream(io::stdout().lock(), write)
}

pub(crate) fn print_json(answer: &impl Serialize) -> Result<(), Stop> {
    print_raw(|out| {
        write_json(&mut *out, answer)?;
        out.write_all(b"\n")
    })
}

/// Writes JSON on one line that can't act as a command to the program that reads the log.
pub(crate) fn write_json(out: impl Write, answer: &impl Serialize) -> serde_json::Result<()> {
    answer.serialize(&mut Serializer::with_formatter(out, HarmlessJson))
}

/// A line of JSON never starts with `::`, but GitHub's runner obeys `##[name]` anywhere.
struct HarmlessJson;

impl Formatter for HarmlessJson {
    fn write_string_fragment<W>(&mut self, out: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        out.write_all(json(fragment).as_bytes())
    }
}

/// A writer that passes on complete lines after making them harmless.
struct Harmless<W> {
    out: W,
    line: Vec<u8>,
}

impl<W> Harmless<W> {
    const fn new(out: W) -> Self {
        let line = Vec::new();
        Self { out, line }
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(piece);
        if let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.line.split_off(end.saturating_add(1));
            self.out.write_all(harmless(&self.line).as_bytes())?;
            self.line = rest;
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(harmless(&self.line).as_bytes())?;
        self.line.clear();
        self.out.flush()
    }
}

/// The size of the pieces in which output is written, in bytes.
const PIECE: usize = 64 * 1024;

/// A field of a spreadsheet: on one line, and never a formula.
pub(crate) fn cell(field: &str) -> Cow<'_, str> {
    let field = one_line(field);
    match field.trim_start().starts_with(['=', '+', '-', '@']) {
        true => Cow::Owned(format!("'{field}")),
        false => field,
    }
}

/// `1 scope`, `2 scopes`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => match noun.strip_suffix('y') {
            Some(noun) => format!("{number} {noun}ies"),
            None => format!("{number} {noun}s"),
        },
    }
}

fn stream(out: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Stop> {
    let mut out = BufWriter::with_capacity(PIECE, out);
    write(&mut out)?;
    Ok(out.flush()?)
}

pub(crate) const ALLOW: Style = AnsiColor::Green.on_default().bold();
pub(crate) const DENY: Style = AnsiColor::Red.on_default().bold();
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
