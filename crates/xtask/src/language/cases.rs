//! The cases of policy/cases, and what runs them in a language.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use crate::kit::program::Program;

/// Their folder.
pub(crate) const CASES: &str = "policy/cases";

/// Runs every case in a language, and counts them.
pub(crate) fn conform(language: &str, runner: Program) -> Result<()> {
    let cases = count_cases(CASES.as_ref())?;
    let ran = run_cases(&runner.arg(CASES))?;
    ensure!(ran == cases, "{language} ran {ran} of {cases} cases");
    println!("{language}: all {cases} cases");
    Ok(())
}

/// Runs the cases and gives the number that the runner says.
pub(crate) fn run_cases(program: &Program) -> Result<usize> {
    println!("$ {program}");
    let output = program.output()?;
    print!("{}", output.stdout);
    if !output.success {
        bail!("`{program}` failed:\n{}", output.stderr);
    }
    said(&output.stdout).with_context(|| format!("`{program}` did not end with `ran N cases`"))
}

/// The number in the last line, `ran N cases`.
fn said(output: &str) -> Option<usize> {
    let line = output.lines().last()?;
    let number = line.strip_prefix("ran ")?.strip_suffix(" cases")?;
    number.parse().ok()
}

/// The number of cases in the files: one per line, without comments and the header row, and two if its policy is
/// `external`.
pub(crate) fn count_cases(cases: &Path) -> Result<usize> {
    let mut count = 0_usize;
    for entry in fs::read_dir(cases).with_context(|| cases.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "tsv") {
            let text = fs::read_to_string(&path)?;
            let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
            let twice = rows.clone().filter(|row| row.split('\t').nth(1) == Some("external"));
            count = count.saturating_add(rows.count()).saturating_add(twice.count());
        }
    }
    ensure!(count > 0, "no cases in {}", cases.display());
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn a_runner_says_how_many_cases_it_ran() {
        assert_eq!(said("a.tsv:3: wrong\nran 1941 cases\n"), Some(1941));
        assert_eq!(said("ran 3 cases\nand more\n"), None);
        assert_eq!(said("ran cases\n"), None);
        assert_eq!(said(""), None);
    }

    #[test]
    fn every_row_counts_and_those_of_external_twice() {
        let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy/cases");
        assert!(super::count_cases(cases.as_ref()).unwrap() > 2_400);
        assert!(super::count_cases(env!("CARGO_MANIFEST_DIR").as_ref()).is_err());
    }
}
