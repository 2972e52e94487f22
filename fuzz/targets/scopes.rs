//! Any text of scopes: as text, as a set and split by hand it holds the same scopes, and meets the same requirements.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

use orbgate::{Engine, Policy, Scopes, Token, TokenKind};

fuzz_target!(|text: &[u8]| {
    meets(text);
    let engine = Engine::external();
    let set = engine.scopes(text);
    let elements: Vec<&[u8]> = text.split(|byte| *byte == b' ').collect();
    for scope in engine.scope_table() {
        let name = scope.name().as_bytes();
        let held = elements.contains(&name);
        for scopes in [Scopes::Text(text), Scopes::Set(&set)] {
            let decision = engine.decide_scope(name, Some(Token { kind: TokenKind::User, scopes }), false);
            assert_eq!(decision.is_allow(), held, "{}", scope.name());
        }
    }
});

static REQUIREMENTS: LazyLock<Engine> = LazyLock::new(|| {
    let policy = Policy::from_yaml(include_str!("../../policy/cases/policies/requirements.yaml"));
    Engine::new(&policy.expect("a policy of the cases"))
});

/// A user's token is allowed if and only if it has an alternative whole.
fn meets(text: &[u8]) {
    let set = REQUIREMENTS.scopes(text);
    let elements: Vec<&[u8]> = text.split(|byte| *byte == b' ').collect();
    for route in REQUIREMENTS.routes() {
        let mut alternatives = route.requirement().alternatives();
        let held = alternatives.any(|mut scopes| scopes.all(|scope| elements.contains(&scope.name().as_bytes())));
        for scopes in [Scopes::Text(text), Scopes::Set(&set)] {
            let token = Token { kind: TokenKind::User, scopes };
            let decision = REQUIREMENTS.decide_route(route.id(), Some(token), false);
            assert_eq!(decision.is_allow(), held, "{}", route.as_str());
        }
    }
}
