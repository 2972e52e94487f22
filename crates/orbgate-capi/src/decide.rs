//! The decisions, one by one.
//!
//! Each kind of question has two functions: one that writes an `OrbgateDecision` and takes the token as
//! a struct, and one that returns the decision packed and takes the token in parts, for callers who
//! cross from another language.

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

/// Decides a request: which scope it needs, whether the token may make the call, what it consumes, and
/// why. `method` and `target` are the bytes of the request line as they came over the wire, neither
/// decoded nor normalised; `token` is null where none was supplied; `flags` is 0 or
/// `ORBGATE_ALLOW_BONUS_ORBS`.
///
/// Ownership: nothing; everything is only read.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
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
        // SAFETY: the caller's, see the preamble.
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

/// The same, packed into the result; the token comes in parts. `kind` is an `OrbgateTokenKind`; the
/// scopes are a string or, where `scope_set` is not null, that set.
///
/// Ownership: nothing; everything is only read.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
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
        // SAFETY: the caller's, see the preamble.
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

/// Decides by route, for a server that has already matched the route. Reads no strings. The
/// id is one of `orbgate_engine_find_route` or `OrbgateRoute`; one of another policy, and one of zeros, is denied as
/// `no_route`.
///
/// Ownership: nothing; everything is only read.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
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
        // SAFETY: the caller's, see the preamble.
        let (engine, token, out) =
            unsafe { (shared(engine)?, OrbgateToken::read(token)?, Out::new(out)?) };
        let flags = Flags::read(flags)?;
        let decision = decide_route(engine, route_id, token, flags.allow_bonus_orbs);
        out.decided(engine, &decision, flags)
    })
}

/// The same, packed into the result; id and token come in parts.
///
/// Ownership: nothing; everything is only read.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
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
        // SAFETY: the caller's, see the preamble.
        let (engine, token) =
            unsafe { (shared(engine)?, parts(kind, scopes, scopes_len, scope_set)?) };
        let flags = Flags::read(flags)?;
        let route_id = OrbgateRouteId {
            high: route_id_high,
            low: route_id_low,
        };
        let decision = decide_route(engine, route_id, token, flags.allow_bonus_orbs);
        Ok(engine.answers().of(&decision, flags))
    })
}

/// Decides by scope, for a service whose routes the policy does not list, as the inference api. A scope
/// that the policy does not have is denied as `no_route`; the decision has no route.
///
/// Ownership: nothing; everything is only read.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
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
        // SAFETY: the caller's, see the preamble.
        let (engine, scope, token, out) = unsafe {
            (
                shared(engine)?,
                bytes(scope, scope_len)?,
                OrbgateToken::read(token)?,
                Out::new(out)?,
            )
        };
        let core = engine.engine();
        let flags = Flags::read(flags)?;
        let decision = core.decide_scope(scope, token, flags.allow_bonus_orbs);
        out.decided(engine, &decision, flags)
    })
}

/// The same, packed into the result; the token comes in parts.
///
/// Ownership: nothing; everything is only read.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
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
        // SAFETY: the caller's, see the preamble.
        let (engine, scope, token) = unsafe {
            (
                shared(engine)?,
                bytes(scope, scope_len)?,
                parts(kind, scopes, scopes_len, scope_set)?,
            )
        };
        let core = engine.engine();
        let flags = Flags::read(flags)?;
        let decision = core.decide_scope(scope, token, flags.allow_bonus_orbs);
        Ok(engine.answers().of(&decision, flags))
    })
}

/// Asks the core about a request.
#[inline(always)]
pub(crate) fn decide<'e>(
    engine: &'e OrbgateEngine,
    method: &[u8],
    target: &[u8],
    token: Option<Token<'_>>,
    allow_bonus_orbs_use: bool,
) -> Decision<'e> {
    engine.engine().decide(&Request {
        method,
        target,
        token,
        allow_bonus_orbs_use,
    })
}

/// Asks the core about a route.
#[inline(always)]
fn decide_route<'e>(
    engine: &'e OrbgateEngine,
    route_id: OrbgateRouteId,
    token: Option<Token<'_>>,
    allow_bonus_orbs_use: bool,
) -> Decision<'e> {
    engine
        .engine()
        .decide_route(route_id.read(), token, allow_bonus_orbs_use)
}

/// Where a decision goes.
pub(crate) type DecisionOut = Out<OrbgateDecision>;

impl DecisionOut {
    /// Writes a decision of this engine about a request with these flags.
    #[inline(always)]
    pub(crate) fn decided(
        self,
        engine: &OrbgateEngine,
        decision: &Decision<'_>,
        flags: Flags,
    ) -> OrStatus {
        // SAFETY: the caller's, see the preamble.
        unsafe { self.write(engine.answers().of(decision, flags)) }
        Ok(())
    }
}
