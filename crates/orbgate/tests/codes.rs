//! Strings and numbers that every language shares, and the forms in which scopes are passed.

use orbgate::{Detail, Engine, Reason, Request, Scopes, Token, TokenKind};

/// Strings, numbers and statuses are a contract with every language: this list can only grow.
#[test]
fn reasons_are_frozen() {
    let frozen = [
        ("malformed_request", 1, Some(400)),
        ("no_token", 2, Some(401)),
        ("invalid_token", 3, Some(401)),
        ("no_route", 4, Some(404)),
        ("method_not_declared", 5, Some(405)),
        ("user_token_required", 6, Some(403)),
        ("scope_not_applicable", 7, None),
        ("scope_missing", 8, Some(403)),
        ("scope_held", 9, None),
        ("public_route", 10, None),
        ("insufficient_orbs", 11, Some(402)),
        ("ledger_unavailable", 12, Some(503)),
        ("insufficient_user_authentication", 13, Some(401)),
    ];
    let now = Reason::ALL.map(|reason| (reason.as_str(), reason.number(), reason.status()));
    assert_eq!(now, frozen);
}

/// A gate says more exactly which scopes are missing than the engine that it asks.
#[test]
fn a_gates_denial_for_missing_scopes_is_an_engines() {
    let engine = Engine::external();
    let decide = |scopes| {
        let token = Some(Token::user(scopes));
        engine.decide(&Request { method: b"GET", target: b"/api/v1/external/orbs", token, allow_bonus_orbs_use: false })
    };
    let missing = decide("read:account");
    let login = missing.denying_login();
    assert_eq!((login.reason().as_str(), login.status()), ("insufficient_user_authentication", Some(401)));
    assert_eq!(
        (login.reason().of_engine(), login.route(), login.scope()),
        (missing.reason(), missing.route(), missing.scope())
    );
    assert_eq!(decide("read:orbs").denying_login(), decide("read:orbs"));
    let refused = Some(Token { kind: TokenKind::Unknown, scopes: "".into() });
    let target = b"/api/v1/external/orbs";
    let refused = engine.decide(&Request { method: b"GET", target, token: refused, allow_bonus_orbs_use: false });
    let unproved = refused.denying_unproved();
    assert_eq!((unproved.reason(), unproved.detail()), (refused.reason(), Some(Detail::Proof)));
    assert_eq!(missing.denying_unproved(), missing);
    for reason in Reason::ALL.into_iter().filter(|reason| reason.is_of_engines()) {
        assert_eq!(reason.of_engine(), reason);
    }
}

#[test]
fn details_are_frozen() {
    let frozen = "method length byte fragment form backslash matrix_param path_char percent bad_escape encoded_control \
        encoded_delimiter encoded_unreserved non_ascii whitespace empty_segment dot_segment non_canonical_literal \
        ambiguous_case upgrade insufficient bonus_not_allowed temporarily_held frozen proof";
    assert_eq!(Detail::ALL.map(Detail::as_str).join(" "), frozen);
    let mut numbered = Detail::ALL.iter().zip(1..);
    assert!(numbered.all(|(detail, number)| detail.number() == number));
}

#[test]
fn the_names_of_kinds_are_frozen() {
    let kinds = TokenKind::ALL.map(|kind| (kind.number(), kind.as_str()));
    assert_eq!(kinds, [(0, "unknown"), (1, "user"), (2, "organisation")]);
    for kind in TokenKind::ALL {
        assert_eq!(TokenKind::from_name(kind.as_str()), kind);
    }
    assert_eq!(TokenKind::from_name("User"), TokenKind::Unknown);
}

#[test]
fn scopes_are_taken_as_every_kind_of_text() {
    let text = "read:account write:voxies";
    let token = Token::user(text);
    assert_eq!(Token::user(&text.to_owned()), token);
    assert_eq!(Token::user(text.as_bytes()), token);
    assert_eq!(Token::user(&text.as_bytes().to_vec()), token);
    assert_eq!(Token::user(b"read:account write:voxies"), token);
    let scopes = Scopes::Text(text.as_bytes());
    assert_eq!(Token::organisation(&text.to_owned()).scopes, scopes);
}
