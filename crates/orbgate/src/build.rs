//! For build scripts: a policy file becomes `static` tables in the program.

use core::fmt;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::codegen;
use crate::compile::compile as compile_policy;
use crate::policy::{Policy, PolicyFile};

/// Compiles a policy file into the program; call it from a build script.
///
/// `path` is relative to the package's `Cargo.toml`. [`include_policy!`](crate::include_policy) brings
/// the engine in under the file's name without its extension. Cargo runs the script again when the
/// file changes.
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), orbgate::build::BuildError> {
///     orbgate::build::compile("policy.yaml")
/// }
/// ```
///
/// # Errors
///
/// The policy's faults as `file:line:column: message`, all of them, or why a file could not be read
/// or written. Returned from `main`, the error fails the build and is shown there.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script reads files, asks cargo's environment and answers on standard output"
)]
pub fn compile(path: impl AsRef<Path>) -> Result<(), BuildError> {
    let path = path.as_ref();
    println!("cargo::rerun-if-changed={}", path.display());
    let file = PolicyFile::read(path)
        .map_err(|error| BuildError(format!("{}: {error}", path.display())))?;
    let policy = Policy::from_bytes(file.bytes())
        .map_err(|error| BuildError(error.in_file(&path.display().to_string()).to_string()))?;
    let Some(directory) = env::var_os("OUT_DIR") else {
        return Err(BuildError(
            "OUT_DIR is not set: this function is for build scripts".to_owned(),
        ));
    };
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    let mut output = PathBuf::from(directory).join(stem);
    output.set_extension("orbgate.rs");
    let tables = compile_policy(&policy)
        .map_err(|error| BuildError(format!("{}: {error}", path.display())))?;
    fs::write(&output, codegen::engine(&tables))
        .map_err(|error| BuildError(format!("{}: {error}", output.display())))
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
    /// As a person reads it: cargo shows what `main` of a build script returns with `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.0)
    }
}

impl core::error::Error for BuildError {}
