//! `orbgate manual`: the manual pages that packages bring, a page for each command.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::command;
use crate::output::{Exit, Stop};

/// The command as those type it who make a package.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Existing folder for the pages
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}

/// Writes the pages of every command that is not hidden.
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let folder = &arguments.folder;
    clap_mangen::generate_to(command(), folder)
        .map_err(|error| Stop::Error(format!("{}: {error}", folder.display())))?;
    Ok(Exit::Fine)
}
