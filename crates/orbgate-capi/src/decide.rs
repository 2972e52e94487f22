//! Single decisions.
//!
//! Each kind of decision has two functions. One writes an `OrbgateDecision` and takes the token as a
//! struct. The other returns the decision packed and takes the token in parts, for callers from other
//! languages.

use core::ffi::c_char;

use orbgate::{Decision, Request, Token};

use crate::arguments::{Out, bytes, shared};
use crate::decision::OrbgateDecision;
use crate::engine::OrbgateEngine;
use crate::flags::Flags;
use crate::packed::packed;
use crate::route_id::OrbgateRouteId;
use crate::scope_set::OrbgateScopeSet;
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::token::{OrbgateToken, parts};

/// Decides a request: which scope it needs, whether the token allows the call, what the call consumes, and why. Pass
/// `method` and `target` exactly as they arrived in the request line, neither decoded nor normalised. `token` is null
/// if the request has none. `flags` is 0 or `ORBGATE_ALLOW_BONUS_ORBS`.
///
/// What ends in `_packed` returns the decision packed and takes the token in parts. `kind` is an `OrbgateTokenKind`. If
/// `scope_set` isn't null, it contains the scopes; otherwise, the scopes are the string.
/// Cost: decision.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decide(
    engine: *const OrbgateEngine,
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
        let (engine, method, target, token, out) = unsafe {
            (
                shared(engine)?,
                bytes(method, method_len)?,
                bytes(target, target_len)?,
                OrbgateToken::read(token)?,
                Out::new(out)?,
            )
        };
        let flags = Flags::read(flags)?;
        let decision = decide(engine, method, target, token, flags.allow_bonus_orbs);
        out.decided(engine, &decision, flags)
    })
}

/// Like `orbgate_engine_decide`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decide_packed(
    engine: *const OrbgateEngine,
    method: *const c_char,
    method_len: usize,
    target: *const c_char,
    target_len: usize,
    kind: u32,
    scopes: *const c_char,
    scopes_len: usize,
    scope_set: *const OrbgateScopeSet,
    flags: u32,
) -> u64 {
    packed(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, method, target, token) = unsafe {
            (
                shared(engine)?,
                bytes(method, method_len)?,
                bytes(target, target_len)?,
                parts(kind, scopes, scopes_len, scope_set)?,
            )
        };
        let flags = Flags::read(flags)?;
        let decision = decide(engine, method, target, token, flags.allow_bonus_orbs);
        Ok(engine.answers().of(&decision, flags))
    })
}

/// Decides by route, for a server that has already matched the route. Reads no strings. The id comes from
/// `orbgate_engine_find_route` or `OrbgateRoute`. An id of another policy, or of all zeros, is denied with
/// `no_route`.
/// Cost: decision.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decide_route(
    engine: *const OrbgateEngine,
    route_id: OrbgateRouteId,
    token: *const OrbgateToken,
    flags: u32,
    out: *mut OrbgateDecision,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, token, out) = unsafe { (shared(engine)?, OrbgateToken::read(token)?, Out::new(out)?) };
        let flags = Flags::read(flags)?;
        let decision = decide_route(engine, route_id, token, flags.allow_bonus_orbs);
        out.decided(engine, &decision, flags)
    })
}

/// Like `orbgate_engine_decide_route`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decide_route_packed(
    engine: *const OrbgateEngine,
    route_id_high: u64,
    route_id_low: u64,
    kind: u32,
    scopes: *const c_char,
    scopes_len: usize,
    scope_set: *const OrbgateScopeSet,
    flags: u32,
) -> u64 {
    packed(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, token) = unsafe { (shared(engine)?, parts(kind, scopes, scopes_len, scope_set)?) };
        let flags = Flags::read(flags)?;
        let route_id = OrbgateRouteId { high: route_id_high, low: route_id_low };
        let decision = decide_route(engine, route_id, token, flags.allow_bonus_orbs);
        Ok(engine.answers().of(&decision, flags))
    })
}

/// Decides by scope, for a service whose routes the policy doesn't list, such as the inference API. A
/// scope that the policy doesn't define is denied with `no_route`. The decision has no route.
/// Cost: decision.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decide_scope(
    engine: *const OrbgateEngine,
    scope: *const c_char,
    scope_len: usize,
    token: *const OrbgateToken,
    flags: u32,
    out: *mut OrbgateDecision,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, scope, token, out) =
            unsafe { (shared(engine)?, bytes(scope, scope_len)?, OrbgateToken::read(token)?, Out::new(out)?) };
        let core = engine.engine();
        let flags = Flags::read(flags)?;
        let decision = core.decide_scope(scope, token, flags.allow_bonus_orbs);
        out.decided(engine, &decision, flags)
    })
}

/// Like `orbgate_engine_decide_scope`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decide_scope_packed(
    engine: *const OrbgateEngine,
    scope: *const c_char,
    scope_len: usize,
    kind: u32,
    scopes: *const c_char,
    scopes_len: usize,
    scope_set: *const OrbgateScopeSet,
    flags: u32,
) -> u64 {
    packed(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, scope, token) =
            unsafe { (shared(engine)?, bytes(scope, scope_len)?, parts(kind, scopes, scopes_len, scope_set)?) };
        let core = engine.engine();
        let flags = Flags::read(flags)?;
        let decision = core.decide_scope(scope, token, flags.allow_bonus_orbs);
        Ok(engine.answers().of(&decision, flags))
    })
}

/// Decides a request with the core.
#[inline(always)]
pub(crate) fn decide<'e>(
    engine: &'e OrbgateEngine,
    method: &[u8],
    target: &[u8],
    token: Option<Token<'_>>,
    allow_bonus_orbs_use: bool,
) -> Decision<'e> {
    engine.engine().decide(&Request { method, target, token, allow_bonus_orbs_use })
}

/// Decides by route with the core.
#[inline(always)]
fn decide_route<'e>(
    engine: &'e OrbgateEngine,
    route_id: OrbgateRouteId,
    token: Option<Token<'_>>,
    allow_bonus_orbs_use: bool,
) -> Decision<'e> {
    engine.engine().decide_route(route_id.read(), token, allow_bonus_orbs_use)
}

/// The output of a decision.
pub(crate) type DecisionOut = Out<OrbgateDecision>;

impl DecisionOut {
    /// Writes this engine's decision on a request with these flags.
    #[inline(always)]
    pub(crate) fn decided(self, engine: &OrbgateEngine, decision: &Decision<'_>, flags: Flags) -> OrStatus {
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { self.write(engine.answers().of(decision, flags)) }
        Ok(())
    }
}
