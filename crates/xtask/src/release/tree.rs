//! `cargo xtask tree`: what the core depends on, seen when it grows.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::kit::program::Program;

const FILE: &str = "crates/xtask/core-dependencies.txt";
const HEADER: &str = "\
# Every package that a default build of orbgate brings along, on any platform.
# Written by `cargo xtask tree --update`.
";

#[derive(Debug, Args)]
pub(crate) struct Tree {
    /// Rewrites the committed list
    #[arg(long)]
    update: bool,
}

impl Tree {
    pub(crate) fn run(&self) -> Result<()> {
        if self.update { update() } else { check() }
    }
}

/// Compares the tree with the committed list.
pub(crate) fn check() -> Result<()> {
    let committed = fs::read_to_string(FILE).with_context(|| FILE.to_owned())?;
    let committed = names(&committed);
    let tree = tree()?;
    let added: Vec<_> = tree
        .difference(&committed)
        .map(|name| format!("+ {name}"))
        .collect();
    let removed: Vec<_> = committed
        .difference(&tree)
        .map(|name| format!("- {name}"))
        .collect();
    let changes = [added, removed].concat();
    if !changes.is_empty() {
        bail!(
            "the core's dependencies are not those of {FILE}:\n{}\nif that is meant: cargo xtask tree --update",
            changes.join("\n")
        );
    }
    println!("{} packages, as listed in {FILE}", tree.len());
    Ok(())
}

fn update() -> Result<()> {
    let lines: String = tree()?.iter().map(|name| format!("{name}\n")).collect();
    fs::write(FILE, format!("{HEADER}{lines}")).with_context(|| FILE.to_owned())
}

fn tree() -> Result<BTreeSet<String>> {
    let program = Program::parse("cargo tree -p orbgate -e normal --target all --prefix none");
    println!("$ {program}");
    Ok(names(&program.read()?))
}

/// The packages' names, sorted and each once: of `cargo tree`'s output or the committed list.
pub(crate) fn names(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn versions_paths_and_repetitions_do_not_count() {
        let tree = "\
orbgate v0.1.0 (/a/place/crates/orbgate)
serde v1.0.229
serde_derive v1.0.229 (proc-macro)

serde v1.0.229 (*)
";
        let list = "# Written by a command.\norbgate\nserde\nserde_derive\n";
        assert_eq!(names(tree), names(list));
        assert_eq!(names(tree).len(), 3);
    }
}
