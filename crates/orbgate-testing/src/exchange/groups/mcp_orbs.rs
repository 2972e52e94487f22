//! Calls at an MCP endpoint: each shared response costs what is written, and pages can read theirs.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::exchange::groups::{mcp_pages, orbs};
use crate::exchange::program::{Gated, Running};
use crate::exchange::recipe::Recipe;
use crate::exchange::service::{LedgerService, SECRETS};
use crate::exchange::suite::Suite;
use crate::exchange::wire;
use crate::exchange::world::root;

pub(crate) fn run(suite: &Suite) -> Result<()> {
    if !suite.program.charges_mcp {
        return Ok(());
    }
    let cases = root().join("policy/cases/mcp");
    let (policy, tokens) = (cases.join("policy.yaml"), orbs::tokens(suite)?);
    let service = LedgerService::start(&suite.world.tokens())?;
    SECRETS.iter().for_each(|secret| suite.world.hide(secret));
    std::fs::write(service.secret_file(), SECRETS[0])?;
    let rows = std::fs::read_to_string(cases.join("responses.jsonl"))?;
    let rows = rows.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    ensure!(!rows.is_empty(), "there are no responses");
    for settings in [["void", "capture", "capture", "void"], ["capture", "void", "void", "capture"]] {
        let [on_cancelled, on_broken, on_tool_error, on_input_required] = settings;
        let more = orbs::options(&service, on_cancelled);
        let more = more.each_ref().map(String::as_str);
        let mcp = ["--mcp", "/mcp", "--on-tool-error", on_tool_error, "--on-input-required", on_input_required];
        let broken = &["--on-broken", on_broken];
        // The setting that charges whatever happens is the one that differs from what sessions cost.
        let charges_sessions = on_cancelled == "void";
        let flags = if charges_sessions { &["--charge-sessions"][..] } else { &[] };
        if on_cancelled == "void" {
            suite.program.refuses_more(&policy, &tokens, &[&more[..], &mcp[..2]].concat())?;
            suite.saw_one();
        }
        let pages = &["--mcp-origin", mcp_pages::ORIGIN];
        let running = suite.program.start_in(
            &[],
            &policy,
            &tokens,
            Gated::Yes,
            &[&more[..], &mcp, broken, flags, pages].concat(),
        )?;
        orbs::await_keys(&running, &call(suite, "nobody", &rows[0], "")?);
        // What a tool states, up to the ceiling.
        for (stated, cost) in [(2, 2), (1000, 5)] {
            let user = format!("mcp-{on_cancelled}-states-{stated}");
            let account = format!("{}#{user}", suite.world.issuers.name("main"));
            service.grant(&account, 20, "paid")?;
            let bytes = call(suite, &user, &rows[0], &format!("state {stated}, "))?;
            let status = wire::ask(&running.address, &bytes)?.status;
            suite.saw_one();
            let actual = (status, orbs::left(&service, &account)?);
            if actual != (200, 20 - cost) {
                suite.fail(format!("mcp-orbs, {settings:?}: a tool that states {stated}\n  {actual:?}"));
            }
        }
        for (number, row) in rows.iter().enumerate() {
            let what = row["name"].as_str().unwrap_or_default();
            let costs = match row["costs"].as_str().unwrap_or_default() {
                "captured" => "capture",
                "voided" => "void",
                "on_cancelled" => on_cancelled,
                "on_broken" => on_broken,
                "on_tool_error" => on_tool_error,
                _ => on_input_required,
            };
            let user = format!("mcp-{on_cancelled}-{number}");
            let account = format!("{}#{user}", suite.world.issuers.name("main"));
            service.grant(&account, 20, "paid")?;
            let is_refused = row["session"] == true && !charges_sessions;
            let is_whole = is_refused || row["closed"] != true;
            let status = answered(suite, &running, &user, row, is_whole)?;
            let left = orbs::left(&service, &account)?;
            suite.saw_one();
            let expected = match is_refused {
                true => (Some(400), 20),
                false => (row["status"].as_u64(), if costs == "capture" { 15 } else { 20 }),
            };
            if (status, left) != expected {
                suite.fail(format!("mcp-orbs, {settings:?}: {what}\n  {:?} instead of {expected:?}", (status, left)));
            }
        }
        if charges_sessions {
            mcp_pages::run(suite, &running, &service)?;
        }
        // An error that echoes the id.
        let denied = wire::ask(&running.address, &call(suite, "nobody", &rows[0], "")?)?;
        let error: Value = serde_json::from_slice(&denied.body).unwrap_or_default();
        suite.saw_one();
        let actual = (denied.status, &error["id"], &error["error"]["data"]["reason"]);
        if actual != (402, &json!(7), &json!("insufficient_orbs")) {
            suite.fail(format!("mcp-orbs: an empty account\n  {actual:?}"));
        }
        if suite.world.shows_a_token(&running.output()) {
            suite.fail("mcp-orbs\n  the output shows a token or a secret");
        }
    }
    Ok(())
}

/// A call of `refund`, whose service answers as the row says, and before that does something else.
fn call(suite: &Suite, user: &str, row: &Value, before: &str) -> Result<Vec<u8>> {
    let recipe = Recipe::of("user", "orders:write").claim("sub", user);
    let token = suite.world.token(&recipe)?;
    let mut params = json!({ "name": "refund", "arguments": row });
    let mut headers = "";
    if row["legacy"] != true {
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: refund\r\n";
    }
    let session = if row["session"] == true { "Mcp-Session-Id: a\r\n" } else { "" };
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string();
    Ok(format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nx-do: {before}respond\r\nContent-Length: {}\r\n{headers}{session}\r\n{body}",
        body.len()
    )
    .into_bytes())
}

/// The status of the answer, which was read whole, or up to the end of the row's body.
fn answered(suite: &Suite, running: &Running, user: &str, row: &Value, is_whole: bool) -> Result<Option<u64>> {
    let bytes = call(suite, user, row, "")?;
    if is_whole {
        return Ok(wire::ask(&running.address, &bytes).ok().map(|answer| answer.status.into()));
    }
    let mut stream = TcpStream::connect(&running.address)?;
    stream.set_read_timeout(Some(orbs::PATIENCE))?;
    stream.write_all(&bytes)?;
    let body = row["body"].as_str().unwrap_or_default().as_bytes();
    let last = body.get(body.len().saturating_sub(12)..).unwrap_or(body);
    let (mut read, mut piece) = (Vec::new(), [0; 4096]);
    while !read.windows(last.len()).any(|part| part == last) {
        let count = stream.read(&mut piece)?;
        ensure!(count > 0, "the answer to {user} has ended");
        read.extend_from_slice(&piece[..count]);
    }
    let status = read.get(9..12).and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
    Ok(status)
}
