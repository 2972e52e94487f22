//! `cargo xtask tree`: what the core depends on, seen when it grows.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, Result, ensure};
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
        if !self.update {
            return check();
        }
        let lines: String = tree()?.iter().map(|name| format!("{name}\n")).collect();
        fs::write(FILE, format!("{HEADER}{lines}")).context(FILE)
    }
}

/// Compares the tree with the committed list.
pub(crate) fn check() -> Result<()> {
    let committed = names(&fs::read_to_string(FILE).context(FILE)?);
    let tree = tree()?;
    let changed: Vec<_> = tree.symmetric_difference(&committed).collect();
    ensure!(
        changed.is_empty(),
        "the core's dependencies are not those of {FILE}: {changed:?}\nif that is meant: cargo xtask tree --update"
    );
    println!("{} packages, as listed in {FILE}", tree.len());
    Ok(())
}

fn tree() -> Result<BTreeSet<String>> {
    let program = Program::parse("cargo tree -p orbgate -e normal --target all --prefix none");
    println!("$ {program}");
    Ok(names(&program.read()?))
}

/// The packages' names, sorted and each once: of `cargo tree`'s output or the committed list.
pub(crate) fn names(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn versions_paths_and_repetitions_do_not_count() {
        let tree = "orbgate v0.1.0 (/a/place)\nserde v1.0.229\n\nserde v1.0.229 (*)\n";
        assert_eq!(
            names(tree),
            names("# Written by a command.\norbgate\nserde\n")
        );
        assert_eq!(names(tree).len(), 2);
    }
}
