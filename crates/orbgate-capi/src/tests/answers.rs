//! Prepared decisions equal those that would be built.

use orbgate::{Decision, Token, TokenKind};

use super::{SHOP, compiled, external, said, sized};
use crate::decision::OrbgateDecision;
use crate::engine::{OrbgateEngine, orbgate_engine_free};
use crate::flags::Flags;
use crate::listing::{OrbgateRoute, orbgate_engine_route, orbgate_engine_route_alternative};
use crate::readback::{OrbgateDecisionStrings, orbgate_engine_decision_strings, orbgate_engine_unpack};
use crate::status::OrbgateStatus;
use crate::text::OrbgateStr;

/// An organisation passes here without the scope, for a reason that no prepared decision has.
const WITHOUT_SCOPE: &str = "
orbgate: 1
apis:
  a:
    base_path: ''
    token: user
    organisation: allow_without_scope
    scopes: { read: { orbs: 7, routes: [GET /a, GET /b, GET /c, GET /d] } }
";

/// Routes that need more than their owner.
const REQUIREMENTS: &str = "
orbgate: 1
apis:
  a:
    base_path: ''
    closed: [/shut]
    scopes:
      read:
        and: export
        or: [admin, write log]
        orbs: 7
        routes: [GET /a, { route: GET /b, or: [] }, { route: GET /c, or: [admin] }, { route: GET /d, and: log }]
      export: { routes: [] }
      admin: { routes: [] }
      write: { routes: [] }
      log: { routes: [] }
";

fn check(engine: &OrbgateEngine, decision: &Decision<'_>, bonus: bool) {
    let expected = OrbgateDecision::new(engine.policy(), decision);
    for pack_about in [false, true] {
        let flags = Flags { allow_bonus_orbs: bonus, pack_about };
        let packed = match pack_about {
            true => expected.pack_with_about(),
            false => expected.pack(),
        };
        assert_eq!(engine.answers().of::<OrbgateDecision>(decision, flags), expected);
        assert_eq!(engine.answers().of::<u64>(decision, flags), packed);
    }
}

/// A closed template has a number past those of the routes, and its `Allow` is empty.
#[test]
fn a_closed_template_is_read_back() {
    let made = compiled(REQUIREMENTS);
    let engine = unsafe { &*made };
    let request = orbgate::Request {
        method: b"GET",
        target: b"/shut",
        token: Some(Token::user("read")),
        allow_bonus_orbs_use: false,
    };
    let decision = OrbgateDecision::new(engine.policy(), &engine.engine().decide(&request));
    assert_eq!((decision.http_status, decision.route, decision.about), (405, 5, 0));
    let mut unpacked = OrbgateDecision::default();
    assert_eq!(unsafe { orbgate_engine_unpack(made, decision.pack(), &mut unpacked) }, OrbgateStatus::Ok);
    assert_eq!(unpacked, decision);
    let mut words: OrbgateDecisionStrings = sized();
    assert_eq!(unsafe { orbgate_engine_decision_strings(made, &decision, &mut words) }, OrbgateStatus::Ok);
    assert_eq!([words.api, words.route, words.scope, words.allow].map(said), ["a", "/shut", "-", ""]);
    let mut route: OrbgateRoute = sized();
    assert_eq!(unsafe { orbgate_engine_route(made, decision.route, &mut route) }, OrbgateStatus::Ok);
    assert_eq!((route.number, route.scope_number, route.charge), (5, 0, 0));
    let texts = [route.text, route.method, route.path_template, route.scope, route.api, route.methods];
    assert_eq!(texts.map(said), ["/shut", "-", "/shut", "-", "a", ""]);
    assert_eq!(unsafe { orbgate_engine_route(made, 6, &mut route) }, OrbgateStatus::NotFound);
    let mut alternative = OrbgateStr::NULL;
    assert_eq!(unsafe { orbgate_engine_route_alternative(made, 5, 0, &mut alternative) }, OrbgateStatus::NotFound);
    unsafe { orbgate_engine_free(made) }
}

#[test]
fn what_routes_need_is_listed() {
    for made in [external(), compiled(REQUIREMENTS)] {
        let core = unsafe { &*made }.engine();
        for (number, route) in (1..).zip(core.routes()) {
            let expected = route.requirement().alternatives().map(|scopes| scopes.to_string());
            let mut alternative = OrbgateStr::NULL;
            let listed = (0..).map_while(|index| {
                let status = unsafe { orbgate_engine_route_alternative(made, number, index, &mut alternative) };
                (status == OrbgateStatus::Ok).then(|| said(alternative))
            });
            assert_eq!(listed.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
        unsafe { orbgate_engine_free(made) }
    }
}

#[test]
fn every_route_has_the_answer_of_its_decision() {
    for made in [external(), compiled(SHOP), compiled(WITHOUT_SCOPE), compiled(REQUIREMENTS)] {
        let engine = unsafe { &*made };
        let core = engine.engine();
        let routes: Vec<_> = (0..).map_while(|index| core.route(index)).collect();
        assert!(routes.len() >= 4);
        for (route, bonus) in routes.iter().flat_map(|route| [(route, false), (route, true)]) {
            for scopes in route.requirement().alternatives().map(|scopes| scopes.to_string()) {
                let decision = core.decide_route(route.id(), Some(Token::user(&scopes)), bonus);
                assert!(decision.is_allow());
                check(engine, &decision, bonus);
            }
            let scopes = route.scope().name();
            for kind in [TokenKind::User, TokenKind::Organisation, TokenKind::Unknown] {
                for scopes in [scopes, "read:nothing"] {
                    let scopes = scopes.into();
                    let token = Some(Token { kind, scopes });
                    check(engine, &core.decide_route(route.id(), token, bonus), bonus);
                }
            }
            let token = Some(Token::user(scopes));
            check(engine, &core.decide_scope(scopes, token, bonus), bonus);
            check(engine, &core.decide_route(route.id(), None, bonus), bonus);
        }
        unsafe { orbgate_engine_free(made) }
    }
}
