//! Reading policy files, and the engine that every command asks.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use orbgate::Place;
use orbgate::policy::Fault;
use orbgate::{Engine, Policy};

use crate::args::STANDARD_INPUT;
use crate::output::{Stop, one_line};

/// The core refuses a policy over 8 MiB; what is read beyond only lets it see that there is more,
/// even where a character is cut in half.
const READ_LIMIT: u64 = 8 * 1024 * 1024 + 4;

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
    let mut bytes = Vec::new();
    if path == Path::new(STANDARD_INPUT) {
        let content = io::stdin().lock().take(READ_LIMIT).read_to_end(&mut bytes);
        content.map_err(|error| format!("cannot read standard input: {error}"))?;
    } else {
        let content =
            File::open(path).and_then(|file| file.take(READ_LIMIT).read_to_end(&mut bytes));
        content.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    }
    let cut = u64::try_from(bytes.len()).is_ok_and(|length| length == READ_LIMIT);
    let text = match str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = valid_part(&bytes, error);
            // The last character of a file that is too large anyway may have been cut in half.
            if !(cut && error.error_len().is_none()) {
                return Ok(Err(vec![not_utf8(valid)]));
            }
            valid
        }
    };
    Ok(Policy::from_yaml(text).map_err(|error| error.faults().to_vec()))
}

/// Faults as lines `file:line:column: message`.
pub(crate) fn in_file(name: &str, faults: &[Fault]) -> String {
    let line = |fault: &Fault| one_line(&format!("{name}:{fault}")).into_owned();
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The characters before the first byte that is not UTF-8.
fn valid_part(bytes: &[u8], error: core::str::Utf8Error) -> &str {
    bytes
        .get(..error.valid_up_to())
        .and_then(|part| str::from_utf8(part).ok())
        .unwrap_or_default()
}

/// The fault of a file whose UTF-8 ends after `valid`.
fn not_utf8(valid: &str) -> Fault {
    let valid = valid.strip_prefix('\u{feff}').unwrap_or(valid);
    let count = |characters: usize| u32::try_from(characters.saturating_add(1)).unwrap_or(u32::MAX);
    let line = count(valid.matches('\n').count());
    let column = count(
        valid
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count(),
    );
    Fault {
        place: Place { line, column },
        message: "not UTF-8".to_owned(),
    }
}
