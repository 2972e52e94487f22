//! One decision of the built-in policy, and every part of the answer.
//!
//! ```sh
//! cargo run -p orbgate --example decide
//! ```
#![allow(clippy::disallowed_macros, reason = "an example prints what it found")]

use orbgate::{Decision, Engine, Request, Token};

fn main() {
    let engine = Engine::external();
    // Once per token: its scopes become a set of bits.
    let scopes = engine.scopes("read:voxies write:voxies");
    for (method, target) in [
        ("POST", "/api/v1/external/voxies/prompt/run"),
        ("GET", "/api/v1/external/orbs"),
        ("PATCH", "/api/v1/external/voxies"),
        ("GET", "/api/v1/external/voxies/../orbs"),
    ] {
        let decision = engine.decide(&Request {
            method: method.as_bytes(),
            target: target.as_bytes(),
            token: Some(Token::user(&scopes)),
            allow_bonus_orbs_use: false,
        });
        match decision {
            Decision::Allow(allow) => println!(
                "{method} {target}: allowed by {}, charge {:?}",
                allow.scope().map_or("no scope", |scope| scope.name()),
                allow.charge()
            ),
            Decision::Deny(deny) => {
                println!("{method} {target}: {} {}, detail {:?}", deny.status(), deny.reason(), deny.detail())
            }
        }
    }
}
