//! A gate tested from the inside, including under Miri: steps that are passed on, and what they own. Signature checks
//! are only pretended.

use core::mem::zeroed;
use core::ptr::{null, null_mut};

use super::{INVALID, OK, external, said, text};
use crate::engine::{OrbgateEngine, orbgate_engine_free};
use crate::gate::fetch::*;
use crate::gate::keys::*;
use crate::gate::options::*;
use crate::gate::question::*;
use crate::gate::request::*;
use crate::gate::step::*;
use crate::gate::verifier::*;
use crate::scope_set::{orbgate_scope_set_free, orbgate_scope_set_retain};
use crate::text::OrbgateStr;

const ISSUER: &str = "https://id.example.com";
const TIME: u64 = 1_800_000_000_000;

fn new_gate() -> *mut OrbgateGate {
    let (yaml, len) = text(include_str!("../../../orbgate-token/testdata/token.yaml"));
    let (mut verifier, mut gate) = (null_mut(), null_mut());
    unsafe {
        let mut options: OrbgateGateOptions = zeroed();
        options.struct_size = size_of::<OrbgateGateOptions>() as u32;
        options.flags = ORBGATE_GATE_SIGNATURES_OUTSIDE;
        assert_eq!(
            orbgate_verifier_from_yaml(yaml, len, &mut verifier, null_mut()),
            OK
        );
        assert_eq!(
            orbgate_gate_new(verifier, &options, &mut gate, null_mut()),
            OK
        );
        orbgate_verifier_free(verifier);
    }
    gate
}

fn ask(gate: *const OrbgateGate, engine: *const OrbgateEngine, now: u64) -> *mut OrbgateStep {
    let token = include_str!("../../../orbgate-token/testdata/token.jwt").trim();
    let bearer = format!("Bearer {token}");
    let authorization = OrbgateStr::new(&bearer);
    let mut step = null_mut();
    unsafe {
        let mut request: OrbgateGateRequest = zeroed();
        request.struct_size = size_of::<OrbgateGateRequest>() as u32;
        request.flags = ORBGATE_WITH_AUDIT;
        request.method = OrbgateStr::new("GET");
        request.target = OrbgateStr::new("/api/v1/external/account");
        request.matched = ORBGATE_MATCHED_TEMPLATE;
        request.path_template = OrbgateStr::new("/api/v1/external/account");
        (request.authorization, request.authorization_count) = (&authorization, 1);
        assert_eq!(
            orbgate_gate_ask(gate, engine, &request, TIME, now, &mut step),
            OK
        );
    }
    step
}

fn info(step: *const OrbgateStep) -> OrbgateStepInfo {
    let mut info: OrbgateStepInfo = unsafe { zeroed() };
    info.struct_size = size_of::<OrbgateStepInfo>() as u32;
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
            let mut info: OrbgateFetchInfo = zeroed();
            info.struct_size = size_of::<OrbgateFetchInfo>() as u32;
            assert_eq!(orbgate_fetch_info(fetch, &mut info), OK);
            let url = said(info.url);
            let body = match url.ends_with("/jwks") {
                true => include_str!("../../../orbgate-token/testdata/jwks.json"),
                false => &discovery,
            };
            urls.push(url);
            orbgate_fetch_free(fetch);
            let (body, len) = text(body);
            let status = orbgate_gate_fetched(
                gate,
                info.attempt,
                200,
                null(),
                0,
                body,
                len,
                now,
                &mut fetch,
            );
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
    assert_eq!(
        (found.kind, found.attempt, found.until_ms),
        (ORBGATE_STEP_WAIT, 2, 5005)
    );
    assert_eq!(serve(gate, 6).len(), 2);
    let mut over = 9;
    unsafe {
        assert_eq!(orbgate_gate_is_over(gate, step, 6, &mut over), OK);
        assert_eq!(over, 1);
        assert_eq!(
            orbgate_gate_resume(gate, engine, step, TIME, 6, &mut step),
            OK
        );
        let found = info(step);
        assert_eq!(found.kind, ORBGATE_STEP_CHECK_SIGNATURE);
        assert_eq!(
            (said(found.algorithm), found.signature.len),
            ("ES256".to_owned(), 64)
        );
        assert_eq!(
            orbgate_gate_checked(gate, engine, step, 1, TIME, 6, &mut step),
            OK
        );
        let found = info(step);
        assert_eq!(
            (found.kind, found.decision.effect),
            (ORBGATE_STEP_ANSWER, 2)
        );
        assert_eq!(said(found.subject), "user-7");
        assert!(said(found.audit).contains(&said(found.fingerprint)));
        let scopes = orbgate_scope_set_retain(found.scope_set);
        orbgate_step_free(step);
        assert_eq!(
            (*scopes).set,
            (*engine).engine().scopes("read:account write:voxies")
        );
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
