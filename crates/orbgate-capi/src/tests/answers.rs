//! Prepared decisions equal those that would be built.

use orbgate::{Decision, Token, TokenKind};

use super::{SHOP, compiled, external};
use crate::decision::OrbgateDecision;
use crate::engine::{OrbgateEngine, orbgate_engine_free};
use crate::flags::Flags;

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

#[test]
fn every_route_has_the_answer_of_its_decision() {
    for made in [external(), compiled(SHOP), compiled(WITHOUT_SCOPE)] {
        let engine = unsafe { &*made };
        let core = engine.engine();
        let routes: Vec<_> = (0..).map_while(|index| core.route(index)).collect();
        assert!(routes.len() >= 4);
        for (route, bonus) in routes.iter().flat_map(|route| [(route, false), (route, true)]) {
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
