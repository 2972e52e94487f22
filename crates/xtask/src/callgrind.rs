//! Counting instructions with valgrind's callgrind, of programs that count the same on any machine.
//!
//! The programs are linked statically against musl, which comes with the compiler: glibc picks its
//! `memcpy` by the processor, and another version of it counts otherwise. valgrind shows them a
//! processor with AVX2 and without AVX-512 and SHA instructions, whatever the machine has, as long as it has AVX2.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::program::Program;
use crate::project::Project;
use crate::setup;
use crate::test::StepResult;

const TARGET: &str = "x86_64-unknown-linux-musl";

/// A compiler, set up to build what is counted.
#[derive(Debug)]
pub(crate) struct Compiler {
    /// `1.95.0`
    pub(crate) version: String,
    /// What runs it: nothing, or `rustup run 1.95.0 `.
    run: String,
}

impl Compiler {
    /// The compiler in use, which may be of any version.
    pub(crate) fn in_use() -> Result<Self> {
        Ok(Self {
            version: version(&Program::parse("rustc --version").read()?)?,
            run: String::new(),
        })
    }

    /// The compiler of this version: the one in use, or else rustup's.
    pub(crate) fn of_version(version: &str) -> Result<Self> {
        let in_use = Self::in_use()?;
        if in_use.version == version {
            return Ok(in_use);
        }
        Ok(Self {
            version: version.to_owned(),
            run: format!("rustup run {version} "),
        })
    }

    /// Sets up the compiler, its musl, and valgrind.
    pub(crate) fn set_up(&self) -> Result<StepResult> {
        if let Some(why) = unable(fs::read_to_string("/proc/cpuinfo").ok().as_deref()) {
            return Ok(StepResult::Skipped(why));
        }
        let compiler = if self.run.is_empty() {
            setup::target(TARGET)?
        } else {
            self.install()?
        };
        match compiler {
            StepResult::Passed => setup::apt("valgrind", "valgrind"),
            skipped @ StepResult::Skipped(_) => Ok(skipped),
        }
    }

    fn install(&self) -> Result<StepResult> {
        let Self { version, run } = self;
        if setup::has_target(&format!("{run}rustc"), TARGET) {
            return Ok(StepResult::Passed);
        }
        if !Program::parse("rustup --version").succeeds() {
            let what = format!(
                "counting wants Rust {version}, and rustup, which would install it, is missing"
            );
            return Ok(StepResult::Skipped(what));
        }
        let install = "rustup toolchain install --profile minimal --no-self-update --target";
        Program::parse(&format!("{install} {TARGET} {version}")).run()?;
        Ok(StepResult::Passed)
    }

    /// Builds the programs of benches/ that are counted, beside those of `cargo xtask bench`, and gives the directory
    /// of the programs.
    pub(crate) fn build(&self, project: &Project) -> Result<PathBuf> {
        self.build_with(&project.target.join("bench"), "")
    }

    /// Builds it with flags for the compiler, in a directory of its own.
    pub(crate) fn build_with(&self, target: &Path, flags: &str) -> Result<PathBuf> {
        let run = &self.run;
        let build = "cargo build --locked --release --no-default-features --manifest-path benches/Cargo.toml";
        let programs = "--bin paths --bin start --bin start-without";
        let build = Program::parse(&format!("{run}{build} --target {TARGET} {programs}"));
        let build = build.path("--target-dir", target);
        match flags {
            "" => build,
            flags => build.env("RUSTFLAGS", flags),
        }
        .run()?;
        Ok(target.join(TARGET).join("release"))
    }
}

/// The `1.95.0` of `rustc 1.95.0 (…)`.
fn version(rustc: &str) -> Result<String> {
    let version = rustc.split_whitespace().nth(1);
    Ok(version
        .context("`rustc --version` says no version")?
        .to_owned())
}

/// Why this machine does not count as others do, if so.
fn unable(processor: Option<&str>) -> Option<String> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Some("instructions are counted on x86-64 Linux only".to_owned());
    }
    let has_avx2 = processor.is_some_and(|text| text.split_whitespace().any(|flag| flag == "avx2"));
    (!has_avx2).then(|| "instructions are counted where the processor has AVX2 only".to_owned())
}

/// Runs a program under callgrind: what it prints, and the instructions of all of it or of one function
/// (a pattern of its name).
pub(crate) fn count(
    project: &Project,
    program: &Path,
    arguments: &[&str],
    function: Option<&str>,
) -> Result<(String, f64)> {
    let profile = project.target.join("xtask").join("callgrind.out");
    if let Some(directory) = profile.parent() {
        fs::create_dir_all(directory)?;
    }
    let option = format!("--callgrind-out-file={}", profile.display());
    let valgrind = Program::parse("valgrind --quiet --tool=callgrind").arg(option);
    let valgrind = match function {
        Some(function) => valgrind.arg(format!("--toggle-collect={function}")),
        None => valgrind,
    };
    let valgrind = valgrind.arg(program.display().to_string());
    let run = arguments
        .iter()
        .fold(valgrind, |run, argument| run.arg(*argument));
    let printed = run.read()?;
    let profile = fs::read_to_string(&profile).context("callgrind's profile")?;
    Ok((printed, total(&profile)?))
}

/// The number at the end of a profile.
fn total(profile: &str) -> Result<f64> {
    let totals = profile
        .lines()
        .find_map(|line| line.strip_prefix("totals: "));
    let totals = totals.context("callgrind's profile has no `totals:`")?;
    Ok(totals.trim().parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_says_its_version() {
        let version = version("rustc 1.95.0 (59807616e 2026-04-14)");
        assert_eq!(version.unwrap(), "1.95.0");
    }

    #[test]
    fn a_profile_ends_with_its_total() {
        let profile = "events: Ir\nfn=(1) x\n12 3\n\ntotals: 351796\n";
        assert_eq!(total(profile).unwrap().to_string(), "351796");
        assert!(total("events: Ir\n").is_err());
    }

    #[test]
    fn a_processor_that_counts_otherwise_is_refused() {
        let flags =
            |flags: &str| unable(Some(&format!("processor : 0\nflags : fpu {flags} sse2\n")));
        assert!(flags("avx").is_some());
        assert!(unable(None).is_some());
        if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            assert_eq!(flags("avx2"), None);
        }
    }
}
