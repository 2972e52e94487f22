//! `orbgate completions`: what a shell needs to complete the command line.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::output::{self, Outcome, Stop};

/// Prints the completion script of a shell.
pub(crate) fn run(shell: Shell) -> Result<Outcome, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "orbgate", &mut script);
    output::print_raw(&script)?;
    Ok(Outcome::Fine)
}
