//! Reads policy files, and provides the engine for every command.

use std::path::Path;

use orbgate::Location;
use orbgate::policy::Diagnostic;
use orbgate::{Engine, Policy};
use orbgate_openapi as openapi;

use crate::input;
use crate::output::{Stop, one_line};

/// The core rejects a policy over its limit; one additional byte lets it notice that there is more.
pub(crate) const READ_LIMIT: u64 = Policy::MAX_BYTES.saturating_add(1);

/// An engine, and the name of its policy file.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    engine: Engine,
    /// The file's name as given; `None` for the built-in policy.
    name: Option<String>,
}

impl Source {
    /// The engine of `--policy FILE`, or the built-in one.
    pub(crate) fn load(file: Option<&Path>) -> Result<Self, Stop> {
        let Some(path) = file else {
            let engine = Engine::external().clone();
            return Ok(Self { engine, name: None });
        };
        let name = path.display().to_string();
        match read(path).map_err(Stop::Error)? {
            Ok(policy) => Ok(Self::new(name, &policy)),
            Err(diagnostics) => Err(Stop::Diagnostics(in_file(&name, &diagnostics))),
        }
    }

    pub(crate) fn new(name: String, policy: &Policy) -> Self {
        Self { engine: Engine::new(policy), name: Some(name) }
    }

    pub(crate) const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// A location in the policy file, for example `policy.yaml:12:9`.
    pub(crate) fn at(&self, location: Location) -> String {
        match &self.name {
            None => format!("external.yaml:{location} (built in)"),
            Some(name) => format!("{name}:{location}"),
        }
    }

    /// The argument of `--policy`, if there is one.
    pub(crate) fn path(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The name of the policy file, for programs.
    pub(crate) fn file(&self) -> &str {
        self.name.as_deref().unwrap_or("external.yaml")
    }

    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("external.yaml (built in)")
    }
}

/// Reads a policy file, or standard input for `-`: the policy or its errors. The error explains why it
/// can't be read.
pub(crate) fn read(path: &Path) -> Result<Result<Policy, Vec<Diagnostic>>, String> {
    let bytes = input::read(path, READ_LIMIT)?;
    Ok(parse(&bytes))
}

/// Parses a policy, or returns its errors.
pub(crate) fn parse(bytes: &[u8]) -> Result<Policy, Vec<Diagnostic>> {
    Policy::from_bytes(bytes).map_err(|error| diagnostics_of(bytes, error.diagnostics()))
}

/// The errors of an invalid policy. If it is an OpenAPI document, there is only one error.
pub(crate) fn diagnostics_of(bytes: &[u8], diagnostics: &[Diagnostic]) -> Vec<Diagnostic> {
    if !openapi::is_document(bytes) {
        return diagnostics.to_vec();
    }
    // Further errors as a policy wouldn't help.
    let message = "this is an OpenAPI document, not a policy: `orbgate openapi import` makes a policy of it, and `openapi check` takes it first";
    vec![Diagnostic { location: Location { line: 1, column: 1 }, message: message.to_owned() }]
}

/// Errors as lines `file:line:column: message`.
pub(crate) fn in_file(name: &str, diagnostics: &[Diagnostic]) -> String {
    let line = |diagnostic: &Diagnostic| one_line(&format!("{name}:{diagnostic}")).into_owned();
    diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
}
