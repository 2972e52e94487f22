//! A decision as plain data, and its texts.

use orbgate::{Charge, Decision, Detail, Reason};

use crate::answers::answer;
use crate::arguments::{Out, Sized32, first_size, shared, write_sized};
use crate::engine::OrbgateEngine;
use crate::found::Found;
use crate::names::{OrbgateEffect, effect_name};
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::text::OrbgateStr;
use crate::token::Flags;

/// The HTTP status of a denial that says nothing of its own, such as one that was never made.
pub const ORBGATE_DEFAULT_HTTP_STATUS: u16 = 403;
const _: () = assert!(ORBGATE_DEFAULT_HTTP_STATUS == Reason::DEFAULT_STATUS);

/// In `OrbgateDecision.charge`: the policy states an orb column, so the other bits say something. Without
/// it the service that charges must find out.
pub const ORBGATE_CHARGE_STATED: u8 = 1;
/// In `OrbgateDecision.charge`: the call consumes the user's orbs.
pub const ORBGATE_CHARGE_CONSUMES: u8 = 2;
/// In `OrbgateDecision.charge`: `amount` is how many; without it the service that charges must supply it.
pub const ORBGATE_CHARGE_AMOUNT_STATED: u8 = 4;
/// In `OrbgateDecision.charge`: bonus orbs may be used: the call consumes orbs and its request allows it.
pub const ORBGATE_CHARGE_BONUS_ALLOWED: u8 = 8;

/// A decision: plain data of a size that never changes. All zeros is not a decision and not an allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct OrbgateDecision {
    /// An `OrbgateEffect`. Only `ORBGATE_EFFECT_ALLOW` lets a call through.
    pub effect: u8,
    /// An `OrbgateReason`.
    pub reason: u8,
    /// An `OrbgateDetail`.
    pub detail: u8,
    /// What an allowed call consumes: `ORBGATE_CHARGE_*` bits. 0 on a denial.
    pub charge: u8,
    /// The HTTP status of a denial; 0 on an allow.
    pub http_status: u16,
    /// The scope's number in its engine, from 1; 0 where there is none.
    pub scope: u16,
    /// The route's number in its engine, from 1; 0 where there is none. For `method_not_declared` it is one
    /// of the routes that share the path's template.
    pub route: u32,
    /// The number of the route that the request is about, whatever its token: that of `route`, and also where a call without
    /// a valid token may not name it. 0 where no route has the path and the method, and by scope. For logs, not for answers.
    pub about: u32,
    /// How many orbs, with `ORBGATE_CHARGE_AMOUNT_STATED`; else 0.
    pub amount: u64,
    /// The first eight bytes of the digest of the policy that decided, as a number.
    pub policy: u64,
}

/// The number of an effect.
#[inline(always)]
pub(crate) const fn effect(is_allow: bool) -> u8 {
    if is_allow {
        OrbgateEffect::Allow.number()
    } else {
        OrbgateEffect::Deny.number()
    }
}

impl OrbgateDecision {
    #[inline(always)]
    pub(crate) fn new(policy: u64, decision: &Decision<'_>) -> Self {
        let scope = decision.scope_index();
        let route = decision.route_index();
        let (charge, amount) = decision.charge().map_or((0, 0), charge_bits);
        Self {
            effect: effect(decision.is_allow()),
            reason: decision.reason().number(),
            detail: decision.detail().map_or(0, Detail::number),
            charge,
            http_status: decision.status().unwrap_or(0),
            scope: scope.map_or(0, |index| index.wrapping_add(1)),
            route: route.map_or(0, |index| index.wrapping_add(1)),
            about: decision
                .about()
                .map_or(0, |route| route.index().wrapping_add(1)),
            amount,
            policy,
        }
    }
}

/// A charge as bits, and its amount.
#[inline(always)]
fn charge_bits(charge: Charge) -> (u8, u64) {
    let bit = |set: bool, bit: u8| if set { bit } else { 0 };
    let bits = ORBGATE_CHARGE_STATED
        | bit(charge.consumes, ORBGATE_CHARGE_CONSUMES)
        | bit(charge.amount.is_some(), ORBGATE_CHARGE_AMOUNT_STATED)
        | bit(charge.bonus_allowed, ORBGATE_CHARGE_BONUS_ALLOWED);
    (bits, charge.amount.unwrap_or(0))
}

/// A decision in words: those of the JSON interface. A text that is null there has no data here.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateDecisionText {
    /// Set it to `sizeof(OrbgateDecisionText)`.
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// `allow` or `deny`.
    pub decision: OrbgateStr,
    /// The reason's name.
    pub reason: OrbgateStr,
    /// The detail's name.
    pub detail: OrbgateStr,
    /// The api of the route or scope.
    pub api: OrbgateStr,
    /// `METHOD /template`; for `method_not_declared` the template alone.
    pub route: OrbgateStr,
    /// The scope that the call needs.
    pub scope: OrbgateStr,
    /// The policy's digest, `sha256:…`.
    pub policy: OrbgateStr,
    /// The route that the request is about, whatever its token: `METHOD /template`.
    pub about: OrbgateStr,
}

// SAFETY: integers and texts, the u32 first.
unsafe impl Sized32 for OrbgateDecisionText {
    const FIRST_SIZE: usize = first_size(136, 72);
}

/// Puts a decision into words. One that no engine of this policy can have made is an invalid argument.
///
/// Ownership: the texts in `out` are static or the engine's and live as long as it.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decision_text(
    engine: *const OrbgateEngine,
    decision: *const OrbgateDecision,
    out: *mut OrbgateDecisionText,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (engine, decision) = unsafe { (shared(engine)?, shared(decision)?) };
        let text = words(engine, decision)?;
        // SAFETY: the caller's, see the preamble.
        unsafe { write_sized(out, &text) }
    })
}

fn words(engine: &OrbgateEngine, decision: &OrbgateDecision) -> OrStatus<OrbgateDecisionText> {
    let Found {
        reason,
        detail,
        route,
        about,
        scope,
    } = Found::of(engine, decision)?;
    // As the core has it: `method_not_declared` names a template and its api, no method and no scope.
    let api = route.map(|route| route.api());
    let api = api.or_else(|| scope.map(|scope| scope.api()));
    let route = route.map(|route| match reason {
        Reason::MethodNotDeclared => route.template(),
        _ => route.as_str(),
    });
    Ok(OrbgateDecisionText {
        struct_size: 0,
        reserved: 0,
        decision: OrbgateStr::optional(effect_name(decision.effect)),
        reason: OrbgateStr::new(reason.as_str()),
        detail: OrbgateStr::optional(detail.map(Detail::as_str)),
        api: OrbgateStr::optional(api),
        route: OrbgateStr::optional(route),
        scope: OrbgateStr::optional(scope.map(|scope| scope.name())),
        policy: OrbgateStr::new(engine.digest_text()),
        about: OrbgateStr::optional(about.map(|route| route.as_str())),
    })
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
        unsafe { self.write(answer(engine, decision, flags)) }
        Ok(())
    }
}
