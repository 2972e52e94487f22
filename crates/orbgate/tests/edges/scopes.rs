//! Scopes: as text at every position, and as sets of any size.

use core::fmt::Write as _;

use orbgate::{Engine, Policy, Request, Token};

/// A policy with these scopes, each with one route: `/0`, `/1` and so on.
fn policy(scopes: &[String]) -> Engine {
    let mut yaml = "orbgate: 1\napis:\n  a:\n    base_path: \"\"\n    scopes:\n".to_owned();
    for (at, scope) in scopes.iter().enumerate() {
        writeln!(yaml, "      \"{scope}\": {{ orbs: false, routes: [\"GET /{at}\"] }}").unwrap();
    }
    Engine::new(&Policy::from_yaml(&yaml).unwrap())
}

fn is_allowed(engine: &Engine, at: usize, token: Token<'_>) -> bool {
    let target = format!("/{at}");
    let decision = engine.decide(&Request {
        method: b"GET",
        target: target.as_bytes(),
        token: Some(token),
        allow_bonus_orbs_use: false,
    });
    decision.is_allow()
}

/// A scope is held where it stands between spaces, and nowhere else.
#[test]
fn a_scope_at_every_position_of_a_text() {
    let lengths = [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200];
    let mut scopes: Vec<_> = lengths.iter().map(|length| "read:".chars().cycle().take(*length).collect()).collect();
    scopes.extend(["read/", "read/x", "/", "//", "read:*", "https://a.example/auth/read"].map(str::to_owned));
    let engine = policy(&scopes);
    for (at, scope) in scopes.iter().enumerate() {
        for filler in ["x", " ", "read:y "] {
            for offset in 0..200 {
                let filler: String = filler.chars().cycle().take(offset).collect();
                for before in ["", " ", "x", "/", "\t"] {
                    for after in ["", " ", "x", "/", " read:y", "\0"] {
                        let text = format!("{filler}{before}{scope}{after}");
                        let right = text.split(' ').any(|piece| piece == scope);
                        let actual = is_allowed(&engine, at, Token::user(&text));
                        assert_eq!(actual, right, "{scope:?} of {text:?}");
                        if offset % 16 == 0 {
                            let set = engine.scopes(&text);
                            assert_eq!(is_allowed(&engine, at, Token::user(&set)), right, "{scope:?} of {text:?}");
                        }
                    }
                }
            }
        }
    }
}

/// Any byte of a scope changed, at any position: it is another one.
#[test]
fn a_scope_with_one_other_byte() {
    let lengths = [1, 8, 9, 16, 17, 32, 33, 64, 65, 130];
    let scopes: Vec<String> = lengths.iter().map(|length| "read:".chars().cycle().take(*length).collect()).collect();
    let engine = policy(&scopes);
    for (at, scope) in scopes.iter().enumerate() {
        for offset in [0, 1, 40, 63, 64, 65] {
            for position in 0..scope.len() {
                for byte in
                    [b'R', b'x', b'/', 0, 0x80, scope.as_bytes()[position] ^ 0x20, scope.as_bytes()[position] | 0x80]
                {
                    let mut text = " ".repeat(offset).into_bytes();
                    text.extend(scope.bytes());
                    text[offset + position] = byte;
                    let right = text.split(|byte| *byte == b' ').any(|piece| piece == scope.as_bytes());
                    assert_eq!(is_allowed(&engine, at, Token::user(&text)), right, "{text:?}");
                    assert_eq!(is_allowed(&engine, at, Token::user(&engine.scopes(&text))), right, "{text:?}");
                }
            }
        }
    }
}

/// A set of one scope holds that scope alone, however many there are.
#[test]
fn a_set_of_a_policy_of_any_number_of_scopes() {
    for count in [1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193, 257] {
        let scopes: Vec<_> = (0..count).map(|number| format!("scope:{number}")).collect();
        let engine = policy(&scopes);
        let every = engine.scope_set(&scopes);
        let none = engine.scopes("");
        for (at, scope) in scopes.iter().enumerate() {
            let set = engine.scopes(scope);
            for other in [0, 1, 62, 63, 64, 126, 127, 128, 129, 191, 192, 256, at] {
                if other < count {
                    assert_eq!(is_allowed(&engine, other, Token::user(&set)), other == at);
                }
            }
            assert!(is_allowed(&engine, at, Token::user(&every)));
            assert!(!is_allowed(&engine, at, Token::user(&none)));
            let others = engine.scope_set(scopes.iter().filter(|other| *other != scope));
            assert!(!is_allowed(&engine, at, Token::user(&others)));
        }
    }
}
