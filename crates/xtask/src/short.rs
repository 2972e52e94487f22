//! Commands that are other programs' command lines, and nothing else.

use anyhow::Result;
use clap::Command;

use crate::kit::program::Program;

/// What is typed, what it does, and what it runs.
const COMMANDS: [(&str, &str, &[&str]); 3] = [
    (
        "schema",
        "Writes the JSON Schemas: of the policy format, the run request, the run record and the answers of a ledger",
        // The crates' own tests have the generator and the comparison.
        &[
            "ORBGATE_UPDATE=1 cargo test -p orbgate --all-features --test all schema::",
            "ORBGATE_UPDATE=1 cargo test -p orbgate-contract --all-features --test all schema::",
            "ORBGATE_UPDATE=1 cargo test -p orbgate-ledger --all-features --test all schema::",
        ],
    ),
    (
        "external",
        "Writes the core's module of the built-in engine, compiled from policy/external.yaml",
        // The core is built without that module, which may not fit the tables any longer.
        &["RUSTFLAGS=--cfg=orbgate_bootstrap CARGO_TARGET_DIR=target/xtask/external \
             cargo run -p orbgate-build --example external"],
    ),
    (
        "codes",
        "Writes the codes of every language and of the pages, the C header, layout.tsv and Layout.java",
        &[
            "ORBGATE_UPDATE=1 cargo test -p orbgate-capi -- codes header layout messages questions",
            "ORBGATE_UPDATE=1 cargo test -p orbgate-analysis --test all the_page_has_the_codes",
        ],
    ),
];

/// The commands as clap takes them.
pub(crate) fn commands() -> impl Iterator<Item = Command> {
    let commands = COMMANDS.into_iter();
    commands.map(|(name, about, _)| Command::new(name).about(about))
}

/// Installs the nightly Rust with these components.
pub(crate) fn nightly(components: &str) -> Result<()> {
    let install = "rustup toolchain install nightly --profile minimal --no-self-update --component";
    Program::parse(install).arg(components).run()
}

/// Runs a command of this name; none, if it is not one of these.
pub(crate) fn run(name: &str) -> Option<Result<()>> {
    let (_, _, lines) = COMMANDS.iter().find(|(known, ..)| *known == name)?;
    Some(lines.iter().try_for_each(|line| Program::parse(line).run()))
}
