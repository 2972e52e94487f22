//! Orbgate and its peers: the same requests, in the same run, rounds interleaved, every answer
//! checked before it is timed. `cargo run --release -- --help`.

#[cfg(feature = "record")]
pub mod chart;
#[cfg(feature = "record")]
pub mod circumstances;
pub mod contest;
pub mod goals;
pub mod hostile;
pub mod load;
pub mod measures;
pub mod peers;
pub mod questions;
#[cfg(feature = "record")]
pub mod record;
pub mod stream;
pub mod table;
pub mod threads;
#[cfg(feature = "tokens")]
pub mod tokens;

/// The numbers, values and synthetic policies of the crate's own benches.
#[path = "../criterion/support/mod.rs"]
pub mod support;
