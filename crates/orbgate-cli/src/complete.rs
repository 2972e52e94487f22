//! `orbgate completions`: prints completion scripts for shells.

use clap::Args;
use clap_complete::Shell;

use crate::command;
use crate::output::{self, Exit, Stop};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Shell to complete for
    pub(crate) shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), "orbgate", &mut script);
    output::print_raw(|out| out.write_all(&script))?;
    Ok(Exit::Fine)
}

const HELP: &str = "\
Examples:
  orbgate completions bash > ~/.local/share/bash-completion/completions/orbgate
  orbgate completions zsh > ~/.zfunc/_orbgate
  orbgate completions fish > ~/.config/fish/completions/orbgate.fish

Exit codes:
  0  fine
  2  could not run: bad usage";
