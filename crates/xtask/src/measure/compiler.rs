//! The compiler of the programs whose instructions are counted: each makes other instructions.
//!
//! The programs are linked statically against musl, which comes with the compiler: glibc picks its
//! `memcpy` by the processor, and another version of it counts otherwise.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;

/// A compiler, and what it compiles for.
#[derive(Debug)]
pub(crate) struct Compiler {
    /// `1.95.0`
    pub(crate) version: String,
    /// What runs it: nothing, or `rustup run 1.95.0 `.
    run: String,
    /// `x86_64-unknown-linux-musl`
    target: &'static str,
}

impl Compiler {
    /// The compiler in use, which may be of any version.
    pub(crate) fn in_use(target: &'static str) -> Result<Self> {
        Ok(Self {
            version: version(&Program::parse("rustc --version").read()?)?,
            run: String::new(),
            target,
        })
    }

    /// The compiler of this version: the one in use, or else rustup's.
    pub(crate) fn of_version(version: &str, target: &'static str) -> Result<Self> {
        let in_use = Self::in_use(target)?;
        if in_use.version == version {
            return Ok(in_use);
        }
        Ok(Self {
            version: version.to_owned(),
            run: format!("rustup run {version} "),
            target,
        })
    }

    /// Sets up the compiler and its musl.
    pub(crate) fn set_up(&self) -> Result<StepResult> {
        let Self {
            version,
            run,
            target,
        } = self;
        if run.is_empty() {
            return setup::target(target);
        }
        if setup::has_target(&format!("{run}rustc"), target) {
            return Ok(StepResult::Passed);
        }
        if !Program::parse("rustup --version").succeeds() {
            let what = format!(
                "counting wants Rust {version}, and rustup, which would install it, is missing"
            );
            return Ok(StepResult::Skipped(what));
        }
        let install = "rustup toolchain install --profile minimal --no-self-update --target";
        Program::parse(&format!("{install} {target} {version}")).run()?;
        Ok(StepResult::Passed)
    }

    /// Builds the programs of benches/ that are counted, in the directory of those of `cargo xtask bench`, and gives the directory
    /// of the programs.
    pub(crate) fn build(&self, project: &Project) -> Result<PathBuf> {
        self.build_with(&project.target.join("bench"), "")
    }

    /// Builds it with flags for the compiler, in a directory of its own.
    pub(crate) fn build_with(&self, home: &Path, flags: &str) -> Result<PathBuf> {
        let Self { run, target, .. } = self;
        let build = "cargo build --locked --release --no-default-features --features routers --manifest-path benches/Cargo.toml";
        let programs = "--bin paths --bin start --bin start-without";
        let build = Program::parse(&format!("{run}{build} --target {target} {programs}"));
        let build = build.path("--target-dir", home);
        // The compiler's own links for any processor; what it needs of musl it has, too.
        let linker = format!("CARGO_TARGET_{}_LINKER", target.replace('-', "_"));
        let build = match target.starts_with(std::env::consts::ARCH) {
            true => build,
            false => build.env(&linker.to_uppercase(), "rust-lld"),
        };
        match flags {
            "" => build,
            flags => build.env("RUSTFLAGS", flags),
        }
        .run()?;
        Ok(home.join(target).join("release"))
    }
}

/// The `1.95.0` of `rustc 1.95.0 (…)`.
fn version(rustc: &str) -> Result<String> {
    let version = rustc.split_whitespace().nth(1);
    Ok(version
        .context("`rustc --version` says no version")?
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_says_its_version() {
        let version = version("rustc 1.95.0 (59807616e 2026-04-14)");
        assert_eq!(version.unwrap(), "1.95.0");
    }
}
