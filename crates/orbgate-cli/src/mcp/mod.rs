//! `orbgate mcp`: tries MCP servers, and drafts policies for them.

mod arguments;
mod import;
mod probe;
mod wire;

use clap::{Args, Subcommand};

use self::arguments::{Import, Probe};

use crate::output::{Exit, Stop};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Try how a server or its gateway treats lying, repeated and unauthorized requests
    #[command(after_help = PROBE)]
    Probe(Probe),
    /// Draft a policy from the lists of a server's tools and resources
    #[command(after_help = IMPORT)]
    Import(Import),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    match &arguments.action {
        Action::Probe(arguments) => probe::run(arguments),
        Action::Import(arguments) => import::run(arguments),
    }
}

const HELP: &str = "\
Examples:
  orbgate mcp import tools.json > policy.yaml
  orbgate mcp probe http://127.0.0.1:8080/mcp --token-env TOKEN

Exit codes:
  0  fine
  1  something is left out, or the server has faults
  2  could not run: bad usage, an unreadable file or no answer";

const PROBE: &str = "\
Examples:
  orbgate mcp probe http://127.0.0.1:8080/mcp --token-env TOKEN

Exit codes:
  0  no faults
  1  faults
  2  could not run: bad usage or no answer

No tool runs, because every request names a tool that doesn't exist, except with
--denied-tool. `fault` can bypass a check; `note` is only dangerous behind a
proxy that reads the request differently.";

const IMPORT: &str = "\
Examples:
  orbgate mcp import tools.json > policy.yaml
  orbgate mcp import tools.json templates.json --depth 8 > policy.yaml

Exit codes:
  0  the draft has everything
  1  tools or resources are left out
  2  could not run: an unreadable file or no list

The policy goes to standard output. Its scopes are guesses: tools whose
`readOnlyHint` is true need `tools:read`, all others `tools:write`. Resources
need `resources:read`. A variable of several segments, such as `{+path}`,
becomes a route for each number of segments. What can't be a route is listed on
standard error, and the exit code is 1.";
