//! Combined functions for hosts of the WebAssembly module: one call starts a request and returns everything about the
//! next step, because each call is expensive. The host also hashes tokens, as it already checks signatures.

use super::object::OrbgateGate;
use super::question::{checked, orbgate_gate_ask};
use super::request::OrbgateGateRequest;
use super::step::{OrbgateStep, OrbgateStepInfo, State, orbgate_step_free};
use crate::arguments::{Out, shared};
use crate::engine::OrbgateEngine;
use crate::status::{OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// A step and its properties.
/// cbindgen:ignore
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateWasmStep {
    step: *mut OrbgateStep,
    /// The token of a step that requires a signature check, for a host that has instructions for hashing.
    token: OrbgateStr,
    /// 1 if `orbgate_gate_next_fetch` might return a fetch.
    may_fetch: u32,
    info: OrbgateStepInfo,
}

/// Like `orbgate_gate_ask`. First frees `step` if it isn't null.
/// cbindgen:ignore
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_wasm_gate_ask(
    gate: *const OrbgateGate,
    engine: *const OrbgateEngine,
    request: *const OrbgateGateRequest,
    unix_ms: u64,
    monotonic_ms: u64,
    over: *mut OrbgateStep,
    out: *mut OrbgateWasmStep,
) -> OrbgateStatus {
    let mut step = core::ptr::null_mut();
    // SAFETY: the caller guarantees it.
    unsafe {
        orbgate_step_free(over);
        match orbgate_gate_ask(gate, engine, request, unix_ms, monotonic_ms, &raw mut step) {
            OrbgateStatus::Ok => orbgate_wasm_step(gate, step, out),
            status => status,
        }
    }
}

/// Like `orbgate_gate_checked`, with the first 8 bytes of the token's SHA-256 hash as a number in the module's byte
/// order.
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
    over: *mut OrbgateStep,
    out: *mut OrbgateWasmStep,
) -> OrbgateStatus {
    let (hash, time) = (Some(hash.to_le_bytes()), (unix_ms, monotonic_ms));
    let mut next = core::ptr::null_mut();
    // SAFETY: the caller guarantees it.
    unsafe {
        orbgate_step_free(over);
        match checked(gate, engine, step, is_right, hash, time, &raw mut next) {
            OrbgateStatus::Ok => orbgate_wasm_step(gate, next, out),
            status => status,
        }
    }
}

/// The properties of a step of a gate, with its token.
/// cbindgen:ignore
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_wasm_step(
    gate: *const OrbgateGate,
    step: *mut OrbgateStep,
    out: *mut OrbgateWasmStep,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let (gate, known) = unsafe { (shared(gate)?, shared(step.cast_const())?) };
        let out = Out::new(out)?;
        let token = match &known.state {
            State::Check(checking) => OrbgateStr::of_bytes(checking.check().token()),
            _ => OrbgateStr::NULL,
        };
        let told = OrbgateWasmStep {
            step,
            token,
            may_fetch: gate.gate.keys().may_fetch().into(),
            info: OrbgateStepInfo::of(&known.state),
        };
        // SAFETY: the caller guarantees it.
        unsafe { out.write(told) }
        Ok(())
    })
}
