//! Reads decisions that callers pass back: their strings, and packed decisions.

use orbgate::{Detail, Reason};

use crate::arguments::{Out, Sized32, first_size, shared, write_sized};
use crate::decision::OrbgateDecision;
use crate::engine::OrbgateEngine;
use crate::found::Found;
use crate::names::{self, effect_name};
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// A decision as strings, like those of the JSON interface. A string that is null in JSON is no
/// string here.
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
    /// The api of the route, closed template or scope.
    pub api: OrbgateStr,
    /// `METHOD /template`; for `method_not_declared`, only the template.
    pub route: OrbgateStr,
    /// The scope that owns the route, or that was asked for, and not what the token has or the route needs.
    pub scope: OrbgateStr,
    /// The policy's digest, `sha256:…`.
    pub policy: OrbgateStr,
    /// The route that the request matches, regardless of the token: `METHOD /template`.
    pub about: OrbgateStr,
    /// The `Allow` header of a 405: the path's methods in alphabetical order, such as `GET, POST`.
    pub allow: OrbgateStr,
}

// SAFETY: integers and strings, the u32 first.
unsafe impl Sized32 for OrbgateDecisionStrings {
    const FIRST_SIZE: usize = first_size(152, 80);
}

/// Converts a decision to strings. A decision that no engine of this policy can have made is an
/// invalid argument.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decision_strings(
    engine: *const OrbgateEngine,
    decision: *const OrbgateDecision,
    out: *mut OrbgateDecisionStrings,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, decision) = unsafe { (shared(engine)?, shared(decision)?) };
        let text = words(engine, decision)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { write_sized(out, &text) }
    })
}

fn words(engine: &OrbgateEngine, decision: &OrbgateDecision) -> OrStatus<OrbgateDecisionStrings> {
    let Found { reason, detail, route, closed, about, scope } = Found::of(engine, decision)?;
    let is_undeclared = reason == Reason::MethodNotDeclared;
    let allow = is_undeclared.then(|| route.as_ref().and_then(|route| engine.methods().of(route)).unwrap_or_default());
    // As in the core: `method_not_declared` names a template and its api, but no method and no scope.
    let api = route.map(|route| route.api());
    let api = api.or_else(|| closed.map(|closed| closed.api())).or_else(|| scope.map(|scope| scope.api()));
    let route = route.map(|route| match reason {
        Reason::MethodNotDeclared => route.template(),
        _ => route.as_str(),
    });
    let route = route.or_else(|| closed.map(|closed| closed.template()));
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
        allow: OrbgateStr::optional(allow),
    })
}

/// Unpacks a decision that an engine of the same policy made. The amount comes from the policy. For a value with effect
/// 0, returns its status. A value that no engine of this policy can have made is an invalid argument.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_unpack(
    engine: *const OrbgateEngine,
    packed: u64,
    out: *mut OrbgateDecision,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, out) = unsafe { (shared(engine)?, Out::new(out)?) };
        let decision = unpack(engine, packed)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(decision) }
        Ok(())
    })
}

fn unpack(engine: &OrbgateEngine, packed: u64) -> OrStatus<OrbgateDecision> {
    let mut decision = OrbgateDecision::of_packed(packed)?;
    if names::reason(decision.reason).is_some_and(Reason::is_without_token) {
        decision.about = core::mem::take(&mut decision.route);
    }
    let objects = Found::named(engine, &decision);
    let made = objects.and_then(|objects| objects.decision(engine, &decision));
    let made = made.filter(|made| made.pack_with_about() == packed);
    made.ok_or(OrbgateStatus::InvalidArgument)
}
