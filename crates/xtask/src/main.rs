//! The project's own commands, one file each: `cargo xtask --help`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a tool for the project's own people: it runs programs, reads files and prints"
)]

mod docs;
mod short;
mod test;

/// Shared by all commands: programs, set-up, outcomes.
mod kit {
    pub(crate) mod program;
    pub(crate) mod project;
    pub(crate) mod setup;
    pub(crate) mod skipped;
}

/// The languages: their packages, built, tested and run over the cases.
mod language {
    pub(crate) mod c;
    pub(crate) mod cases;
    pub(crate) mod conformance;
    pub(crate) mod explorer;
    pub(crate) mod go;
    pub(crate) mod java;
    pub(crate) mod library;
    pub(crate) mod native;
    pub(crate) mod node;
    pub(crate) mod python;
    pub(crate) mod wasm;
}

/// What is measured: instructions and time in each language, other processors.
mod measure {
    pub(crate) mod bench;
    pub(crate) mod bench_bindings;
    pub(crate) mod instructions;
    pub(crate) mod processors;
}

/// What a release publishes, and what its users do with it.
mod release {
    pub(crate) mod dist;
    pub(crate) mod install;
    pub(crate) mod msrv;
    pub(crate) mod promises;
    pub(crate) mod release_check;
}

use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::{conformance, explorer, go, wasm};
use crate::measure::bench;
use crate::release::{dist, install, release_check};
use crate::test::assure::{Assure, Records};

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                     the tests of the Rust crates and the pages
  cargo xtask test --all               every check that CI runs
  cargo xtask assure --due             the long checks whose paths have changed, recorded in docs/assurance.md
  cargo xtask test clippy tests        these steps only
  cargo xtask conformance c node       the cases through these languages
  cargo xtask install --prefix /usr/local
  cargo xtask dist --try               what a release publishes, installed where there is no Rust
  cargo xtask bench --instructions     no hot path has grown, in instructions";

#[derive(Debug, Subcommand)]
enum Command {
    /// Sets up missing tools and runs the checks, step by step
    Test(test::Test),
    /// Runs the long checks and records them in docs/assurance.md
    Assure(Assure),
    /// Runs every case of policy/cases through each language
    Conformance(conformance::Conformance),
    /// Puts the same exchanges to a language's gate; with `--listen`, becomes its gate program
    #[command(disable_help_flag = true)]
    Gate {
        /// A language, a framework, options: `cargo xtask gate --help`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Installs the C library: headers, shared and static library, pkg-config and CMake packages
    Install(install::Install),
    /// Builds everything that a release publishes into target/dist
    Dist(dist::Dist),
    /// Checks that versions, changelog, lock files and generated files are those of a release, and that it keeps the promises of the
    /// last one
    ReleaseCheck(release_check::ReleaseCheck),
    /// Runs orbgate and its peers on the same requests and records the figures in benches/record
    Bench(bench::Bench),
    /// Builds the site into target/site and follows its links
    Docs(docs::Docs),
    /// Builds the WebAssembly modules: the C ABI, for the languages that carry it, and what answers questions
    Wasm,
    /// Builds the explorer, and the command `orbgate` that serves it
    Explorer,
    /// Builds what the Go package carries: the WebAssembly module, and the C library for this machine
    Go,
}

fn main() -> ExitCode {
    match run(&interface().get_matches()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// All commands.
fn interface() -> clap::Command {
    Arguments::command().subcommands(short::commands())
}

fn run(matches: &ArgMatches) -> Result<()> {
    let project = Project::read()?;
    // Every command below is one that a person can type at the root.
    std::env::set_current_dir(&project.root)?;
    let name = matches.subcommand_name().unwrap_or_default();
    if let Some(result) = short::run(name) {
        return result;
    }
    match &Arguments::from_arg_matches(matches)?.command {
        Command::Test(test) => test.run(&project),
        Command::Assure(assure) => assure.run(&project),
        Command::Gate { arguments } => {
            Program::parse("cargo run --quiet -p orbgate-testing --features exchange --").args(arguments).exec()
        }
        Command::Install(install) => install.run(&project),
        Command::Conformance(conformance) => conformance.run(&project),
        Command::Dist(dist) => dist.run(&project),
        Command::ReleaseCheck(check) => check.run(&project, Records::read(&project)?.gaps()),
        Command::Bench(bench) => bench.run(&project),
        Command::Docs(docs) => docs.run(&project),
        Command::Wasm => wasm::run(&project),
        Command::Explorer => explorer::run(&project),
        Command::Go => go::engines(&project),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_arguments_are_consistent() {
        super::interface().debug_assert();
    }
}
