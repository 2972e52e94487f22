//! Compares the routes of a service with the routes of its policy, and reads one flag of a body.

use core::ffi::c_char;

use orbgate_gate::{PublicRoutes, RoutesDiffer, TemplateStyle, Undeclared, allows_bonus_orbs, check_routes};

use super::object::OrbgateGate;
use super::options::templates;
use crate::arguments::{Out, Sized32, bytes, first_size, shared, slice, write_sized};
use crate::engine::OrbgateEngine;
use crate::owners::{drop_owned, into_owned};
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// The service has a route that the policy lacks: no gate protects it.
pub const ORBGATE_DIFFERENCE_UNDECLARED: u32 = 1;
/// The policy has a route that the service lacks. This is harmless if several services share a policy.
pub const ORBGATE_DIFFERENCE_UNSERVED: u32 = 2;

/// The differences between the routes of a service and of its policy. Immutable; the caller owns
/// it.
#[derive(Debug)]
pub struct OrbgateRouteDifferences {
    differ: RoutesDiffer,
}

/// A route that only the service or only the policy has.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateRouteDifference {
    /// Set it to `sizeof(OrbgateRouteDifference)`, or use `orbgate_route_difference_init()`.
    pub struct_size: u32,
    /// An `ORBGATE_DIFFERENCE_*` number.
    pub kind: u32,
    /// The route, for example `GET /users/export`.
    pub route: OrbgateStr,
    /// The policy's route that decides the requests of an undeclared route; no string if they are denied.
    pub decided_as: OrbgateStr,
}

// SAFETY: integers and strings, the u32 first.
unsafe impl Sized32 for OrbgateRouteDifference {
    const FIRST_SIZE: usize = first_size(40, 24);
}

/// Compares the routes of a service, each a method and a template, with the routes of a policy. Call it at startup and
/// in tests. `templates_written` is an `ORBGATE_TEMPLATES_*` number. `*out` is null if the routes are the same.
///
/// Ownership: the caller owns `*out` and frees it with `orbgate_route_differences_free`. Everything else is only read; `methods` and
/// `path_templates` are arrays of `count` strings.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_check_routes(
    engine: *const OrbgateEngine,
    methods: *const OrbgateStr,
    path_templates: *const OrbgateStr,
    count: usize,
    templates_written: u32,
    out: *mut *mut OrbgateRouteDifferences,
) -> OrbgateStatus {
    guard(|| {
        let style = templates(templates_written)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { compare(engine, None, methods, path_templates, count, style, out) }
    })
}

/// Compares routes like `orbgate_engine_check_routes`, but also with the public routes of a gate,
/// and with templates in the syntax that its options select.
///
/// Ownership: as for `orbgate_engine_check_routes`.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_check_routes(
    gate: *const OrbgateGate,
    engine: *const OrbgateEngine,
    methods: *const OrbgateStr,
    path_templates: *const OrbgateStr,
    count: usize,
    out: *mut *mut OrbgateRouteDifferences,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let gate = unsafe { shared(gate)? };
        let (public, style) = (gate.gate.rules().public.as_deref(), gate.templates);
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { compare(engine, public, methods, path_templates, count, style, out) }
    })
}

unsafe fn compare(
    engine: *const OrbgateEngine,
    public: Option<&PublicRoutes>,
    methods: *const OrbgateStr,
    path_templates: *const OrbgateStr,
    count: usize,
    style: TemplateStyle,
    out: *mut *mut OrbgateRouteDifferences,
) -> OrStatus<()> {
    // SAFETY: the caller guarantees it, see the preamble.
    let (engine, methods, texts, out) =
        unsafe { (shared(engine)?, slice(methods, count)?, slice(path_templates, count)?, Out::new(out)?) };
    let text = |text: &OrbgateStr| {
        // SAFETY: the caller guarantees it, see the preamble.
        let bytes = unsafe { bytes(text.data, text.len) }?;
        str::from_utf8(bytes).map_err(|_| OrbgateStatus::InvalidArgument)
    };
    let routes = methods.iter().zip(texts);
    let routes = routes.map(|(method, template)| Ok((text(method)?, style.in_policy(text(template)?))));
    let routes = routes.collect::<OrStatus<Vec<_>>>()?;
    let routes = routes.iter().map(|(method, template)| (*method, template.as_str()));
    let differ = check_routes(engine.engine(), public, routes).err();
    let differ = differ.map_or(core::ptr::null_mut(), |differ| into_owned(OrbgateRouteDifferences { differ }));
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { out.write(differ) }
    Ok(())
}

/// Returns one of the differences: first the routes that the policy lacks, then those that the service
/// lacks. Returns `ORBGATE_STATUS_NOT_FOUND` if there are at most `index` differences.
///
/// Ownership: `differences` owns the strings in `out`, which are valid as long as `differences`.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_route_difference(
    differences: *const OrbgateRouteDifferences,
    index: usize,
    out: *mut OrbgateRouteDifference,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let differ = unsafe { &shared(differences)?.differ };
        let undeclared = differ.undeclared();
        let beyond = index.checked_sub(undeclared.len());
        let unserved = beyond.and_then(|index| differ.unserved().get(index));
        let (kind, route, decided_as) = match (undeclared.get(index), unserved) {
            (Some(Undeclared { route, decided_as, .. }), _) => {
                (ORBGATE_DIFFERENCE_UNDECLARED, route, decided_as.as_deref())
            }
            (None, Some(route)) => (ORBGATE_DIFFERENCE_UNSERVED, route, None),
            (None, None) => return Err(OrbgateStatus::NotFound),
        };
        let difference = OrbgateRouteDifference {
            struct_size: 0,
            kind,
            route: OrbgateStr::new(route),
            decided_as: OrbgateStr::optional(decided_as),
        };
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { write_sized(out, &difference) }
    })
}

/// Frees the result of `orbgate_engine_check_routes`. Null is fine.
///
/// Ownership: takes `differences`, and frees it with its strings.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_route_differences_free(differences: *mut OrbgateRouteDifferences) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { drop_owned(differences) }
}

/// Whether a whole body is a JSON object that contains `"allowBonusOrbsUse": true` exactly once: `*out` is 1 or 0. If
/// it is 1, set the flag `ORBGATE_ALLOW_BONUS_ORBS` for the request.
///
/// Ownership: nothing; `body` is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: keys.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_allows_bonus_orbs(
    body: *const c_char,
    body_len: usize,
    out: *mut u8,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (body, out) = unsafe { (bytes(body, body_len)?, Out::new(out)?) };
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(allows_bonus_orbs(body).into()) }
        Ok(())
    })
}
