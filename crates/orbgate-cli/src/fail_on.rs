//! `--fail-on`: selects the policy changes that make a command fail.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use orbgate_analysis::ask::answers::{Compared, Failing};

/// The changes that affect the exit code.
#[derive(Debug, Args)]
pub(crate) struct FailOn {
    /// Succeed even if the new policy allows more or charges less
    #[arg(long, conflicts_with = "fail_on")]
    allow_wider: bool,

    /// Changes that make the command fail, such as `wider,costlier`
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(Failing::ALL.map(Failing::as_str))
            .map(|name| Failing::from_name(&name).unwrap_or(Failing::Wider)),
        value_delimiter = ',',
        value_name = "KINDS",
        hide_possible_values = true
    )]
    fail_on: Vec<Failing>,
}

impl FailOn {
    /// The selected kinds of changes that were found, in words.
    pub(crate) fn fails(&self, compared: &Compared<'_, '_>) -> Vec<String> {
        compared.fails(self.kinds())
    }

    /// Whether a failed comparison is a finding.
    pub(crate) fn minds_wider(&self) -> bool {
        !self.kinds().is_empty()
    }

    fn kinds(&self) -> &[Failing] {
        match (self.allow_wider, self.fail_on.as_slice()) {
            (true, _) => &[],
            (false, []) => Failing::USUAL,
            (false, kinds) => kinds,
        }
    }
}

/// A sentence about the changes that were found; empty if there aren't any.
pub(crate) fn verdict(fails: &[String]) -> String {
    match fails {
        [] => String::new(),
        fails => format!("fails: {}", fails.join(", ")),
    }
}
