#![doc = include_str!("../README.md")]

mod codegen;

use core::fmt;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use orbgate::generated::{self, Tables};
use orbgate::policy::{Policy, PolicyFile};

/// Compiles a policy file into the program; call it from a build script.
///
/// `path` is relative to the package's `Cargo.toml`. [`include_policy!`](orbgate::include_policy) includes the
/// engine by the file's name without its last extension, so all files of one build script need different names.
/// Cargo runs the script again when the file changes.
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), orbgate_build::BuildError> {
///     orbgate_build::compile("policy.yaml")
/// }
/// ```
///
/// # Errors
///
/// Returns all errors of the policy as `file:line:column: message`, or why a file couldn't be read or written, or why
/// its name is invalid: another file already has it, or it contains a line break. If `main` returns the error, the
/// build fails and prints it.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script reads files, asks cargo's environment and answers on standard output"
)]
pub fn compile(path: impl AsRef<Path>) -> Result<(), BuildError> {
    let path = path.as_ref();
    let name = Name::of(path)?;
    name.claim(path)?;
    println!("cargo::rerun-if-changed={}", name.path);
    let tables = tables(&name, path)?;
    let Some(directory) = env::var_os("OUT_DIR") else {
        return Err(BuildError("OUT_DIR is not set: this function is for build scripts".to_owned()));
    };
    let output = PathBuf::from(directory).join(name.output());
    fs::write(&output, codegen::expression(&tables))
        .map_err(|error| BuildError(format!("{}: {error}", output.display())))
}

/// The source of the core's module with the built-in engine, generated from a policy file.
///
/// # Errors
///
/// The same as those of [`compile`].
#[doc(hidden)]
pub fn module(path: impl AsRef<Path>) -> Result<String, BuildError> {
    let path = path.as_ref();
    Ok(codegen::module(&tables(&Name::of(path)?, path)?))
}

fn tables(name: &Name<'_>, path: &Path) -> Result<Tables, BuildError> {
    let file = PolicyFile::read(path).map_err(|error| BuildError(format!("{}: {error}", name.path)))?;
    let policy = Policy::from_bytes(file.bytes()).map_err(|error| BuildError(error.in_file(name.path)))?;
    generated::compile(&policy).map_err(|error| BuildError(format!("{}: {error}", name.path)))
}

/// The name of a policy file, valid for cargo and [`include_policy!`](orbgate::include_policy).
struct Name<'p> {
    path: &'p str,
    stem: &'p str,
}

impl<'p> Name<'p> {
    fn of(path: &'p Path) -> Result<Self, BuildError> {
        let text = path.to_str();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        match (text, stem) {
            // A line on standard output is a directive for cargo, so a line break would start another
            // one.
            (Some(path), Some(stem)) if !path.contains(['\n', '\r']) => Ok(Self { path, stem }),
            _ => Err(BuildError(format!(
                "{path:?}: the path of a policy file is UTF-8 without line breaks, and ends in a name"
            ))),
        }
    }

    /// The output file of the tables, in `OUT_DIR`. Dots are part of the name: `api.v1.yaml` differs from
    /// `api.v2.yaml`.
    fn output(&self) -> String {
        format!("{}.orbgate.rs", self.stem)
    }

    /// Reserves the name for this file. Otherwise the tables of another file would silently replace
    /// it.
    #[allow(
        clippy::disallowed_types,
        reason = "a build script remembers what it has compiled; the engine has no part in it"
    )]
    fn claim(&self, path: &Path) -> Result<(), BuildError> {
        static TAKEN: std::sync::Mutex<BTreeMap<String, PathBuf>> = std::sync::Mutex::new(BTreeMap::new());
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        // File systems on Windows and macOS ignore letter case.
        let first = taken.entry(self.stem.to_lowercase()).or_insert_with(|| path.to_owned());
        if first == path {
            return Ok(());
        }
        Err(BuildError(format!(
            "{}: `include_policy!({:?})` is `{}` already: give one of the files another name",
            self.path,
            self.stem,
            first.display()
        )))
    }
}

/// Why a policy file could not be compiled into the program.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError(String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for BuildError {
    /// Human-readable, because cargo prints the error of a build script's `main` with `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.0)
    }
}

impl core::error::Error for BuildError {}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Name, compile};

    fn refusal(path: &str) -> String {
        format!("{:?}", compile(path).unwrap_err())
    }

    #[test]
    fn dots_are_part_of_a_name() {
        for (path, output) in [
            ("policy.yaml", "policy.orbgate.rs"),
            ("a/api.v1.yaml", "api.v1.orbgate.rs"),
            ("a/api.v2.yaml", "api.v2.orbgate.rs"),
            ("plain", "plain.orbgate.rs"),
        ] {
            assert_eq!(Name::of(Path::new(path)).unwrap().output(), output);
        }
    }

    #[test]
    fn two_files_of_one_name_are_refused() {
        let missing = refusal("one/twice.yaml");
        assert!(missing.starts_with("\none/twice.yaml: "), "{missing}");
        assert_eq!(refusal("one/twice.yaml"), missing, "the same file again");
        for second in ["two/twice.yaml", "one/twice.yml", "one/TWICE.yaml"] {
            let stem = Path::new(second).file_stem().unwrap();
            assert_eq!(
                refusal(second),
                format!(
                    "\n{second}: `include_policy!({stem:?})` is `one/twice.yaml` already: \
                     give one of the files another name"
                )
            );
        }
    }

    #[test]
    fn a_name_is_no_directive_of_cargo() {
        for path in ["a\ncargo::rustc-env=B=c.yaml", "a\rb.yaml", "..", ""] {
            let refused = refusal(path);
            assert!(refused.contains("is UTF-8 without line breaks"), "{refused}");
            assert_eq!(refused.lines().count(), 2, "{refused}");
        }
    }
}
