//! Sessions with a client that has rust-analyzer's reading and writing of messages.
#![cfg(test)]
#![allow(clippy::panic_in_result_fn, clippy::arithmetic_side_effects, reason = "a test that cannot go on fails")]

mod answers;
mod check;
mod client;
mod life;
