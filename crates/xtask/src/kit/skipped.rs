//! Skipped tests: those that can't run because the machine lacks something. `cargo xtask test` lists them, and in CI they are a failure.
//!
//! A test that a step starts, in any language, appends a line with its reason to the file that [`VARIABLE`] names.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

/// Names a step's file.
pub(crate) const VARIABLE: &str = "ORBGATE_SKIPPED";

/// What a step has skipped, each once: nothing, if this is CI.
pub(crate) fn read(file: &Path, in_ci: bool) -> Result<BTreeSet<String>> {
    let lines = std::fs::read_to_string(file).context(VARIABLE)?;
    let skipped: BTreeSet<_> = lines.lines().map(str::to_owned).collect();
    ensure!(skipped.is_empty() || !in_ci, "not tested here: {}", Vec::from_iter(skipped).join("; "));
    Ok(skipped)
}

/// Whether this is CI.
pub(crate) fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|ci| !["", "0", "false"].contains(&ci.as_str()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_skipped_fails_in_ci_only() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(super::read(file.path(), true).unwrap().is_empty());
        std::fs::write(file.path(), "no vectors\nno clang++\nno vectors\n").unwrap();
        assert_eq!(super::read(file.path(), false).unwrap().len(), 2);
        let error = super::read(file.path(), true).unwrap_err().to_string();
        assert_eq!(error, "not tested here: no clang++; no vectors");
    }
}
