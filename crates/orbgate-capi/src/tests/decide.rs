//! Every way of making a decision gives the core's decision.

use core::ffi::c_char;
use core::ptr::null;

use orbgate::{Decision, Engine, Reason, Request, Token, TokenKind};
use proptest::prelude::*;

use super::{OK, SHOP, compiled, external, said, set, sized, text, token};
use crate::decide::{
    orbgate_engine_decide, orbgate_engine_decide_packed, orbgate_engine_decide_route,
    orbgate_engine_decide_route_packed, orbgate_engine_decide_scope, orbgate_engine_decide_scope_packed,
};
use crate::decision::OrbgateDecision;
use crate::engine::{OrbgateEngine, orbgate_engine_free};
use crate::flags::ORBGATE_PACK_ABOUT;
use crate::listing::orbgate_engine_find_route;
use crate::readback::{OrbgateDecisionStrings, orbgate_engine_decision_strings, orbgate_engine_unpack};
use crate::route_id::OrbgateRouteId;
use crate::scope_set::{OrbgateScopeSet, orbgate_scope_set_free};
use crate::status::OrbgateStatus;

#[test]
fn a_decision_is_the_cores_in_every_form() {
    let engine = external();
    let scopes = "read:orbs write:voxies read:store";
    let interned = set(engine, scopes);
    let targets = [
        "/api/v1/external/orbs",
        "/api/v1/external/voxies/prompt/run",
        "/api/v1/external/voxies/42",
        "/api/v1/external/account",
        "/api/v1/external//account",
        "/nowhere",
        "",
    ];
    for (method, target) in ["GET", "POST", "get"].into_iter().flat_map(|m| targets.map(|t| (m, t))) {
        for flags in [0, 1] {
            let expected = Engine::external().decide(&Request {
                method: method.as_bytes(),
                target: target.as_bytes(),
                token: Some(Token::user(scopes)),
                allow_bonus_orbs_use: flags == 1,
            });
            let ((m, ml), (t, tl), (s, sl)) = (text(method), text(target), text(scopes));
            let by_text = token(1, scopes.as_bytes());
            let mut by_set = token(1, b"");
            by_set.scope_set = interned;
            let mut packed = Vec::new();
            for token in [&by_text, &by_set] {
                let mut decision = OrbgateDecision::default();
                let status = unsafe { orbgate_engine_decide(engine, m, ml, t, tl, token, flags, &mut decision) };
                assert_eq!(status, OK);
                check(engine, &decision, &expected);
                packed.push(decision.pack());
            }
            unsafe {
                let by_text = orbgate_engine_decide_packed(engine, m, ml, t, tl, 1, s, sl, null(), flags);
                let by_set = orbgate_engine_decide_packed(engine, m, ml, t, tl, 1, null(), 0, interned, flags);
                assert_eq!(packed, [by_text, by_set]);
            }
        }
    }
    unsafe {
        orbgate_scope_set_free(interned);
        orbgate_engine_free(engine);
    }
}

/// The decision, and the result of packing and unpacking it, match the core's.
fn check(engine: *const OrbgateEngine, actual: &OrbgateDecision, expected: &Decision<'_>) {
    assert_eq!(actual.effect == 2, expected.is_allow());
    assert_eq!(actual.reason, expected.reason() as u8);
    assert_eq!(actual.detail, expected.detail().map_or(0, |detail| detail as u8));
    assert_eq!(actual.http_status, expected.status().unwrap_or(0));
    let charge = expected.charge();
    let bits = charge.map_or(0, |charge| {
        let amount = u8::from(charge.amount.is_some()) << 2;
        1 | u8::from(charge.consumes) << 1 | amount | u8::from(charge.bonus_allowed) << 3
    });
    assert_eq!(actual.charge, bits);
    assert_eq!(actual.amount, charge.and_then(|charge| charge.amount).unwrap_or(0));
    let mut words = words();
    let status = unsafe { orbgate_engine_decision_strings(engine, actual, &mut words) };
    assert_eq!(status, OK);
    let texts = [words.reason, words.detail, words.api, words.route, words.scope].map(said);
    let null = || "-".to_owned();
    let expected_texts = [
        expected.reason().as_str().to_owned(),
        expected.detail().map_or_else(null, |detail| detail.to_string()),
        expected.api().map_or_else(null, str::to_owned),
        expected.route_name().map_or_else(null, str::to_owned),
        expected.scope().map_or_else(null, |scope| scope.name().to_owned()),
    ];
    assert_eq!(texts, expected_texts);
    assert_eq!(said(words.decision), if expected.is_allow() { "allow" } else { "deny" });
    assert_eq!(said(words.policy), expected.policy().to_string());
    assert_eq!(said(words.allow), declared(expected).unwrap_or_else(null));
    let about = expected.about().map(|route| route.as_str().to_owned());
    assert_eq!(said(words.about), about.unwrap_or_else(null));
    let packed = actual.pack_with_about();
    assert_eq!(packed >> 53, 0);
    let mut unpacked = OrbgateDecision::default();
    assert_eq!(unsafe { orbgate_engine_unpack(engine, packed, &mut unpacked) }, OK);
    assert_eq!(&unpacked, actual);
}

/// The value of a 405's `Allow` header.
fn declared(decision: &Decision<'_>) -> Option<String> {
    let Decision::Deny(deny) = decision else {
        return None;
    };
    let route = deny.route().filter(|_| deny.reason() == Reason::MethodNotDeclared)?;
    Some(route.methods().collect::<Vec<_>>().join(", "))
}

fn words() -> OrbgateDecisionStrings {
    sized()
}

/// Passes the id in parts, for a user's token.
unsafe fn decide_route_packed(
    engine: *const OrbgateEngine,
    id: OrbgateRouteId,
    scopes: *const c_char,
    scopes_len: usize,
    set: *const OrbgateScopeSet,
    flags: u32,
) -> u64 {
    let (high, low) = (id.high, id.low);
    unsafe { orbgate_engine_decide_route_packed(engine, high, low, 1, scopes, scopes_len, set, flags) }
}

#[test]
fn by_route_and_by_scope_too() {
    let engine = compiled(SHOP);
    let policy = orbgate::Policy::from_yaml(SHOP).unwrap();
    let core = Engine::new(&policy);
    for route in core.routes() {
        let ((m, ml), (t, tl)) = (text(route.method()), text(route.template()));
        let mut id = OrbgateRouteId::default();
        assert_eq!(unsafe { orbgate_engine_find_route(engine, m, ml, t, tl, &mut id) }, OK);
        assert_eq!(id, OrbgateRouteId::new(route.id()));
        for scopes in ["read:orders write:orders", ""] {
            let expected = core.decide_route(route.id(), Some(Token::user(scopes)), true);
            let given = token(1, scopes.as_bytes());
            let mut decision = OrbgateDecision::default();
            let (s, sl) = text(scopes);
            unsafe {
                assert_eq!(orbgate_engine_decide_route(engine, id, &given, 1, &mut decision), OK);
                let packed = decide_route_packed(engine, id, s, sl, null(), 1);
                assert_eq!(packed, decision.pack());
            }
            check(engine, &decision, &expected);
        }
    }
    for scope in ["write:orders", "read:later", "read:nothing", ""] {
        let expected = core.decide_scope(scope, Some(Token::user(scope)), false);
        let given = token(1, scope.as_bytes());
        let (s, sl) = text(scope);
        let mut decision = OrbgateDecision::default();
        unsafe {
            assert_eq!(orbgate_engine_decide_scope(engine, s, sl, &given, 0, &mut decision), OK);
            let packed = orbgate_engine_decide_scope_packed(engine, s, sl, 1, s, sl, null(), 0);
            assert_eq!(packed, decision.pack());
        }
        check(engine, &decision, &expected);
    }
    unsafe { orbgate_engine_free(engine) };
}

#[test]
fn a_route_or_set_of_another_policy_is_denied() {
    let (engine, other) = (external(), compiled(SHOP));
    let foreign = set(other, "read:orders write:orders");
    let ((m, ml), (t, tl)) = (text("GET"), text("/api/v1/external/orbs"));
    let mut id = OrbgateRouteId::default();
    unsafe {
        assert_eq!(orbgate_engine_find_route(engine, m, ml, t, tl, &mut id), OK);
        let packed = decide_route_packed(other, id, null(), 0, foreign, 0);
        assert_eq!(packed & 3, 1, "the id is of another policy");
        let packed = decide_route_packed(engine, id, null(), 0, foreign, 0);
        assert_eq!(packed & 3, 1, "the set is of another policy");
        let status = orbgate_engine_find_route(other, m, ml, t, tl, &mut id);
        assert_eq!(status, OrbgateStatus::NotFound);
        orbgate_scope_set_free(foreign);
        orbgate_engine_free(other);
        orbgate_engine_free(engine);
    }
}

/// A denial without a valid token names no route. The route that the request matches is packed only for who asks for it.
#[test]
fn a_packed_denial_says_what_it_is_about_if_asked() {
    let engine = compiled(SHOP);
    let ((m, ml), (t, tl)) = (text("GET"), text("/v1/orders"));
    let mut decision = OrbgateDecision::default();
    unsafe {
        let status = orbgate_engine_decide(engine, m, ml, t, tl, null(), 0, &mut decision);
        assert_eq!((status, decision.reason, decision.route), (OK, 2, 0));
        assert_ne!(decision.about, 0);
        for (flags, route) in [(0, 0), (ORBGATE_PACK_ABOUT, decision.about)] {
            let (none, kind) = (null(), 255);
            let packed = orbgate_engine_decide_packed(engine, m, ml, t, tl, kind, none, 0, null(), flags);
            assert_eq!(packed >> 14 & 0x3_ffff, u64::from(route));
        }
        orbgate_engine_free(engine);
    }
}

#[test]
fn what_no_engine_packed_is_refused() {
    let engine = external();
    let mut out = OrbgateDecision::default();
    let refused = |packed: u64, out: &mut OrbgateDecision| unsafe { orbgate_engine_unpack(engine, packed, out) };
    let invalid = OrbgateStatus::InvalidArgument;
    assert_eq!(refused(0, &mut out), invalid);
    assert_eq!(refused(5 << 48, &mut out), OrbgateStatus::Panic);
    // An allow with a denial's reason, an unknown reason, a route after the last, an unknown bit.
    for packed in [2 | 8 << 48, 2 | 31 << 48, 1 | 8 << 48 | 38 << 14, 1 | 2 << 48 | 1 << 60, 3 | 9 << 48] {
        assert_eq!(refused(packed, &mut out), invalid, "{packed:#x}");
    }
    assert_eq!(out, OrbgateDecision::default());
    unsafe { orbgate_engine_free(engine) };
}

/// Only an engine of the same policy converts a decision to strings.
#[test]
fn words_need_the_same_policy() {
    let (engine, other) = (external(), compiled(SHOP));
    let ((m, ml), (t, tl)) = (text("GET"), text("/v1/orders"));
    let mut decision = OrbgateDecision::default();
    let mut out = words();
    unsafe {
        let status = orbgate_engine_decide(other, m, ml, t, tl, null(), 0, &mut decision);
        assert_eq!((status, decision.reason), (OK, 2));
        let refused = orbgate_engine_decision_strings(engine, &decision, &mut out);
        assert_eq!(refused, OrbgateStatus::InvalidArgument);
        let zeroed = OrbgateDecision::default();
        let refused = orbgate_engine_decision_strings(other, &zeroed, &mut out);
        assert_eq!(refused, OrbgateStatus::InvalidArgument);
        assert!(out.reason.data.is_null());
        orbgate_engine_free(other);
        orbgate_engine_free(engine);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// For any input: the core's decision, or only a status.
    #[test]
    fn any_bytes_and_numbers_are_answered(
        method in prop::collection::vec(any::<u8>(), 0..20),
        target in prop::collection::vec(any::<u8>(), 0..80),
        scopes in prop::collection::vec(any::<u8>(), 0..40),
        kind in prop_oneof![0..4_u32, Just(255), any::<u32>()],
        flags in prop_oneof![0..5_u32, any::<u32>()],
    ) {
        let engine = external();
        let canary = OrbgateDecision { effect: 0xa5, ..OrbgateDecision::default() };
        let mut decision = canary;
        let given = token(kind, &scopes);
        let (m, t) = (method.as_ptr().cast(), target.as_ptr().cast());
        let (ml, tl) = (method.len(), target.len());
        let status = unsafe { orbgate_engine_decide(engine, m, ml, t, tl, &given, flags, &mut decision) };
        let kinds = [(0, Some(TokenKind::Unknown)), (1, Some(TokenKind::User)),
            (2, Some(TokenKind::Organisation)), (255, None)];
        match kinds.iter().find(|(number, _)| *number == kind && flags < 4) {
            None => prop_assert_eq!((status, decision), (OrbgateStatus::InvalidArgument, canary)),
            Some((_, kind)) => {
                let scopes = scopes.as_slice().into();
                let expected = Engine::external().decide(&Request {
                    method: &method,
                    target: &target,
                    token: kind.map(|kind| Token { kind, scopes }),
                    allow_bonus_orbs_use: flags % 2 == 1,
                });
                prop_assert_eq!(status, OK);
                check(engine, &decision, &expected);
            }
        }
        unsafe { orbgate_engine_free(engine) };
    }

    /// For any integer: a decision that packs to the same integer, or a status. An invalid integer
    /// never gives an allow.
    #[test]
    fn any_integer_is_unpacked_or_refused(packed in prop_oneof![any::<u64>(), 0..1_u64 << 53]) {
        let engine = external();
        let mut decision = OrbgateDecision::default();
        match unsafe { orbgate_engine_unpack(engine, packed, &mut decision) } {
            OrbgateStatus::Ok => prop_assert_eq!(decision.pack_with_about(), packed),
            _ => prop_assert_eq!(decision, OrbgateDecision::default()),
        }
        unsafe { orbgate_engine_free(engine) };
    }
}
