//! A decision as plain data.

use orbgate::{Charge, Decision, Detail, Effect, Orbs, Policy, Reason};

/// The HTTP status of a denial that has no status of its own, such as an all-zero decision.
pub const ORBGATE_DEFAULT_HTTP_STATUS: u16 = 403;
const _: () = assert!(ORBGATE_DEFAULT_HTTP_STATUS == Reason::DEFAULT_STATUS);

/// The maximum size of a policy. You can stop reading a file one byte later: the library reports the error.
pub const ORBGATE_MAX_POLICY_BYTES: u32 = 8_388_608;
#[expect(clippy::as_conversions, reason = "a constant has no other way to more bits")]
const _: () = assert!(ORBGATE_MAX_POLICY_BYTES as u64 == Policy::MAX_BYTES);

/// Bits of `OrbgateDecision.charge`.
///
/// The policy states the charge, so the other bits count. Without it, the service must find out.
pub const ORBGATE_CHARGE_STATED: u8 = 1;
/// The call consumes the user's orbs.
pub const ORBGATE_CHARGE_CONSUMES: u8 = 2;
/// `amount` is the number of orbs. Without this bit, the service must supply it.
pub const ORBGATE_CHARGE_AMOUNT_STATED: u8 = 4;
/// Bonus orbs may be used: the call consumes orbs, and its request allows them.
pub const ORBGATE_CHARGE_BONUS_ALLOWED: u8 = 8;

/// A decision: plain data whose size never changes. All zeros isn't a valid decision, and never an
/// allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct OrbgateDecision {
    /// An `OrbgateEffect`. Only `ORBGATE_EFFECT_ALLOW` permits the call.
    pub effect: u8,
    /// An `OrbgateReason`.
    pub reason: u8,
    /// An `OrbgateDetail`.
    pub detail: u8,
    /// What an allowed call consumes: `ORBGATE_CHARGE_*` bits. 0 on a denial.
    pub charge: u8,
    /// The HTTP status of a denial; 0 on an allow.
    pub http_status: u16,
    /// The scope's number in its engine, from 1; 0 if there isn't one.
    pub scope: u16,
    /// The route's number in its engine, from 1; 0 if there isn't one. For `method_not_declared`, it is one of
    /// the routes with the path's template, or the number of a closed template, which is past all routes.
    pub route: u32,
    /// The number of the route that the request matches, even if `route` must not name it, because there is no valid
    /// token. 0 if no route has the path and the method, and for a decision by scope. Use it in logs, and don't send it
    /// to callers.
    pub about: u32,
    /// The number of orbs, with `ORBGATE_CHARGE_AMOUNT_STATED`; otherwise 0.
    pub amount: u64,
    /// The first eight bytes of the digest of the policy that made the decision, as a number.
    pub policy: u64,
}

/// The number of an effect.
#[inline(always)]
pub(crate) const fn effect(is_allow: bool) -> u8 {
    Effect::of(is_allow).number()
}

impl OrbgateDecision {
    #[inline(always)]
    pub(crate) fn new(policy: u64, decision: &Decision<'_>) -> Self {
        let scope = decision.scope_index();
        let route = decision.row();
        let (charge, amount) = decision.charge().map_or((0, 0), charge_bits);
        Self {
            effect: effect(decision.is_allow()),
            reason: decision.reason().number(),
            detail: decision.detail().map_or(0, Detail::number),
            charge,
            http_status: decision.status().unwrap_or(0),
            scope: scope.map_or(0, |index| index.wrapping_add(1)),
            route: route.map_or(0, |index| index.wrapping_add(1)),
            about: decision.about().map_or(0, |route| route.index().wrapping_add(1)),
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

/// Orbs as the bits and the amount of a charge.
pub(crate) const fn orb_column(orbs: Option<Orbs>) -> (u8, u64) {
    const STATED: u8 = ORBGATE_CHARGE_STATED;
    const AMOUNT: u8 = ORBGATE_CHARGE_STATED | ORBGATE_CHARGE_AMOUNT_STATED;
    match orbs {
        None => (0, 0),
        Some(Orbs::Free) => (AMOUNT, 0),
        Some(Orbs::Unstated) => (STATED | ORBGATE_CHARGE_CONSUMES, 0),
        Some(Orbs::Amount(amount)) => (AMOUNT | ORBGATE_CHARGE_CONSUMES, amount),
    }
}
