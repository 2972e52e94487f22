//! The tests of the public interface, all in one program, so that it is linked once. One file of them:
//! `cargo test -p orbgate --all-features --test all cases::`.
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test reads files, takes the time, and stops at its first surprise"
)]

mod allocation;
mod cases;
mod codes;
mod compile;
mod each_key;
mod edges;
mod foreign_templates;
mod grant;
mod invalid_policies;
mod policy_digest;
mod policy_end_marker;
mod policy_file;
mod policy_limits;
mod policy_memory;
mod policy_random;
mod properties;
mod reach;
mod routes;
#[cfg(feature = "schema")]
mod schema;
mod specification;
mod support;
