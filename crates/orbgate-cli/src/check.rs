//! `orbgate check`: every fault of every file, before it is put to use.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use orbgate::policy::Fault;
use orbgate::{Digest, Engine, Policy};
use serde::Serialize;

use crate::lint::FaultAnswer;
use crate::output::{self, Exit, Stop, WARNING, count, one_line, print_json};
use crate::policy_file;

/// The command as people type it.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Policy files to check; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A file that was read, and what was found in it.
struct Checked {
    name: String,
    policy: Result<Policy, Vec<Fault>>,
}

/// Checks the files.
pub(crate) fn run(arguments: &Arguments, policy: Option<&Path>) -> Result<Exit, Stop> {
    let (mut checked, mut outcome) = (Vec::new(), Exit::Fine);
    for path in arguments.files.iter().map(PathBuf::as_path).chain(policy) {
        let name = path.display().to_string();
        let policy = match policy_file::read(path) {
            // The other files are checked all the same.
            Err(message) => {
                output::error(&message);
                outcome = Exit::CouldNotRun;
                continue;
            }
            Ok(policy) => policy,
        };
        match &policy {
            Err(_) if outcome == Exit::Fine => outcome = Exit::Findings,
            Err(_) => {}
            // What is said to be fine can be put to use.
            Ok(policy) => drop(Engine::new(policy)),
        }
        let file = Checked { name, policy };
        match arguments.json {
            true => checked.push(file),
            // Of many files each is answered when it is done.
            false => output::print(|out| file.write(out))?,
        }
    }
    if arguments.json {
        let files = checked.iter().map(FileAnswer::new).collect();
        print_json(&Answer { files })?;
    }
    Ok(outcome)
}

impl Checked {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.policy {
            Err(faults) => writeln!(out, "{}", policy_file::in_file(&self.name, faults)),
            Ok(policy) => fine(out, &self.name, policy),
        }
    }
}

/// All of it, as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    files: Vec<FileAnswer<'a>>,
}

#[derive(Serialize)]
struct FileAnswer<'a> {
    file: &'a str,
    /// `None` where the file has faults.
    policy: Option<Digest>,
    faults: Vec<FaultAnswer>,
    warnings: Vec<FaultAnswer>,
}

impl<'a> FileAnswer<'a> {
    fn new(checked: &'a Checked) -> Self {
        let answers = |faults: &[Fault]| faults.iter().map(FaultAnswer::new).collect();
        let policy = checked.policy.as_ref().ok();
        Self {
            file: &checked.name,
            policy: policy.map(Policy::digest),
            faults: answers(checked.policy.as_ref().err().map_or(&[], Vec::as_slice)),
            warnings: policy.map_or_else(Vec::new, |policy| answers(&policy.warnings())),
        }
    }
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
    // One that several apis have is one.
    let scopes: HashSet<_> = scopes.map(|scope| scope.name()).collect();
    let (scopes, digest) = (scopes.len(), policy.digest());
    writeln!(
        out,
        "{name}: ok: {}, {}, {digest}",
        count(scopes, "scope"),
        count(routes, "route")
    )
}

const HELP: &str = "\
Every fault is printed, as FILE:LINE:COLUMN: message. Lines that start with
`warning:` tell of routes that overlap under different scopes or orbs, and of
literals like `:id`: they are legal, and change no exit code. The file of
`--policy` is checked as well. A fault of YAML's syntax ends the report.

Examples:
  orbgate check policy.yaml
  orbgate check policy.yaml --json
  orbgate check policies/*.yaml
  render-policy | orbgate check -

Exit codes:
  0  every file is fine
  1  a file has faults
  2  a file could not be read";
