//! Gates, and the questions to them.

use orbgate_gate::{Gate, Step, TemplateStyle};
use orbgate_token::KeyCache;

use super::options::{Options, OrbgateGateOptions, invalid};
use super::request::{Asked, OrbgateGateRequest, now};
use super::step::{OrbgateStep, State};
use super::verifier::OrbgateVerifier;
use crate::arguments::{Out, shared};
use crate::engine::OrbgateEngine;
use crate::error::{OrbgateError, handing_over};
use crate::owners::{drop_owned, into_owned, taken};
use crate::status::{OrbgateStatus, guard};

/// Rules and keys: from a request as it came to its answer. It does no I/O, reads no clock and has no thread: the caller fetches
/// what `orbgate_gate_next_fetch` has, and gives the time, by two clocks: `unix_ms` since 1970, which tokens are valid by, and
/// `monotonic_ms` since any moment, on a clock that is never set, which keys are fetched by.
#[derive(Debug)]
pub struct OrbgateGate {
    pub(super) gate: Gate,
    pub(super) templates: TemplateStyle,
}

/// Makes a gate. `options` may be null: then all are the defaults. It has no keys yet: the first token waits for them, unless
/// `orbgate_gate_warm` has asked for them.
///
/// `error` is used as by `orbgate_verifier_from_yaml`: an option that cannot be is `ORBGATE_STATUS_INVALID_CONFIGURATION`.
///
/// Ownership: `*out` is the caller's, to free with `orbgate_gate_free`; `*error`, if it is set, with `orbgate_error_free`.
/// Everything else is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_new(
    verifier: *const OrbgateVerifier,
    options: *const OrbgateGateOptions,
    out: *mut *mut OrbgateGate,
    error: *mut *mut OrbgateError,
) -> OrbgateStatus {
    let make = || {
        // SAFETY: the caller's, see the preamble.
        let (verifier, options) = unsafe { (shared(verifier)?, Options::read(options)?) };
        let out = Out::new(out)?;
        let keys = KeyCache::new(verifier.verifier.clone(), options.settings);
        let keys = keys.map_err(|error| invalid(&error))?;
        let keys = match options.signatures_outside {
            true => keys.signatures_outside(),
            false => keys,
        };
        let gate = OrbgateGate {
            gate: Gate::new(options.rules, keys),
            templates: options.templates,
        };
        // SAFETY: the caller's, see the preamble.
        unsafe { out.write(into_owned(gate)) }
        Ok(())
    };
    // SAFETY: the caller's, see the preamble.
    unsafe { handing_over(error, make) }
}

/// Asks about a request, to be decided by this engine. After each call, fetch what `orbgate_gate_next_fetch` has, even when you
/// have the answer: keys are refreshed before they expire, without delaying requests.
///
/// Nothing that a caller or an issuer does is another status than `ORBGATE_STATUS_OK`: a token whose keys cannot be had is a
/// denial.
///
/// Ownership: `*out` is the caller's, to free with `orbgate_step_free` or to hand on; it does not need `request`. Everything else is
/// only read.
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
        // SAFETY: the caller's, see the preamble.
        let (gate, engine) = unsafe { (shared(gate)?, shared(engine)?) };
        // SAFETY: the caller's, see the preamble.
        let asked = unsafe { Asked::read(request, gate.templates) }?;
        let (out, now) = (Out::new(out)?, now(unix_ms, monotonic_ms)?);
        let step = gate.gate.ask(engine.engine(), &asked.request(), now);
        let step = OrbgateStep::new(engine, step, asked.has_audit(), unix_ms)?;
        // SAFETY: the caller's, see the preamble.
        unsafe { out.write(into_owned(step)) }
        Ok(())
    })
}

/// Asks again about a request whose wait is over. The engine may be a later one than that of `orbgate_gate_ask`. A step that is no
/// `ORBGATE_STEP_WAIT` is an invalid argument.
///
/// Ownership: takes `step`, also on an error; `*out` is the caller's, to free with `orbgate_step_free` or to hand on.
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
        // SAFETY: the caller's, see the preamble.
        let step = unsafe { taken(step) }?;
        // SAFETY: the caller's, see the preamble.
        let (gate, engine) = unsafe { (shared(gate)?, shared(engine)?) };
        let (out, now) = (Out::new(out)?, now(unix_ms, monotonic_ms)?);
        let has_audit = step.has_audit;
        let State::Wait(waiting) = step.state else {
            return Err(OrbgateStatus::InvalidArgument);
        };
        let step = gate.gate.resume(engine.engine(), waiting, now);
        let step = OrbgateStep::new(engine, step, has_audit, unix_ms)?;
        // SAFETY: the caller's, see the preamble.
        unsafe { out.write(into_owned(step)) }
        Ok(())
    })
}

/// The answer, once the caller has checked a signature: `is_right` is 1 or 0. A step that is no `ORBGATE_STEP_CHECK_SIGNATURE` is an
/// invalid argument.
///
/// Ownership: takes `step`, also on an error; `*out` is the caller's, to free with `orbgate_step_free`.
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
    let time = (unix_ms, monotonic_ms);
    // SAFETY: the caller's, see the preamble.
    unsafe { checked(gate, engine, step, is_right, None, time, out) }
}

/// The answer, once the caller has checked a signature and perhaps hashed the token.
pub(super) unsafe fn checked(
    gate: *const OrbgateGate,
    engine: *const OrbgateEngine,
    step: *mut OrbgateStep,
    is_right: u8,
    hash: Option<[u8; 8]>,
    (unix_ms, monotonic_ms): (u64, u64),
    out: *mut *mut OrbgateStep,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let step = unsafe { taken(step) }?;
        // SAFETY: the caller's, see the preamble.
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
        let checking = match hash {
            Some(hash) => checking.hashed(&hash),
            None => checking,
        };
        let core = engine.engine();
        let answer = Step::Answer(gate.gate.checked(core, checking, is_right, now));
        let step = OrbgateStep::new(engine, answer, has_audit, unix_ms)?;
        // SAFETY: the caller's, see the preamble.
        unsafe { out.write(into_owned(step)) }
        Ok(())
    })
}

/// Checks that no path fits both a public route of the gate and a route of this engine's policy: call it at the start, and before
/// a later engine takes the place of the current one. Until then, such a path needs its scope.
///
/// `error` is used as by `orbgate_verifier_from_yaml`: an overlap is `ORBGATE_STATUS_INVALID_CONFIGURATION`.
///
/// Ownership: `*error`, if it is set, is the caller's, to free with `orbgate_error_free`. Everything else is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_check_engine(
    gate: *const OrbgateGate,
    engine: *const OrbgateEngine,
    error: *mut *mut OrbgateError,
) -> OrbgateStatus {
    let check = || {
        // SAFETY: the caller's, see the preamble.
        let (gate, engine) = unsafe { (shared(gate)?, shared(engine)?) };
        match &gate.gate.rules().public {
            Some(public) => public.check(engine.engine()).map_err(|it| invalid(&it)),
            None => Ok(()),
        }
    };
    // SAFETY: the caller's, see the preamble.
    unsafe { handing_over(error, check) }
}

/// Frees a gate. Null is fine.
///
/// Ownership: takes `gate`; its keys are gone, and steps that are left can only be freed.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_free(gate: *mut OrbgateGate) {
    // SAFETY: the caller's, see the preamble.
    unsafe { drop_owned(gate) }
}
