//! Any text of scopes: as text, as a set and split by hand it holds the same, and asking by scope says so.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orbgate::{Engine, Scopes, Token, TokenKind};

fuzz_target!(|text: &[u8]| {
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
