//! `orbgate diff` as people type it.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Pair {
    /// Policy file in force; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) old: PathBuf,

    /// Policy file that is to take its place; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) new: PathBuf,

    /// Exit with 0 although somebody may do more, or for less
    #[arg(long)]
    pub(crate) allow_wider: bool,

    /// Answer as one line of JSON
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,

    /// Answer in Markdown that fits a comment on a pull request
    #[arg(long)]
    pub(crate) markdown: bool,
}

const HELP: &str = "\
What the new policy is to the old one, for callers:
  equivalent    every call is allowed to the same callers
  wider         some call is allowed to more callers, none to fewer
  narrower      some call is allowed to fewer callers, none to more
  incomparable  both
Every change has a request that shows it, and what calls cost is compared for
those whom both policies allow them. Every request is covered, not only those
that are listed. Files that differ only in order, comments, layout or the
names of parameters are equivalent. `--policy` changes nothing here.

With --json, `wider`, `narrower` and `payer` of a change are null or a request
as `orbgate replay` reads it.

Examples:
  orbgate diff policy.yaml next.yaml
  orbgate diff <(git show main:policy.yaml) policy.yaml --markdown
  orbgate diff policy.yaml next.yaml --json |
      jq -c '.changes[].wider | values' | orbgate replay --policy next.yaml

Exit codes:
  0  nothing is wider or cheaper, or --allow-wider was given
  1  a call is allowed to more callers, or may consume less
  2  could not run: bad usage, a bad or unreadable policy, or too many
     templates that overlap to compare all of them";
