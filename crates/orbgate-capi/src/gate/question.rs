//! Gates, and the decisions that they make.

use orbgate_gate::Step;

use super::object::OrbgateGate;
use super::options::{Options, OrbgateGateOptions, invalid};
use super::request::{Asked, OrbgateGateRequest, now};
use super::step::{OrbgateStep, State};
use super::verifier::OrbgateVerifier;
use crate::arguments::{Out, shared};
use crate::engine::OrbgateEngine;
use crate::error::{OrbgateError, handing_over};
use crate::owners::{drop_owned, into_owned, taken};
use crate::status::{OrbgateStatus, guard};

/// Makes a gate. If `options` is null, all options have their defaults. The gate has no keys yet: the first token waits
/// for them, unless you have called `orbgate_gate_warm`. The secrets of the clients that ask about opaque tokens are read
/// now, from their files or environment variables, and again by `orbgate_gate_read_secrets`.
///
/// `error` works as in `orbgate_verifier_from_yaml`. An invalid option, or a secret that can't be read, gives
/// `ORBGATE_STATUS_INVALID_CONFIGURATION`. No error contains a secret.
///
/// Ownership: the caller owns `*out` and frees it with `orbgate_gate_free`; `*error`, if it is set, with `orbgate_error_free`.
/// Everything else is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_new(
    verifier: *const OrbgateVerifier,
    options: *const OrbgateGateOptions,
    out: *mut *mut OrbgateGate,
    error: *mut *mut OrbgateError,
) -> OrbgateStatus {
    let make = || {
        // SAFETY: the caller guarantees it, see the preamble.
        let (verifier, options) = unsafe { (shared(verifier)?, Options::read(options)?) };
        let out = Out::new(out)?;
        let gate = OrbgateGate::new(&verifier.verifier, options)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(into_owned(gate)) }
        Ok(())
    };
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { handing_over(error, make) }
}

/// Starts a request that this engine decides. After each call, perform the fetches of `orbgate_gate_next_fetch`, even
/// if you have the result, because keys are refreshed before they expire, without delaying requests.
///
/// Whatever a caller or an issuer does, the status is `ORBGATE_STATUS_OK`. If a token's keys can't be fetched, the
/// result is a denial.
///
/// Ownership: the caller owns `*out`, and frees it with `orbgate_step_free` or passes it on; it doesn't need `request`.
/// Everything else is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: token.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_ask(
    gate: *const OrbgateGate,
    engine: *const OrbgateEngine,
    request: *const OrbgateGateRequest,
    unix_ms: u64,
    monotonic_ms: u64,
    out: *mut *mut OrbgateStep,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, engine) = unsafe { (shared(gate)?, shared(engine)?) };
        // SAFETY: the caller guarantees it, see the preamble.
        let asked = unsafe { Asked::read(request, gate.templates) }?;
        let (out, now) = (Out::new(out)?, now(unix_ms, monotonic_ms)?);
        let step = gate.gate.ask(engine.engine(), &asked.request(), now);
        let step = OrbgateStep::new(engine, step, asked.has_audit(), unix_ms)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(into_owned(step)) }
        Ok(())
    })
}

/// Resumes a request after its wait is over. The engine can be a later one than that of `orbgate_gate_ask`. Any step
/// other than `ORBGATE_STEP_WAIT` is an invalid argument.
///
/// Ownership: takes `step`, even on an error. The caller owns `*out`, and frees it with `orbgate_step_free` or passes
/// it on.
/// Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: token.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_resume(
    gate: *const OrbgateGate,
    engine: *const OrbgateEngine,
    step: *mut OrbgateStep,
    unix_ms: u64,
    monotonic_ms: u64,
    out: *mut *mut OrbgateStep,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let step = unsafe { taken(step) }?;
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, engine) = unsafe { (shared(gate)?, shared(engine)?) };
        let (out, now) = (Out::new(out)?, now(unix_ms, monotonic_ms)?);
        let has_audit = step.has_audit;
        let State::Wait(waiting) = step.state else {
            return Err(OrbgateStatus::InvalidArgument);
        };
        let step = gate.gate.resume(engine.engine(), waiting, now);
        let step = OrbgateStep::new(engine, step, has_audit, unix_ms)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(into_owned(step)) }
        Ok(())
    })
}

/// Resumes a request after the caller has checked its signature: `is_right` is 1 if the signature is valid, and
/// otherwise 0. Any step other than `ORBGATE_STEP_CHECK_SIGNATURE` is an invalid argument.
///
/// Ownership: takes `step`, even on an error. The caller owns `*out` and frees it with `orbgate_step_free`.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: token.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_checked(
    gate: *const OrbgateGate,
    engine: *const OrbgateEngine,
    step: *mut OrbgateStep,
    is_right: u8,
    unix_ms: u64,
    monotonic_ms: u64,
    out: *mut *mut OrbgateStep,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let step = unsafe { taken(step) }?;
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, engine) = unsafe { (shared(gate)?, shared(engine)?) };
        let (out, now) = (Out::new(out)?, now(unix_ms, monotonic_ms)?);
        let is_right = match is_right {
            0 => false,
            1 => true,
            _ => return Err(OrbgateStatus::InvalidArgument),
        };
        let has_audit = step.has_audit;
        let State::Check(checking) = step.state else {
            return Err(OrbgateStatus::InvalidArgument);
        };
        let core = engine.engine();
        let answer = Step::Answer(gate.gate.checked(core, checking, is_right, now));
        let step = OrbgateStep::new(engine, answer, has_audit, unix_ms)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(into_owned(step)) }
        Ok(())
    })
}

/// Checks that no path matches both a public route of the gate and a route of this engine's policy. Call it at startup,
/// and before you replace the current engine. If they overlap, such a path needs its scope.
///
/// `error` works as in `orbgate_verifier_from_yaml`. An overlap gives
/// `ORBGATE_STATUS_INVALID_CONFIGURATION`.
///
/// Ownership: if `*error` is set, the caller owns it and frees it with `orbgate_error_free`. Everything else is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_check_engine(
    gate: *const OrbgateGate,
    engine: *const OrbgateEngine,
    error: *mut *mut OrbgateError,
) -> OrbgateStatus {
    let check = || {
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, engine) = unsafe { (shared(gate)?, shared(engine)?) };
        match &gate.gate.rules().public {
            Some(public) => public.check(engine.engine()).map_err(|it| invalid(&it)),
            None => Ok(()),
        }
    };
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { handing_over(error, check) }
}

/// Checks that each request that is public with the next engine is also public with the active one. Another
/// `trailing_slash` or `target` of a policy changes which paths match the same public routes, and `diff` compares only
/// the policies. Call it before you replace the current engine, if the next one must not allow more.
///
/// `error` works as in `orbgate_verifier_from_yaml`. If more is public, the status is
/// `ORBGATE_STATUS_INVALID_CONFIGURATION`.
///
/// Ownership: if `*error` is set, the caller owns it and frees it with `orbgate_error_free`. Everything else is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_check_wider(
    gate: *const OrbgateGate,
    active: *const OrbgateEngine,
    next: *const OrbgateEngine,
    error: *mut *mut OrbgateError,
) -> OrbgateStatus {
    let check = || {
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, active, next) = unsafe { (shared(gate)?, shared(active)?, shared(next)?) };
        match &gate.gate.rules().public {
            Some(public) => public.check_wider(active.engine(), next.engine()).map_err(|it| invalid(&it)),
            None => Ok(()),
        }
    };
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { handing_over(error, check) }
}

/// Frees a gate. Null is fine.
///
/// Ownership: takes `gate`, and frees its keys. Its remaining steps can only be freed.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_free(gate: *mut OrbgateGate) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { drop_owned(gate) }
}
