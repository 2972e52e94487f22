//! What the actions are given.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(super) struct Probe {
    /// URL of the MCP endpoint: `http`, because certificates aren't checked
    pub(super) url: String,

    /// Environment variable with an access token
    #[arg(long, value_name = "NAME")]
    pub(super) token_env: Option<String>,

    /// Environment variable with a valid access token for another audience
    #[arg(long, value_name = "NAME")]
    pub(super) other_token_env: Option<String>,

    /// Tool that needs a scope which the token lacks. It runs if nothing denies it
    #[arg(long, value_name = "TOOL", requires = "token_env")]
    pub(super) denied_tool: Option<String>,

    /// Print one line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Import {
    /// Responses to `tools/list` and `resources/templates/list`, or their results, in JSON; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath, value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    /// Path of the MCP endpoint
    #[arg(long, value_name = "PATH", default_value = "/mcp")]
    pub(super) base_path: String,

    /// Segments that a variable such as `{+path}` can have: each number is a route
    #[arg(long, value_name = "COUNT", default_value = "4", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(super) depth: u8,
}
