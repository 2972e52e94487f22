//! `cargo xtask header`: bindings/c/include/orbgate.h, the crate's layout.tsv and Java's Layout.java, generated from the C ABI's
//! crate and compared by its tests.

use anyhow::Result;
use clap::Args;

use crate::kit::program::Program;

#[derive(Debug, Args)]
pub(crate) struct Header {
    /// Only compares the committed files
    #[arg(long)]
    check: bool,
}

impl Header {
    pub(crate) fn run(&self) -> Result<()> {
        // The crate's own test has the generator and the comparison.
        let update = if self.check { "" } else { "ORBGATE_UPDATE=1 " };
        let test = "cargo test -p orbgate-capi -- header layout";
        Program::parse(&format!("{update}{test}")).run()
    }
}
