//! Every answer of this crate equals brute force over `decide`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::support::model::{Model, is_parameter};
use crate::support::policies::policies_of_single_scopes as policies;
use crate::support::reference::Ask;
use crate::support::requests::asks;
use crate::support::strategies::{SCOPES, scopes};
use orbgate::{Decision, Engine, Policy, Reason, Request, Scopes, Token, TokenKind};
use orbgate_analysis::{self as analysis, LeastScopes, ScopeUsage};
use proptest::collection::vec;
use proptest::prelude::*;

/// The text of a token that holds every scope.
static EVERY_SCOPE: LazyLock<String> = LazyLock::new(|| SCOPES.join(" "));
const KINDS: [TokenKind; 3] = [TokenKind::Unknown, TokenKind::User, TokenKind::Organisation];

fn engine(model: &Model) -> Engine {
    let yaml = model.to_yaml();
    Engine::new(&Policy::from_yaml(&yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}")))
}

const fn token(kind: TokenKind, scopes: &[u8]) -> Token<'_> {
    let scopes = Scopes::Text(scopes);
    Token { kind, scopes }
}

fn decide<'e>(engine: &'e Engine, ask: &Ask, token: Token<'_>) -> Decision<'e> {
    engine.decide(&Request {
        method: &ask.method,
        target: &ask.target,
        token: Some(token),
        allow_bonus_orbs_use: false,
    })
}

/// A target that reaches a template: none of its values is a literal.
fn instance(template: &str) -> String {
    let value = |segment| match is_parameter(segment) {
        true => "no-literal-is-called-so",
        false => segment,
    };
    template.split('/').map(value).collect::<Vec<_>>().join("/")
}

/// A call to a route, with a token.
fn call<'e>(engine: &'e Engine, route: &str, token: Token<'_>) -> Decision<'e> {
    let (method, template) = route.split_once(' ').unwrap();
    let ask = Ask { method: method.into(), target: instance(template).into(), token: None, bonus: false };
    decide(engine, &ask, token)
}

fn policy_and_asks(count: usize) -> impl Strategy<Value = (Model, Vec<Ask>)> {
    policies().prop_flat_map(move |model| {
        let asks = vec(asks(&model), count);
        (Just(model), asks)
    })
}

/// The calls that a token with these scopes may make.
fn allowed(engine: &Engine, kind: TokenKind, calls: &[Ask], scopes: &[&str]) -> Vec<bool> {
    let text = scopes.join(" ");
    let allow = |ask| decide(engine, ask, token(kind, text.as_bytes())).is_allow();
    calls.iter().map(allow).collect()
}

proptest! {
    #[test]
    fn the_route_of_a_target_is_the_one_that_decides((model, asks) in policy_and_asks(64)) {
        let engine = engine(&model);
        for ask in &asks {
            let decision = decide(&engine, ask, token(TokenKind::User, EVERY_SCOPE.as_bytes()));
            match analysis::route_of(&engine, &ask.method, &ask.target) {
                Ok(route) => {
                    prop_assert!(decision.is_allow());
                    prop_assert_eq!(decision.route_name(), Some(route.as_str()));
                    prop_assert_eq!(decision.scope(), Some(route.scope()));
                }
                Err(denial) => {
                    prop_assert!(!denial.is_allow());
                    prop_assert_eq!(denial, decision);
                }
            }
        }
    }

    #[test]
    fn the_routes_of_a_scope_are_those_that_it_opens(model in policies()) {
        let engine = engine(&model);
        for name in EVERY_SCOPE.split(' ') {
            let listed: BTreeSet<_> = engine.find_scope(name)
                .unwrap()
                .routes()
                .map(|route| route.as_str())
                .collect();
            let opened: BTreeSet<_> = engine
                .routes()
                .map(|route| route.as_str())
                .filter(|route| call(&engine, route, Token::user(name)).is_allow())
                .collect();
            prop_assert_eq!(listed, opened);
        }
        prop_assert!(engine.find_scope("no-such-scope").is_none());
        prop_assert!(engine.find_scope("").is_none());
    }

    #[test]
    fn reach_is_every_call_that_is_allowed(model in policies(), text in scopes()) {
        let engine = engine(&model);
        for kind in KINDS {
            let token = token(kind, &text);
            let reach: Vec<_> = analysis::reach(&engine, token).map(Decision::Allow).collect();
            let mut expected = Vec::new();
            for (api, scope, route, full) in model.routes() {
                let _ = (api, scope);
                let target = model.path(&full);
                expected.push(call(&engine, &format!("{} {target}", route.method), token));
            }
            // Asked by scope, it is one scope, whatever apis have it.
            let scopes = || model.apis.iter().flat_map(|api| &api.scopes);
            let names: BTreeSet<_> = scopes().map(|scope| &scope.name).collect();
            let with_routes: BTreeSet<_> = scopes().filter(|scope| !scope.routes.is_empty()).map(|scope| &scope.name).collect();
            for name in names.difference(&with_routes) {
                expected.push(engine.decide_scope(name, Some(token), false));
            }
            expected.retain(Decision::is_allow);
            prop_assert_eq!(reach.len(), expected.len());
            prop_assert!(reach.iter().all(|allow| expected.contains(allow)));
        }
    }

    #[test]
    fn the_least_scopes_allow_what_all_do_and_not_one_is_too_many((model, asks) in policy_and_asks(32)) {
        let engine = engine(&model);
        for kind in KINDS {
            let calls = asks.iter().map(|ask| (&ask.method, &ask.target));
            let LeastScopes { needs, refusals, .. } = analysis::least_scopes(&engine, kind, calls);
            let names: Vec<_> = needs.iter().map(|need| need.scope.name()).collect();
            let all = allowed(&engine, kind, &asks, &[EVERY_SCOPE.as_str()]);
            prop_assert_eq!(&allowed(&engine, kind, &asks, &names), &all);
            let refused: Vec<_> = (0..asks.len()).filter(|at| !all[*at]).collect();
            // Grouped by their denials, in the order of the first of each.
            let mut expected: Vec<(Decision<'_>, usize, usize)> = Vec::new();
            for at in refused {
                let denial = decide(&engine, &asks[at], token(kind, b""));
                match expected.iter_mut().find(|(other, ..)| *other == denial) {
                    Some((_, _, calls)) => *calls += 1,
                    None => expected.push((denial, at, 1)),
                }
            }
            let found: Vec<_> = refusals.iter().map(|refusal| (Decision::Deny(refusal.deny), refusal.call, refusal.calls)).collect();
            prop_assert_eq!(found, expected);
            for (at, need) in needs.iter().enumerate() {
                let mut fewer = names.clone();
                fewer.remove(at);
                let without = allowed(&engine, kind, &asks, &fewer);
                prop_assert!(!without[need.evidence]);
                let lost: Vec<_> = (0..asks.len()).filter(|at| all[*at] && !without[*at]).collect();
                prop_assert_eq!((lost[0], lost.len()), (need.evidence, need.calls));
            }
            for refusal in refusals {
                let decision = decide(&engine, &asks[refusal.call], token(kind, EVERY_SCOPE.as_bytes()));
                prop_assert_eq!(decision.reason(), refusal.deny.reason());
            }
        }
    }

    #[test]
    fn the_usage_of_scopes_is_what_a_count_by_hand_finds((model, asks) in policy_and_asks(64), times in 1..5_u64) {
        let engine = engine(&model);
        let mut usage = ScopeUsage::new(&engine);
        let mut expected: BTreeMap<Vec<u8>, (u64, u64)> = BTreeMap::new();
        for ask in &asks {
            let Some((kind, text)) = &ask.token else { continue };
            let kind = TokenKind::from_name(kind);
            usage.count(&ask.method, &ask.target, kind, text, times);
            if kind == TokenKind::Unknown {
                continue;
            }
            let decision = decide(&engine, ask, token(kind, text));
            let pieces: BTreeSet<_> = text.split(|byte| *byte == b' ').filter(|piece| !piece.is_empty()).collect();
            for piece in pieces {
                let (granted, used) = expected.entry(piece.to_vec()).or_default();
                *granted += times;
                let held = decision.reason() == Reason::ScopeHeld;
                let this = decision.scope().is_some_and(|scope| scope.name().as_bytes() == piece);
                *used += if held && this { times } else { 0 };
            }
        }
        let found = usage.scopes();
        prop_assert!(found.iter().all(|scope| scope.in_policy == EVERY_SCOPE.split(' ').any(|name| name.as_bytes() == scope.scope)));
        let found: BTreeMap<_, _> = found.into_iter().map(|scope| (scope.scope, (scope.granted, scope.used))).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn who_may_call_is_everyone_whom_decide_allows((model, asks) in policy_and_asks(16), texts in vec(scopes(), 0..8)) {
        let engine = engine(&model);
        let tokens: Vec<_> = texts.iter().zip(KINDS.iter().cycle()).map(|(text, kind)| token(*kind, text)).collect();
        for ask in &asks {
            let found = analysis::who_may(&engine, &ask.method, &ask.target, tokens.iter().copied());
            let found: Vec<_> = found.into_iter().map(|(at, allow)| (at, Decision::Allow(allow))).collect();
            let decisions = tokens.iter().map(|token| decide(&engine, ask, *token)).enumerate();
            prop_assert_eq!(found, decisions.filter(|(_, decision)| decision.is_allow()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_records_are_the_table(model in policies()) {
        let engine = engine(&model);
        let records: Vec<_> = analysis::table_rows(&engine)
            .map(|record| (record.scope.name().to_owned(), record.route.map(|route| route.as_str().to_owned())))
            .collect();
        let mut expected = Vec::new();
        for api in &model.apis {
            for scope in &api.scopes {
                let route = |route: &crate::support::model::Route| format!("{} {}", route.method, model.path(&api.full(route)));
                let mut routes: Vec<_> = scope.routes.iter().map(|one| Some(route(one))).collect();
                if routes.is_empty() {
                    routes.push(None);
                }
                expected.extend(routes.into_iter().map(|route| (scope.name.clone(), route)));
            }
        }
        prop_assert_eq!(records, expected);
    }
}
