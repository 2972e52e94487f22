//! `cargo xtask tree`: what the core depends on, seen when it grows.

use std::fs;

use anyhow::{Result, ensure};
use clap::Args;

use crate::kit::program::Program;

const FILE: &str = "crates/xtask/core-dependencies.txt";

/// Each package once, without its version.
const TREE: &str = "cargo tree -p orbgate -e normal --target all --prefix none | cut -d ' ' -f 1 | sort -u";

#[derive(Debug, Args)]
pub(crate) struct Tree {
    /// Rewrites the committed list
    #[arg(long)]
    update: bool,
}

impl Tree {
    pub(crate) fn run(&self) -> Result<()> {
        match self.update {
            true => Ok(fs::write(FILE, tree()?)?),
            false => check(),
        }
    }
}

/// Compares the tree with the committed list.
pub(crate) fn check() -> Result<()> {
    let (listed, tree) = (fs::read_to_string(FILE)?, tree()?);
    let what = "other dependencies of the core than are listed; if that is meant: cargo xtask tree --update";
    ensure!(listed == tree, "{what}\n{FILE}:\n{listed}\nnow:\n{tree}");
    println!("{} packages, as listed in {FILE}", tree.lines().count());
    Ok(())
}

fn tree() -> Result<String> {
    let program = Program::parse("bash -o pipefail -c").arg(TREE);
    println!("$ {program}");
    program.env("LC_ALL", "C").read()
}
