//! The tests of the public interface, all in one program, so that it is linked once. One file of them:
//! `cargo test -p orbgate-contract --all-features --test all cases::`.
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "a test reads files, and stops at its first surprise"
)]

mod cases;
mod properties;
#[cfg(feature = "schema")]
mod schema;
mod specification;
mod support;
