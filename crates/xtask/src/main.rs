//! The project's own commands, one file each: `cargo xtask --help`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a tool for the project's own people: it runs programs, reads files and prints"
)]

mod docs;
mod test;

/// Shared by all commands.
mod kit {
    pub(crate) mod project;
    pub(crate) mod skipped;
}

/// What is measured.
mod measure {
    pub(crate) mod bench;
}

/// What a release publishes and promises.
mod release {
    pub(crate) mod dist;
    pub(crate) mod promises;
    pub(crate) mod release_check;
}

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use xshell::cmd;

use crate::kit::project::{Function, Project, functions};
use crate::measure::bench;
use crate::release::{dist, release_check};
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
    Conformance {
        /// Only these languages; `go-cgo` is over the C library, `node-wasm` over WebAssembly
        #[arg(value_parser = PossibleValuesParser::new(LANGUAGES))]
        languages: Vec<String>,
    },
    /// Puts the same exchanges to a language's gate; with `--listen`, becomes its gate program
    #[command(disable_help_flag = true)]
    Gate {
        /// A language, a framework, options: `cargo xtask gate --help`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Installs the C library: headers, shared and static library, pkg-config and CMake packages
    Install {
        /// The folder that gets include/ and lib/, as in /usr/local
        #[arg(long)]
        prefix: PathBuf,
    },
    /// Builds everything that a release publishes into target/dist
    Dist(dist::Dist),
    /// Checks that versions, changelog, lock files and generated files are those of a release, and that it keeps the promises of the
    /// last one
    ReleaseCheck(release_check::ReleaseCheck),
    /// Runs orbgate and its peers on the same requests and records the figures in benches/record
    Bench(bench::Bench),
    /// Builds the site into target/site and follows its links
    Docs(docs::Docs),
}

/// The languages that `conformance` in src/steps/commands.sh knows.
const LANGUAGES: [&str; 8] = ["c", "cpp", "java", "python", "go", "go-cgo", "node", "node-wasm"];

/// The commands that are a script and nothing else.
const SCRIPTS: &str = include_str!("steps/commands.sh");

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
    let command = |script: Function| clap::Command::new(script.name).about(script.about);
    Arguments::command().subcommands(functions(SCRIPTS, "make").into_iter().map(command))
}

fn run(matches: &ArgMatches) -> Result<()> {
    let project = Project::read()?;
    // Every command below is one that a person can type at the root.
    std::env::set_current_dir(&project.root)?;
    let name = matches.subcommand_name().unwrap_or_default();
    if functions(SCRIPTS, "make").iter().any(|script| script.name == name) {
        return project.run(&format!("make_{name}"), &[""; 0]);
    }
    match &Arguments::from_arg_matches(matches)?.command {
        Command::Test(test) => test.run(&project),
        Command::Assure(assure) => assure.run(&project),
        Command::Gate { arguments } => {
            let shell = project.shell()?;
            exec(cmd!(shell, "cargo run --quiet -p orbgate-testing --features exchange -- {arguments...}"))
        }
        Command::Install { prefix } => project.run("install_for_users", &[prefix]),
        Command::Conformance { languages } if languages.is_empty() => project.run("conformance", &LANGUAGES),
        Command::Conformance { languages } => project.run("conformance", languages),
        Command::Dist(dist) => dist.run(&project),
        Command::ReleaseCheck(check) => check.run(&project, Records::read(&project)?.gaps()),
        Command::Bench(bench) => bench.run(&project),
        Command::Docs(docs) => docs.run(&project),
    }
}

/// Replaces this process with a program if possible, so that ending this process ends the program.
fn exec(program: xshell::Cmd<'_>) -> Result<()> {
    #[cfg(unix)]
    return Err(std::os::unix::process::CommandExt::exec(&mut std::process::Command::from(program)).into());
    #[cfg(not(unix))]
    Ok(program.quiet().run()?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_arguments_are_consistent() {
        super::interface().debug_assert();
    }
}
