//! Shared by tests: signed tokens, a real OpenID provider, and the exchanges for every gate. Not published.
#![allow(
    missing_docs,
    missing_debug_implementations,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::disallowed_types,
    clippy::missing_const_for_fn,
    clippy::new_without_default,
    reason = "tests start programs and fail by panicking, and their names say what is made"
)]

pub mod cases;
#[cfg(feature = "exchange")]
pub mod exchange;
#[path = "../../orbgate/tests/support/expected.rs"]
pub mod expected;
pub mod holder;
pub mod json;
pub mod pages;
pub mod provider;
pub mod random;
pub mod signer;
pub mod skipped;
pub mod unsound;
#[path = "../../orbgate/tests/support/valid.rs"]
pub mod valid;
