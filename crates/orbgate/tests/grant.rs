//! The two steps of a grant: as a table, and as brute force over decisions finds them.

use std::collections::BTreeSet;

use crate::support::policies::policies_of_single_scopes;
use crate::support::requests::asks;
use orbgate::{Engine, Grant, MissingStep, Policy, Reason, Request, Scopes, Token, TokenKind};
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn each_combination_of_steps_has_its_answer() {
    use MissingStep::{Both, NotDeclared, NotKnown, NotRequested, TokenOlder};
    let (yes, no) = (Some("read:vox write:vox"), Some("read:vox"));
    for (declared, requested, missing, carries) in [
        (yes, yes, TokenOlder, Some(true)),
        (yes, no, NotRequested, Some(false)),
        (no, yes, NotDeclared, Some(false)),
        (no, no, Both, Some(false)),
        (no, None, NotDeclared, Some(false)),
        (None, no, NotRequested, Some(false)),
        (yes, None, NotKnown, None),
        (None, yes, NotKnown, None),
        (None, None, NotKnown, None),
    ] {
        let grant = Grant { declared: declared.map(Scopes::from), requested: requested.map(Scopes::from) };
        for kind in [TokenKind::User, TokenKind::Organisation] {
            let decision = decide("read:vox", kind);
            assert_eq!(decision.reason(), Reason::ScopeMissing);
            let actual = grant.missing_step(&decision, "");
            assert_eq!(actual, Some(missing), "{declared:?}, {requested:?}");
            assert_eq!(grant.carries(decision.scope().unwrap()), carries);
            let allowed = decide("write:vox", kind);
            assert_eq!(grant.missing_step(&allowed, ""), None);
        }
        let both = declared.is_some() && requested.is_some();
        assert_eq!(grant.scopes(Engine::external()).is_some(), both);
    }
}

#[test]
fn a_kind_that_cannot_use_the_scope_is_said_before_the_steps() {
    let engine = Engine::external();
    let token = Token::organisation("read:inference");
    let decision = engine.decide_scope("read:inference", Some(token), false);
    for grant in [Grant::default(), Grant::new("", ""), Grant::new("read:inference", "read:inference")] {
        assert_eq!(grant.missing_step(&decision, ""), Some(MissingStep::TokenKind));
    }
}

#[test]
fn no_step_helps_where_the_scope_is_not_the_reason() {
    let request = |method, target, token| Request { method, target, token, allow_bonus_orbs_use: false };
    let path: &[u8] = b"/api/v1/external/vox/run";
    let unknown = Token { kind: TokenKind::Unknown, scopes: "".into() };
    for (request, reason) in [
        (request(b"POST", path, None), Reason::NoToken),
        (request(b"POST", path, Some(unknown)), Reason::InvalidToken),
        (request(b"PUT", path, Some(Token::user(""))), Reason::MethodNotDeclared),
        (request(b"POST", b"/nowhere", Some(Token::user(""))), Reason::NoRoute),
        (request(b"POST", b"//", Some(Token::user(""))), Reason::MalformedRequest),
    ] {
        let decision = Engine::external().decide(&request);
        assert_eq!(decision.reason(), reason);
        assert_eq!(Grant::new("", "").missing_step(&decision, ""), None);
    }
}

#[test]
fn steps_are_exact_bytes() {
    let decision = decide("", TokenKind::User);
    for text in ["write:voxies", "WRITE:VOX", "write:*", "read:vox,write:vox", "write:vox\tread:vox", "write"] {
        let missing = Grant::new(text, "a write:vox").missing_step(&decision, "");
        assert_eq!(missing, Some(MissingStep::NotDeclared), "{text}");
    }
    let missing = Grant::new("write:vox  write:vox ", " write:vox").missing_step(&decision, "");
    assert_eq!(missing, Some(MissingStep::TokenOlder));
}

#[test]
fn the_steps_of_several_scopes_are_those_that_the_token_lacks_of_the_owner_s_alternative() {
    use MissingStep::{Both, NotDeclared, NotKnown, NotRequested, TokenOlder};
    let policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { a: { orbs: false, and: b, or: [admin], routes: [GET /] }, \
        b: { routes: [] }, admin: { routes: [] } } } }\n";
    let engine = Engine::new(&Policy::from_yaml(policy).unwrap());
    for (held, declared, requested, missing) in [
        ("", "a b", "a b", TokenOlder),
        ("a", "a b", "a", NotRequested),
        ("a", "b", "a b", TokenOlder),
        ("b", "b", "b", Both),
        ("", "a", "b", Both),
        ("", "b", "a b", NotDeclared),
        ("", "a b", "b", NotRequested),
        ("a", "admin", "b", NotDeclared),
    ] {
        let token = Some(Token::user(held));
        let request = Request { method: b"GET", target: b"/", token, allow_bonus_orbs_use: false };
        let decision = engine.decide(&request);
        assert_eq!(decision.reason(), Reason::ScopeMissing);
        let grant = Grant::new(declared, requested);
        assert_eq!(grant.missing_step(&decision, held), Some(missing), "{held:?}, {declared}, {requested}");
    }
    let decision = engine.decide(&Request {
        method: b"GET",
        target: b"/",
        token: Some(Token::user("")),
        allow_bonus_orbs_use: false,
    });
    let unknown = Grant { declared: Some("a b".into()), requested: None };
    assert_eq!(unknown.missing_step(&decision, ""), Some(NotKnown));
}

#[test]
fn no_step_gives_a_scope_that_must_be_earned() {
    use MissingStep::{NotEarned, NotKnown, NotRequested, TokenOlder};
    let policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { 'earned:admin': { orbs: false, routes: [GET /] }, \
        write: { orbs: false, and: 'earned:admin', routes: [PUT /] } } } }\n";
    let engine = Engine::new(&Policy::from_yaml(policy).unwrap());
    let all = "write earned:admin";
    for (method, held, grant, missing) in [
        ("GET", "", Grant::new(all, all), NotEarned),
        ("GET", "", Grant::default(), NotEarned),
        ("PUT", "write", Grant::new(all, all), NotEarned),
        ("PUT", "", Grant::new(all, "earned:admin"), NotRequested),
        ("PUT", "", Grant::new(all, all), TokenOlder),
        ("PUT", "", Grant::default(), NotKnown),
        ("PUT", "earned:admin", Grant::new(all, ""), NotRequested),
    ] {
        let token = Some(Token::user(held));
        let method = method.as_bytes();
        let decision = engine.decide(&Request { method, target: b"/", token, allow_bonus_orbs_use: false });
        assert_eq!(grant.missing_step(&decision, held), Some(missing), "{method:?} {held:?} {grant:?}");
    }
    let by_scope = engine.decide_scope("earned:admin", Some(Token::user("")), false);
    assert_eq!(Grant::new(all, all).missing_step(&by_scope, ""), Some(NotEarned));
    assert_eq!(Grant::new(all, all).carries(by_scope.scope().unwrap()), None);
    assert_eq!(Grant::new(all, all).scopes(&engine), Some(engine.scopes("write")));
}

#[test]
fn the_strings_are_frozen() {
    let strings = MissingStep::ALL.map(MissingStep::as_str);
    let frozen = ["not_declared", "not_requested", "both", "token_older", "token_kind", "not_known", "not_earned"];
    assert_eq!(strings, frozen);
    assert_eq!(MissingStep::ALL.map(|step| step.to_string()), frozen);
}

#[test]
fn each_step_has_a_sentence_of_its_own() {
    let sentences = BTreeSet::from(MissingStep::ALL.map(MissingStep::explanation));
    assert_eq!(sentences.len(), MissingStep::ALL.len());
    assert!(sentences.iter().all(|sentence| sentence.starts_with("the scope ")));
}

fn decide(scopes: &str, kind: TokenKind) -> orbgate::Decision<'_> {
    Engine::external().decide(&Request {
        method: b"POST",
        target: b"/api/v1/external/vox/run",
        token: Some(Token { kind, scopes: scopes.into() }),
        allow_bonus_orbs_use: false,
    })
}

/// Some of the policy's scopes and of others, as text.
fn texts() -> impl Strategy<Value = Vec<String>> {
    const NAMES: &[&str] = &["read:x", "write:x", "READ:x", "read:x2", "read", "x", "read:*", "openid"];
    let text = proptest::sample::subsequence(NAMES, 0..=8).prop_map(|names| names.join(" "));
    vec(text, 3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Which change of the world would have let the call through? Tried out, one after the other.
    #[test]
    fn brute_force_over_decisions_agrees(
        (model, asks) in policies_of_single_scopes().prop_flat_map(|model| { let asks = vec(asks(&model), 8); (Just(model), asks) }),
        texts in texts(),
        kind in prop_oneof![Just(TokenKind::User), Just(TokenKind::Organisation)],
    ) {
        let engine = Engine::new(&Policy::from_yaml(&model.to_yaml()).unwrap());
        let [carried, declared, requested] = &texts[..] else { panic!("three texts") };
        let every: Vec<_> = engine.scope_table().map(|scope| scope.name()).collect();
        let every = every.join(" ");
        for ask in asks {
            let decide = |kind, scopes: &str| {
                let token = Some(Token { kind, scopes: scopes.into() });
                engine.decide(&Request { method: &ask.method, target: &ask.target, token, allow_bonus_orbs_use: false })
            };
            let lets = |kind, declared: &str, requested: &str| decide(kind, &both(declared, requested)).is_allow();
            let decision = decide(kind, carried);
            let expected = if decision.is_allow() {
                None
            } else if lets(kind, declared, requested) {
                Some(MissingStep::TokenOlder)
            } else if lets(kind, &every, requested) {
                Some(MissingStep::NotDeclared)
            } else if lets(kind, declared, &every) {
                Some(MissingStep::NotRequested)
            } else if lets(kind, &every, &every) {
                Some(MissingStep::Both)
            } else if lets(TokenKind::User, &every, &every) {
                Some(MissingStep::TokenKind)
            } else {
                None
            };
            let grant = Grant::new(declared, requested);
            prop_assert_eq!(grant.missing_step(&decision, carried), expected, "{:?}", decision);

            // What the grant says that a token will carry decides as the token would.
            let scopes = grant.scopes(&engine).unwrap();
            let issued = engine.decide(&Request {
                method: &ask.method,
                target: &ask.target,
                token: Some(Token { kind, scopes: (&scopes).into() }),
                allow_bonus_orbs_use: false,
            });
            prop_assert_eq!(issued.is_allow(), lets(kind, declared, requested));
        }
    }
}

/// What a provider issues: what is in both texts.
fn both(declared: &str, requested: &str) -> String {
    let declared: BTreeSet<_> = declared.split(' ').collect();
    let both = requested.split(' ').filter(|scope| declared.contains(scope));
    both.collect::<Vec<_>>().join(" ")
}
