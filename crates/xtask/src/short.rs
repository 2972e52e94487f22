//! Commands that are other programs' command lines, and nothing else.

use anyhow::Result;
use clap::Command;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;

/// What is typed, what it does, and what it runs: `cargo-NAME` is set up where it is missing.
const COMMANDS: [(&str, &str, &[&str]); 6] = [
    (
        "schema",
        "Writes the JSON Schemas: of the policy format, of the run request and of the run record",
        // The crates' own tests have the generator and the comparison.
        &[
            "ORBGATE_UPDATE=1 cargo test -p orbgate --all-features --test all schema::",
            "ORBGATE_UPDATE=1 cargo test -p orbgate-contract --all-features --test all schema::",
        ],
    ),
    (
        "external",
        "Writes the core's module of the built-in engine, compiled from policy/external.yaml",
        // The core is built without that module, which may not fit the tables any longer.
        &[
            "RUSTFLAGS=--cfg=orbgate_bootstrap CARGO_TARGET_DIR=target/xtask/external \
             cargo run -p orbgate --features build --example external",
        ],
    ),
    (
        "codes",
        "Writes the codes of every language and of the pages, the C header, layout.tsv and Layout.java",
        &["ORBGATE_UPDATE=1 cargo test -p orbgate-capi -- codes header layout"],
    ),
    (
        "miri",
        "Runs what has `unsafe`, the core's one module and the C ABI, under Miri",
        // Few random cases: it is some hundred times slower than the machine. At last what threads share, in many of the orders that
        // weak memory allows.
        &[
            "rustup toolchain install nightly --profile minimal --component miri,rust-src --no-self-update",
            "PROPTEST_CASES=4 MIRIFLAGS=-Zmiri-disable-isolation \
             cargo +nightly miri test -p orbgate --no-default-features --lib -- vector scopes",
            "PROPTEST_CASES=4 MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test -p orbgate-capi --lib",
            "PROPTEST_CASES=4 MIRIFLAGS='-Zmiri-disable-isolation -Zmiri-many-seeds=0..16' \
             cargo +nightly miri test -p orbgate-capi --lib every_decision_of_a_handle",
        ],
    ),
    (
        "deny",
        "Checks the licences and sources of every dependency, against deny.toml",
        &["cargo-deny --workspace --all-features check licenses bans sources"],
    ),
    (
        "advisories",
        "Asks the RustSec database for known faults of every dependency; fetches it from the network",
        &["cargo-deny --workspace --all-features check advisories"],
    ),
];

/// The commands as clap takes them.
pub(crate) fn commands() -> impl Iterator<Item = Command> {
    let commands = COMMANDS.into_iter();
    commands.map(|(name, about, _)| Command::new(name).about(about))
}

/// Runs a command of this name; none, if it is not one of these.
pub(crate) fn run(project: &Project, name: &str) -> Option<Result<()>> {
    let (_, _, lines) = COMMANDS.iter().find(|(known, ..)| *known == name)?;
    Some(lines.iter().try_for_each(|line| {
        let program = match line.strip_prefix("cargo-") {
            // What is quoted is a shell's.
            None if line.contains('\'') => Program::parse("sh -c").arg(line),
            None => Program::parse(line),
            Some(rest) => {
                let (name, words) = rest.split_once(' ').unwrap_or((rest, ""));
                setup::subcommand(project, name)?.words(words)
            }
        };
        program.run()
    }))
}
