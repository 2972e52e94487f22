//! `orbgate token`: explains why a token is rejected, and issues and proves tokens for tests.

mod explain;
mod issue;
mod prove;
#[cfg(not(feature = "token"))]
mod without;

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
    /// Make a DPoP proof (RFC 9449) for one request
    Prove(prove::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    match &arguments.what {
        What::Explain(arguments) => explain::run(arguments),
        What::Issue(arguments) => issue::run(arguments),
        What::Prove(arguments) => prove::run(arguments),
    }
}

const HELP: &str = "\
Examples:
  orbgate token explain token.txt --config tokens.yaml
  orbgate token issue
  orbgate token prove --key holder.pem --thumbprint

Exit codes:
  0  the token is accepted
  1  the token is refused
  2  could not run: an unreadable file, a port that is taken";
