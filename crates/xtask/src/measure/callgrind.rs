//! Counting the instructions of x86-64 with valgrind's callgrind.
//!
//! On every machine with AVX2, valgrind shows programs the same processor: with AVX2, without AVX-512 and SHA instructions.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;

/// Sets up valgrind, where this machine counts as others do.
pub(crate) fn set_up() -> Result<StepResult> {
    match unable(fs::read_to_string("/proc/cpuinfo").ok().as_deref()) {
        Some(why) => Ok(StepResult::Skipped(why)),
        None => setup::apt("valgrind", "valgrind"),
    }
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
