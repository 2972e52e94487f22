//! An engine that is swapped under its readers.

use core::ffi::c_char;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::arguments::{Out, bytes, shared};
use crate::decide::decide;
use crate::decision::OrbgateDecision;
use crate::engine::OrbgateEngine;
use crate::flags::Flags;
use crate::owners::{release, retain};
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::token::OrbgateToken;

/// Holds an engine, for hot reload: readers never wait, and every decision comes from exactly
/// one engine. Shared by reference counting.
#[derive(Debug)]
pub struct OrbgateHandle {
    current: ArcSwap<OrbgateEngine>,
}

/// Makes a handle that holds an engine.
///
/// Ownership: `*out` is the caller's, to free with `orbgate_handle_free`. The handle becomes one more
/// owner of `engine`; the caller keeps its own.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_handle_new(
    engine: *const OrbgateEngine,
    out: *mut *mut OrbgateHandle,
) -> OrbgateStatus {
    guard(|| {
        let out = Out::new(out)?;
        // SAFETY: the caller's, see the preamble.
        let engine = unsafe { owner(engine) }?;
        let current = ArcSwap::new(engine);
        let handle = Arc::new(OrbgateHandle { current });
        // SAFETY: the caller's, see the preamble.
        unsafe { out.write(Arc::into_raw(handle).cast_mut()) }
        Ok(())
    })
}

/// Puts another engine into the handle. Calls under way end with the engine they began with.
///
/// Ownership: the handle becomes one more owner of `engine`, and gives up the engine it held.
/// Thread-safe: yes. Allocates: once a thread. Blocks: no. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_handle_store(
    handle: *const OrbgateHandle,
    engine: *const OrbgateEngine,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (handle, engine) = unsafe { (shared(handle)?, owner(engine)?) };
        handle.current.store(engine);
        Ok(())
    })
}

/// The engine that the handle holds now, for several questions to one policy.
///
/// Ownership: `*out` is the caller's, to free with `orbgate_engine_free`.
/// Thread-safe: yes. Allocates: once a thread. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_handle_load(
    handle: *const OrbgateHandle,
    out: *mut *mut OrbgateEngine,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (handle, out) = unsafe { (shared(handle)?, Out::new(out)?) };
        let engine = handle.current.load_full();
        // SAFETY: the caller's, see the preamble.
        unsafe { out.write(Arc::into_raw(engine).cast_mut()) }
        Ok(())
    })
}

/// Decides as `orbgate_engine_decide` does, with the engine that the handle holds now, without becoming an
/// owner of it. The decision's `policy` says which one it was. A scope set holds nothing for another
/// policy than its own, so a token's string is the safe choice across reloads. A call that began before its engine was
/// replaced may be the one that frees it, which is linear in the size of that policy.
///
/// Ownership: nothing; everything is only read.
/// Thread-safe: yes. Allocates: once a thread. Blocks: no. Cost: decision.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_handle_decide(
    handle: *const OrbgateHandle,
    method: *const c_char,
    method_len: usize,
    target: *const c_char,
    target_len: usize,
    token: *const OrbgateToken,
    flags: u32,
    out: *mut OrbgateDecision,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (handle, method, target, token, out) = unsafe {
            (
                shared(handle)?,
                bytes(method, method_len)?,
                bytes(target, target_len)?,
                OrbgateToken::read(token)?,
                Out::new(out)?,
            )
        };
        let flags = Flags::read(flags)?;
        let engine = handle.current.load();
        let decision = decide(&engine, method, target, token, flags.allow_bonus_orbs);
        out.decided(&engine, &decision, flags)
    })
}

/// Adds an owner to a handle and returns the same pointer; null for null.
///
/// Ownership: the result is the caller's, to free with `orbgate_handle_free`.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_handle_retain(handle: *const OrbgateHandle) -> *mut OrbgateHandle {
    // SAFETY: the caller's, see the preamble.
    unsafe { retain(handle) }
}

/// Takes an owner away from a handle; the last one frees it and gives up its engine. Null is fine.
///
/// Ownership: takes `handle`.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: policy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_handle_free(handle: *mut OrbgateHandle) {
    // SAFETY: the caller's, see the preamble.
    unsafe { release(handle) }
}

/// One more owner of an engine.
unsafe fn owner(engine: *const OrbgateEngine) -> OrStatus<Arc<OrbgateEngine>> {
    // SAFETY: the caller's, see the preamble.
    unsafe { shared(engine) }?;
    // SAFETY: made by `Arc::into_raw`, and the caller vouches that it has an owner.
    unsafe {
        Arc::increment_strong_count(engine);
        Ok(Arc::from_raw(engine))
    }
}
