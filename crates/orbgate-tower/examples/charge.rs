//! A service that charges its calls: the program of docs/tutorial/charge.md. In a folder with its `policy.yaml`:
//!
//! ```sh
//! cargo run -p orbgate-tower --example charge --features ledger
//! ```
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::std_instead_of_core,
    reason = "written as in a program, which prints and has a clock"
)]

use std::{error::Error, sync::Arc, time::SystemTime};

use axum::{Router, routing::post};
use orbgate::TokenKind;
use orbgate_ledger::{Ledger, Sqlite};
use orbgate_token::TestIssuer;
use orbgate_tower::{Amounts, Engines, GateLayer, KeyHolder, OnCancelled, OrbLedger, OrbRules};

pub(crate) fn app(engines: Engines, ledger: Arc<dyn Ledger>, issuer: &TestIssuer) -> Result<Router, Box<dyn Error>> {
    let orbs = OrbLedger::start(ledger, OrbRules::new(OnCancelled::Void))?; // one for each process
    let gate = GateLayer::axum(engines, KeyHolder::new(issuer.verifier()?, issuer.keys()?));
    let gate = gate.ledger(&orbs, Amounts::of_policy())?;
    Ok(Router::new().route("/prompts", post(async || "an answer\n")).layer(gate))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let issuer = TestIssuer::new("https://issuer.test")?;
    println!("TOKEN={}", issuer.token(TokenKind::User, "write:prompts", SystemTime::now()));
    let app = app(Engines::from_file("policy.yaml")?, Arc::new(Sqlite::open("orbs.db")?), &issuer)?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    Ok(axum::serve(listener, app).await?)
}
