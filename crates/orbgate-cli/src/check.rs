//! `orbgate check`: reports every error in policy files before you use them.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use orbgate::policy::Diagnostic;
use orbgate::{Location, Policy};
use orbgate_analysis::ask::answers::{self, Files, warnings};
use orbgate_token::{ConfigError, DerivedScopes};

use crate::input;
use crate::output::{self, Exit, Stop, WARNING, count, one_line, print_json};
use crate::policy_file::{self, READ_LIMIT};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Policy files to check; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Configuration of the issuers: compares its `derive` with the policies' scopes that begin with `earned:`
    #[arg(long, value_name = "TOKENS", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A file that was read, with its findings.
struct Checked {
    name: String,
    /// `None` for a token configuration.
    result: Result<Option<Policy>, Vec<Diagnostic>>,
    /// For a file without errors, the findings that might be mistakes.
    warnings: Vec<Diagnostic>,
}

/// A token configuration, with the scopes that its issuers derive.
struct Config {
    name: String,
    result: Result<DerivedScopes, Vec<Diagnostic>>,
}

impl Config {
    fn read(path: &Path) -> Result<Self, Stop> {
        let (name, bytes) = (path.display().to_string(), input::read(path, READ_LIMIT).map_err(Stop::Error)?);
        let text = core::str::from_utf8(&bytes).map_err(|_| ConfigError::of_whole("not UTF-8".to_owned()));
        let result = text.and_then(|text| DerivedScopes::from_yaml(text, &name)).map_err(|error| {
            let diagnostics = error.diagnostics().iter().map(|diagnostic| Diagnostic {
                location: diagnostic.location.unwrap_or(Location { line: 1, column: 1 }),
                message: diagnostic.message.clone(),
            });
            diagnostics.collect()
        });
        Ok(Self { name, result })
    }

    /// A policy's scopes that no issuer derives, or only some do.
    fn warnings(&mut self, policy: &Policy) -> Vec<Diagnostic> {
        let Ok(derived) = &mut self.result else {
            return Vec::new();
        };
        let scopes = policy.apis().iter().flat_map(|api| api.scopes());
        diagnostics(derived.lacking(scopes.map(|scope| (scope.name(), scope.location()))))
    }

    /// Its findings, after all policies. Whether a scope is used is only known if each of them was read.
    fn checked(self, is_complete: bool) -> Checked {
        let derived = self.result.as_ref().ok().filter(|_| is_complete);
        let warnings = derived.map(|derived| diagnostics(derived.unused())).unwrap_or_default();
        Checked { name: self.name, result: self.result.map(|_| None), warnings }
    }
}

fn diagnostics(found: Vec<(Location, String)>) -> Vec<Diagnostic> {
    found.into_iter().map(|(location, message)| Diagnostic { location, message }).collect()
}

pub(crate) fn run(arguments: &Arguments, policy: Option<&Path>) -> Result<Exit, Stop> {
    let (mut checked, mut outcome) = (Vec::new(), Exit::Fine);
    let mut config = match &arguments.config {
        Some(path) => Some(Config::read(path)?),
        None => None,
    };
    for path in arguments.files.iter().map(PathBuf::as_path).chain(policy) {
        let name = path.display().to_string();
        let file = match input::read(path, READ_LIMIT) {
            // Continue with the other files.
            Err(message) => {
                output::error(&message);
                outcome = Exit::CouldNotRun;
                continue;
            }
            Ok(bytes) => Checked::new(name, &bytes, config.as_mut()),
        };
        if file.result.is_err() && outcome == Exit::Fine {
            outcome = Exit::Findings;
        }
        match arguments.json {
            true => checked.push(file),
            // For text output, each file is reported as soon as it is checked.
            false => output::print(|out| file.write(out))?,
        }
    }
    let config = config.map(|config| config.checked(outcome == Exit::Fine));
    if config.as_ref().is_some_and(|config| config.result.is_err()) && outcome == Exit::Fine {
        outcome = Exit::Findings;
    }
    if arguments.json {
        let files = checked.iter().chain(&config).map(Checked::answer).collect();
        print_json(&Files { files })?;
    } else if let Some(config) = config {
        output::print(|out| config.write(out))?;
    }
    Ok(outcome)
}

impl Checked {
    fn new(name: String, bytes: &[u8], config: Option<&mut Config>) -> Self {
        let policy = policy_file::parse(bytes);
        let text = String::from_utf8_lossy(bytes);
        let mut warnings = policy.as_ref().map(|policy| warnings(policy, &text)).unwrap_or_default();
        if let (Ok(policy), Some(config)) = (&policy, config) {
            warnings.extend(config.warnings(policy));
        }
        Self { name, warnings, result: policy.map(Some) }
    }

    fn answer(&self) -> answers::Checked<'_> {
        let policy = self.result.as_ref().map(Option::as_ref).map_err(Vec::as_slice);
        answers::Checked::new(&self.name, policy, &self.warnings)
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.result {
            Err(diagnostics) => writeln!(out, "{}", policy_file::in_file(&self.name, diagnostics)),
            Ok(policy) => self.fine(out, policy.as_ref()),
        }
    }

    /// Reports that a file is valid, with its warnings.
    fn fine(&self, out: &mut dyn Write, policy: Option<&Policy>) -> io::Result<()> {
        let name = one_line(&self.name);
        for warning in &self.warnings {
            let message = one_line(&warning.message);
            let location = warning.location;
            writeln!(out, "{name}:{location}: {WARNING}warning:{WARNING:#} {message}")?;
        }
        let Some(policy) = policy else {
            return writeln!(out, "{name}: ok");
        };
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
With `--config`, so is a token configuration: warnings tell of scopes that
begin with `earned:` and that no issuer, or only some, derive, and of those
that no policy uses.
An error of YAML's syntax ends the report.

Examples:
  orbgate check policy.yaml
  orbgate check policy.yaml --json
  orbgate check policies/*.yaml
  orbgate check policy.yaml --config tokens.yaml
  render-policy | orbgate check -

Exit codes:
  0  every file is fine
  1  a file has errors
  2  a file could not be read";
