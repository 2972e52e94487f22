//! Which changes of a policy are findings: `--fail-on`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use orbgate_analysis::ask::answers::{Compared, Failing};

/// Which changes change the exit code.
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
    /// For which of the kinds there are changes, in words.
    pub(crate) fn found(&self, compared: &Compared<'_, '_>) -> Vec<String> {
        compared.fails(self.kinds())
    }

    /// Whether it is a finding that nothing could be compared.
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

/// What to say of what was found; empty where nothing was.
pub(crate) fn verdict(found: &[String]) -> String {
    match found {
        [] => String::new(),
        found => format!("fails: {}", found.join(", ")),
    }
}
