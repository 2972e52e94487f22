//! `orbgate check`: reports every error in policy files before you use them.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use orbgate::Policy;
use orbgate::policy::Diagnostic;
use orbgate_analysis::ask::answers::{self, Files, warnings};

use crate::input;
use crate::output::{self, Exit, Stop, WARNING, count, one_line, print_json};
use crate::policy_file::{self, READ_LIMIT};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Policy files to check; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A file that was read, with its findings.
struct Checked {
    name: String,
    policy: Result<Policy, Vec<Diagnostic>>,
    /// For a file without errors, the lint findings that might be mistakes.
    warnings: Vec<Diagnostic>,
}

pub(crate) fn run(arguments: &Arguments, policy: Option<&Path>) -> Result<Exit, Stop> {
    let (mut checked, mut outcome) = (Vec::new(), Exit::Fine);
    for path in arguments.files.iter().map(PathBuf::as_path).chain(policy) {
        let name = path.display().to_string();
        let file = match input::read(path, READ_LIMIT) {
            // Continue with the other files.
            Err(message) => {
                output::error(&message);
                outcome = Exit::CouldNotRun;
                continue;
            }
            Ok(bytes) => Checked::new(name, &bytes),
        };
        if file.policy.is_err() && outcome == Exit::Fine {
            outcome = Exit::Findings;
        }
        match arguments.json {
            true => checked.push(file),
            // For text output, each file is reported as soon as it is checked.
            false => output::print(|out| file.write(out))?,
        }
    }
    if arguments.json {
        let files = checked.iter().map(Checked::answer).collect();
        print_json(&Files { files })?;
    }
    Ok(outcome)
}

impl Checked {
    fn new(name: String, bytes: &[u8]) -> Self {
        let policy = policy_file::parse(bytes);
        let text = String::from_utf8_lossy(bytes);
        let warnings = policy.as_ref().map(|policy| warnings(policy, &text));
        Self { name, warnings: warnings.unwrap_or_default(), policy }
    }

    fn answer(&self) -> answers::Checked<'_> {
        let policy = self.policy.as_ref().map_err(Vec::as_slice);
        answers::Checked::new(&self.name, policy, &self.warnings)
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.policy {
            Err(diagnostics) => writeln!(out, "{}", policy_file::in_file(&self.name, diagnostics)),
            Ok(policy) => self.fine(out, policy),
        }
    }

    /// Reports that a file is valid, with its warnings.
    fn fine(&self, out: &mut dyn Write, policy: &Policy) -> io::Result<()> {
        let name = one_line(&self.name);
        for warning in &self.warnings {
            let message = one_line(&warning.message);
            let location = warning.location;
            writeln!(out, "{name}:{location}: {WARNING}warning:{WARNING:#} {message}")?;
        }
        let scopes = policy.apis().iter().flat_map(|api| api.scopes());
        let routes: usize = scopes.clone().map(|scope| scope.routes().len()).sum();
        // A scope of several apis counts once.
        let scopes: HashSet<_> = scopes.map(|scope| scope.name()).collect();
        let (scopes, digest) = (scopes.len(), policy.digest());
        writeln!(out, "{name}: ok: {}, {}, {digest}", count(scopes, "scope"), count(routes, "route"))
    }
}

const HELP: &str = "\
Every error is printed as FILE:LINE:COLUMN: message. Warnings tell of routes
that overlap under different scopes or orbs, and of literals like `:id`. They
are legal and change no exit code. The file of `--policy` is checked as well.
An error of YAML's syntax ends the report.

Examples:
  orbgate check policy.yaml
  orbgate check policy.yaml --json
  orbgate check policies/*.yaml
  render-policy | orbgate check -

Exit codes:
  0  every file is fine
  1  a file has errors
  2  a file could not be read";
