//! The tests of the public interface, all in one program: `cargo test -p orbgate-gate --test all simulation::`.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, clippy::disallowed_methods, reason = "a test stops at its first surprise")]

use core::fmt::Debug;

use orbgate_gate::{Answer, Next, Reading};

mod exchange;
mod follower;
mod login;
mod mcp;
mod mcp_orbs;
mod mcp_sessions;
mod orbs;
mod outside;
mod proof;
mod public;
mod reload;
mod remote;
mod simulation;
mod waiting;

/// The result of a request that needs no body.
fn answered<T: Debug>(next: Next<'_, T>) -> Answer<'_, T> {
    match next {
        Next::Answer(answer) => answer,
        Next::ReadBody(reading) => panic!("{reading:?}"),
    }
}

/// A request to an MCP endpoint that its body decides.
fn reading<T: Debug>(next: Next<'_, T>) -> Reading<T> {
    match next {
        Next::ReadBody(reading) => reading,
        Next::Answer(answer) => panic!("{answer:?}"),
    }
}
