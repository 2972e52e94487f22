//! A service whose routes the policy does not list asks by scope.
//!
//! ```sh
//! cargo run -p orbgate --example by_scope
//! ```
#![allow(clippy::disallowed_macros, reason = "an example prints what it found")]

use orbgate::{Decision, Engine, Token, TokenKind};

/// What to answer: the orbs to charge, or the status and the reason of the refusal.
fn infer(kind: TokenKind, scopes: &[&str]) -> Result<Option<u64>, (u16, &'static str)> {
    let engine = Engine::external();
    let scopes = engine.scope_set(scopes);
    let token = Token { kind, scopes: (&scopes).into() };
    match engine.decide_scope("read:inference", Some(token), false) {
        Decision::Allow(allow) => Ok(allow.charge().and_then(|charge| charge.amount)),
        Decision::Deny(deny) => Err((deny.status(), deny.reason().as_str())),
    }
}

fn main() {
    for (kind, scopes) in [
        (TokenKind::User, ["read:orbs", "read:inference"]),
        (TokenKind::User, ["read:orbs", "read:models"]),
        (TokenKind::Organisation, ["read:orbs", "read:inference"]),
    ] {
        println!("{} with {scopes:?}: {:?}", kind.as_str(), infer(kind, &scopes));
    }
}
