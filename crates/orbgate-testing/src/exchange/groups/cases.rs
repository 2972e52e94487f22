//! The decision cases with a target, over the wire.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use crate::cases::{Row, rows};
use crate::exchange::expected::Sent;
use crate::exchange::recipe::Recipe;
use crate::exchange::suite::{Open, Suite};

/// Files whose tokens an issuer can sign.
const FILES: [&str; 4] = ["routes", "hostile", "targets", "inference"];

/// The maximum number of simultaneous connections.
const THREADS: usize = 4;

pub(crate) fn run(suite: &Suite) -> Result<()> {
    let mut by_policy: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for file in FILES {
        for row in rows(file) {
            by_policy.entry(row.policy.clone()).or_default().push(row);
        }
    }
    for (policy, rows) in &by_policy {
        let open = suite.open(policy)?;
        let share = rows.len().div_ceil(THREADS).max(1);
        std::thread::scope(|scope| {
            let threads = rows.chunks(share).map(|rows| {
                let open = &open;
                scope.spawn(move || rows.iter().try_for_each(|row| put(suite, open, row)))
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap())
        })?;
        open.close(&format!("cases of {policy}"))?;
    }
    Ok(())
}

/// Sends a row's request and, if it is allowed, sends it again with an expired token.
fn put(suite: &Suite, open: &Open<'_>, row: &Row) -> Result<()> {
    // A token separates scopes with single spaces; a row can have more.
    let scopes: Vec<&str> = row.scopes.split(' ').filter(|scope| !scope.is_empty()).collect();
    let scopes = scopes.join(" ");
    let recipe = Recipe::of(&row.kind, &scopes);
    let has_token = !row.kind.is_empty();
    let bearer = has_token.then(|| suite.world.token(&recipe)).transpose()?;
    let call = (row.method.as_slice(), row.target.as_slice());
    let token = has_token.then_some((row.kind.as_str(), scopes.as_str()));
    let sent = Sent::new(&row.location, call, bearer.as_deref(), token);
    let expected = open.expects(&sent);
    // The row is written by hand; the rest of the response follows from its reason.
    ensure!(expected.status == row.status, "{}: {expected:?}", row.location);
    open.exchange(&sent, &expected);
    if row.status == 200 {
        let expired = suite.world.token(&recipe.claim("exp", "now-120"))?;
        let sent = Sent::new(format!("{}, expired", row.location), call, Some(&expired), None);
        open.exchange(&sent, &open.expects(&sent));
    }
    Ok(())
}
