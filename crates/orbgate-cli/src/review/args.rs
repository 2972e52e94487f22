//! The arguments of `orbgate review`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::fail_on::FailOn;
use crate::lint::Levels;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Active policy file; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) old: PathBuf,

    /// New policy file; `-` is standard input
    #[arg(required_unless_present = "against", conflicts_with = "against", value_hint = ValueHint::FilePath)]
    pub(crate) new: Option<PathBuf>,

    /// Compare one file with its version in this git commit
    #[arg(long, value_name = "COMMIT")]
    pub(crate) against: Option<String>,

    /// Test file to run against the new policy
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tests: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) fail_on: FailOn,

    #[command(flatten)]
    pub(crate) levels: Levels,

    /// Ignore lint findings that the old policy also has
    #[arg(long)]
    pub(crate) only_new: bool,

    /// Print one line of JSON
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,

    /// Print Markdown for a pull request comment
    #[arg(long)]
    pub(crate) markdown: bool,
}

const HELP: &str = "\
One page has what `orbgate diff` says of the two policies, what calls cost
otherwise, what `orbgate lint` finds in the new one, which findings are newly
suppressed, and how the cases of --tests end with it, no matter which policy
they name. In Markdown it has at most 60,000 characters. With an old policy that
has errors, nothing is compared: that passes with --allow-wider only. A last
line says why it fails, in --json `fails`.

Kinds of --fail-on are `wider`, `narrower`, `cheaper`, `costlier`, `other-cost`
(an amount is not stated) and `removed`. Without it, and without --allow-wider,
`wider`, `cheaper` and `other-cost` fail.

Examples:
  orbgate review policy.yaml next.yaml
  orbgate review policy.yaml --against main --markdown \\
      --tests policy.test.yaml > comment.md

Exit codes:
  0  nothing to complain about
  1  something is wider or cheaper, or of the kinds of --fail-on, lint has an
     error or a warning, a case fails, or one of the policies has errors
  2  could not run: bad usage, an unreadable policy, a bad or unreadable file of
     cases, or too many templates that overlap to compare all of them";
