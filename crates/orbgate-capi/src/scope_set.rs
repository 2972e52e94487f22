//! A token's scopes, interned once for many decisions.

use core::ffi::c_char;
use std::sync::Arc;

use orbgate::ScopeSet;

use crate::arguments::{Out, bytes, shared, slice};
use crate::engine::OrbgateEngine;
use crate::owners::{release, retain};
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// A token's scopes as a set of bits: each decision tests one bit. It belongs to the policy of the engine that made it,
/// but doesn't need the engine. To an engine of another policy it is empty, so that engine denies instead of misreading
/// it. Immutable and shared by reference counting.
#[derive(Debug)]
pub struct OrbgateScopeSet {
    pub(crate) set: ScopeSet,
}

/// Interns the scopes of a token, separated by spaces. Scopes that the policy doesn't define are dropped.
/// Allocates: yes. Cost: decision.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_scope_set_from_string(
    engine: *const OrbgateEngine,
    scopes: *const c_char,
    scopes_len: usize,
    out: *mut *mut OrbgateScopeSet,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, scopes) = unsafe { (shared(engine)?, bytes(scopes, scopes_len)?) };
        hand_over(Out::new(out)?, engine.engine().scopes(scopes))
    })
}

/// Interns scopes from an array of `scope_count` strings, such as a JSON array. Each item is one scope; an item that
/// contains a space is in no policy.
/// Allocates: yes. Cost: decision.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_scope_set_from_list(
    engine: *const OrbgateEngine,
    scopes: *const OrbgateStr,
    scope_count: usize,
    out: *mut *mut OrbgateScopeSet,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, texts) = unsafe { (shared(engine)?, slice(scopes, scope_count)?) };
        let out = Out::new(out)?;
        // SAFETY: the caller guarantees it, see the preamble.
        let scopes = texts.iter().map(|text| unsafe { bytes(text.data, text.len) });
        let scopes = scopes.collect::<OrStatus<Vec<_>>>()?;
        hand_over(out, engine.engine().scope_set(scopes))
    })
}

fn hand_over(out: Out<*mut OrbgateScopeSet>, set: ScopeSet) -> OrStatus {
    let set = Arc::new(OrbgateScopeSet { set });
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { out.write(Arc::into_raw(set).cast_mut()) }
    Ok(())
}

/// Adds an owner.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_scope_set_retain(set: *const OrbgateScopeSet) -> *mut OrbgateScopeSet {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { retain(set) }
}

/// Removes an owner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_scope_set_free(set: *mut OrbgateScopeSet) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { release(set) }
}
