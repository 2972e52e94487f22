//! `cargo xtask deny`: the licences and sources of every dependency, against deny.toml.

use anyhow::Result;
use clap::Args;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;

#[derive(Debug, Args)]
pub(crate) struct Deny {
    /// Also asks the RustSec database for known faults; fetches it from the network
    #[arg(long)]
    advisories: bool,
}

impl Deny {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let deny = setup::subcommand(project, "deny")?;
        let check = "--workspace --all-features check licenses bans sources";
        let check = check.split(' ').fold(deny, Program::arg);
        match self.advisories {
            true => check.arg("advisories"),
            false => check,
        }
        .run()
    }
}
