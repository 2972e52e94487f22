//! Hand-written exchanges.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use orbgate_token::TokenError;

use super::proof::is_about_proofs;
use crate::exchange::suite::Suite;
use crate::exchange::written::files;

/// Reasons that no request here can cause: an operator revokes a key, introspection is used (see the group `opaque`), a
/// clock is wrong. Those about proofs are in the group `proof`.
const NOT_OF_A_REQUEST: [&str; 4] = ["key_revoked", "inactive", "unanswered", "clock"];

pub(crate) fn run(suite: &Suite) -> Result<()> {
    let mut codes: BTreeSet<String> = BTreeSet::new();
    for (name, file) in files()? {
        let open = suite.open_for(&file)?;
        let (mut expected, mut audit) = (BTreeMap::<String, u64>::new(), BTreeMap::new());
        for exchange in file.exchanges(&name)? {
            let sent = exchange.sent(&suite.world)?;
            let answer = open.exchange(&sent, &exchange.expected);
            if let (Some(orbs), Some(call)) = (exchange.audit, &exchange.expected.saw) {
                audit.insert(call.route.clone(), orbs);
            }
            codes.extend(exchange.refused.clone());
            // A request that a server itself rejects never reaches a gate.
            let counted = exchange.refused.filter(|_| answer.status == exchange.expected.status);
            if let Some(code) = counted {
                *expected.entry(code).or_default() += 1;
            }
        }
        let (counted, lines) = open.close(&name)?;
        let counted = counted.refused.unwrap_or_default();
        for (route, orbs) in audit {
            let mut of = lines.iter().filter(|line| line.route == route).peekable();
            if of.peek().is_none() || of.any(|line| line.orbs != orbs) {
                suite.fail(format!("{name}\n  {route:?} should have {orbs} in the audit: {lines:?}"));
            }
        }
        if counted != expected {
            suite.fail(format!("{name}\n  refused: {counted:?}, expected: {expected:?}"));
        }
    }
    let all = TokenError::ALL.map(TokenError::as_str);
    let is_left_out = |code: &&str| NOT_OF_A_REQUEST.contains(code) || is_about_proofs(code);
    let missing = all.iter().find(|code| !codes.contains(**code) && !is_left_out(code));
    ensure!(missing.is_none(), "no exchange is refused as {missing:?}");
    Ok(())
}
