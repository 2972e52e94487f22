//! Puts the same exchanges to every language's gate, over real sockets: the format is in `policy/cases/gate/README.md`.
//! Not published.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::disallowed_types,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::missing_const_for_fn,
    missing_debug_implementations,
    reason = "a test tool: it starts programs, waits, and stops where its own files are wrong"
)]

mod groups;
mod issuer;
mod program;
mod programs;
mod recipe;
mod suite;
mod tsv;
mod wire;
mod world;
mod written;

// The public interface is:
pub use crate::groups::Group;
pub use crate::program::Program;
pub use crate::programs::{build, every};
pub use crate::suite::{Expected, Saw, Sent, run};
pub use crate::world::World;
pub use crate::written::{Written, written};
