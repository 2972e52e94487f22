//! A policy of your own, from a file: its errors, or its table and a decision.
//!
//! ```sh
//! cargo run -p orbgate --example own_policy -- crates/orbgate-cli/testdata/shop.yaml GET /v1/items read:items
//! ```
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "an example reads its file and prints what it found"
)]

use core::error::Error;

use orbgate::policy::PolicyFile;
use orbgate::{Engine, Policy, Request, Token};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what| arguments.next().ok_or(format!("missing: {what}"));
    let (file, method, target, scopes) =
        (next("the policy's file")?, next("a method")?, next("a target")?, next("the token's scopes")?);
    let policy = match Policy::from_bytes(PolicyFile::read(&file)?.bytes()) {
        Ok(policy) => policy,
        Err(error) => {
            // Every error at once, each with its location.
            eprintln!("{}", error.in_file(&file));
            return Err("the policy has errors".into());
        }
    };
    let engine = Engine::new(&policy);
    println!("{}, {} routes", engine.digest(), engine.routes().len());
    for route in engine.routes() {
        let needed: Vec<_> = route.requirement().alternatives().map(|scopes| scopes.to_string()).collect();
        println!("  {} needs {}", route.as_str(), needed.join(" or "));
    }
    let decision = engine.decide(&Request {
        method: method.as_bytes(),
        target: target.as_bytes(),
        token: Some(Token::user(&scopes)),
        allow_bonus_orbs_use: false,
    });
    println!("{method} {target}: {}", decision.reason().explanation());
    Ok(())
}
