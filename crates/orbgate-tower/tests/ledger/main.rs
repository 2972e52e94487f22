//! Calls that hold orbs, over real servers and real ledgers.
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test fails by panicking, waits, and prints what it skips"
)]

#[path = "../support/mod.rs"]
mod calls;
#[path = "../../examples/charge.rs"]
#[allow(dead_code, reason = "the program binds a port")]
mod charge;
#[path = "../../../orbgate-ledger/tests/postgres/delayed.rs"]
mod delayed;
mod exchanges;
mod faults;
mod leaving;
mod mcp;
#[path = "../../../orbgate-ledger/tests/postgres/server.rs"]
#[allow(dead_code, reason = "the ledger's tests need more of it")]
mod server;
mod service;
mod speed;
mod start;
