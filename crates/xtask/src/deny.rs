//! `cargo xtask deny`: the licences and sources of every dependency, against deny.toml.

use anyhow::Result;
use clap::Args;

use crate::program::Program;

#[derive(Debug, Args)]
pub(crate) struct Deny {
    /// Also asks the RustSec database for known faults; fetches it from the network
    #[arg(long)]
    advisories: bool,
}

impl Deny {
    pub(crate) fn run(&self) -> Result<()> {
        if !Program::parse("cargo deny --version").succeeds() {
            println!("cargo-deny is missing; building it takes some minutes");
            Program::parse("cargo install --locked cargo-deny").run()?;
        }
        let check = "cargo deny --workspace --all-features check licenses bans sources";
        let advisories = if self.advisories { " advisories" } else { "" };
        Program::parse(&format!("{check}{advisories}")).run()
    }
}
