//! `orbgate validate`: checks run requests and run records against the specification, in constant
//! memory.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use indicatif::ProgressBar;
use orbgate_analysis::shown::lines;
use orbgate_contract::{Checker, Contract, Finding, Mode};

use crate::input::{Input, cannot_read};
use crate::output::{self, Exit, Stop, count, one_line};
use crate::progress::{self, Screen};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Type of the documents
    pub(crate) contract: Document,

    /// Files of JSON documents; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Require only the members that serving needs, not those for an audit
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Document {
    /// Request of a client
    RunRequest,
    /// Response of the endpoint
    RunRecord,
}

impl From<Document> for Contract {
    fn from(document: Document) -> Self {
        match document {
            Document::RunRequest => Self::RunRequest,
            Document::RunRecord => Self::RunRecord,
        }
    }
}

/// Files are read in pieces of this size, in bytes. The size is small, because all findings of a piece are kept
/// until it is done, and the findings of `{}` are a hundred times as long as the input.
const PIECE: usize = 32 * 1024;

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let contract = Contract::from(arguments.contract);
    let mode = if arguments.lenient { Mode::Lenient } else { Mode::Strict };
    let mut outcome = Exit::Fine;
    for path in &arguments.files {
        match validate(path, contract, mode) {
            Ok(Exit::Findings) if outcome == Exit::Fine => outcome = Exit::Findings,
            Ok(_) => {}
            // Continue with the other files.
            Err(Stop::Error(message)) => {
                output::error(&message);
                outcome = Exit::CouldNotRun;
            }
            Err(stop) => return Err(stop),
        }
    }
    Ok(outcome)
}

fn validate(path: &Path, contract: Contract, mode: Mode) -> Result<Exit, Stop> {
    let input = Input::open(path).map_err(Stop::Error)?;
    let bar = progress::bar(input.size);
    let ended = validate_input(path, input, &bar, contract, mode);
    bar.finish_and_clear();
    let (documents, outcome) = ended?;
    if outcome == Exit::Fine {
        let noun = match contract {
            Contract::RunRequest => "run request",
            Contract::RunRecord => "run record",
        };
        let fine = format!("{}: ok: {}", path.display(), count(documents, noun));
        // On standard error, because standard output contains only findings.
        output::explain(|err| writeln!(err, "{}", one_line(&fine)));
    }
    Ok(outcome)
}

/// The number of documents, and whether there are findings.
fn validate_input(
    path: &Path,
    mut input: Input,
    bar: &ProgressBar,
    contract: Contract,
    mode: Mode,
) -> Result<(usize, Exit), Stop> {
    let mut checker = Checker::new(contract, mode);
    let mut piece = vec![0; PIECE];
    let mut outcome = Exit::Fine;
    let mut tell = |findings: Vec<Finding>| {
        if !findings.is_empty() {
            outcome = Exit::Findings;
        }
        print(path, &findings, bar)
    };
    while !checker.is_done() {
        let length = match input.reader.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Stop::Error(cannot_read(&input.name, &error))),
        };
        bar.inc(u64::try_from(length).unwrap_or(0));
        tell(checker.push(piece.get(..length).unwrap_or_default()))?;
    }
    let report = checker.finish();
    tell(report.findings)?;
    Ok((report.documents, outcome))
}

fn print(path: &Path, findings: &[Finding], bar: &ProgressBar) -> Result<(), Stop> {
    let name = path.display();
    let line = |finding| format!("{}\n", lines(&one_line(&format!("{name}:{finding}"))));
    let lines: String = findings.iter().map(line).collect();
    let mut screen = Screen::beside(bar);
    screen.write_all(lines.as_bytes())?;
    Ok(screen.flush()?)
}

const HELP: &str = "\
A file holds one JSON document or more, one after the other or one on each
line. Every finding is printed, as FILE:LINE: /pointer: message; the pointer
of a missing member names the member, and that of a whole document is left
out.

By default, every member that the specification lists is required, null is
accepted only for nullable members, and members that must agree are compared.
With --lenient, a member that has a default or may be null may be absent, and
nothing is compared. Members that the specification does not list are never
findings.

Examples:
  orbgate validate run-request body.json
  orbgate validate run-record --lenient records.jsonl
  curl … | orbgate validate run-record -

Exit codes:
  0  no findings
  1  findings, or input that is not JSON
  2  a file could not be read";
