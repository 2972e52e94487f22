//! The C ABI of Orbgate. Its users' documentation is the header that is generated from these modules,
//! `bindings/c/include/orbgate.h`. The preamble in `header/preamble.h` states the rules for every
//! function and pointer.
//!
//! Each exported function checks its arguments (`arguments`), calls the core, and writes its outputs,
//! all within [`status::guard`], which turns errors and panics into a status. Outputs are written only
//! if the status is `OK`.
#![allow(
    unsafe_code,
    clippy::missing_safety_doc,
    reason = "the C ABI: callers pass every pointer, and the header's preamble states the rules for them"
)]

// `abort` would end the host process, although a status is promised. In WebAssembly, it ends one instance.
#[cfg(not(target_family = "wasm"))]
const _: () = assert!(cfg!(panic = "unwind"), "the C ABI needs panic = \"unwind\"");

mod alternatives;
mod answers;
mod arguments;
pub mod arrow;
#[cfg(feature = "analysis")]
pub mod ask;
pub mod batch;
pub mod columns;
pub mod decide;
pub mod decision;
pub mod engine;
pub mod error;
pub mod flags;
mod found;
#[cfg(feature = "gate")]
pub mod gate;
pub mod handle;
pub mod listing;
mod methods;
pub mod names;
mod owners;
pub mod packed;
#[cfg(any(target_family = "wasm", test))]
mod pool;
pub mod readback;
pub mod route_id;
mod rows;
pub mod scope_set;
pub mod status;
#[cfg(test)]
mod tests;
pub mod text;
pub mod token;
pub mod version;
#[cfg(target_family = "wasm")]
pub mod wasm;
