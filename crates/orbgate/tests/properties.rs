//! Random policies, random and adversarial requests: the engine and the naive reference always agree,
//! and the promises of the decision hold.

use crate::support::engine::{answer, ask_batch, ask_engine, engine, request, token};
use crate::support::model::{Model, is_parameter};
use crate::support::policies::policies;
use crate::support::reference::{self, Ask};
use crate::support::requests::asks;
use crate::support::strategies::{SCOPES, scopes};
use orbgate::{Request, Scopes, Token, TokenKind};
use proptest::collection::vec;
use proptest::prelude::*;

/// A policy and requests that nearly fit it.
fn policy_and_asks(count: usize) -> impl Strategy<Value = (Model, Vec<Ask>)> {
    policies().prop_flat_map(move |model| {
        let asks = vec(asks(&model), count);
        (Just(model), asks)
    })
}

proptest! {
    #[test]
    fn engine_and_reference_agree((model, asks) in policy_and_asks(64)) {
        let engine = engine(&model);
        for ask in &asks {
            prop_assert_eq!(answer(&ask_engine(&engine, ask)), reference::decide(&model, ask), "{:?}", ask);
        }
    }

    #[test]
    fn a_batch_is_decided_as_its_requests_alone(
        (model, asks) in policy_and_asks(48),
        rows in 0..300_usize,
        interned in any::<bool>(),
    ) {
        let engine = engine(&model);
        let alone: Vec<_> = asks.iter().map(|ask| answer(&ask_engine(&engine, ask))).collect();
        let expected: Vec<_> = alone.into_iter().cycle().take(rows).collect();
        prop_assert_eq!(ask_batch(&engine, &asks, rows, interned), expected);
    }

    #[test]
    fn engine_and_reference_agree_by_scope(
        (model, asks) in policy_and_asks(8),
        scopes in scopes(),
    ) {
        let engine = engine(&model);
        for (ask, scope) in asks.iter().flat_map(|ask| {
            scopes.split(|byte| *byte == b' ').map(move |scope| (ask, scope))
        }) {
            let decision = engine.decide_scope(scope, token(ask, None), ask.bonus);
            prop_assert_eq!(answer(&decision), reference::decide_scope(&model, scope, ask));
            prop_assert!(decision.route().is_none());
        }
    }

    #[test]
    fn a_denial_never_charges_and_bonus_needs_consumption((model, asks) in policy_and_asks(64)) {
        let engine = engine(&model);
        for ask in &asks {
            let decision = ask_engine(&engine, ask);
            match decision.charge() {
                Some(charge) => {
                    prop_assert!(decision.is_allow());
                    prop_assert!(charge.consumes || !charge.bonus_allowed);
                    prop_assert!(ask.bonus || !charge.bonus_allowed);
                    prop_assert!(charge.consumes || charge.amount == Some(0));
                }
                // By route, it is always known.
                None => prop_assert!(!decision.is_allow()),
            }
            prop_assert_eq!(decision.is_allow(), decision.status().is_none());
            prop_assert_eq!(decision.policy(), engine.digest());
        }
    }

    #[test]
    fn the_query_changes_nothing((model, asks) in policy_and_asks(32), query in "[!-\"$-~]{0,40}") {
        let engine = engine(&model);
        for ask in asks.iter().filter(|ask| !ask.target.contains(&b'?') && ask.target.len() < 8_000) {
            let plain = ask_engine(&engine, ask);
            let mut with_query = ask.clone();
            with_query.target.push(b'?');
            with_query.target.extend(query.bytes());
            // An empty target has no path to put a query behind.
            if !ask.target.is_empty() {
                prop_assert_eq!(ask_engine(&engine, &with_query), plain);
            }
        }
    }

    #[test]
    fn queries_of_any_bytes_are_judged_as_the_reference_does(
        (model, asks) in policy_and_asks(64),
        query in vec(b'!'..=b'~', 0..200),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..2),
    ) {
        let engine = engine(&model);
        for (at, ask) in asks.iter().enumerate() {
            let mut ask = ask.clone();
            ask.target.push(b'?');
            // Another length and other bytes for each.
            ask.target.extend(query.iter().cycle().skip(at).take(query.len() * at / 64));
            for (position, byte) in &changes {
                let position = position.index(ask.target.len());
                ask.target[position] = *byte;
            }
            prop_assert_eq!(answer(&ask_engine(&engine, &ask)), reference::decide(&model, &ask), "{:?}", ask);
        }
    }

    #[test]
    fn the_kind_of_token_changes_nothing_but_on_an_api_for_users((model, asks) in policy_and_asks(64)) {
        let engine = engine(&model);
        for ask in &asks {
            let mut as_user = ask.clone();
            let mut as_organisation = ask.clone();
            let text = ask.token.clone().map(|(_, text)| text).unwrap_or_default();
            as_user.token = Some(("user", text.clone()));
            as_organisation.token = Some(("organisation", text));
            let user = ask_engine(&engine, &as_user);
            let organisation = ask_engine(&engine, &as_organisation);
            if user.scope().is_none_or(|scope| scope.organisation().is_none()) {
                prop_assert_eq!(user, organisation);
            }
        }
    }

    #[test]
    fn another_spelling_is_refused_or_reaches_the_same_scope((model, asks) in policy_and_asks(24)) {
        let engine = engine(&model);
        for ask in &asks {
            let mut ask = ask.clone();
            ask.token = Some(("user", SCOPES.join(" ").into_bytes()));
            let decision = ask_engine(&engine, &ask);
            let Some(scope) = decision.scope() else { continue };
            for target in respellings(&ask.target) {
                let mut respelt = ask.clone();
                respelt.target = target;
                let other = ask_engine(&engine, &respelt);
                if other.is_allow() {
                    prop_assert_eq!(other.scope(), Some(scope), "{:?}", respelt);
                }
            }
        }
    }

    #[test]
    fn a_set_of_another_policy_holds_nothing((one, asks) in policy_and_asks(16), other in policies()) {
        let (one_engine, other_engine) = (engine(&one), engine(&other));
        prop_assume!(one_engine.digest() != other_engine.digest());
        let set = other_engine.scopes(SCOPES.join(" "));
        for ask in &asks {
            let mut ask = ask.clone();
            ask.token = Some(("user", Vec::new()));
            let decision = one_engine.decide(&request(&ask, Some(&set)));
            prop_assert_eq!(decision, ask_engine(&one_engine, &ask));
        }
    }

    #[test]
    fn order_changes_neither_decisions_nor_digest((model, asks) in policy_and_asks(32)) {
        let mut turned = model.clone();
        turned.apis.reverse();
        for api in &mut turned.apis {
            api.scopes.reverse();
            api.scopes.iter_mut().for_each(|scope| scope.routes.reverse());
        }
        let (engine, turned) = (engine(&model), engine(&turned));
        prop_assert_eq!(engine.digest(), turned.digest());
        for ask in &asks {
            prop_assert_eq!(answer(&ask_engine(&engine, ask)), answer(&ask_engine(&turned, ask)));
            // One policy, one numbering: a set made by either engine serves both.
            let set = engine.scopes(ask.token.as_ref().map(|(_, text)| text.as_slice()).unwrap_or_default());
            prop_assert_eq!(turned.decide(&request(ask, Some(&set))), ask_engine(&engine, ask));
        }
        prop_assert!(engine.routes().map(|r| r.as_str()).eq(turned.routes().map(|r| r.as_str())));
    }

    #[test]
    fn table_and_decisions_agree(model in policies()) {
        let engine = engine(&model);
        let mut listed = 0;
        for scope in engine.scope_table() {
            for route in scope.routes() {
                listed += 1;
                let target: Vec<_> = route
                    .template()
                    .split('/')
                    .map(|segment| if is_parameter(segment) { "no-literal-is-called-so" } else { segment })
                    .collect();
                let target = target.join("/");
                let decide = |scopes: &[&str]| engine.decide(&Request {
                    method: route.method().as_bytes(),
                    target: target.as_bytes(),
                    token: Some(Token::user(&scopes.join(" "))),
                    allow_bonus_orbs_use: false,
                });
                for scopes in route.requirement().alternatives() {
                    let scopes: Vec<_> = scopes.map(|scope| scope.name()).collect();
                    prop_assert!(decide(&scopes).is_allow());
                    for lacking in 0..scopes.len() {
                        prop_assert!(!decide(&[&scopes[..lacking], &scopes[lacking + 1..]].concat()).is_allow());
                    }
                }
                let owned: Vec<_> = route.requirement().of_owner().map(|scope| scope.name()).collect();
                prop_assert_eq!(owned[0], scope.name());
                let decision = decide(&owned);
                prop_assert_eq!(decision.route_name(), Some(route.as_str()));
                prop_assert_eq!(decision.scope(), Some(scope));
                prop_assert_eq!(decision.location(), Some(route.location()));
                prop_assert!(route.methods().any(|method| method == route.method()));
            }
        }
        prop_assert_eq!(listed, engine.routes().len());
        prop_assert_eq!(listed, model.routes().len());
    }

    #[test]
    fn any_bytes_get_an_answer(
        model in policies(),
        method in vec(any::<u8>(), 0..40),
        target in vec(any::<u8>(), 0..10_000),
        scope in vec(any::<u8>(), 0..100),
        kind in "(user|organisation|[a-z]{0,9})",
    ) {
        let engine = engine(&model);
        let token = Token { kind: TokenKind::from_name(&kind), scopes: Scopes::Text(&scope) };
        for target in [target.clone(), [b"/".as_slice(), &target].concat()] {
            let request = Request { method: &method, target: &target, token: Some(token), allow_bonus_orbs_use: true };
            let _ = format!("{:?}", engine.decide(&request));
        }
        let _ = format!("{:?}", engine.decide_scope(&scope, Some(token), true));
    }
}

/// Every single change of the kinds that have fooled other authorizers, at every position where some
/// reader would undo it.
fn respellings(target: &[u8]) -> Vec<Vec<u8>> {
    let path = target.iter().position(|byte| *byte == b'?').unwrap_or(target.len());
    let splice = |at: usize, skip: usize, text: &[u8]| [&target[..at], text, &target[at + skip..]].concat();
    let mut all = vec![splice(path, 0, b"/"), splice(path, 0, b"%00"), splice(path, 0, b"/.")];
    // All positions of a usual target, some of a long one: each is as long again.
    let step = if path > 600 { 41 } else { 1 };
    for (at, byte) in target[..path].iter().enumerate().step_by(step) {
        all.push(splice(at, 0, b";p"));
        all.push(splice(at, 0, b"%00"));
        all.push(splice(at, 1, format!("%{byte:02X}").as_bytes()));
        all.push(splice(at, 1, format!("%{byte:02x}").as_bytes()));
        if byte.is_ascii_alphabetic() {
            all.push(splice(at, 1, &[byte ^ 0x20]));
        }
        if *byte == b'/' {
            all.push(splice(at, 1, b"\\"));
            for text in [b"/".as_slice(), b"./", b"x/../", b"%2e/", b"..;/"] {
                all.push(splice(at + 1, 0, text));
            }
        }
    }
    all
}
