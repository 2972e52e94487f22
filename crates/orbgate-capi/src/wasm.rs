//! What a host needs beyond the C ABI where the library is a WebAssembly module: room in the module's memory for what it
//! hands over. The module imports nothing. A panic traps: the instance is then good for nothing, and no answer has been given.

use core::alloc::Layout;
use std::alloc::{alloc, dealloc};

use orbgate::ScopeSet;

use crate::arguments::shared;
use crate::engine::OrbgateEngine;
use crate::scope_set::OrbgateScopeSet;
#[cfg(feature = "gate")]
use crate::{
    arguments::Out,
    gate::question::{OrbgateGate, checked},
    gate::step::{OrbgateStep, State},
    status::{OrbgateStatus, guard},
    text::OrbgateStr,
};

/// As much as any type of the ABI asks for.
const ALIGN: usize = 16;

/// Room for some bytes; null where there is none, or no bytes are asked for.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_alloc(len: usize) -> *mut u8 {
    match Layout::from_size_align(len, ALIGN) {
        // SAFETY: the layout has a size.
        Ok(layout) if len > 0 => unsafe { alloc(layout) },
        _ => core::ptr::null_mut(),
    }
}

/// Gives room back, with its length. Null is fine.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_wasm_free(data: *mut u8, len: usize) {
    if let (false, Ok(layout)) = (data.is_null(), Layout::from_size_align(len, ALIGN)) {
        // SAFETY: made by `orbgate_wasm_alloc` with this layout, and the caller's to free once.
        unsafe { dealloc(data, layout) }
    }
}

/// How many bytes a scope set of this engine has, where they mean the same in every instance of the module that has the engine, at any
/// place that is a multiple of 16; 0 where a set has more than its own bytes.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_wasm_scope_set_size(engine: *const OrbgateEngine) -> usize {
    // SAFETY: the caller's, see the preamble.
    match unsafe { shared(engine) } {
        Ok(engine) if engine.engine().scope_count() <= ScopeSet::OWN_SCOPES => {
            size_of::<OrbgateScopeSet>()
        }
        _ => 0,
    }
}

/// The token of a step that asks for the check of a signature, to be hashed by a host that has instructions for it.
/// cbindgen:ignore
#[cfg(feature = "gate")]
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
#[cfg(feature = "gate")]
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
