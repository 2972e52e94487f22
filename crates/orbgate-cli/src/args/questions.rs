//! `orbgate needs`, `unused`, `reach` and `who` as people type them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Kind;

#[derive(Debug, Args)]
#[command(after_help = NEEDS)]
pub(crate) struct Calls {
    /// Calls, each `METHOD TARGET` in one argument
    #[arg(
        value_name = "CALL",
        required_unless_present = "log",
        conflicts_with = "log"
    )]
    pub(crate) calls: Vec<OsString>,

    /// Take the calls from a log; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) log: Option<PathBuf>,

    /// Whose token makes the calls
    #[arg(
        long,
        value_name = "KIND",
        default_value = "user",
        hide_default_value = true
    )]
    pub(crate) token: Kind,

    /// Answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = UNUSED)]
pub(crate) struct Usage {
    /// Log of calls with the scopes of their tokens; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) log: PathBuf,

    /// Field of an access log that has the token's scopes, as `extra1` or `user`
    #[arg(long, value_name = "FIELD")]
    pub(crate) field: Option<String>,

    /// Whose tokens an access log's are
    #[arg(
        long,
        value_name = "KIND",
        default_value = "user",
        hide_default_value = true
    )]
    pub(crate) token: Kind,

    /// Answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = REACH)]
pub(crate) struct Holder {
    /// Whose token it is
    #[arg(long, value_name = "KIND")]
    pub(crate) token: Kind,

    /// Scopes that the token carries, separated by spaces
    #[arg(long)]
    pub(crate) scopes: Option<OsString>,

    /// Answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = WHO)]
pub(crate) struct Tokens {
    /// Method of the call, in capital letters
    pub(crate) method: OsString,

    /// Target of the call: path and query, as on the wire
    pub(crate) target: OsString,

    /// File of tokens, one JSON object on each line; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tokens: PathBuf,

    /// Answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const NEEDS: &str = "\
The first line has the least scopes with which a token may make all the calls,
as `--scopes` takes them; the lines below say for each scope how many calls
need it, and which is the first. Without one of them, that call is denied.
Calls that no scope could allow are named with their reason.

A line of a log is a request as `orbgate replay` reads it, a line of a web
server's access log, or `METHOD TARGET`. Without --token it is a user's.

Examples:
  orbgate needs 'GET /api/v1/external/voxies' 'POST /api/v1/external/vox/run'
  orbgate needs --log access.log --token organisation
  grep 'app=billing' access.log | orbgate needs --log - --json

Exit codes:
  0  every call can be allowed
  1  no scope could allow some call
  2  could not run: bad usage, policy or log, or a line that is no call";

const UNUSED: &str = "\
Every scope that some token carried, with the number of calls that carried it
and of those that it allowed, and the last of these. Unused ones come first.

A line is a request as `orbgate replay` reads it, or a line of an access log
with the scopes in a field of their own: `host`, `identity`, `user`, `status`,
`size`, `referer`, `agent`, and `extra1`, `extra2` and so on for those after.
The tokens of an access log are users' without --token.

Examples:
  orbgate unused requests.jsonl
  orbgate unused access.log --field extra1 --token organisation
  orbgate unused requests.jsonl --json | jq -r '.unused[]'

Exit codes:
  0  every scope was used
  1  some scope was never used
  2  could not run: bad usage, policy or log, a line that is no call, or no
     call that carries a scope";

const REACH: &str = "\
Every route, and every scope without routes, that such a token may call, in
the order of the policy file, with the scope that opens it and its orbs.

Examples:
  orbgate reach --token user --scopes 'read:orbs write:voxies'
  orbgate reach --token organisation --scopes read:models --json |
      jq -r '.allowed[] | select(.orbs.consumes).route'

Exit codes:
  0  something may be called
  1  nothing may be called
  2  could not run: bad usage, bad or unreadable policy";

const WHO: &str = "\
A line of the file is a token, with a name if wanted:
  {\"name\":\"billing\",\"token\":{\"kind\":\"organisation\",\"scopes\":\"read:orbs\"}}
`scopes` is a text, separated by spaces, or an array, and may be absent.

Examples:
  orbgate who GET /api/v1/external/orbs --tokens tokens.jsonl
  orbgate who GET /api/v1/external/orbs --tokens tokens.jsonl --json |
      jq -r '.tokens[] | select(.decision.decision == \"allow\").name'

Exit codes:
  0  somebody may make the call
  1  nobody may
  2  could not run: bad usage or policy, or a line that is no token";
