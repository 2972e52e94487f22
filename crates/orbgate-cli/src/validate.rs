//! `orbgate validate`: run requests and run records, held to their contract.

use std::io::Write as _;
use std::path::Path;

use orbgate_contract::{Contract, Mode};

use crate::args::Documents;
use crate::check::count;
use crate::input;
use crate::output::{self, Outcome, Stop, one_line};

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
    let text = input::read(path, u64::MAX).map_err(Stop::Error)?;
    let report = contract.check(&text, mode);
    let name = path.display().to_string();
    if report.findings.is_empty() {
        let noun = match contract {
            Contract::RunRequest => "run request",
            Contract::RunRecord => "run record",
        };
        // A courtesy: standard output has the findings and nothing else.
        let fine = format!("{name}: ok: {}", count(report.documents, noun));
        let _ = writeln!(anstream::stderr(), "{}", one_line(&fine));
        return Ok(Outcome::Fine);
    }
    output::print(|out| {
        report.findings.iter().try_for_each(|finding| {
            let line = format!("{name}:{finding}");
            writeln!(out, "{}", one_line(&line))
        })
    })?;
    Ok(Outcome::Findings)
}
