//! How a step ends, unless it fails.

use anyhow::{Result, ensure};

use crate::kit::skipped;

/// How a step ended, unless it failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StepResult {
    Passed,
    /// A tool is missing that could not be set up: which, and what to do.
    Skipped(String),
}

/// The end of a command of its own that can be a step, too.
pub(crate) fn settled(outcome: StepResult) -> Result<()> {
    let StepResult::Skipped(what) = outcome else {
        return Ok(());
    };
    skipped::note(&what)?;
    settle(vec![what], in_ci()).map(|_| ())
}

/// How many tests a step has left out because the machine lacks something: in CI that is a failure, by name.
pub(crate) fn settle(skipped: Vec<String>, in_ci: bool) -> Result<usize> {
    ensure!(
        skipped.is_empty() || !in_ci,
        "not tested here: {}",
        skipped.join("; ")
    );
    Ok(skipped.len())
}

/// Whether this is CI, where nothing is skipped.
pub(crate) fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|ci| !["", "0", "false"].contains(&ci.as_str()))
}

#[cfg(test)]
mod tests {
    use super::settle;

    #[test]
    fn what_is_skipped_fails_in_ci_only() {
        let skipped = || vec!["no clippy".to_owned(), "no vectors".to_owned()];
        assert_eq!(settle(skipped(), false).unwrap(), 2);
        let error = settle(skipped(), true).unwrap_err().to_string();
        assert_eq!(error, "not tested here: no clippy; no vectors");
        assert_eq!(settle(vec![], true).unwrap(), 0);
    }
}
