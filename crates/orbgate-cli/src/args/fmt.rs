//! `orbgate fmt` as people type it.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Layouts {
    /// Policy files; `-` is standard input, and the new text goes to standard output
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Change nothing, and exit with 1 where something would change
    #[arg(long)]
    pub(crate) check: bool,

    /// Answer as one line of JSON; for `-` only with --check
    #[arg(long)]
    pub(crate) json: bool,
}

const HELP: &str = "\
Two spaces for each level, one behind a `-` and a `:`, no space at the end of
a line, one blank line where there are several. CRLF at the end of a line
becomes LF. Comments and the order of the file stay; what stands in brackets,
in quotes or in a block is not touched otherwise. The policy keeps its digest.
A file is replaced whole: nobody sees a part of it. `--policy` changes nothing
here.

Examples:
  orbgate fmt policy.yaml
  orbgate fmt --check policies/*.yaml
  orbgate fmt - < policy.yaml

Exit codes:
  0  every file is laid out so, or is now
  1  with --check, a file would change
  2  could not run: bad usage, a bad or unreadable policy, a file that cannot
     be written";
