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
mod markdown;
mod needs;
mod output;
mod policy_file;
mod progress;
mod reach;
mod replay;
mod table;
mod tally;
mod test;
mod unused;
mod validate;
mod who;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::output::{Outcome, Stop};
use crate::policy_file::Source;

fn main() -> ExitCode {
    let cli = match Cli::try_parse().and_then(Cli::consistent) {
        Ok(cli) => cli,
        Err(usage) => return output::usage(&usage),
    };
    if output::is_closed() {
        let closed = "standard output is closed: there is nowhere to answer";
        return Stop::Error(closed.to_owned()).report().into();
    }
    run(&cli).unwrap_or_else(|stop| stop.report()).into()
}

fn run(cli: &Cli) -> Result<Outcome, Stop> {
    let source = || Source::load(cli.policy.as_deref());
    match &cli.command {
        Command::Decide(question) => decide::run(question, &source()?),
        Command::Explain(denial) => explain::run(denial, &source()?),
        Command::Replay(log) => replay::run(&log.file, log.form(), &source()?),
        // These two decide nothing: one checks the policy, the other has no use for it.
        Command::Check(files) => check::run(files.files.iter().chain(&cli.policy)),
        Command::Table(table) => table::run(table.format, &source()?),
        Command::Lint(lints) => lint::run(lints, cli.policy.as_ref()),
        // Their policies are their arguments.
        Command::Fmt(layouts) => fmt::run(layouts),
        Command::Diff(files) => diff::run(files),
        // A file of cases may name its own policy.
        Command::Test(tests) => test::run(tests, cli.policy.as_deref()),
        Command::Needs(calls) => needs::run(calls, &source()?),
        Command::Unused(usage) => unused::run(usage, &source()?),
        Command::Reach(holder) => reach::run(holder, &source()?),
        Command::Who(tokens) => who::run(tokens, &source()?),
        // Requests and records are the same under every policy.
        Command::Validate(documents) => validate::run(documents),
        Command::Completions(shell) => complete::run(shell.shell),
    }
}
