//! The tests of the public interface in one program, so that it is linked once, but for those that install a log or a
//! recorder of metrics for their whole program. One file of them:
//! `cargo test -p orbgate-tower --all-features --test all nested::`.
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a test reads files, waits, says what it skips, and stops at its first surprise"
)]

#[cfg(feature = "axum")]
mod hostile;
#[cfg(all(feature = "audit", feature = "metrics"))]
mod layer;
#[cfg(feature = "axum")]
mod mcp;
#[cfg(feature = "axum")]
mod mcp_lists;
#[cfg(all(feature = "axum", feature = "metrics"))]
mod nested;
#[cfg(feature = "fetch")]
mod proof;
#[cfg(feature = "axum")]
mod readme;
mod servers;
#[cfg(all(feature = "audit", feature = "axum", feature = "fetch", feature = "watch"))]
mod service;
mod support;
