//! What a server does before a gate sees a request: the table `policy/cases/gate/servers.tsv`, as measured.

use core::time::Duration;
use std::io::ErrorKind;

use anyhow::{Result, ensure};

use crate::exchange::expected::{Expected, Saw, token};
use crate::exchange::groups::measured::{self, Row};
use crate::exchange::recipe::Recipe;
use crate::exchange::suite::{Open, Suite};
use crate::exchange::wire::Connection;

const SCOPES: &str = "read:orbs write:voxies";

/// How long a server must be silent that waits for more.
const SILENCE: Duration = Duration::from_secs(4);

pub(crate) fn run(suite: &Suite) -> Result<()> {
    if suite.program.server.is_none() {
        return Ok(());
    }
    let open = suite.open("external")?;
    let bearer = suite.world.token(&Recipe::of("user", SCOPES))?;
    let is_measured = measured::each(suite, "servers.tsv", |Row { location, sent, .. }| {
        let came = outcome(&open, sent, Some(&bearer))?;
        let denied = outcome(&open, sent, None)?;
        if denied.starts_with("served") {
            suite.fail(format!("{location}\n  without a token, the service was reached: {denied}"));
        }
        // A server that upgrades a request without a token didn't ask the gate.
        Ok(match (&*came, &*denied) {
            ("101", "101") => "server: 101".to_owned(),
            ("101", _) => "gate: 101".to_owned(),
            _ => came,
        })
    })?;
    if is_measured && suite.world.shows_a_token(&open.running.output()) {
        suite.fail("servers.tsv\n  the output shows a token");
    }
    Ok(())
}

/// What comes back for the bytes of a row: `served` with the request that the service saw, `gate` with the status of a
/// denial, or `server` with what the server did without asking the gate.
fn outcome(open: &Open<'_>, sent: &str, bearer: Option<&str>) -> Result<String> {
    let authorization = bearer.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    let fields = format!("Host: localhost\r\nConnection: close\r\n{authorization}");
    let upgrade = format!("Host: localhost\r\n{authorization}Connection: Upgrade");
    let bytes = measured::bytes(
        sent,
        &[
            ("orbs", "/api/v1/external/orbs"),
            ("fields", &fields),
            ("authorization", &authorization),
            ("upgrade", &upgrade),
            ("8 KiB", &"a".repeat(8 << 10)),
            ("128 KiB", &"a".repeat(128 << 10)),
            ("many fields", &"X: y\r\n".repeat(300)),
        ],
    );
    let before = decisions(open)?;
    let mut connection = Connection::open(&open.running.address)?;
    connection.wait_at_most(SILENCE)?;
    let answer = match connection.ask(&bytes) {
        Ok(answer) if answer.status == 100 => connection.ask(b""),
        other => other,
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            return Ok("server: waits".to_owned());
        }
        // The answer isn't one of HTTP/1.1.
        Err(_) => return Ok("server: other protocol".to_owned()),
    };
    let was_asked = decisions(open)? > before;
    if answer.status == 200
        && let Ok(call) = serde_json::from_slice::<Saw>(&answer.body)
    {
        ensure!(was_asked, "the service was reached without a decision");
        let known = bearer.map(|_| token("user", SCOPES));
        let expected = Expected::of(&open.engine, call.method.as_bytes(), call.target.as_bytes(), known);
        ensure!(expected.saw.as_ref() == Some(&call), "the service saw {call:?}, the engine says {expected:?}");
        return Ok(format!("served {} {}", call.method, call.target));
    }
    Ok(match (answer.status, was_asked) {
        (101, _) => "101".to_owned(),
        (0, _) => "server: closes".to_owned(),
        (status, true) => format!("gate: {status}"),
        (status, false) => format!("server: {status}"),
    })
}

fn decisions(open: &Open<'_>) -> Result<u64> {
    Ok(open.running.count()?.decisions.values().sum())
}
