//! The arguments of `orbgate openapi`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use orbgate::Orbs;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Convert a document into a policy, and list what is left out
    #[command(after_help = IMPORT)]
    Import(Import),
    /// Convert a policy into a document
    #[command(after_help = EXPORT)]
    Export(Export),
    /// Compare a document with a policy
    #[command(after_help = CHECK)]
    Check(Check),
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// OpenAPI document, in YAML or JSON; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) document: PathBuf,

    #[command(flatten)]
    pub(crate) open: Open,

    /// Exit with 0 even if operations are left out
    #[arg(long)]
    pub(crate) allow_left_out: bool,

    /// Print one line of JSON that contains the policy
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Policy file; `-` is standard input
    #[arg(value_name = "POLICY", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Write JSON instead of YAML
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// OpenAPI document, in YAML or JSON; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) document: PathBuf,

    /// Policy file; `-` is standard input
    #[arg(value_name = "POLICY", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) open: Open,

    /// Exit with 0 if every difference is `unclear`
    #[arg(long)]
    pub(crate) allow_left_out: bool,

    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Settings that a document doesn't contain.
#[derive(Debug, Args)]
pub(crate) struct Open {
    /// Security scheme whose scopes are used, or roles if it is `http`
    ///
    /// Repeat it for schemes that are one token: the scopes that an operation
    /// requires of them are joined, in one api, named after the first scheme.
    #[arg(long, value_name = "NAME")]
    pub(crate) scheme: Vec<String>,

    /// Security scheme without scopes that something in front checks; repeatable
    ///
    /// The policy then doesn't require it, which a comment in the policy says.
    #[arg(long, value_name = "NAME")]
    pub(crate) elsewhere: Vec<String>,

    /// Base path, instead of the path of `servers`
    #[arg(long, value_name = "PATH")]
    pub(crate) base_path: Option<String>,

    /// Scope for operations that name no scope and are not open
    #[arg(long, value_name = "S")]
    pub(crate) default_scope: Option<String>,

    /// `require` the scope where security is optional: `{}` is one alternative
    ///
    /// Callers without a token are then denied. Without it, such operations are
    /// left out.
    #[arg(long, value_name = "require")]
    pub(crate) optional: Option<OptionalSecurity>,

    /// Require any of several scopes where the document requires all of them
    ///
    /// Many documents mean any of them. A comment in the policy says so. It
    /// isn't possible where scopes of several schemes are needed at once.
    #[arg(long)]
    pub(crate) all_of_as_any: bool,

    /// Orbs of calls without `x-orbs`: `false`, `true` or a number
    #[arg(long, value_parser = orbs)]
    pub(crate) orbs: Option<Orbs>,
}

/// What to do with operations whose security is optional.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OptionalSecurity {
    Require,
}

/// The orbs of a call, in the syntax of a policy.
fn orbs(text: &str) -> Result<Orbs, String> {
    let amount = || {
        let amount: u64 = text.parse().ok()?;
        let plain = amount.to_string() == text && amount > 0;
        (plain && i64::try_from(amount).is_ok()).then_some(Orbs::Amount(amount))
    };
    match text {
        "false" => Ok(Orbs::Free),
        "true" => Ok(Orbs::Unstated),
        _ => amount().ok_or_else(|| "`false`, `true` or a whole number from 1 on is wanted".to_owned()),
    }
}

const HELP: &str = "\
Examples:
  orbgate openapi import openapi.yaml --orbs false > policy.yaml
  orbgate openapi export policy.yaml > openapi.yaml
  orbgate openapi check openapi.yaml policy.yaml

Exit codes:
  0  fine
  1  operations are left out, or document and policy differ
  2  could not run: bad usage, a bad or unreadable document or policy";

const IMPORT: &str = "\
The policy goes to standard output, and what is left out to standard error, as
FILE:LINE:COLUMN: left out[KIND]: METHOD PATH: why. An operation is left out
if a policy can't express it: no scope, optional security, a parameter within a
segment. Its path is closed, so that no other route decides its calls; if that
is impossible, such a route is left out, too. The policy never allows a call
for less than the document requires, unless you use --elsewhere or
--all-of-as-any. No `$ref` is followed. A line note[KIND] tells what you should
know about an operation in the policy. Messages name the options with which
most operations are imported.

Examples:
  orbgate openapi import openapi.yaml --orbs false > policy.yaml
  orbgate openapi import openapi.json --scheme oauth2 --base-path /v1 \\
      --default-scope basic --orbs true --allow-left-out > policy.yaml

Exit codes:
  0  every operation is in the policy, or --allow-left-out was given
  1  operations are left out; the policy has the others
  2  could not run: bad usage, a bad or unreadable document, or one that leaves
     open what an option must say";

const EXPORT: &str = "\
An api becomes a security scheme and a route an operation. What OpenAPI has no
word for is in extensions: `x-orbs` (what a call consumes), `x-orbs-api`,
`x-orbs-policy`; import reads them, and gives a policy of the same digest.

Examples:
  orbgate openapi export policy.yaml > openapi.yaml
  orbgate openapi export policy.yaml --json > openapi.json

Exit codes:
  0  fine
  2  could not run: bad usage, a bad or unreadable policy";

const CHECK: &str = "\
What differs is printed as FILE:LINE:COLUMN: KIND: METHOD PATH: how:
  missing       the policy lacks the operation
  extra         the document lacks the route
  scope         the scopes differ
  orbs          what a call consumes differs; compared where the document or
                --orbs says it
  organisation  what an organisation's token gets differs, where the document
                has `x-orbs-api`; or it needs no scope
  closed        only one of the two denies every call of the path
  unclear       `import` leaves the operation out, and so does the policy
  unequal       `import` leaves the operation out, and the policy has a route
                for it, which may allow calls for less
The names of parameters mean nothing.

Examples:
  orbgate openapi check openapi.yaml policy.yaml
  orbgate openapi check openapi.json policy.yaml --scheme oauth2 --json

Exit codes:
  0  they say the same, or --allow-left-out was given and all that differs is
     `unclear`
  1  they differ
  2  could not run: bad usage, a bad or unreadable document or policy";
