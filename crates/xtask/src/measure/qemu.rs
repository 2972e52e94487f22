//! Counting the instructions of aarch64 with a plugin of qemu's.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;

const PLUGIN: &str = "crates/xtask/src/measure/qemu_count.c";

/// Sets up qemu and what compiles the plugin.
pub(crate) fn set_up() -> Result<StepResult> {
    if !cfg!(target_os = "linux") {
        let why = "instructions of aarch64 are counted on Linux only";
        return Ok(StepResult::Skipped(why.to_owned()));
    }
    match setup::apt("qemu-aarch64", "qemu-user")? {
        StepResult::Passed => setup::apt("cc", "gcc libc6-dev"),
        skipped @ StepResult::Skipped(_) => Ok(skipped),
    }
}

/// Compiles the plugin for the qemu of this machine.
pub(crate) fn plugin(project: &Project) -> Result<PathBuf> {
    let home = project.target.join("xtask");
    fs::create_dir_all(&home)?;
    let plugin = home.join("qemu-count.so");
    let qemu = Program::parse("qemu-aarch64 --version").read()?;
    let compile = Program::parse("cc -Wall -Wextra -Werror -O2 -shared -fPIC");
    let compile = compile.arg(format!("-DINTERFACE={}", interface(&qemu)?));
    compile.path("-o", &plugin).arg(PLUGIN).run()?;
    Ok(plugin)
}

/// The version of the plugins' interface that a qemu takes.
fn interface(version: &str) -> Result<u32> {
    let words = version.split_whitespace();
    let major = words.skip_while(|word| *word != "version").nth(1);
    let major = major.and_then(|version| version.split('.').next());
    let major: u32 = major
        .context("`qemu-aarch64 --version` says no version")?
        .parse()?;
    Ok(if major < 9 { 1 } else { 2 })
}

/// Runs a program: what it prints, and the instructions between its two calls of `sched_yield`.
pub(crate) fn count(plugin: &Path, program: &Path, arguments: &[&str]) -> Result<(String, f64)> {
    let qemu = Program::parse("qemu-aarch64").path("-plugin", plugin);
    let qemu = qemu.arg(program.display().to_string());
    let run = arguments
        .iter()
        .fold(qemu, |run, argument| run.arg(*argument));
    let output = run.output()?;
    let instructions = output.stderr.trim();
    let instructions = instructions
        .parse()
        .with_context(|| format!("`{run}` printed: {instructions}"))?;
    Ok((output.stdout, instructions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_is_that_of_the_version() {
        let debian = "qemu-aarch64 version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\nCopyright";
        assert_eq!(interface(debian).unwrap(), 1);
        assert_eq!(interface("qemu-aarch64 version 10.0.2\n").unwrap(), 2);
        assert!(interface("qemu").is_err());
    }
}
