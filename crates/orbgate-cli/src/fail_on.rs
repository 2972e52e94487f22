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
    /// For which of the kinds there are changes, in words.
    pub(crate) fn found(&self, diff: &Diff<'_, '_>) -> Vec<String> {
        let found = self.kinds().iter().filter_map(|kind| {
            let changes = diff.changes.iter().filter(|change| kind.is(change)).count();
            let value = kind.to_possible_value()?;
            (changes > 0).then(|| format!("{changes} {}", value.get_name()))
        });
        let mut found: Vec<_> = found.collect();
        // What is left out may be of any kind; only whether it widens is known.
        let left_out = diff.left_out > 0 && (!self.fail_on.is_empty() || diff.widens());
        if found.is_empty() && left_out && !self.kinds().is_empty() {
            found.push(format!("{} more that are not listed", diff.left_out));
        }
        found
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

/// What to say of what was found; empty where nothing was.
pub(crate) fn verdict(found: &[String]) -> String {
    match found {
        [] => String::new(),
        found => format!("fails: {}", found.join(", ")),
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
