//! `orbgate mcp import`: from the lists of a server to a first policy.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;

use orbgate::{Engine, Policy};
use orbgate_gate::Mcp;
use serde::Deserialize;

use super::arguments::Import;
use crate::input;
use crate::output::{Exit, Stop, note};

/// The longest answer.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    tools: Option<Vec<Tool>>,
    resource_templates: Option<Vec<ResourceTemplate>>,
}

#[derive(Deserialize)]
struct Response {
    result: List,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceTemplate {
    uri_template: String,
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

/// The same for resources.
const LIST_RESOURCES: [&str; 2] = ["resources/list", "resources/templates/list"];

pub(super) fn run(arguments: &Import) -> Result<Exit, Stop> {
    let (mut listed, mut templates) = (Vec::new(), None);
    for file in &arguments.files {
        let list = read(file)?;
        listed.extend(list.tools.into_iter().flatten());
        if let Some(more) = list.resource_templates {
            templates.get_or_insert_with(Vec::new).extend(more);
        }
    }
    let mut tools = BTreeMap::<String, Tool>::new();
    let mut exit = Exit::Fine;
    for tool in listed {
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
    for method in CONNECT.into_iter().chain(templates.iter().flat_map(|_| LIST_RESOURCES)) {
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
    let mut resources = BTreeMap::new();
    for template in templates.into_iter().flatten() {
        match routes_of(&template.uri_template, arguments.depth.into()) {
            Ok(routes) => resources.extend(routes.into_iter().map(|route| (shape(&route), route))),
            Err(why) => {
                note(&format!("left out: `{}` {why}", template.uri_template));
                exit = Exit::Findings;
            }
        }
    }
    if !resources.is_empty() {
        text.push_str(
            "      resources:read:\n        permits: reads resources\n        orbs: false\n        routes:\n",
        );
        text.extend(resources.values().map(|route| format!("          - '{route}'\n")));
    }
    text.push_str("...\n");
    let policy = Policy::from_yaml(&text).map_err(|error| Stop::Error(format!("the draft isn't a policy: {error}")))?;
    let mcp = Mcp::new(&arguments.base_path).map_err(|error| Stop::Error(error.to_string()))?;
    mcp.check(&Engine::new(&policy)).map_err(|error| Stop::Error(error.to_string()))?;
    anstream::stdout().write_all(text.as_bytes())?;
    Ok(exit)
}

fn read(file: &Path) -> Result<List, Stop> {
    let bytes = input::read(file, MOST_BYTES).map_err(Stop::Error)?;
    let list = serde_json::from_slice(&bytes).map(|response: Response| response.result);
    let list = list.or_else(|_| serde_json::from_slice::<List>(&bytes));
    let what = |error: &dyn core::fmt::Display| {
        Stop::Error(format!("`{}` has no `tools` or `resourceTemplates`: {error}", file.display()))
    };
    match list {
        Ok(List { tools: None, resource_templates: None }) => Err(what(&"neither is there")),
        Ok(list) => Ok(list),
        Err(error) => Err(what(&error)),
    }
}

/// The routes of a URI template: one for each number of segments, if a variable can have several.
fn routes_of(template: &str, depth: usize) -> Result<Vec<String>, &'static str> {
    if template.contains(['?', '#']) || template.contains("{&") {
        return Err("has a query or a fragment, which no route can have");
    }
    // `{/path*}` brings its own slash.
    let template = template.replace("{/", "/{+");
    let mut several = None;
    let mut simple = String::new();
    let mut names = BTreeSet::new();
    let mut rest = &*template;
    while let Some((before, after)) = rest.split_once('{') {
        let (expression, next) = after.split_once('}').ok_or("has a brace without its other one")?;
        simple.push_str(before);
        let name = expression.trim_start_matches('+').trim_end_matches('*');
        let is_name = |name: &str| {
            name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if !is_name(name) || !names.insert(name.to_owned()) {
            return Err("has an expression that no route can have");
        }
        if expression != name && several.replace(format!("{{{name}}}")).is_some() {
            return Err("has two variables of several segments");
        }
        simple.push_str(&format!("{{{name}}}"));
        rest = next;
    }
    simple.push_str(rest);
    let expanded = match &several {
        None => vec![simple],
        Some(variable) => {
            let name = variable.trim_matches(['{', '}']);
            let segments = |count| (1..=count).map(|at| format!("{{{name}_{at}}}")).collect::<Vec<_>>().join("/");
            (1..=depth).map(|count| simple.replace(variable, &segments(count))).collect()
        }
    };
    let route = |template: String| {
        let path = Mcp::resource_route(&template).ok_or("has a part that no route can have")?;
        let policy = format!(
            "orbgate: 1\napis: {{a: {{base_path: '', scopes: {{a: {{orbs: false, routes: ['MCP {path}']}}}}}}}}\n"
        );
        Policy::from_yaml(&policy).map_err(|_| "has a part that no route can have")?;
        Ok(format!("MCP {path}"))
    };
    expanded.into_iter().map(route).collect()
}

/// A route without the names of its parameters, so that each is written once.
fn shape(route: &str) -> String {
    let segments = route.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}
