//! Counting the instructions of a processor with AVX-512, which valgrind does not know: the program `paths` has
//! itself run step by step (benches/src/ptrace.rs).

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::gate::{Count, rounded};
use crate::program::Program;
use crate::skipped;

/// How the names of these counts begin.
const KIND: &str = "avx512/";

/// Counts the decisions of the program `paths`, which stands in this directory. Where the processor has no AVX-512,
/// its counts stay as they are listed.
pub(crate) fn count(programs: &Path, listed: &[Count]) -> Result<Vec<Count>> {
    if !is_in(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()) {
        let kept = kept(listed);
        let paths = kept.len();
        skipped::note(&format!(
            "{KIND}…: {paths} paths not counted, because this processor has no AVX-512"
        ))?;
        return Ok(kept);
    }
    let printed = Program::at(&programs.join("paths")).arg("step").read()?;
    let counts = printed.lines().map(|line| {
        let (path, each) = line.split_once('\t').context("a count without a tab")?;
        let (name, each) = (format!("{KIND}{path}"), rounded(each.parse()?));
        println!("{name:<46}{each:>12}");
        Ok((name, each))
    });
    counts.collect()
}

/// Whether a processor has what decisions use. This part of AVX-512 came last: who has it has the others.
fn is_in(processor: &str) -> bool {
    let mut words = processor.split_whitespace();
    words.any(|flag| flag == "avx512_vbmi2")
}

fn kept(listed: &[Count]) -> Vec<Count> {
    let rows = listed.iter().filter(|(name, _)| name.starts_with(KIND));
    rows.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_needs_the_part_that_came_last() {
        assert!(is_in(
            "processor : 0\nflags : fpu avx512f avx512_vbmi2 sse2\n"
        ));
        assert!(!is_in(
            "processor : 0\nflags : fpu avx512f avx512_vbmi sse2\n"
        ));
        assert!(!is_in(""));
    }

    #[test]
    fn what_another_processor_counted_stays_listed() {
        let row = |name: &str| (name.to_owned(), 279.5);
        let listed = [
            row("external/hits/orbgate-set"),
            row("avx512/external/hits/orbgate-set"),
        ];
        assert_eq!(kept(&listed), [row("avx512/external/hits/orbgate-set")]);
    }
}
