//! The command line as people type it.

mod diff;
mod fmt;
mod lint;
mod questions;
mod test;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use orbgate::{Scopes, TokenKind};
use orbgate_contract::Contract;

pub(crate) use diff::Pair;
pub(crate) use fmt::Layouts;
pub(crate) use lint::Lints;
pub(crate) use questions::{Calls, Holder, Tokens, Usage};
pub(crate) use test::Tests;

use crate::replay::Form;

/// Which scope does a route need, may a token call it, does it consume orbs, and why?
#[derive(Debug, Parser)]
#[command(name = "orbgate", version, after_help = ABOUT)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Policy file to use instead of the built-in policy; `-` is standard input
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) policy: Option<PathBuf>,
}

/// The file name that stands for standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

impl Cli {
    /// Refuses what the parser cannot see: `--policy` is one of the files of `check`, and standard input
    /// can be read only once.
    pub(crate) fn consistent(self) -> Result<Self, clap::Error> {
        let pair;
        let files: &[PathBuf] = match &self.command {
            Command::Check(files) if files.files.is_empty() && self.policy.is_none() => {
                let message = "no FILE to check, and no `--policy FILE`";
                return Err(usage("check", ErrorKind::MissingRequiredArgument, message));
            }
            Command::Lint(lints) if lints.files.is_empty() && self.policy.is_none() => {
                let message = "no FILE to look at, and no `--policy FILE`";
                return Err(usage("lint", ErrorKind::MissingRequiredArgument, message));
            }
            Command::Check(files) => &files.files,
            Command::Lint(lints) => &lints.files,
            Command::Replay(log) => core::slice::from_ref(&log.file),
            Command::Validate(documents) => &documents.files,
            Command::Diff(files) => {
                pair = [files.old.clone(), files.new.clone()];
                &pair
            }
            Command::Test(tests) => &tests.files,
            Command::Fmt(layouts) => &layouts.files,
            Command::Needs(calls) => calls.log.as_slice(),
            Command::Unused(usage) => core::slice::from_ref(&usage.log),
            Command::Who(tokens) => core::slice::from_ref(&tokens.tokens),
            Command::Completions(_) | Command::Reach(_) => &[],
            Command::Decide(_) | Command::Explain(_) | Command::Table(_) => &[],
        };
        let policy = match &self.command {
            // Whose `--policy` is never read.
            Command::Validate(_) | Command::Diff(_) | Command::Fmt(_) | Command::Completions(_) => {
                None
            }
            _ => self.policy.as_ref(),
        };
        let is_input = |file: &&PathBuf| file.as_path() == Path::new(STANDARD_INPUT);
        if let Command::Fmt(layouts) = &self.command
            && layouts.json
            && !layouts.check
            && files.iter().any(|file| is_input(&file))
        {
            let message =
                "`--json` leaves no place for the new text of standard input, but with `--check`";
            return Err(usage("fmt", ErrorKind::ArgumentConflict, message));
        }
        if files.iter().chain(policy).filter(is_input).count() > 1 {
            let message = "standard input can be read only once, and two files are `-`";
            let command = match &self.command {
                Command::Check(_) => "check",
                Command::Validate(_) => "validate",
                Command::Lint(_) => "lint",
                Command::Fmt(_) => "fmt",
                Command::Needs(_) => "needs",
                Command::Unused(_) => "unused",
                Command::Who(_) => "who",
                Command::Diff(_) => "diff",
                Command::Test(_) => "test",
                _ => "replay",
            };
            return Err(usage(command, ErrorKind::ArgumentConflict, message));
        }
        Ok(self)
    }
}

/// A usage error of a command.
fn usage(command: &str, kind: ErrorKind, message: &str) -> clap::Error {
    let mut cli = Cli::command();
    cli.build();
    match cli.find_subcommand_mut(command) {
        Some(command) => command.error(kind, message),
        None => cli.error(kind, message),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide one request: allow or deny, why, and what it consumes
    #[command(after_help = DECIDE, override_usage = DECIDE_USAGE)]
    Decide(Question),
    /// Explain a denial: which step to the scope is missing, which route was meant
    #[command(after_help = EXPLAIN, override_usage = EXPLAIN_USAGE)]
    Explain(Denial),
    /// Decide a log of requests line by line: JSON Lines in, JSON Lines out
    #[command(after_help = REPLAY)]
    Replay(Log),
    /// Check policy files and report every fault
    #[command(after_help = CHECK)]
    Check(Files),
    /// Find what is legal in policies and likely not meant
    Lint(Lints),
    /// Lay policy files out: indentation, spaces, blank lines
    Fmt(Layouts),
    /// Compare two policies: what the new one allows, denies and charges otherwise
    Diff(Pair),
    /// Test policies: files of cases, and how much of the policy they cover
    Test(Tests),
    /// Find the least scopes for calls
    Needs(Calls),
    /// Find scopes that tokens carry and never need
    Unused(Usage),
    /// List all that a token may call, and what consumes orbs
    Reach(Holder),
    /// Find who of a list of tokens may make a call
    Who(Tokens),
    /// Hold run requests or run records to their contract
    #[command(after_help = VALIDATE)]
    Validate(Documents),
    /// Show the whole table: scopes, orbs, tokens and routes
    #[command(after_help = TABLE)]
    Table(Table),
    /// Print the completion script of a shell
    #[command(after_help = COMPLETIONS)]
    Completions(Completions),
}

#[derive(Debug, Args)]
pub(crate) struct Question {
    /// Method of the request, in capital letters
    #[arg(required_unless_present = "scope", requires = "target")]
    pub(crate) method: Option<OsString>,

    /// Target of the request: path and query, as on the wire
    #[arg(required_unless_present = "scope")]
    pub(crate) target: Option<OsString>,

    /// Ask by scope instead of by method and target
    #[arg(long, conflicts_with_all = ["method", "target"])]
    pub(crate) scope: Option<OsString>,

    /// Whose token it is
    ///
    /// Without it, the request carries no token.
    #[arg(long, value_name = "KIND")]
    pub(crate) token: Option<Kind>,

    /// Scopes that the token carries, separated by spaces
    #[arg(long, requires = "token")]
    pub(crate) scopes: Option<OsString>,

    /// The request lets the call use bonus orbs
    #[arg(long)]
    pub(crate) allow_bonus_orbs: bool,

    /// Answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Question {
    /// The scopes that the token carries, if any.
    pub(crate) fn scopes(&self) -> Scopes<'_> {
        given(&self.scopes).into()
    }
}

/// The bytes of an argument that may be absent.
pub(crate) fn given(argument: &Option<OsString>) -> &[u8] {
    argument.as_deref().map_or(&[], bytes)
}

/// The bytes of an argument, whether or not they are UTF-8.
#[cfg(unix)]
pub(crate) fn bytes(argument: &OsStr) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(argument)
}

/// The bytes of an argument; what is not Unicode stays what no method, target or scope may contain.
#[cfg(not(unix))]
pub(crate) fn bytes(argument: &OsStr) -> &[u8] {
    argument.as_encoded_bytes()
}

#[derive(Debug, Args)]
pub(crate) struct Denial {
    #[command(flatten)]
    pub(crate) question: Question,

    /// Scopes declared in the Permissions tab, separated by spaces
    #[arg(long, value_name = "SCOPES")]
    pub(crate) declared: Option<OsString>,

    /// Scopes requested in the `scope` parameter, separated by spaces
    #[arg(long, value_name = "SCOPES")]
    pub(crate) requested: Option<OsString>,
}

impl Denial {
    /// Whether scopes are written as some write lists, where they are one scope that nobody knows.
    pub(crate) fn has_commas(&self) -> bool {
        let texts = [&self.question.scopes, &self.declared, &self.requested];
        texts.into_iter().any(|text| given(text).contains(&b','))
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// A user's token
    User,
    /// An organisation's token
    Organisation,
}

impl From<Kind> for TokenKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::User => Self::User,
            Kind::Organisation => Self::Organisation,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Log {
    /// File of requests, one JSON object on each line; `-` is standard input
    #[arg(default_value = STANDARD_INPUT, value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Say which route each request is about, also without a valid token
    ///
    /// Each answer has one more field, `about`: the route, or null.
    #[arg(long)]
    pub(crate) about: bool,
}

impl Log {
    /// What each answer says.
    pub(crate) const fn form(&self) -> Form {
        if self.about {
            Form::WithAbout
        } else {
            Form::Plain
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Files {
    /// Policy files to check; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Documents {
    /// What the documents are
    pub(crate) contract: Document,

    /// Files of JSON documents; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Ask only for what serving needs, not for all that an audit does
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Document {
    /// What a client sends
    RunRequest,
    /// What the endpoint answers
    RunRecord,
}

impl From<Document> for Contract {
    fn from(document: Document) -> Self {
        match document {
            Document::RunRequest => Self::RunRequest,
            Document::RunRecord => Self::RunRecord,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Table {
    /// Format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, to read in a terminal
    Text,
    /// A table for GitHub, one route on each row
    Markdown,
    /// Comma-separated values (RFC 4180), one route on each row
    Csv,
    /// One JSON document
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to complete for
    pub(crate) shell: Shell,
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
  orbgate test policy.test.yaml
  orbgate needs 'GET /api/v1/external/voxies' 'POST /api/v1/external/vox/run'
  orbgate validate run-request body.json
  orbgate table --format markdown
  orbgate --policy policy.yaml table

Exit codes:
  0  allowed, or nothing to complain about
  1  denied, or findings
  2  could not run: bad usage, policy or input";

const DECIDE_USAGE: &str = "\
orbgate decide [OPTIONS] <METHOD> <TARGET>
       orbgate decide [OPTIONS] --scope <SCOPE>";

const DECIDE: &str = "\
Examples:
  orbgate decide GET /api/v1/external/orbs --token user --scopes 'read:orbs read:vox'
  orbgate decide POST /api/v1/external/voxies/prompt/run \\
      --token organisation --scopes write:voxies --allow-bonus-orbs --json
  orbgate decide --scope read:inference --token user --scopes read:inference
  orbgate decide GET /v1/items --policy policy.yaml

Exit codes:
  0  allowed
  1  denied
  2  could not run: bad usage, bad or unreadable policy";

const EXPLAIN_USAGE: &str = "\
orbgate explain [OPTIONS] <METHOD> <TARGET>
       orbgate explain [OPTIONS] --scope <SCOPE>";

const EXPLAIN: &str = "\
A token carries a scope that is declared in the Permissions tab of the
application and requested in the `scope` parameter of the authorization
request. Where a step is missing, the call gets a bare 403. Say what the
token carries, what is declared and what is requested, and this says which:
  not_declared   not declared in the Permissions tab
  not_requested  not requested in `scope`
  both           neither declared nor requested
  token_older    granted, but the token is older
  token_kind     the scope applies only to a user's token
  not_known      what was said does not tell
Without --scopes, the token is the one that --declared and --requested give.
With --json, the decision has one field more, `missing_step`: one of these,
or null where no step is missing. Routes that nearly decide the call are named
with why they do not; in JSON they are in `near`, if there are any.

Examples:
  orbgate explain POST /api/v1/external/vox/run --token user \\
      --scopes read:vox --declared 'read:vox write:vox' --requested read:vox
  orbgate explain --scope read:inference --token organisation --json

Exit codes:
  0  allowed
  1  denied
  2  could not run: bad usage, bad or unreadable policy";

const REPLAY: &str = "\
A line is a request, by route or by scope:
  {\"method\":\"GET\",\"target\":\"/api/v1/external/orbs\",
   \"token\":{\"kind\":\"user\",\"scopes\":\"read:orbs\"},\"allow_bonus_orbs_use\":true}
  {\"scope\":\"read:orbs\",\"token\":{\"kind\":\"organisation\",\"scopes\":[\"read:orbs\"]}}
(each on one line). `token` may be null or absent; `scopes` and
`allow_bonus_orbs_use` may be absent. A line that is no request is answered in
its place by {\"error\":{\"line\":N,\"message\":\"…\"}}, and the rest goes on.

Examples:
  orbgate replay requests.jsonl > decisions.jsonl
  zcat requests.jsonl.gz | orbgate replay | grep -c scope_missing
  orbgate replay requests.jsonl --policy next.yaml | diff decisions.jsonl -
  orbgate replay requests.jsonl --about | grep no_token  # which routes were tried

Exit codes:
  0  every line was decided, whatever the decisions
  2  could not run, or a line was no request";

const CHECK: &str = "\
Every fault is printed, as FILE:LINE:COLUMN: message. Lines that start with
`warning:` tell of routes that overlap under different scopes or orbs, and of
literals like `:id`: they are legal, and change no exit code. The file of
`--policy` is checked as well.

Examples:
  orbgate check policy.yaml
  orbgate check policies/*.yaml
  render-policy | orbgate check -

Exit codes:
  0  every file is fine
  1  a file has faults
  2  a file could not be read";

const VALIDATE: &str = "\
A file holds one JSON document or more, one after the other or one on each
line. Every finding is printed, as FILE:LINE: /pointer: message; the pointer
of a missing member names the member, and that of a whole document is left
out. No policy is read: `--policy` changes nothing here.

Strict, as without --lenient, every member that the specification lists is
asked for, null only where it may be, and what must agree is compared. With
--lenient, a member that has a default or may be null may be absent, and
nothing is compared. Members that the specification does not list are never
findings.

Examples:
  orbgate validate run-request body.json
  orbgate validate run-record --lenient records.jsonl
  curl … | orbgate validate run-record -

Exit codes:
  0  no findings
  1  findings; what is no JSON is one
  2  a file could not be read";

const TABLE: &str = "\
Orbs are `no`, `yes` (consumes, the policy states no amount), an amount, or
`not stated`.

Examples:
  orbgate table
  orbgate table --format markdown > scopes.md
  orbgate table --format json --policy policy.yaml | jq '.apis[].scopes[].scope'

Exit codes:
  0  fine
  2  could not run: bad usage, bad or unreadable policy";

const COMPLETIONS: &str = "\
No policy is read: `--policy` changes nothing here.

Examples:
  orbgate completions bash > ~/.local/share/bash-completion/completions/orbgate
  orbgate completions zsh > ~/.zfunc/_orbgate
  orbgate completions fish > ~/.config/fish/completions/orbgate.fish

Exit codes:
  0  fine
  2  could not run: bad usage";
