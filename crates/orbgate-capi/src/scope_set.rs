//! A token's scopes, interned once for many decisions.

use core::ffi::c_char;
use std::sync::Arc;

use orbgate::ScopeSet;

use crate::arguments::{Out, bytes, shared, slice};
use crate::engine::OrbgateEngine;
use crate::owners::{release, retain};
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// A token's scopes as a set of bits: one test per decision. It belongs to the policy of the engine
/// that made it; with an engine of another policy it holds nothing, so that decisions deny rather than
/// misread it. Immutable and shared by reference counting.
#[derive(Debug)]
pub struct OrbgateScopeSet {
    pub(crate) set: ScopeSet,
}

/// Interns the scopes of a token, separated by spaces. Those that the policy does not have are dropped.
///
/// Ownership: `*out` is the caller's, to free with `orbgate_scope_set_free`; it does not need the
/// engine. `scopes` is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: decision.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_scope_set_from_string(
    engine: *const OrbgateEngine,
    scopes: *const c_char,
    scopes_len: usize,
    out: *mut *mut OrbgateScopeSet,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (engine, scopes) = unsafe { (shared(engine)?, bytes(scopes, scopes_len)?) };
        hand_over(Out::new(out)?, engine.engine().scopes(scopes))
    })
}

/// Interns scopes that come one by one, as from a JSON array. Each is one scope as it is: one with
/// a space in it is in no policy.
///
/// Ownership: `*out` is the caller's, to free with `orbgate_scope_set_free`; it does not need the
/// engine. `scopes` is an array of `scope_count` strings and only read.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: decision.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_scope_set_from_list(
    engine: *const OrbgateEngine,
    scopes: *const OrbgateStr,
    scope_count: usize,
    out: *mut *mut OrbgateScopeSet,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (engine, texts) = unsafe { (shared(engine)?, slice(scopes, scope_count)?) };
        let out = Out::new(out)?;
        // SAFETY: the caller's, see the preamble.
        let scopes = texts
            .iter()
            .map(|text| unsafe { bytes(text.data, text.len) });
        let scopes = scopes.collect::<OrStatus<Vec<_>>>()?;
        hand_over(out, engine.engine().scope_set(scopes))
    })
}

fn hand_over(out: Out<*mut OrbgateScopeSet>, set: ScopeSet) -> OrStatus {
    let set = Arc::new(OrbgateScopeSet { set });
    // SAFETY: the caller's, see the preamble.
    unsafe { out.write(Arc::into_raw(set).cast_mut()) }
    Ok(())
}

/// Adds an owner to a scope set and returns the same pointer; null for null.
///
/// Ownership: the result is the caller's, to free with `orbgate_scope_set_free`.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_scope_set_retain(
    set: *const OrbgateScopeSet,
) -> *mut OrbgateScopeSet {
    // SAFETY: the caller's, see the preamble.
    unsafe { retain(set) }
}

/// Takes an owner away from a scope set; the last one frees it. Null is fine.
///
/// Ownership: takes `set`.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_scope_set_free(set: *mut OrbgateScopeSet) {
    // SAFETY: the caller's, see the preamble.
    unsafe { release(set) }
}
