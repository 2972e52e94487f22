//! Which changes of a policy are findings: `--fail-on`.

use clap::{Args, ValueEnum};
use orbgate_analysis::{Change, Cost, Diff};

/// Which changes change the exit code.
#[derive(Debug, Args)]
pub(crate) struct FailOn {
    /// Let it pass that somebody may do more, or for less
    #[arg(long, conflicts_with = "fail_on")]
    allow_wider: bool,

    /// Changes that fail, as in `wider,dearer`
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "KINDS",
        hide_possible_values = true
    )]
    fail_on: Vec<Failing>,
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Failing {
    /// A call is allowed to more callers
    Wider,
    /// A call is allowed to fewer callers
    Narrower,
    /// A call consumes less
    Cheaper,
    /// A call consumes more
    Dearer,
    /// What a call consumes differs, and an amount is not stated
    OtherCost,
    /// The route or the scope that decided is gone
    Vanished,
}

impl FailOn {
    /// Whether a change is a finding.
    pub(crate) fn finds(&self, diff: &Diff<'_, '_>) -> bool {
        let kinds = self.kinds();
        let is_any = |change: &Change<'_, '_>| kinds.iter().any(|kind| kind.is(change));
        // What is left out may be of any kind; only whether it widens is known.
        let left_out = diff.left_out > 0 && (!self.fail_on.is_empty() || diff.widens());
        diff.changes.iter().any(is_any) || left_out && !kinds.is_empty()
    }

    /// Whether it is a finding that nothing could be compared.
    pub(crate) fn minds_wider(&self) -> bool {
        !self.kinds().is_empty()
    }

    fn kinds(&self) -> &[Failing] {
        match (self.allow_wider, self.fail_on.as_slice()) {
            (true, _) => &[],
            (false, []) => &[Failing::Wider, Failing::Cheaper, Failing::OtherCost],
            (false, kinds) => kinds,
        }
    }
}

impl Failing {
    const fn is(self, change: &Change<'_, '_>) -> bool {
        match self {
            Self::Wider => change.wider.is_some(),
            Self::Narrower => change.narrower.is_some(),
            Self::Cheaper => matches!(change.cost, Some(Cost::Less)),
            Self::Dearer => matches!(change.cost, Some(Cost::More)),
            Self::OtherCost => matches!(change.cost, Some(Cost::Unknown)),
            Self::Vanished => change.vanished,
        }
    }
}
