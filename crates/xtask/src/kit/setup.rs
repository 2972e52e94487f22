//! Setting up what a machine with only the language toolchains lacks.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;

/// Installs Debian's packages where a program of theirs is missing, if this user may: where the program fails with `--version` added.
pub(crate) fn apt(program: &str, packages: &str) -> Result<()> {
    let probe = format!("{program} --version");
    let there = || Program::parse(&probe).succeeds();
    if !there() {
        let install = Program::parse("sh crates/xtask/src/kit/apt.sh").arg(&probe);
        let _ = install.words(packages).run();
    }
    ensure!(there(), "`{program}` is missing: apt-get install {packages}");
    Ok(())
}

/// Sets up a part of the toolchain that rustup's minimal profile lacks.
pub(crate) fn component(command: &str, component: &str) -> Result<()> {
    let there = || Program::parse(&format!("cargo {command} --version")).succeeds();
    by_rustup(there, &format!("component add {component}"))
}

/// Installs the standard library of a target where the compiler in use lacks it.
pub(crate) fn target(target: &str) -> Result<()> {
    by_rustup(|| has_target("rustc", target), &format!("target add {target}"))
}

fn by_rustup(there: impl Fn() -> bool, add: &str) -> Result<()> {
    if !there() && Program::parse("rustup --version").succeeds() {
        Program::parse(&format!("rustup {add}")).run()?;
    }
    ensure!(there(), "missing, and there is no rustup: rustup {add}");
    Ok(())
}

/// Whether a compiler has the standard library of a target.
pub(crate) fn has_target(rustc: &str, target: &str) -> bool {
    let print = Program::parse(rustc).arg("--print").arg("target-libdir");
    let libraries = print.arg("--target").arg(target).read();
    libraries.is_ok_and(|path| Path::new(path.trim()).exists())
}

/// A command of cargo's that a crate brings, `cargo-NAME`: built below target/ where it is not there yet.
pub(crate) fn subcommand(project: &Project, name: &str) -> Result<Program> {
    let home = project.target.join("xtask").join(name);
    let tool = home.join("bin").join(format!("cargo-{name}"));
    let command = || Program::at(&tool).arg(name);
    if !command().arg("--version").succeeds() {
        println!("cargo-{name} is missing; building it takes some minutes");
        let install = Program::parse("cargo install --locked").arg(format!("cargo-{name}"));
        install.path("--root", &home).run()?;
    }
    Ok(command())
}
