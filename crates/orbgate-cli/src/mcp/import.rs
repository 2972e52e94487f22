//! `orbgate mcp import`: from `tools/list` to a first policy.

use std::collections::BTreeMap;
use std::io::Write as _;

use orbgate::{Engine, Policy};
use orbgate_gate::Mcp;
use serde::Deserialize;

use super::arguments::Import;
use crate::input;
use crate::output::{Exit, Stop, note};

/// The longest answer.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Deserialize)]
struct List {
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Response {
    result: List,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    annotations: Annotations,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Annotations {
    read_only_hint: bool,
}

/// What every client needs, of the current and of older versions.
const CONNECT: [&str; 5] = ["server/discover", "tools/list", "initialize", "notifications/initialized", "ping"];

pub(super) fn run(arguments: &Import) -> Result<Exit, Stop> {
    let bytes = input::read(&arguments.file, MOST_BYTES).map_err(Stop::Error)?;
    let list = serde_json::from_slice(&bytes).map(|response: Response| response.result);
    let list = list.or_else(|_| serde_json::from_slice::<List>(&bytes));
    let list = list.map_err(|error| Stop::Error(format!("`{}` has no `tools`: {error}", arguments.file.display())))?;
    let mut tools = BTreeMap::<String, Tool>::new();
    let mut exit = Exit::Fine;
    for tool in list.tools {
        let why = match tools.get(&tool.name.to_ascii_lowercase()) {
            Some(other) if other.name == tool.name => continue,
            Some(other) => Some(format!("differs only in case from `{}`", other.name)),
            None if !Mcp::is_tool_name(&tool.name) => Some("is no name of SEP-986".to_owned()),
            None => None,
        };
        if let Some(why) = why {
            note(&format!("left out: `{}` {why}", tool.name));
            exit = Exit::Findings;
            continue;
        }
        tools.insert(tool.name.to_ascii_lowercase(), tool);
    }
    let base_path = serde_json::to_string(&arguments.base_path).unwrap_or_default();
    let mut text = format!(
        "orbgate: 1\nname: mcp\napis:\n  mcp:\n    base_path: {base_path}\n    scopes:\n      mcp:connect:\n        permits: connects and lists tools\n        orbs: false\n        routes:\n"
    );
    for method in CONNECT {
        text.push_str(&format!("          - MCP /{method}\n"));
    }
    text.push_str("      # TODO: these scopes are guesses from `readOnlyHint`. Give tools that need different rights different scopes.\n");
    for (scope, permits, reads) in
        [("tools:read", "calls tools that only read", true), ("tools:write", "calls every other tool", false)]
    {
        let routes = tools.values().filter(|tool| tool.annotations.read_only_hint == reads);
        let routes: Vec<_> = routes.map(|tool| format!("          - MCP /tools/call/{}\n", tool.name)).collect();
        if !routes.is_empty() {
            text.push_str(&format!(
                "      {scope}:\n        permits: {permits}\n        orbs: false\n        routes:\n"
            ));
            text.extend(routes);
        }
    }
    text.push_str("...\n");
    let policy = Policy::from_yaml(&text).map_err(|error| Stop::Error(format!("the draft isn't a policy: {error}")))?;
    let mcp = Mcp::new(&arguments.base_path).map_err(|error| Stop::Error(error.to_string()))?;
    mcp.check(&Engine::new(&policy)).map_err(|error| Stop::Error(error.to_string()))?;
    anstream::stdout().write_all(text.as_bytes())?;
    Ok(exit)
}
