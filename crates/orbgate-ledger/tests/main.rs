//! The tests of the public interface, all in one program, so that it is linked once. One file of them:
//! `cargo test -p orbgate-ledger --all-features --test all properties::`.
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::disallowed_types,
    reason = "a test reads files, has a clock, and stops at its first surprise"
)]

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod backlog;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod clock;
mod conformance;
#[cfg(all(feature = "sqlite", target_os = "linux"))]
mod crash;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod feed;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod growth;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod people;
#[cfg(all(feature = "postgres", target_os = "linux"))]
mod postgres;
mod properties;
mod reference;
#[cfg(feature = "schema")]
mod schema;
#[cfg(feature = "sqlite")]
mod sqlite;
mod support;
