//! The `orbgate` command: decide, replay, check and show scope and orb policies.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the command line is the edge: it reads files and prints"
)]

mod answer;
mod calls;
mod cases;
mod check;
mod complete;
mod decide;
mod decompress;
mod diff;
mod explain;
mod explore;
mod fail_on;
mod fmt;
mod hint;
mod init;
mod input;
mod lint;
mod log;
#[cfg(any(feature = "explorer", feature = "token"))]
mod loopback;
mod lsp;
#[cfg(feature = "manual")]
mod manual;
mod mcp;
mod needs;
mod openapi;
mod orbs;
mod output;
mod policy_file;
mod progress;
mod question;
mod reach;
mod replay;
mod review;
mod serve;
mod table;
mod tally;
mod token;
mod tolerate;
mod unused;
mod validate;
mod who;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint, value_parser};

use crate::input::STANDARD_INPUT;
use crate::output::{Exit, Stop};
use crate::policy_file::Source;

/// Which scope does a route need, may a token call it, does it consume orbs, and why?
#[derive(Debug, Parser)]
#[command(name = "orbgate", version, after_help = ABOUT, max_term_width = 80)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Policy file to use instead of the built-in policy; `-` is standard input
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    policy: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Decide one request: allow or deny, the reason, and the orbs it consumes
    Decide(question::Question),
    /// Explain a denial: the missing step to the scope, and similar routes
    Explain(explain::Arguments),
    /// Decide a log of requests line by line: JSON Lines in, JSON Lines out
    Replay(replay::Arguments),
    /// Write a first policy with its tests and the files for CI
    Init(init::Arguments),
    /// Check policy files and report every error
    Check(check::Arguments),
    /// Find likely mistakes in valid policies
    Lint(lint::Arguments),
    /// Format policy files: indentation, spaces, blank lines
    Fmt(fmt::Arguments),
    /// Compare two policies: changes in access and cost
    Diff(diff::Arguments),
    /// Test policies with test files, and measure coverage
    Test(cases::Arguments),
    /// Review a new version of a policy: diff, costs, lint and tests on one page
    Review(review::Arguments),
    /// Find the smallest set of scopes for some calls
    Needs(needs::Arguments),
    /// Find scopes that tokens carry but never need
    Unused(unused::Arguments),
    /// List everything that a token can call, and what consumes orbs
    Reach(reach::Arguments),
    /// Find the tokens of a list that can make a call
    Who(who::Arguments),
    /// Import, export or check OpenAPI documents
    Openapi(openapi::Arguments),
    /// Try an MCP server, or draft a policy for one
    Mcp(mcp::Arguments),
    /// Find out why a token is rejected
    Token(token::Arguments),
    /// Grant, hold and charge orbs in a ledger, and list what moved
    Orbs(orbs::Arguments),
    /// Validate run requests or run records against the specification
    Validate(validate::Arguments),
    /// Show all scopes and routes, with orbs and token kinds
    Table(table::Arguments),
    /// Show a policy in the browser: decisions, routes, and what a change opens
    Explore(explore::Arguments),
    /// Run the language server for editors: errors, lint, hover, formatting
    Lsp(lsp::Arguments),
    /// Start the gateway for nginx, HAProxy, Caddy, Traefik and Envoy
    Serve(serve::Arguments),
    /// Print a completion script for a shell
    Completions(complete::Arguments),
    /// Write the manual pages into a folder
    #[cfg(feature = "manual")]
    #[command(hide = true)]
    Manual(manual::Arguments),
}

fn main() -> ExitCode {
    let cli = match parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(usage) => return output::usage(&usage),
    };
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
        // These commands read policies, but make no decision with them.
        Command::Check(arguments) => check::run(arguments, policy),
        Command::Init(arguments) => init::run(arguments),
        Command::Lint(arguments) => lint::run(arguments, policy),
        Command::Fmt(arguments) => fmt::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Review(arguments) => review::run(arguments),
        Command::Openapi(arguments) => openapi::run(arguments),
        Command::Mcp(arguments) => mcp::run(arguments),
        // A test file can name its own policy.
        Command::Test(arguments) => cases::run(arguments, policy),
        // The policy isn't used, because no call is decided.
        Command::Token(arguments) => token::run(arguments),
        // A ledger knows nothing of policies.
        Command::Orbs(arguments) => orbs::run(arguments),
        // Requests and records are the same for every policy.
        Command::Validate(arguments) => validate::run(arguments),
        // It decides in the browser.
        Command::Explore(arguments) => explore::run(arguments),
        // Its policies come from the editor.
        Command::Lsp(_) => lsp::run(),
        // Its files are named in its configuration.
        Command::Serve(arguments) => serve::run(arguments),
        Command::Completions(arguments) => complete::run(arguments),
        #[cfg(feature = "manual")]
        Command::Manual(arguments) => manual::run(arguments),
    }
}

/// The arguments whose file is written, or is a ledger: `-` is its name.
const NOT_READ: &[&str] = &["lcov", "junit", "db"];

/// How many of the files that a command reads are standard input. All its arguments with files count, so a new one can't be
/// forgotten.
fn standard_inputs(command: &clap::Command, matches: &ArgMatches) -> usize {
    if let Some((name, matches)) = matches.subcommand() {
        return command.find_subcommand(name).map_or(0, |command| standard_inputs(command, matches));
    }
    let is_read =
        |arg: &&Arg| arg.get_value_hint() == ValueHint::FilePath && !NOT_READ.contains(&arg.get_id().as_str());
    let values = command.get_arguments().filter(is_read).filter_map(|arg| {
        let values = matches.try_get_raw(arg.get_id().as_str()).ok()??;
        Some(values.filter(|value| value.to_str() == Some(STANDARD_INPUT)).count())
    });
    values.sum()
}

/// The commands that decide with no policy. They have no `--policy`, because their files are their
/// arguments.
const WITHOUT_POLICY: &[&str] = &[
    "init",
    "token",
    "validate",
    "diff",
    "fmt",
    "mcp",
    "openapi",
    "orbs",
    "review",
    "explore",
    "lsp",
    "serve",
    "completions",
    #[cfg(feature = "manual")]
    "manual",
];

/// The command line. Help shows `--policy` only for commands that accept it.
pub(crate) fn command() -> clap::Command {
    let hidden = Arg::new("policy").long("policy").value_name("FILE").hide(true);
    let hidden = hidden.value_parser(value_parser!(PathBuf));
    let hide =
        |command: clap::Command, name: &&str| command.mut_subcommand(name, |command| command.arg(hidden.clone()));
    WITHOUT_POLICY.iter().fold(Cli::command(), hide)
}

fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = command();
    let arguments: Vec<_> = arguments.collect();
    let matches = command.try_get_matches_from_mut(&arguments).map_err(with_tip);
    let called = arguments.iter().skip(1).find_map(|name| command.find_subcommand(name));
    let lacks_policy = called.is_some_and(|called| WITHOUT_POLICY.contains(&called.get_name()));
    let matches = match matches {
        // The parser would tip to write `-- --policy`, or miss the file that `--policy` names.
        Err(error) if lacks_policy && is_about_policy(&error, &arguments) => {
            return Err(error_of(&mut command, &arguments, ErrorKind::UnknownArgument, NO_POLICY));
        }
        matches => matches?,
    };
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    let name = matches.subcommand_name().unwrap_or_default();
    match conflict(&cli, !WITHOUT_POLICY.contains(&name), standard_inputs(&command, &matches)) {
        None => Ok(cli),
        Some((kind, message)) => Err(error_of(&mut command, &arguments, kind, message)),
    }
}

const NO_POLICY: &str =
    "`--policy` is for commands that decide by a policy; this one reads only the files among its arguments";

/// Whether an error comes from a `--policy` that the command doesn't have.
fn is_about_policy(error: &clap::Error, arguments: &[OsString]) -> bool {
    let is_policy = |argument: &str| argument.split('=').next() == Some("--policy");
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(given))) => is_policy(given),
        (ErrorKind::MissingRequiredArgument, _) => arguments.iter().filter_map(|it| it.to_str()).any(is_policy),
        _ => false,
    }
}

/// An error with the usage of the command that is called.
fn error_of(root: &mut clap::Command, arguments: &[OsString], kind: ErrorKind, message: &str) -> clap::Error {
    root.build();
    let names = arguments.iter().skip(1);
    let command = names.fold(&*root, |command, name| command.find_subcommand(name).unwrap_or(command));
    command.clone().error(kind, message)
}

/// Adds a suggestion: `--policy` before a file, `--scopes` instead of `--scope`.
fn with_tip(mut error: clap::Error) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let lacks_new = matches!(
        error.get(ContextKind::InvalidArg),
        Some(ContextValue::Strings(lacking)) if lacking.iter().any(|lacking| lacking == "<NEW>")
    );
    let (given, prior) = (text(ContextKind::InvalidArg), text(ContextKind::PriorArg));
    let is_file = !given.starts_with('-') && (given.ends_with(".yaml") || given.ends_with(".yml"));
    let tip = match error.kind() {
        ErrorKind::UnknownArgument if is_file => {
            format!("a policy file is given with `--policy {given}`")
        }
        ErrorKind::MissingRequiredArgument if lacks_new => {
            "to compare one file with itself in git, add `--against HEAD`".to_owned()
        }
        ErrorKind::ArgumentConflict if [given, prior].contains(&"--scope <SCOPE>") => {
            "`--scope` asks by scope; the scopes of a token are `--scopes`".to_owned()
        }
        _ => return error,
    };
    let tip = ContextValue::StyledStrs(vec![tip.into()]);
    error.insert(ContextKind::Suggested, tip);
    error
}

/// Conflicts that the parser can't detect: `--policy` with a command that doesn't use it, `--policy` together with
/// files of `check`, and standard input used twice.
const fn conflict(cli: &Cli, reads_policy: bool, standard_inputs: usize) -> Option<(ErrorKind, &'static str)> {
    if cli.policy.is_some() && !reads_policy {
        return Some((ErrorKind::UnknownArgument, NO_POLICY));
    }
    match &cli.command {
        Command::Check(arguments) if arguments.files.is_empty() && cli.policy.is_none() => {
            let message = "no FILE to check, and no `--policy FILE`";
            return Some((ErrorKind::MissingRequiredArgument, message));
        }
        Command::Lint(arguments) if arguments.files.is_empty() && cli.policy.is_none() => {
            let message = "no FILE to look at, and no `--policy FILE`";
            return Some((ErrorKind::MissingRequiredArgument, message));
        }
        _ => {}
    }
    match (standard_inputs, &cli.command) {
        (1.., Command::Fmt(arguments)) if arguments.json && !arguments.check => Some((
            ErrorKind::ArgumentConflict,
            "`--json` leaves no place for the new text of standard input, but with `--check`",
        )),
        (2.., _) => Some((ErrorKind::ArgumentConflict, "standard input can be read only once, and two files are `-`")),
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::error::ErrorKind;
    use clap::{Arg, Command};

    use super::{command, parse};

    /// The commands without subcommands, each with its full name.
    fn leaves(command: &Command, path: &[String]) -> Vec<(Vec<String>, Command)> {
        let commands = command.get_subcommands().filter(|sub| sub.get_name() != "help");
        let own = commands.map(|sub| (sub, [path, &[sub.get_name().to_owned()]].concat()));
        let leaves = own.flat_map(|(sub, path)| match sub.has_subcommands() {
            true => leaves(sub, &path),
            false => vec![(path, sub.clone())],
        });
        leaves.collect()
    }

    fn value(argument: &Arg) -> String {
        let values = argument.get_possible_values();
        values.first().map_or_else(|| "1".to_owned(), |value| value.get_name().to_owned())
    }

    /// The minimal arguments of a command.
    fn least(path: &[String], command: &Command) -> Vec<String> {
        let mut arguments = [&["orbgate".to_owned()], path].concat();
        for argument in command.get_arguments().filter(|argument| argument.is_required_set()) {
            arguments.extend(argument.get_long().map(|long| format!("--{long}")));
            arguments.push(value(argument));
        }
        let more: &[&str] = match path.first().map(String::as_str) {
            Some("orbs") if path.iter().any(|name| name == "settle") => &["--void"],
            Some("orbs") if path.iter().any(|name| name == "grant") => &["1", "1", "--id=1"],
            Some("decide" | "explain") => &["GET", "/"],
            Some("needs") => &["GET /"],
            Some("diff" | "review") => &["2"],
            Some("check" | "lint" | "test") => &["1"],
            _ => &[],
        };
        arguments.extend(more.iter().map(|text| (*text).to_owned()));
        arguments
    }

    /// A longer line would be wrapped, and an example in it would no longer work.
    #[test]
    fn the_help_fits_in_80_columns() {
        let mut root = command();
        root.build();
        for (path, command) in leaves(&root, &[]) {
            let texts = [command.get_after_help(), command.get_before_help()];
            for text in texts.into_iter().flatten() {
                let text = text.to_string();
                let long = text.lines().find(|line| line.chars().count() > 80);
                assert_eq!(long, None, "{path:?}");
            }
        }
    }

    #[test]
    fn an_option_that_a_command_does_not_have_is_an_error() {
        let mut root = command();
        root.build();
        let leaves = leaves(&root, &[]);
        let all = leaves.iter().flat_map(|(_, command)| command.get_arguments());
        let options: BTreeMap<_, _> =
            all.filter_map(|argument| Some((argument.get_long()?.to_owned(), argument))).collect();
        assert!(leaves.len() > 20 && options.len() > 30);
        for (path, command) in &leaves {
            let least = least(path, command);
            let parsed = parse(least.iter().map(Into::into));
            assert!(parsed.is_ok(), "{least:?}: {}", parsed.unwrap_err());
            for (name, option) in &options {
                if command.get_arguments().any(|own| own.get_long() == Some(name.as_str())) && name != "policy" {
                    continue;
                }
                let mut arguments = least.clone();
                arguments.push(format!("--{name}"));
                if option.get_action().takes_values() {
                    arguments.push(value(option));
                }
                let parsed = parse(arguments.iter().map(Into::into));
                match (name.as_str(), parsed) {
                    // A missing file shows that these commands read it.
                    ("policy", Ok(_)) => {
                        assert!(!super::WITHOUT_POLICY.contains(&&*path[0]), "{arguments:?}");
                    }
                    (_, Ok(_)) => panic!("{arguments:?}"),
                    (_, Err(error)) => {
                        assert_eq!(error.kind(), ErrorKind::UnknownArgument, "{arguments:?}");
                    }
                }
            }
        }
    }
}
