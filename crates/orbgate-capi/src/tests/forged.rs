//! A decision that no engine of a policy can have made can't be converted to strings or unpacked,
//! and has no methods.

use std::collections::HashSet;

use orbgate::{Detail, Named, Reason, Request, Token, TokenKind};

use super::{INVALID, OK, compiled, sized};
use crate::decision::OrbgateDecision;
use crate::engine::{OrbgateEngine, orbgate_engine_free};
use crate::readback::{OrbgateDecisionStrings, orbgate_engine_decision_strings, orbgate_engine_unpack};

const POLICY: &str = "
orbgate: 1
apis:
  a:
    base_path: ''
    closed: [/shut]
    scopes:
      read: { orbs: false, routes: [GET /a, GET /a/b] }
      write: { orbs: 5, routes: [POST /a] }
      unsaid: { orbs: true, routes: [PUT /a/b] }
  b:
    base_path: ''
    token: user
    organisation: deny
    scopes: { own: { orbs: true, routes: [GET /b] }, later: { routes: [] } }
  c:
    base_path: ''
    token: user
    organisation: allow_without_scope
    scopes: { other: { orbs: 7, routes: [GET /c] } }
";

/// All decisions that engines of the policy make.
fn possible(engine: &OrbgateEngine) -> HashSet<Fields> {
    let core = engine.engine();
    let scopes = ["", "read write unsaid own later other"];
    let kinds = [TokenKind::Unknown, TokenKind::User, TokenKind::Organisation];
    let tokens = kinds.into_iter().flat_map(|kind| {
        scopes.map(|scopes| {
            let scopes = scopes.into();
            Some(Token { kind, scopes })
        })
    });
    let mut all = HashSet::new();
    for (token, bonus) in tokens.chain([None]).flat_map(|it| [(it, false), (it, true)]) {
        let request = |method: &'static str, target: &'static str| Request {
            method: method.as_bytes(),
            target: target.as_bytes(),
            token,
            allow_bonus_orbs_use: bonus,
        };
        let requests = [request("GET", "/nowhere"), request("get", "/a"), request("GET", "/shut")];
        let calls = requests.iter().map(|request| core.decide(request));
        let routes = core.routes().map(|it| core.decide_route(it.id(), token, bonus));
        let scopes = core.scope_table().map(|it| core.decide_scope(it.name(), token, bonus));
        let others = core.routes().map(|it| {
            let target = it.template().as_bytes();
            core.decide(&Request { target, ..request("PATCH", "") })
        });
        let public = [core.allow_public()];
        for decision in calls.chain(routes).chain(scopes).chain(others).chain(public) {
            let made = decision.reason();
            let decision = OrbgateDecision::new(engine.policy(), &decision);
            all.insert(fields(&decision));
            // Any reason of the same kind is possible.
            for other in Reason::ALL.into_iter().filter(|it| kind(*it) == kind(made)) {
                let http_status = other.status().unwrap_or(0);
                let reason = other.number();
                let decision = OrbgateDecision { reason, http_status, ..decision };
                // Any rule can be broken.
                let details = Detail::ALL.into_iter().filter(|detail| detail.reason() == other);
                for detail in details.map(Detail::number) {
                    all.insert(fields(&OrbgateDecision { detail, ..decision }));
                }
                if other != Reason::MalformedRequest {
                    all.insert(fields(&decision));
                }
            }
            // Any route of a template represents it.
            for route in (1..=7).filter(|_| decision.http_status == 405) {
                all.insert(fields(&OrbgateDecision { route, ..decision }));
            }
        }
    }
    all
}

/// The properties that determine the form of a decision: what it names, and under which rule.
fn kind(reason: Reason) -> (Named, bool, bool, Option<Reason>) {
    let own = [Reason::MalformedRequest, Reason::UserTokenRequired, Reason::ScopeNotApplicable];
    let own = own.into_iter().find(|it| *it == reason);
    (reason.named(), reason.status().is_none(), reason.is_without_token(), own)
}

type Fields = (u8, u8, u8, u8, u16, u16, u32, u32, u64);

fn fields(decision: &OrbgateDecision) -> Fields {
    let OrbgateDecision { effect, reason, detail, charge, .. } = *decision;
    let OrbgateDecision { http_status, scope, route, about, amount, .. } = *decision;
    (effect, reason, detail, charge, http_status, scope, route, about, amount)
}

#[test]
fn only_what_can_be_decided_has_words() {
    let made = compiled(POLICY);
    let engine = unsafe { &*made };
    let possible = possible(engine);
    let (mut accepted, mut count) = (HashSet::new(), 0);
    let last = Detail::ALL.len() as u8;
    let details = [0, 1, last - 1, last, last + 1];
    let reasons = 0..Reason::ALL.len() as u8 + 2;
    for (effect, reason) in (0..4).flat_map(|effect| reasons.clone().map(move |it| (effect, it))) {
        for (detail, charge) in details.into_iter().flat_map(|it| (0..17).map(move |charge| (it, charge))) {
            for (route, scope) in (0..9).flat_map(|route| (0..8).map(move |it| (route, it))) {
                let right = crate::names::reason(reason).and_then(Reason::status).unwrap_or(0);
                for (http_status, amount) in
                    [right, 418].into_iter().flat_map(|it| [0, 5, 7].map(|amount| (it, amount)))
                {
                    for about in [0, 3, 6, 7, route] {
                        let decision = OrbgateDecision {
                            effect,
                            reason,
                            detail,
                            charge,
                            http_status,
                            scope,
                            route,
                            about,
                            amount,
                            policy: engine.policy(),
                        };
                        count += 1;
                        if has_words(engine, &decision) {
                            accepted.insert(fields(&decision));
                        }
                    }
                }
            }
        }
    }
    let mut expected = possible;
    expected.retain(|it| details.contains(&it.2) && [0, 3, 6, 7, it.6].contains(&it.7));
    assert!(count > 1_000_000 && expected.len() > 20);
    let odd: Vec<_> = accepted.symmetric_difference(&expected).collect();
    assert!(odd.is_empty(), "{} of {}: {:?}", odd.len(), expected.len(), odd.first());
    unsafe { orbgate_engine_free(made) };
}

/// Whether a decision has strings and can be unpacked: both or neither.
fn has_words(engine: &OrbgateEngine, decision: &OrbgateDecision) -> bool {
    let mut words: OrbgateDecisionStrings = sized();
    let mut unpacked = OrbgateDecision::default();
    let (strings, packed) = unsafe {
        (
            orbgate_engine_decision_strings(engine, decision, &mut words),
            orbgate_engine_unpack(engine, decision.pack_with_about(), &mut unpacked),
        )
    };
    assert!(strings == OK || strings == INVALID);
    // Fields that aren't packed can be wrong without being noticed there.
    assert!(packed == OK || strings != OK, "{decision:?}");
    assert!(packed != OK || strings == OK || unpacked != *decision, "{decision:?}");
    strings == OK
}
