//! What a decision that comes back says: its strings, the methods of an `Allow` header, and one unpacked.

use orbgate::{Detail, Reason};

use crate::arguments::{Out, Sized32, first_size, shared, write_sized};
use crate::decision::OrbgateDecision;
use crate::engine::OrbgateEngine;
use crate::found::{Found, is_without_token};
use crate::names::{self, effect_name};
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// A decision in words: those of the JSON interface. A string that is null there has no data here.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateDecisionStrings {
    /// Set it to `sizeof(OrbgateDecisionStrings)`.
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
    /// `METHOD /template`; for `method_not_declared`, only the template.
    pub route: OrbgateStr,
    /// The scope that the call needs.
    pub scope: OrbgateStr,
    /// The policy's digest, `sha256:…`.
    pub policy: OrbgateStr,
    /// The route that the request is about, with any token: `METHOD /template`.
    pub about: OrbgateStr,
}

// SAFETY: integers and strings, the u32 first.
unsafe impl Sized32 for OrbgateDecisionStrings {
    const FIRST_SIZE: usize = first_size(136, 72);
}

/// Puts a decision into words. One that no engine of this policy can have made is an invalid argument.
///
/// Ownership: the strings in `out` are static or the engine's and live as long as it.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decision_strings(
    engine: *const OrbgateEngine,
    decision: *const OrbgateDecision,
    out: *mut OrbgateDecisionStrings,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (engine, decision) = unsafe { (shared(engine)?, shared(decision)?) };
        let text = words(engine, decision)?;
        // SAFETY: the caller's, see the preamble.
        unsafe { write_sized(out, &text) }
    })
}

fn words(engine: &OrbgateEngine, decision: &OrbgateDecision) -> OrStatus<OrbgateDecisionStrings> {
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
    Ok(OrbgateDecisionStrings {
        struct_size: 0,
        reserved: 0,
        decision: OrbgateStr::optional(effect_name(decision.effect)),
        reason: OrbgateStr::new(reason.as_str()),
        detail: OrbgateStr::optional(detail.map(Detail::as_str)),
        api: OrbgateStr::optional(api),
        route: OrbgateStr::optional(route),
        scope: OrbgateStr::optional(scope.map(|scope| scope.name())),
        policy: OrbgateStr::new(engine.digest_string()),
        about: OrbgateStr::optional(about.map(|route| route.as_str())),
    })
}

/// What the `Allow` header of a 405 lists: the methods that the request's path declares, in alphabetical order, as in
/// `GET, POST`. No string where the reason is not `method_not_declared`: then the answer has no such header.
///
/// A decision that no engine of this policy can have made is an invalid argument.
///
/// Ownership: the string is the engine's and lives as long as it.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_declared_methods(
    engine: *const OrbgateEngine,
    decision: *const OrbgateDecision,
    out: *mut OrbgateStr,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (engine, decision, out) =
            unsafe { (shared(engine)?, shared(decision)?, Out::new(out)?) };
        let found = Found::of(engine, decision)?;
        let route = found
            .route
            .filter(|_| found.reason == Reason::MethodNotDeclared);
        let text = route.and_then(|route| engine.methods().of(&route));
        // SAFETY: the caller's, see the preamble.
        unsafe { out.write(OrbgateStr::optional(text)) }
        Ok(())
    })
}

/// Unpacks a decision that an engine of the same policy has made; the amount comes from the policy.
///
/// A value with effect 0 gives its status; one that no engine of this policy can have made is an
/// invalid argument.
///
/// Ownership: nothing.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_unpack(
    engine: *const OrbgateEngine,
    packed: u64,
    out: *mut OrbgateDecision,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (engine, out) = unsafe { (shared(engine)?, Out::new(out)?) };
        let decision = unpack(engine, packed)?;
        // SAFETY: the caller's, see the preamble.
        unsafe { out.write(decision) }
        Ok(())
    })
}

fn unpack(engine: &OrbgateEngine, packed: u64) -> OrStatus<OrbgateDecision> {
    let mut decision = OrbgateDecision::of_packed(packed)?;
    if names::reason(decision.reason).is_some_and(is_without_token) {
        decision.about = core::mem::take(&mut decision.route);
    }
    let found = Found::named(engine, &decision);
    let made = found.and_then(|found| found.decision(engine, &decision));
    let made = made.filter(|made| made.pack_with_about() == packed);
    made.ok_or(OrbgateStatus::InvalidArgument)
}
