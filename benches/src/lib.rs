//! Orbgate beside its peers: the same requests, in the same run, rounds interleaved, every answer
//! checked before it is timed. `cargo run --release -- --help`.

pub mod contest;
pub mod peers;
pub mod stream;
pub mod table;

/// The numbers, values and synthetic policies of the crate's own benches.
#[path = "../../crates/orbgate/benches/support/mod.rs"]
pub mod support;
