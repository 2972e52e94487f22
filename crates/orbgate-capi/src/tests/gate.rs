//! A gate tested from the inside, including under Miri: steps that are passed on, and what they own. Signature checks
//! are only pretended.

use core::ptr::{null, null_mut};

use super::{INVALID, OK, SHOP, compiled, external, said, sized, text};
use crate::engine::{OrbgateEngine, orbgate_engine_free};
use crate::error::{
    OrbgateDiagnostic, OrbgateErrorInfo, orbgate_error_diagnostic, orbgate_error_free, orbgate_error_info,
};
use crate::flags::ORBGATE_ALLOW_BONUS_ORBS;
use crate::gate::fetch::*;
use crate::gate::keys::*;
use crate::gate::object::OrbgateGate;
use crate::gate::options::*;
use crate::gate::question::*;
use crate::gate::request::*;
use crate::gate::routes::*;
use crate::gate::step::*;
use crate::gate::verifier::*;
use crate::scope_set::{orbgate_scope_set_free, orbgate_scope_set_retain};
use crate::status::OrbgateStatus;
use crate::text::OrbgateStr;

const ISSUER: &str = "https://id.example.com";
const TIME: u64 = 1_800_000_000_000;

const TOKEN: &str = include_str!("../../../orbgate-token/testdata/token.jwt");

fn new_gate() -> *mut OrbgateGate {
    let mut gate = null_mut();
    assert_eq!(gate_with(0, 0, &mut gate), OK);
    gate
}

/// A gate with these flags and this time for stale keys.
fn gate_with(flags: u32, max_stale_ms: u32, gate: &mut *mut OrbgateGate) -> OrbgateStatus {
    let (yaml, len) = text(include_str!("../../../orbgate-token/testdata/token.yaml"));
    let mut verifier = null_mut();
    unsafe {
        let mut options: OrbgateGateOptions = sized();
        options.flags = ORBGATE_GATE_SIGNATURES_OUTSIDE | flags;
        options.max_stale_ms = max_stale_ms;
        assert_eq!(orbgate_verifier_from_yaml(yaml, len, &mut verifier, null_mut()), OK);
        let status = orbgate_gate_new(verifier, &options, gate, null_mut());
        orbgate_verifier_free(verifier);
        status
    }
}

fn ask(gate: *const OrbgateGate, engine: *const OrbgateEngine, now: u64) -> *mut OrbgateStep {
    let account = "/api/v1/external/account";
    ask_for(gate, engine, ("GET", account), ORBGATE_WITH_AUDIT, now)
}

fn ask_for(
    gate: *const OrbgateGate,
    engine: *const OrbgateEngine,
    (method, target): (&str, &str),
    flags: u32,
    now: u64,
) -> *mut OrbgateStep {
    let bearer = format!("Bearer {}", TOKEN.trim());
    let authorization = OrbgateStr::new(&bearer);
    let mut step = null_mut();
    unsafe {
        let mut request: OrbgateGateRequest = sized();
        request.flags = flags;
        request.method = OrbgateStr::new(method);
        request.target = OrbgateStr::new(target);
        request.matched = ORBGATE_MATCHED_TEMPLATE;
        request.path_template = OrbgateStr::new(target);
        (request.authorization, request.authorization_count) = (&authorization, 1);
        assert_eq!(orbgate_gate_ask(gate, engine, &request, TIME, now, &mut step), OK);
    }
    step
}

pub(super) fn info(step: *const OrbgateStep) -> OrbgateStepInfo {
    let mut info: OrbgateStepInfo = sized();
    assert_eq!(unsafe { orbgate_step_info(step, &mut info) }, OK);
    info
}

/// Performs the gate's fetches, and returns the URLs.
fn serve(gate: *const OrbgateGate, now: u64) -> Vec<String> {
    let discovery = format!(r#"{{"issuer":"{ISSUER}","jwks_uri":"{ISSUER}/jwks"}}"#);
    let (mut urls, mut fetch) = (Vec::new(), null_mut());
    unsafe {
        assert_eq!(orbgate_gate_next_fetch(gate, now, &mut fetch), OK);
        while !fetch.is_null() {
            let mut info: OrbgateFetchInfo = sized();
            assert_eq!(orbgate_fetch_info(fetch, &mut info), OK);
            let url = said(info.url);
            let body = match url.ends_with("/jwks") {
                true => include_str!("../../../orbgate-token/testdata/jwks.json"),
                false => &discovery,
            };
            urls.push(url);
            orbgate_fetch_free(fetch);
            let (body, len) = text(body);
            let status = orbgate_gate_fetched(gate, info.attempt, 200, null(), 0, body, len, now, &mut fetch);
            assert_eq!(status, OK);
        }
    }
    urls
}

#[test]
fn a_step_is_handed_on_until_it_is_the_answer() {
    let (gate, engine) = (new_gate(), external());
    let mut step = ask(gate, engine, 5);
    let found = info(step);
    // The first attempt for the first of two issuers has an even number.
    assert_eq!((found.kind, found.attempt, found.until_ms), (ORBGATE_STEP_WAIT, 2, 5005));
    assert_eq!(serve(gate, 6).len(), 2);
    let mut over = 9;
    unsafe {
        assert_eq!(orbgate_gate_is_over(gate, step, 6, &mut over), OK);
        assert_eq!(over, 1);
        assert_eq!(orbgate_gate_resume(gate, engine, step, TIME, 6, &mut step), OK);
        let found = info(step);
        assert_eq!(found.kind, ORBGATE_STEP_CHECK_SIGNATURE);
        assert_eq!((said(found.algorithm), found.signature.len), ("ES256".to_owned(), 64));
        let (signed, _) = TOKEN.trim().rsplit_once('.').unwrap();
        assert_eq!(said(found.message), signed);
        assert!(said(found.key).contains("\"x\":\"iZZVRpXPK-"));
        assert_eq!(orbgate_gate_checked(gate, engine, step, 1, TIME, 6, &mut step), OK);
        let found = info(step);
        assert_eq!((found.kind, found.decision.effect), (ORBGATE_STEP_ANSWER, 2));
        assert_eq!(said(found.subject), "user-7");
        assert!(said(found.audit).contains(&said(found.fingerprint)));
        let scopes = orbgate_scope_set_retain(found.scope_set);
        orbgate_step_free(step);
        assert_eq!((*scopes).set, (*engine).engine().scopes("read:account write:voxies"));
        orbgate_scope_set_free(scopes);
        orbgate_gate_free(gate);
        orbgate_engine_free(engine);
    }
}

/// A call takes its step even if it is rejected, and a step doesn't need its gate.
#[test]
fn steps_are_taken_and_outlive_their_gate() {
    let (gate, engine) = (new_gate(), external());
    let mut out = null_mut();
    unsafe {
        let step = ask(gate, engine, 0);
        let refused = orbgate_gate_resume(null(), engine, step, TIME, 0, &mut out);
        assert_eq!((refused, out), (INVALID, null_mut()));
        let step = ask(gate, engine, 0);
        let refused = orbgate_gate_checked(gate, engine, step, 1, TIME, 0, &mut out);
        assert_eq!((refused, out), (INVALID, null_mut()));
        let step = ask(gate, engine, 0);
        let mut status = null_mut();
        assert_eq!(orbgate_gate_status(gate, &mut status), OK);
        orbgate_gate_free(gate);
        assert_eq!(info(step).kind, ORBGATE_STEP_WAIT);
        orbgate_step_free(step);
        orbgate_key_status_free(status);
        orbgate_engine_free(engine);
    }
}

/// All at once: each issuer has an attempt, and the second issuer's address is in the
/// configuration.
#[test]
fn a_start_asks_for_the_keys_of_every_issuer() {
    let gate = new_gate();
    unsafe {
        assert_eq!(orbgate_gate_warm(gate, 0), OK);
        let mut urls = serve(gate, 0);
        urls.extend(serve(gate, 0));
        assert_eq!(
            urls,
            [
                "https://id.example.com/.well-known/openid-configuration",
                "https://id.example.com/jwks",
                "https://login.example.org/keys"
            ]
        );
        assert!(serve(gate, 0).is_empty());
        orbgate_gate_free(gate);
    }
}

/// The answer of a gate that has keys, whose step isn't freed.
fn answered(
    gate: *const OrbgateGate,
    engine: *const OrbgateEngine,
    what: (&str, &str),
    flags: u32,
) -> (*mut OrbgateStep, OrbgateStepInfo) {
    let mut step = ask_for(gate, engine, what, flags, 6);
    if info(step).kind == ORBGATE_STEP_CHECK_SIGNATURE {
        let status = unsafe { orbgate_gate_checked(gate, engine, step, 1, TIME, 6, &mut step) };
        assert_eq!(status, OK);
    }
    let found = info(step);
    assert_eq!((found.kind, found.decision.effect), (ORBGATE_STEP_ANSWER, 2));
    (step, found)
}

#[test]
fn each_flag_of_a_request_does_its_own() {
    let (gate, engine) = (new_gate(), external());
    let run = ("POST", "/api/v1/external/voxies/prompt/run");
    // Of those that hold a thread, one waits for as long as a fetch may take. Others have more such places.
    let until = |flags| {
        let step = ask_for(gate, engine, run, flags, 0);
        (step, info(step).until_ms)
    };
    let flags = [ORBGATE_HOLDS_THREAD, ORBGATE_HOLDS_THREAD, 0, ORBGATE_WITH_AUDIT | ORBGATE_ALLOW_BONUS_ORBS];
    let waiting = flags.map(until);
    assert_eq!(waiting.map(|(_, until)| until), [5000, 1000, 5000, 5000]);
    for (step, _) in waiting {
        unsafe { orbgate_step_free(step) };
    }
    assert_eq!(serve(gate, 5).len(), 2);
    for (flags, bonus, audit) in [
        (0, 0, false),
        (ORBGATE_HOLDS_THREAD, 0, false),
        (ORBGATE_WITH_AUDIT, 0, true),
        (ORBGATE_ALLOW_BONUS_ORBS, 8, false),
    ] {
        let (step, found) = answered(gate, engine, run, flags);
        let given = (found.decision.charge & 8, said(found.audit) != "-");
        assert_eq!(given, (bonus, audit), "{flags}");
        unsafe { orbgate_step_free(step) };
    }
    unsafe {
        orbgate_gate_free(gate);
        orbgate_engine_free(engine);
    }
}

#[test]
fn keys_that_are_never_stale_have_no_time_for_it() {
    let mut gate = null_mut();
    assert_eq!(gate_with(ORBGATE_GATE_NO_STALE_KEYS, 5, &mut gate), INVALID);
    assert!(gate.is_null());
    assert_eq!(gate_with(ORBGATE_GATE_NO_STALE_KEYS, 0, &mut gate), OK);
    unsafe { orbgate_gate_free(gate) };
}

#[test]
fn only_an_issuer_of_the_gate_is_forgotten() {
    let gate = new_gate();
    let forget = |issuer: &str| {
        let (data, len) = text(issuer);
        unsafe { orbgate_gate_forget(gate, data, len) }
    };
    assert_eq!(forget(ISSUER), OK);
    assert_eq!(forget("https://other.example.com"), OrbgateStatus::NotFound);
    unsafe { orbgate_gate_free(gate) };
}

#[test]
fn routes_are_compared_in_the_syntax_of_their_router() {
    let engine = compiled(SHOP);
    let methods = ["GET", "GET", "POST", "PUT"].map(OrbgateStr::new);
    for (written, parameter) in
        [(ORBGATE_TEMPLATES_BRACES, "{id}"), (ORBGATE_TEMPLATES_COLONS, ":id"), (ORBGATE_TEMPLATES_ANGLES, "<id>")]
    {
        for style in 0..3 {
            let order = format!("/v1/orders/{parameter}");
            let orders = "/v1/orders";
            let templates = [orders, &order, orders, orders].map(OrbgateStr::new);
            let mut differences = null_mut();
            unsafe {
                let (methods, templates) = (methods.as_ptr(), templates.as_ptr());
                let out = &mut differences;
                let status = orbgate_engine_check_routes(engine, methods, templates, 4, style, out);
                assert_eq!(status, OK);
                orbgate_route_differences_free(differences);
            }
            assert_eq!(differences.is_null(), style == written, "{order} {style}");
        }
    }
    unsafe { orbgate_engine_free(engine) };
}

#[test]
fn an_error_of_a_configuration_has_its_location() {
    let (mut verifier, mut error) = (null_mut(), null_mut());
    let (yaml, len) = text("orbgate_token: 1\nissuers: []\nunknown: 1\n");
    unsafe {
        let status = orbgate_verifier_from_yaml(yaml, len, &mut verifier, &mut error);
        assert_eq!(status, OrbgateStatus::InvalidConfiguration);
        let mut whole: OrbgateErrorInfo = sized();
        assert_eq!(orbgate_error_info(error, &mut whole), OK);
        let mut lines = Vec::new();
        for index in 0..whole.diagnostic_count {
            let mut one: OrbgateDiagnostic = sized();
            assert_eq!(orbgate_error_diagnostic(error, index, &mut one), OK);
            lines.push((one.line, one.column));
        }
        assert!(lines.contains(&(3, 1)), "{lines:?}");
        orbgate_error_free(error);
    }
}
