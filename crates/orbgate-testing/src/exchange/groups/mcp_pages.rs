//! Requests of pages to an MCP endpoint: each response has what the gate states for browsers, in place of the service's own.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::exchange::program::Running;
use crate::exchange::recipe::Recipe;
use crate::exchange::service::LedgerService;
use crate::exchange::suite::Suite;
use crate::exchange::wire;
use crate::exchange::world::root;

/// The origin that the gate accepts.
pub(super) const ORIGIN: &str = "https://app.example";

/// Sends each shared request to a gate with this origin.
pub(super) fn run(suite: &Suite, running: &Running, service: &LedgerService) -> Result<()> {
    let rows = std::fs::read_to_string(root().join("policy/cases/mcp/pages.jsonl"))?;
    let rows = rows.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    ensure!(!rows.is_empty(), "there are no pages");
    for (number, row) in rows.iter().enumerate() {
        let what = row["name"].as_str().unwrap_or_default();
        let user = format!("page-{number}");
        if let Some(orbs) = row["orbs"].as_u64() {
            service.grant(&format!("{}#{user}", suite.world.issuers.name("main")), orbs, "paid")?;
        }
        let answer = wire::ask(&running.address, &request(suite, &user, row)?)?;
        suite.saw_one();
        let mut stated = BTreeMap::new();
        for (name, value) in &answer.headers {
            let name = name.to_ascii_lowercase();
            if name.starts_with("access-control-") {
                stated.entry(name).or_insert_with(Vec::new).push(value.as_str());
            }
        }
        let expected = row["stated"].as_object().into_iter().flatten();
        let expected = expected.map(|(name, value)| (name.clone(), vec![value.as_str().unwrap_or_default()])).collect();
        let vary = answer.header("vary").unwrap_or_default().to_ascii_lowercase();
        let vary: Vec<_> = vary.split([',', '+']).map(str::trim).collect();
        let service_s = row["vary"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let varies = core::iter::once("Origin").chain(service_s).all(|by| vary.contains(&&*by.to_ascii_lowercase()));
        if (u64::from(answer.status), &stated, varies) != (row["status"].as_u64().unwrap_or_default(), &expected, true)
        {
            suite.fail(format!("mcp-pages: {what}\n  {} {stated:?} vary {vary:?}", answer.status));
        }
    }
    Ok(())
}

fn request(suite: &Suite, user: &str, row: &Value) -> Result<Vec<u8>> {
    let mut lines: Vec<_> =
        row["headers"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    if let Some(scopes) = row["scopes"].as_str() {
        let token = suite.world.token(&Recipe::of("user", scopes).claim("sub", user))?;
        lines.push(format!("Authorization: Bearer {token}"));
    }
    let mut body = String::new();
    if let Some(tool) = row["tool"].as_str() {
        let arguments = json!({
            "status": row["status"],
            "headers": row["service"],
            "body": json!({ "jsonrpc": "2.0", "id": 7, "result": { "content": [] } }).to_string(),
        });
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string();
        lines
            .extend(["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "x-do: respond"].map(str::to_owned));
        lines.extend(["Content-Type: application/json".to_owned(), format!("Mcp-Name: {tool}")]);
    }
    let method = row["method"].as_str().unwrap_or("POST");
    Ok(format!(
        "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n\r\n{body}",
        body.len(),
        lines.join("\r\n")
    )
    .into_bytes())
}
