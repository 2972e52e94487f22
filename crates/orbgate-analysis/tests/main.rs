//! The tests of the public interface, all in one program, so that it is linked once. One file of them:
//! `cargo test -p orbgate-analysis --all-features --test all lint::`.
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test reads files, takes the time, and stops at its first surprise"
)]

#[cfg(feature = "ask")]
mod ask;
mod diff;
mod format;
mod lint;
mod near;
mod property;
mod questions;
mod rules;
mod shadow;
mod suite;
#[allow(dead_code, reason = "the core's tests use all of it")]
#[path = "../../orbgate/tests/support/mod.rs"]
mod support;
