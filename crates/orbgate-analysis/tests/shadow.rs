//! What a candidate for a policy says, and how the two disagree.

use crate::support::engine::{answer, engine, request};
use crate::support::model::Model;
use crate::support::policies::policies;
use crate::support::reference::{Answer, Ask};
use crate::support::requests::asks;
use orbgate_analysis::{Disagreement, Verdict, diff, shadow};
use proptest::collection::vec;
use proptest::prelude::*;

/// A policy and requests that nearly fit it.
fn policy_and_asks() -> impl Strategy<Value = (Model, Vec<Ask>)> {
    policies().prop_flat_map(|model| {
        let asks = vec(asks(&model), 32);
        (Just(model), asks)
    })
}

/// How two answers differ, field by field.
fn expected(enforced: &Answer, candidate: &Answer) -> Option<Disagreement> {
    let allows = |answer: &Answer| ["scope_held", "scope_not_applicable"].contains(&answer.reason);
    match (allows(enforced), allows(candidate)) {
        (false, true) => Some(Disagreement::Wider),
        (true, false) => Some(Disagreement::Narrower),
        _ if enforced.orbs != candidate.orbs => Some(Disagreement::Cost),
        _ => (named(enforced) != named(candidate)).then_some(Disagreement::Reason),
    }
}

/// What an answer says, and the alternatives of the route.
type Named<'a> = ([Option<&'a str>; 5], Option<&'a [Vec<String>]>);

fn named(answer: &Answer) -> Named<'_> {
    let Answer { reason, detail, api, route, scope, scopes, .. } = answer;
    ([Some(*reason), *detail, api.as_deref(), route.as_deref(), scope.as_deref()], scopes.as_deref())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn policies_disagree_where_their_answers_differ(
        (old, asks) in policy_and_asks(),
        new in policies(),
    ) {
        let (old, new) = (engine(&old), engine(&new));
        let is_equivalent = diff(&old, &new).verdict() == Some(Verdict::Equivalent);
        for ask in &asks {
            let both = shadow(&old, &new, &request(ask, None));
            prop_assert_eq!(answer(&both.enforced), answer(&old.decide(&request(ask, None))));
            let (enforced, candidate) = (answer(&both.enforced), answer(&both.candidate));
            let disagreement = both.disagreement();
            prop_assert_eq!(disagreement, expected(&enforced, &candidate));
            prop_assert!(!is_equivalent || matches!(disagreement, None | Some(Disagreement::Reason)));
            prop_assert!(shadow(&old, &old, &request(ask, None)).disagreement().is_none());
        }
    }
}

#[test]
fn every_disagreement_can_be_seen() {
    let policy = |orbs: &str, organisation: &str| {
        let yaml = format!(
            "orbgate: 1\napis: {{ a: {{ base_path: '', token: user, organisation: {organisation}, \
             scopes: {{ read: {{ orbs: {orbs}, routes: [GET /a] }} }} }} }}"
        );
        orbgate::Engine::new(&orbgate::Policy::from_yaml(&yaml).unwrap())
    };
    let (five, six) = (policy("5", "deny"), policy("6", "deny"));
    let open = policy("5", "allow_without_scope");
    let ask = |token| orbgate::Request { method: b"GET", target: b"/a", token, allow_bonus_orbs_use: false };
    let user = ask(Some(orbgate::Token::user("read")));
    let organisation = ask(Some(orbgate::Token::organisation("read")));
    let results = [
        shadow(&five, &open, &organisation),
        shadow(&open, &five, &organisation),
        shadow(&five, &six, &user),
        shadow(&five, &five, &user),
    ]
    .map(|both| both.disagreement().map(Disagreement::as_str));
    assert_eq!(results, [Some("wider"), Some("narrower"), Some("cost"), None]);
    let lacking = ask(Some(orbgate::Token::user("")));
    let other = another_scope();
    let both = shadow(&five, &other, &lacking);
    assert_eq!(both.disagreement(), Some(Disagreement::Reason));
    // Of two requirements with the same owner, only the alternatives differ.
    let or = |or: &str| {
        let yaml = format!(
            "orbgate: 1\napis: {{ a: {{ base_path: '', scopes: {{ read: {{ orbs: 5, or: [{or}], routes: [GET /a] }}, \
             admin: {{ routes: [] }}, root: {{ routes: [] }} }} }} }}"
        );
        orbgate::Engine::new(&orbgate::Policy::from_yaml(&yaml).unwrap())
    };
    for other in ["admin root", "root", "admin, root"] {
        let (one, other) = (or("admin"), or(other));
        for request in [ask(Some(orbgate::Token::user("read"))), lacking] {
            assert_eq!(shadow(&one, &other, &request).disagreement(), Some(Disagreement::Reason));
            assert_eq!(shadow(&one, &one, &request).disagreement(), None);
        }
    }
}

fn another_scope() -> orbgate::Engine {
    let yaml = "orbgate: 1\napis: { a: { base_path: '', scopes: { other: { orbs: 5, routes: [GET /a] } } } }";
    orbgate::Engine::new(&orbgate::Policy::from_yaml(yaml).unwrap())
}
