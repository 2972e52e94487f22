//! What a host needs beyond the C ABI where the library is a WebAssembly module: room in the module's memory for what it
//! hands over. The module imports nothing. A panic traps: the instance is then good for nothing, and no answer has been given.

use core::alloc::Layout;
use std::alloc::{alloc, dealloc};

use orbgate::ScopeSet;

use crate::arguments::shared;
use crate::engine::OrbgateEngine;
use crate::scope_set::OrbgateScopeSet;

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
/// address that is a multiple of 16; 0 where a set has more than its own bytes.
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
