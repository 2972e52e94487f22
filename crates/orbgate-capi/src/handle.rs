//! Holds an engine that can be replaced while it is in use.

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

/// Holds an engine, for hot reload. Readers never wait, and every decision comes from exactly one
/// engine. Shared by reference counting.
#[derive(Debug)]
pub struct OrbgateHandle {
    current: ArcSwap<OrbgateEngine>,
}

/// Makes a handle that holds an engine, and becomes an owner of it.
/// Allocates: yes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_handle_new(
    engine: *const OrbgateEngine,
    out: *mut *mut OrbgateHandle,
) -> OrbgateStatus {
    guard(|| {
        let out = Out::new(out)?;
        // SAFETY: the caller guarantees it, see the preamble.
        let engine = unsafe { owner(engine) }?;
        let current = ArcSwap::new(engine);
        let handle = Arc::new(OrbgateHandle { current });
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(Arc::into_raw(handle).cast_mut()) }
        Ok(())
    })
}

/// Replaces the engine in the handle, which becomes an owner of the new one and releases the other. Running calls
/// finish with the engine that they started with.
/// Allocates: once per thread. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_handle_store(
    handle: *const OrbgateHandle,
    engine: *const OrbgateEngine,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (handle, engine) = unsafe { (shared(handle)?, owner(engine)?) };
        handle.current.store(engine);
        Ok(())
    })
}

/// Returns the engine that is now in the handle, for several decisions with one policy.
/// Allocates: once per thread.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_handle_load(
    handle: *const OrbgateHandle,
    out: *mut *mut OrbgateEngine,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (handle, out) = unsafe { (shared(handle)?, Out::new(out)?) };
        let engine = handle.current.load_full();
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(Arc::into_raw(engine).cast_mut()) }
        Ok(())
    })
}

/// Decides like `orbgate_engine_decide`, with the engine that is now in the handle, without becoming an owner of it.
/// The decision's `policy` identifies the engine's policy. To an engine of another policy, a scope set is empty, so
/// pass scopes as a string if the engine can be replaced. A call that began before its engine was replaced might be
/// the one that frees it, which takes time linear in the size of that policy.
/// Allocates: once per thread. Cost: decision.
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
        // SAFETY: the caller guarantees it, see the preamble.
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

/// Adds an owner.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_handle_retain(handle: *const OrbgateHandle) -> *mut OrbgateHandle {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { retain(handle) }
}

/// Cost: policy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_handle_free(handle: *mut OrbgateHandle) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { release(handle) }
}

/// Another owner of an engine.
unsafe fn owner(engine: *const OrbgateEngine) -> OrStatus<Arc<OrbgateEngine>> {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { shared(engine) }?;
    // SAFETY: made by `Arc::into_raw`, and the caller guarantees that it has an owner.
    unsafe {
        Arc::increment_strong_count(engine);
        Ok(Arc::from_raw(engine))
    }
}
