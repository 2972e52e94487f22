//! The `orbgate` command: decide, replay, check and show scope and orb policies.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the command line is the edge: it reads files and prints"
)]

mod answer;
mod args;
mod calls;
mod check;
mod complete;
mod decide;
mod diff;
mod explain;
mod fmt;
mod hint;
mod input;
mod lint;
mod log;
mod lsp;
mod manual;
mod needs;
mod openapi;
mod output;
mod policy_file;
mod progress;
mod reach;
mod replay;
mod review;
mod table;
mod tally;
mod test;
mod unused;
mod validate;
mod who;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint};

use crate::args::STANDARD_INPUT;
use crate::output::{Exit, Stop};
use crate::policy_file::Source;

/// Which scope does a route need, may a token call it, does it consume orbs, and why?
#[derive(Debug, Parser)]
#[command(name = "orbgate", version, after_help = ABOUT)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Policy file to use instead of the built-in policy; `-` is standard input
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    policy: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Decide one request: allow or deny, why, and what it consumes
    Decide(decide::Question),
    /// Explain a denial: which step to the scope is missing, which route was meant
    Explain(explain::Arguments),
    /// Decide a log of requests line by line: JSON Lines in, JSON Lines out
    Replay(replay::Arguments),
    /// Check policy files and report every fault
    Check(check::Arguments),
    /// Find what is legal in policies and likely not meant
    Lint(lint::Arguments),
    /// Lay policy files out: indentation, spaces, blank lines
    Fmt(fmt::Arguments),
    /// Compare two policies: what the new one allows, denies and charges otherwise
    Diff(diff::Arguments),
    /// Test policies: files of cases, and how much of the policy they cover
    Test(test::Arguments),
    /// Review a new version of a policy: diff, costs, lint and tests on one page
    Review(review::Arguments),
    /// Find the least scopes for calls
    Needs(needs::Arguments),
    /// Find scopes that tokens carry and never need
    Unused(unused::Arguments),
    /// List all that a token may call, and what consumes orbs
    Reach(reach::Arguments),
    /// Find who of a list of tokens may make a call
    Who(who::Arguments),
    /// Import, export or check OpenAPI documents
    Openapi(openapi::Arguments),
    /// Hold run requests or run records to their contract
    Validate(validate::Arguments),
    /// Show the whole table: scopes, orbs, tokens and routes
    Table(table::Arguments),
    /// Serve an editor: faults, lint, hover and layout of policies as you type
    Lsp(lsp::Arguments),
    /// Print the completion script of a shell
    Completions(complete::Arguments),
    /// Write the manual pages into a folder
    #[command(hide = true)]
    Manual(manual::Arguments),
}

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(usage) => return output::usage(&usage),
    };
    if output::is_closed() {
        let closed = "standard output is closed: there is nowhere to answer";
        return Stop::Error(closed.to_owned()).report().into();
    }
    run(&cli).unwrap_or_else(|stop| stop.report()).into()
}

fn run(cli: &Cli) -> Result<Exit, Stop> {
    let policy = cli.policy.as_deref();
    let source = || Source::load(policy);
    match &cli.command {
        Command::Decide(question) => decide::run(question, &source()?),
        Command::Explain(arguments) => explain::run(arguments, &source()?),
        Command::Replay(arguments) => replay::run(arguments, &source()?),
        Command::Needs(arguments) => needs::run(arguments, &source()?),
        Command::Unused(arguments) => unused::run(arguments, &source()?),
        Command::Reach(arguments) => reach::run(arguments, &source()?),
        Command::Who(arguments) => who::run(arguments, &source()?),
        Command::Table(arguments) => table::run(arguments, &source()?),
        // These look at policies, and take no decision by them.
        Command::Check(arguments) => check::run(arguments, policy),
        Command::Lint(arguments) => lint::run(arguments, policy),
        Command::Fmt(arguments) => fmt::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Review(arguments) => review::run(arguments),
        Command::Openapi(arguments) => openapi::run(arguments),
        // A file of cases may name its own policy.
        Command::Test(arguments) => test::run(arguments, policy),
        // Requests and records are the same under every policy.
        Command::Validate(arguments) => validate::run(arguments),
        // Its policies come from the editor.
        Command::Lsp(_) => lsp::run(),
        Command::Completions(arguments) => complete::run(arguments),
        Command::Manual(arguments) => manual::run(arguments),
    }
}

impl Command {
    /// The files that it reads, without that of `--policy`.
    fn files(&self) -> Vec<&Path> {
        let files = match self {
            Self::Check(arguments) => &arguments.files,
            Self::Lint(arguments) => &arguments.files,
            Self::Fmt(arguments) => &arguments.files,
            Self::Test(arguments) => &arguments.files,
            Self::Validate(arguments) => &arguments.files,
            Self::Replay(arguments) => return arguments.files(),
            Self::Openapi(arguments) => return arguments.files(),
            Self::Review(arguments) => return arguments.files(),
            Self::Unused(arguments) => return vec![&arguments.log],
            Self::Who(arguments) => return vec![&arguments.tokens],
            Self::Diff(arguments) => return vec![&arguments.old, &arguments.new],
            Self::Needs(arguments) => return arguments.log.iter().map(PathBuf::as_path).collect(),
            Self::Decide(_) | Self::Explain(_) | Self::Reach(_) => return Vec::new(),
            Self::Table(_) | Self::Lsp(_) => return Vec::new(),
            Self::Completions(_) | Self::Manual(_) => return Vec::new(),
        };
        files.iter().map(PathBuf::as_path).collect()
    }

    const fn reads_policy(&self) -> bool {
        !matches!(
            self,
            Self::Validate(_)
                | Self::Diff(_)
                | Self::Fmt(_)
                | Self::Openapi(_)
                | Self::Review(_)
                | Self::Lsp(_)
                | Self::Completions(_)
                | Self::Manual(_)
        )
    }
}

/// The command line, unless something is wrong with it.
fn parse() -> Result<Cli, clap::Error> {
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    match conflict(&cli) {
        None => Ok(cli),
        Some((kind, message)) => {
            let name = matches.subcommand_name().unwrap_or_default();
            let command = command.find_subcommand(name).cloned().unwrap_or(command);
            Err(command.clone().error(kind, message))
        }
    }
}

/// What the parser cannot see: `--policy` is one of the files of `check`, and standard input can be read only once.
fn conflict(cli: &Cli) -> Option<(ErrorKind, &'static str)> {
    let mut files = cli.command.files();
    if cli.command.reads_policy() {
        files.extend(cli.policy.as_deref());
    }
    match &cli.command {
        Command::Check(_) if files.is_empty() => {
            let message = "no FILE to check, and no `--policy FILE`";
            return Some((ErrorKind::MissingRequiredArgument, message));
        }
        Command::Lint(_) if files.is_empty() => {
            let message = "no FILE to look at, and no `--policy FILE`";
            return Some((ErrorKind::MissingRequiredArgument, message));
        }
        _ => {}
    }
    let inputs = files
        .iter()
        .filter(|file| **file == Path::new(STANDARD_INPUT));
    match (inputs.count(), &cli.command) {
        (1.., Command::Fmt(arguments)) if arguments.json && !arguments.check => Some((
            ErrorKind::ArgumentConflict,
            "`--json` leaves no place for the new text of standard input, but with `--check`",
        )),
        (2.., _) => Some((
            ErrorKind::ArgumentConflict,
            "standard input can be read only once, and two files are `-`",
        )),
        _ => None,
    }
}

const ABOUT: &str = "\
Examples:
  orbgate decide POST /api/v1/external/voxies/prompt/run \\
      --token user --scopes write:voxies
  orbgate explain GET /api/v1/external/orbs --token user \\
      --scopes read:vox --declared 'read:orbs read:vox' --requested read:vox
  orbgate replay requests.jsonl > decisions.jsonl
  orbgate check policy.yaml
  orbgate lint policy.yaml
  orbgate fmt --check policy.yaml
  orbgate diff policy.yaml next.yaml
  orbgate openapi import openapi.yaml --orbs false
  orbgate test policy.test.yaml
  orbgate review policy.yaml next.yaml --tests policy.test.yaml
  orbgate needs 'GET /api/v1/external/voxies' 'POST /api/v1/external/vox/run'
  orbgate validate run-request body.json
  orbgate table --format markdown
  orbgate --policy policy.yaml table

Exit codes:
  0  allowed, or nothing to complain about
  1  denied, or findings
  2  could not run: bad usage, policy or input";
