//! Reading policy files, and the engine that every command asks.

use std::path::Path;

use orbgate::Place;
use orbgate::policy::Fault;
use orbgate::{Engine, Policy};

use crate::input;
use crate::output::{Stop, one_line};

/// The core refuses a policy over its limit; one byte beyond lets it see that there is more.
const READ_LIMIT: u64 = Policy::MAX_BYTES.saturating_add(1);

/// An engine, and how its policy file is called.
#[derive(Debug)]
pub(crate) enum Source {
    /// The policy compiled into the command.
    BuiltIn,
    /// A file's.
    File {
        /// The file's name, as given.
        name: String,
        /// Its policy, compiled.
        engine: Box<Engine>,
    },
}

impl Source {
    /// The engine of `--policy FILE`, or the built-in one.
    pub(crate) fn load(file: Option<&Path>) -> Result<Self, Stop> {
        let Some(path) = file else {
            return Ok(Self::BuiltIn);
        };
        let name = path.display().to_string();
        match read(path).map_err(Stop::Error)? {
            Ok(policy) => Ok(Self::File {
                name,
                engine: Box::new(Engine::new(&policy)),
            }),
            Err(faults) => Err(Stop::Faults(in_file(&name, &faults))),
        }
    }

    /// The engine.
    pub(crate) fn engine(&self) -> &Engine {
        match self {
            Self::BuiltIn => Engine::external(),
            Self::File { engine, .. } => engine,
        }
    }

    /// A place in the policy file, as in `policy.yaml:12:9`.
    pub(crate) fn at(&self, place: Place) -> String {
        match self {
            Self::BuiltIn => format!("external.yaml:{place} (built in)"),
            Self::File { name, .. } => format!("{name}:{place}"),
        }
    }

    /// The policy file's name alone, for programs.
    pub(crate) fn file(&self) -> &str {
        match self {
            Self::BuiltIn => "external.yaml",
            Self::File { name, .. } => name,
        }
    }

    /// The policy file's name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::BuiltIn => "external.yaml (built in)",
            Self::File { name, .. } => name,
        }
    }
}

/// Reads a policy file, or standard input for `-`: the policy or its faults; the error says why there is
/// nothing to read.
pub(crate) fn read(path: &Path) -> Result<Result<Policy, Vec<Fault>>, String> {
    let bytes = input::read(path, READ_LIMIT)?;
    Ok(Policy::from_bytes(&bytes).map_err(|error| error.faults().to_vec()))
}

/// Faults as lines `file:line:column: message`.
pub(crate) fn in_file(name: &str, faults: &[Fault]) -> String {
    let line = |fault: &Fault| one_line(&format!("{name}:{fault}")).into_owned();
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}
