//! Lists the table: routes and scopes by their numbers.

use core::ffi::c_char;

use orbgate::{Closed, Route, Scope};

use crate::arguments::{Out, Sized32, bytes, first_size, shared, write_sized};
use crate::decision::orb_column;
use crate::engine::OrbgateEngine;
use crate::route_id::OrbgateRouteId;
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// A route of an engine, or a closed template: a path template that declares no method. A closed template has no
/// method, scope, charge or id, and its text is its template.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateRoute {
    /// Set it to `sizeof(OrbgateRoute)`.
    pub struct_size: u32,
    /// Its number in this engine, from 1. Use it as an index into an array with one entry per
    /// route, such as counters.
    pub number: u32,
    /// The id for `orbgate_engine_decide_route`.
    pub id: OrbgateRouteId,
    /// `METHOD /template`.
    pub text: OrbgateStr,
    /// The method.
    pub method: OrbgateStr,
    /// The path template, including the api's base path.
    pub path_template: OrbgateStr,
    /// The scope that owns it. It needs this scope, or what `orbgate_engine_route_alternative` lists.
    pub scope: OrbgateStr,
    /// The api.
    pub api: OrbgateStr,
    /// The number of orbs that a call consumes, with `ORBGATE_CHARGE_AMOUNT_STATED`; otherwise 0.
    pub amount: u64,
    /// What a call consumes: `ORBGATE_CHARGE_*` bits.
    pub charge: u32,
    /// The scope's number in this engine, from 1.
    pub scope_number: u32,
    /// The line in the policy file, from 1.
    pub line: u32,
    /// The column in the policy file in characters, from 1.
    pub column: u32,
    /// The methods that its template declares, including its own, in alphabetical order, for example
    /// `GET, POST`.
    pub methods: OrbgateStr,
}

// SAFETY: integers and strings, the u32 first.
unsafe impl Sized32 for OrbgateRoute {
    const FIRST_SIZE: usize = first_size(144, 96);
}

/// A scope of an engine.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateScope {
    /// Set it to `sizeof(OrbgateScope)`.
    pub struct_size: u32,
    /// Its number in this engine, from 1.
    pub number: u32,
    /// The scope's name.
    pub name: OrbgateStr,
    /// The api. If several apis have the scope, the first by name.
    pub api: OrbgateStr,
    /// The permitted action; no string if the policy states none.
    pub permits: OrbgateStr,
    /// What an organisation's token gets if only users' have the scope: `deny` or `allow_without_scope`.
    pub organisation: OrbgateStr,
    /// The amount of a call by scope, with `ORBGATE_CHARGE_AMOUNT_STATED`; otherwise 0.
    pub amount: u64,
    /// What a call by scope consumes: `ORBGATE_CHARGE_*` bits, 0 if the policy doesn't state it.
    pub charge: u32,
    /// The line in the policy file, from 1.
    pub line: u32,
    /// The column in the policy file in characters, from 1.
    pub column: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: integers and strings, the u32 first.
unsafe impl Sized32 for OrbgateScope {
    const FIRST_SIZE: usize = first_size(96, 64);
}

/// Returns the route with this number, or `ORBGATE_STATUS_NOT_FOUND` if there isn't one. The numbers after the last
/// route are those of the policy's closed templates.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_route(
    engine: *const OrbgateEngine,
    number: u32,
    out: *mut OrbgateRoute,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let engine = unsafe { shared(engine) }?;
        let route = match route(engine, number) {
            Ok(route) => describe_route(engine, &route),
            Err(status) => {
                let closed = number.checked_sub(1).and_then(|index| engine.engine().closed_at(index));
                describe_closed(number, &closed.ok_or(status)?)
            }
        };
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { write_sized(out, &route) }
    })
}

/// Returns one of the alternatives that a route needs: scopes separated by one space, as in a token. A token needs all
/// scopes of one alternative. The first is the owner's, which begins with the scope that owns the route. Most routes have
/// only that one, and it is only that scope. Returns `ORBGATE_STATUS_NOT_FOUND` after the last one.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_route_alternative(
    engine: *const OrbgateEngine,
    number: u32,
    index: usize,
    out: *mut OrbgateStr,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, out) = unsafe { (shared(engine)?, Out::new(out)?) };
        let alternative = engine.alternatives().of(&route(engine, number)?, index);
        let alternative = OrbgateStr::new(alternative.ok_or(OrbgateStatus::NotFound)?);
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(alternative) }
        Ok(())
    })
}

/// Returns the scope with this number, or `ORBGATE_STATUS_NOT_FOUND` if there isn't one.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_scope(
    engine: *const OrbgateEngine,
    number: u32,
    out: *mut OrbgateScope,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let engine = unsafe { shared(engine) }?;
        let index = number.checked_sub(1).and_then(|index| u16::try_from(index).ok());
        let scope = index.and_then(|index| engine.engine().scope(index));
        let scope = describe_scope(&scope.ok_or(OrbgateStatus::NotFound)?);
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { write_sized(out, &scope) }
    })
}

/// Returns the id of the route with exactly this method and template, including the api's base path, for example `GET`
/// and `/api/v1/external/voxies/{voxieId}`, or `ORBGATE_STATUS_NOT_FOUND`. Call it when a server starts. Then each
/// request can call `orbgate_engine_decide_route`, without passing strings.
/// Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_find_route(
    engine: *const OrbgateEngine,
    method: *const c_char,
    method_len: usize,
    path_template: *const c_char,
    path_template_len: usize,
    out: *mut OrbgateRouteId,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, method, template, out) = unsafe {
            (shared(engine)?, bytes(method, method_len)?, bytes(path_template, path_template_len)?, Out::new(out)?)
        };
        let route = engine.engine().find_route(method, template);
        let id = OrbgateRouteId::new(route.ok_or(OrbgateStatus::NotFound)?.id());
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(id) }
        Ok(())
    })
}

fn route(engine: &OrbgateEngine, number: u32) -> OrStatus<Route<'_>> {
    let index = number.checked_sub(1);
    let route = index.and_then(|index| engine.engine().route(index));
    route.ok_or(OrbgateStatus::NotFound)
}

fn describe_route(engine: &OrbgateEngine, route: &Route<'_>) -> OrbgateRoute {
    let scope = route.scope();
    let (charge, amount) = orb_column(Some(route.orbs()));
    let location = route.location();
    OrbgateRoute {
        struct_size: 0,
        number: route.index().saturating_add(1),
        id: OrbgateRouteId::new(route.id()),
        text: OrbgateStr::new(route.as_str()),
        method: OrbgateStr::new(route.method()),
        path_template: OrbgateStr::new(route.template()),
        scope: OrbgateStr::new(scope.name()),
        api: OrbgateStr::new(route.api()),
        amount,
        charge: u32::from(charge),
        scope_number: u32::from(scope.index()).saturating_add(1),
        line: location.line,
        column: location.column,
        methods: OrbgateStr::optional(engine.methods().of(route)),
    }
}

fn describe_closed(number: u32, closed: &Closed<'_>) -> OrbgateRoute {
    let location = closed.location();
    OrbgateRoute {
        struct_size: 0,
        number,
        id: OrbgateRouteId::default(),
        text: OrbgateStr::new(closed.template()),
        method: OrbgateStr::optional(None),
        path_template: OrbgateStr::new(closed.template()),
        scope: OrbgateStr::optional(None),
        api: OrbgateStr::new(closed.api()),
        amount: 0,
        charge: 0,
        scope_number: 0,
        line: location.line,
        column: location.column,
        methods: OrbgateStr::new(""),
    }
}

fn describe_scope(scope: &Scope<'_>) -> OrbgateScope {
    let (charge, amount) = orb_column(scope.orbs());
    let location = scope.location();
    let organisation = scope.organisation();
    OrbgateScope {
        struct_size: 0,
        number: u32::from(scope.index()).saturating_add(1),
        name: OrbgateStr::new(scope.name()),
        api: OrbgateStr::new(scope.api()),
        permits: OrbgateStr::optional(scope.permits()),
        organisation: OrbgateStr::optional(organisation.map(orbgate::OrganisationRule::as_str)),
        amount,
        charge: u32::from(charge),
        line: location.line,
        column: location.column,
        reserved: 0,
    }
}
