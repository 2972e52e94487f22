//! What is made of this crate and committed: the headers, and the codes, layouts, messages and questions of every language.
//! Its tests compare the files, and `cargo xtask codes` has them write.
#![cfg(not(miri))]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::disallowed_methods,
    clippy::std_instead_of_core,
    reason = "it reads and writes the repository's files and counts small numbers"
)]

mod codes;
mod committed;
mod header;
#[cfg(feature = "gate")]
mod layout;
#[cfg(feature = "gate")]
mod messages;
#[cfg(feature = "analysis")]
mod questions;
