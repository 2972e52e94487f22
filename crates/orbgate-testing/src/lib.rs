//! What the tests of several crates share: signed tokens and a real OpenID provider. Not published.
#![allow(
    missing_docs,
    missing_debug_implementations,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::new_without_default,
    reason = "tests start programs and fail by panicking, and their names say what is made"
)]

pub mod page;
pub mod provider;
pub mod signer;
