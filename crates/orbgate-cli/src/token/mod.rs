//! `orbgate token`: explains why a token is rejected, and issues tokens for tests.

mod explain;
mod issue;

use clap::{Args, Subcommand};

use crate::output::{Exit, Stop};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Name the first rule that a token breaks, without printing the token
    Explain(explain::Arguments),
    /// Run an issuer for tests, which gives any client a token
    Issue(issue::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    match &arguments.what {
        What::Explain(arguments) => explain::run(arguments),
        What::Issue(arguments) => issue::run(arguments),
    }
}

const HELP: &str = "\
Examples:
  orbgate token explain token.txt --config tokens.yaml
  orbgate token issue

Exit codes:
  0  the token is accepted
  1  the token is refused
  2  could not run: an unreadable file, a port that is taken";
