//! Functions that only hosts of the WebAssembly module need: they allocate room in the module's memory for arguments.
//! The module imports nothing. A panic traps: the instance can't be used any more, and the call has returned no result.

use core::alloc::Layout;
use std::alloc::{alloc, dealloc};

use orbgate::ScopeSet;

use crate::arguments::shared;
use crate::engine::OrbgateEngine;
use crate::scope_set::OrbgateScopeSet;

/// The largest alignment of the ABI's types.
const ALIGN: usize = 16;

/// Allocates some bytes. Null if there is no room, or if the length is 0.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_alloc(len: usize) -> *mut u8 {
    match Layout::from_size_align(len, ALIGN) {
        // SAFETY: the layout has a size.
        Ok(layout) if len > 0 => unsafe { alloc(layout) },
        _ => core::ptr::null_mut(),
    }
}

/// Frees an allocation, given its length. Null is fine.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_wasm_free(data: *mut u8, len: usize) {
    if let (false, Ok(layout)) = (data.is_null(), Layout::from_size_align(len, ALIGN)) {
        // SAFETY: made by `orbgate_wasm_alloc` with this layout, and the caller's to free once.
        unsafe { dealloc(data, layout) }
    }
}

/// The size of this engine's scope sets in bytes, if every instance of the module with the same engine can use them at
/// any address that is a multiple of 16. 0 if a set needs memory outside its own bytes.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_wasm_scope_set_size(engine: *const OrbgateEngine) -> usize {
    // SAFETY: the caller guarantees it, see the preamble.
    match unsafe { shared(engine) } {
        Ok(engine) if engine.engine().scope_count() <= ScopeSet::OWN_SCOPES => size_of::<OrbgateScopeSet>(),
        _ => 0,
    }
}
