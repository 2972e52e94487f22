//! The step `msrv`: the published crates build with the oldest Rust that they promise.

use anyhow::{Context as _, Result};

use crate::kit::program::Program;
use crate::kit::project::Project;

pub(crate) fn run(project: &Project) -> Result<()> {
    let version = project.core()?.rust_version.as_ref().context("no `rust-version` is stated")?;
    let version = &format!("{}.{}", version.major, version.minor);
    let install = Program::parse("rustup toolchain install --profile minimal --no-self-update");
    install.arg(version).run()?;
    // A directory of its own: cargo would rebuild everything at each change of the compiler.
    let check = Program::parse("rustup run").arg(version).arg("cargo").arg("check");
    let check = check.arg("--all-features").path("--target-dir", &project.target.join("msrv"));
    project.published().fold(check, |check, package| check.arg("-p").arg(package.name.as_str())).run()
}
