//! `orbgate manual`: writes the manual pages for packages, one for each command.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::command;
use crate::output::{Exit, Stop};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Existing folder for the pages
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}

/// Writes the pages of all commands that aren't hidden.
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let folder = &arguments.folder;
    clap_mangen::generate_to(command(), folder)
        .map_err(|error| Stop::Error(format!("{}: {error}", folder.display())))?;
    Ok(Exit::Fine)
}
