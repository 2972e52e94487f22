//! The tests of the public interface, all in one program: `cargo test -p orbgate-gate --test all simulation::`.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, clippy::disallowed_methods, reason = "a test stops at its first surprise")]

mod exchange;
mod follower;
mod login;
mod mcp;
mod mcp_orbs;
mod mcp_sessions;

mod orbs;
mod outside;
mod public;
mod reload;
mod remote;
mod simulation;
mod waiting;
