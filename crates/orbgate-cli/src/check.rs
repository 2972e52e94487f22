//! `orbgate check`: every fault of every file, before it is put to use.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use orbgate::{Engine, Policy};

use crate::output::{self, Exit, Stop, WARNING, one_line};
use crate::policy_file;

/// The command as people type it.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Policy files to check; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
}

/// Checks the files.
pub(crate) fn run(arguments: &Arguments, policy: Option<&Path>) -> Result<Exit, Stop> {
    let mut outcome = Exit::Fine;
    for path in arguments.files.iter().map(PathBuf::as_path).chain(policy) {
        let name = path.display().to_string();
        match policy_file::read(path) {
            // The other files are checked all the same.
            Err(message) => {
                output::error(&message);
                outcome = Exit::CouldNotRun;
            }
            Ok(Err(faults)) => {
                output::print(|out| writeln!(out, "{}", policy_file::in_file(&name, &faults)))?;
                if outcome == Exit::Fine {
                    outcome = Exit::Findings;
                }
            }
            Ok(Ok(policy)) => {
                // What is said to be fine can be put to use.
                let _ = Engine::new(&policy);
                output::print(|out| fine(out, &name, &policy))?;
            }
        }
    }
    Ok(outcome)
}

/// Says that a file is fine, and what may surprise in it all the same.
fn fine(out: &mut dyn Write, name: &str, policy: &Policy) -> io::Result<()> {
    let name = one_line(name);
    for warning in policy.warnings() {
        let warning = warning.to_string();
        let warning = one_line(&warning);
        writeln!(out, "{WARNING}warning:{WARNING:#} {name}:{warning}")?;
    }
    let scopes = policy.apis().iter().flat_map(|api| api.scopes());
    let routes: usize = scopes.clone().map(|scope| scope.routes().len()).sum();
    let (scopes, digest) = (scopes.count(), policy.digest());
    writeln!(
        out,
        "{name}: ok: {}, {}, {digest}",
        count(scopes, "scope"),
        count(routes, "route")
    )
}

/// `1 scope`, `2 scopes`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

const HELP: &str = "\
Every fault is printed, as FILE:LINE:COLUMN: message. Lines that start with
`warning:` tell of routes that overlap under different scopes or orbs, and of
literals like `:id`: they are legal, and change no exit code. The file of
`--policy` is checked as well.

Examples:
  orbgate check policy.yaml
  orbgate check policies/*.yaml
  render-policy | orbgate check -

Exit codes:
  0  every file is fine
  1  a file has faults
  2  a file could not be read";
