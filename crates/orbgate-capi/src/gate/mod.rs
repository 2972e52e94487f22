//! Gates: from a request as it came to its answer. The rules are `orbgate-gate`'s; the host fetches and has the clocks.

pub mod fetch;
pub mod keys;
pub mod options;
pub mod question;
pub mod request;
pub mod routes;
pub mod step;
pub mod verifier;
#[cfg(target_family = "wasm")]
pub mod wasm;
