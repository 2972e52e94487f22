//! `orbgate validate`: run requests and run records, held to their contract in constant memory.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use indicatif::ProgressBar;
use orbgate_contract::{Checker, Contract, Finding, Mode};

use crate::args::Documents;
use crate::check::count;
use crate::input::{Input, cannot_read};
use crate::output::{self, Outcome, Stop, one_line};
use crate::progress::{self, Screen};

/// Files are read in pieces of this size, in bytes: small, because the findings of a piece are kept until it is
/// done, and those of `{}` are a hundred times as long.
const PIECE: usize = 32 * 1024;

/// Validates the files.
pub(crate) fn run(documents: &Documents) -> Result<Outcome, Stop> {
    let contract = Contract::from(documents.contract);
    let mode = if documents.lenient {
        Mode::Lenient
    } else {
        Mode::Strict
    };
    let mut outcome = Outcome::Fine;
    for path in &documents.files {
        match validate(path, contract, mode) {
            Ok(Outcome::Findings) if outcome == Outcome::Fine => outcome = Outcome::Findings,
            Ok(_) => {}
            // The other files are validated all the same.
            Err(Stop::Error(message)) => {
                output::error(&message);
                outcome = Outcome::CouldNotRun;
            }
            Err(stop) => return Err(stop),
        }
    }
    Ok(outcome)
}

fn validate(path: &Path, contract: Contract, mode: Mode) -> Result<Outcome, Stop> {
    let input = Input::open(path).map_err(Stop::Error)?;
    let bar = progress::bar(input.size);
    let ended = validate_input(path, input, &bar, contract, mode);
    bar.finish_and_clear();
    let (documents, outcome) = ended?;
    if outcome == Outcome::Fine {
        let noun = match contract {
            Contract::RunRequest => "run request",
            Contract::RunRecord => "run record",
        };
        let fine = format!("{}: ok: {}", path.display(), count(documents, noun));
        // A courtesy: standard output has the findings and nothing else.
        let _ = writeln!(anstream::stderr(), "{}", one_line(&fine));
    }
    Ok(outcome)
}

/// How many documents there are, and whether something is wrong with them.
fn validate_input(
    path: &Path,
    mut input: Input,
    bar: &ProgressBar,
    contract: Contract,
    mode: Mode,
) -> Result<(usize, Outcome), Stop> {
    let mut checker = Checker::new(contract, mode);
    let mut piece = vec![0; PIECE];
    let mut outcome = Outcome::Fine;
    let mut tell = |findings: Vec<Finding>| {
        if !findings.is_empty() {
            outcome = Outcome::Findings;
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
    let line = |finding| format!("{}\n", one_line(&format!("{name}:{finding}")));
    let lines: String = findings.iter().map(line).collect();
    let mut screen = Screen::beside(bar);
    screen.write_all(lines.as_bytes())?;
    Ok(screen.flush()?)
}
