//! The outcome of a step.

use anyhow::{Error, Result, ensure};

use crate::kit::skipped;

/// How a step ended, unless it failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StepResult {
    Passed,
    /// A tool is missing and couldn't be installed: its name, and what to do.
    Skipped(String),
}

/// The error of a step that lacks a tool.
#[derive(Debug)]
struct Missing(String);

impl core::fmt::Display for Missing {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl StepResult {
    /// Continues if nothing is missing. Otherwise returns an error that [`step`] recognises.
    pub(crate) fn needed(self) -> Result<()> {
        match self {
            Self::Passed => Ok(()),
            Self::Skipped(what) => Err(missing(what)),
        }
    }
}

/// The error for a missing tool, with what to do.
pub(crate) fn missing(what: String) -> Error {
    Error::msg(Missing(what))
}

/// A step that ends at the first missing tool.
pub(crate) fn step(run: impl FnOnce() -> Result<()>) -> Result<StepResult> {
    let missing = match run() {
        Ok(()) => return Ok(StepResult::Passed),
        Err(error) => error.downcast::<Missing>()?,
    };
    Ok(StepResult::Skipped(missing.0))
}

/// The outcome of a command that can also be a step.
pub(crate) fn settled(outcome: StepResult) -> Result<()> {
    let StepResult::Skipped(what) = outcome else {
        return Ok(());
    };
    skipped::note(&what)?;
    settle(vec![what], in_ci()).map(|_| ())
}

/// The number of tests that a step skipped because the machine lacks something. In CI, skipped tests are a
/// failure that names them.
pub(crate) fn settle(skipped: Vec<String>, in_ci: bool) -> Result<usize> {
    ensure!(skipped.is_empty() || !in_ci, "not tested here: {}", skipped.join("; "));
    Ok(skipped.len())
}

/// Whether this is CI, where nothing may be skipped.
pub(crate) fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|ci| !["", "0", "false"].contains(&ci.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_skips_a_step_and_a_diagnostic_fails_it() {
        let skipped = || StepResult::Skipped("no npm".to_owned());
        assert_eq!(step(|| skipped().needed()).unwrap(), skipped());
        let passed = step(|| StepResult::Passed.needed());
        assert_eq!(passed.unwrap(), StepResult::Passed);
        assert!(step(|| Err(Error::msg("an error"))).is_err());
    }

    #[test]
    fn what_is_skipped_fails_in_ci_only() {
        let skipped = || vec!["no clippy".to_owned(), "no vectors".to_owned()];
        assert_eq!(settle(skipped(), false).unwrap(), 2);
        let error = settle(skipped(), true).unwrap_err().to_string();
        assert_eq!(error, "not tested here: no clippy; no vectors");
        assert_eq!(settle(vec![], true).unwrap(), 0);
    }
}
