//! What a host asks a gate for where the library is a WebAssembly module: it hashes tokens, too, as it checks signatures.

use super::question::{OrbgateGate, checked};
use super::step::{OrbgateStep, State};
use crate::arguments::{Out, shared};
use crate::engine::OrbgateEngine;
use crate::status::{OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// The token of a step that asks for the check of a signature, to be hashed by a host that has instructions for it.
/// cbindgen:ignore
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_wasm_step_token(
    step: *const OrbgateStep,
    out: *mut OrbgateStr,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's.
        let (step, out) = unsafe { (shared(step)?, Out::new(out)?) };
        let State::Check(checking) = &step.state else {
            return Err(OrbgateStatus::InvalidArgument);
        };
        // SAFETY: the caller's.
        unsafe { out.write(OrbgateStr::of_bytes(checking.check().token())) }
        Ok(())
    })
}

/// As `orbgate_gate_checked`, with the first 8 bytes of the token's SHA-256 as a number in the module's order of bytes.
/// cbindgen:ignore
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_wasm_gate_checked(
    gate: *const OrbgateGate,
    engine: *const OrbgateEngine,
    step: *mut OrbgateStep,
    is_right: u8,
    hash: u64,
    unix_ms: u64,
    monotonic_ms: u64,
    out: *mut *mut OrbgateStep,
) -> OrbgateStatus {
    let (hash, time) = (Some(hash.to_le_bytes()), (unix_ms, monotonic_ms));
    // SAFETY: the caller's.
    unsafe { checked(gate, engine, step, is_right, hash, time, out) }
}
