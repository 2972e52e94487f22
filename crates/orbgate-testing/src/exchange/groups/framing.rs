//! Where a request begins and ends: the table `policy/cases/gate/framing.tsv`, with what each server was measured to do.

use core::time::Duration;
use std::io::ErrorKind;

use anyhow::{Result, ensure};

use crate::exchange::expected::{Expected, Saw, token};
use crate::exchange::groups::measured::{self, Row};
use crate::exchange::recipe::Recipe;
use crate::exchange::suite::{Open, Suite};
use crate::exchange::wire::Connection;

const SCOPES: &str = "read:orbs write:voxies";

/// How long a server must be silent that is expected to wait for more. One that isn't has the usual time.
const SILENCE: Duration = Duration::from_secs(3);

pub(crate) fn run(suite: &Suite) -> Result<()> {
    if suite.program.server.is_none() {
        return Ok(());
    }
    let open = suite.open("external")?;
    let bearer = suite.world.token(&Recipe::of("user", SCOPES))?;
    let mut bodies = Vec::new();
    let is_measured = measured::each(suite, "framing.tsv", |Row { location, sent, expected }| {
        let waits = expected.ends_with("waits");
        let came = outcome(&open, &bytes(sent, Some(&bearer)), true, waits, &mut bodies)?;
        if came.split(' ').any(|word| word == "inner") {
            suite.fail(format!("{location}\n  a body became a request: {came}"));
        }
        if !waits && !came.ends_with("waits") {
            let denied = outcome(&open, &bytes(sent, None), false, false, &mut bodies)?;
            if denied.split(' ').any(|word| ["row", "inner", "after"].contains(&word)) {
                suite.fail(format!("{location}\n  without a token, the service was reached: {denied}"));
            }
        }
        Ok(came)
    })?;
    if !is_measured {
        return Ok(());
    }
    // A request that the gate allows can still be refused for its body, before or after the service has seen it.
    let counted = open.running.count()?;
    let records = open.running.records();
    let allowed = counted.decisions.iter().filter(|(labels, _)| labels.starts_with("allow ")).map(|(_, count)| count);
    ensure!(allowed.sum::<u64>() >= u64::try_from(records.len())?, "framing.tsv: {records:?} {counted:?}");
    ensure!(bodies.iter().all(|body| records.contains(body)), "framing.tsv: an answer without a call: {bodies:?}");
    for record in &records {
        ensure_allowed(&open, &serde_json::from_str(record)?, true)?;
    }
    if suite.world.shows_a_token(&open.running.output()) {
        suite.fail("framing.tsv\n  the output shows a token");
    }
    Ok(())
}

/// The bytes of a row, and a last request after them.
fn bytes(sent: &str, bearer: Option<&str>) -> Vec<u8> {
    let authorization = bearer.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    let fields = format!("Host: localhost\r\n{authorization}");
    let inner = format!("GET /api/v1/external/orbs?inner HTTP/1.1\r\n{fields}\r\n");
    let [size, hex] = [inner.len().to_string(), format!("{:x}", inner.len())];
    let request = measured::bytes(
        sent,
        &[
            ("get", "GET /api/v1/external/orbs?row"),
            ("post", "POST /api/v1/external/voxies?row"),
            ("token", bearer.unwrap_or("x")),
            ("fields", &fields),
            ("inner", &inner),
            ("size", &size),
            ("hex", &hex),
        ],
    );
    let after = format!("GET /api/v1/external/orbs?after HTTP/1.1\r\nConnection: close\r\n{fields}\r\n");
    [request, after.into_bytes()].concat()
}

/// The service sees only what the engine allows.
fn ensure_allowed(open: &Open<'_>, call: &Saw, has_token: bool) -> Result<()> {
    let known = has_token.then(|| token("user", SCOPES));
    let expected = Expected::of(&open.engine, call.method.as_bytes(), call.target.as_bytes(), known);
    ensure!(expected.saw.as_ref() == Some(call), "the service saw {call:?}, the engine says {expected:?}");
    Ok(())
}

/// What comes back: for each answer of the service, the query of the request that it saw; `refused` for a refusal or an end of
/// the connection without an answer; other statuses as numbers; `waits` if the server is silent.
fn outcome(open: &Open<'_>, bytes: &[u8], is_known: bool, waits: bool, bodies: &mut Vec<String>) -> Result<String> {
    let mut connection = Connection::open(&open.running.address)?;
    if waits {
        connection.wait_at_most(SILENCE)?;
    }
    let mut words: Vec<String> = Vec::new();
    let mut request = bytes;
    for _ in 0..8 {
        let answer = match connection.ask(request) {
            Ok(answer) => answer,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                words.push("waits".to_owned());
                break;
            }
            Err(error) => return Err(error.into()),
        };
        request = b"";
        match answer.status {
            0 => break,
            200 => {
                let call: Saw = serde_json::from_slice(&answer.body)?;
                ensure_allowed(open, &call, is_known)?;
                let query = call.target.split_once('?').map_or("", |(_, query)| query);
                words.push(query.to_owned());
                bodies.push(answer.text().to_owned());
            }
            400 | 408 | 411 | 413 | 414 | 431 | 501 | 505 => words.push("refused".to_owned()),
            other => words.push(other.to_string()),
        }
    }
    // An answer that refuses can be lost with the connection.
    if words.len() > 1 && words.last().is_some_and(|last| last == "refused") {
        words.pop();
    }
    if words.is_empty() {
        words.push("refused".to_owned());
    }
    Ok(words.join(" "))
}
