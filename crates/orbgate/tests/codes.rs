//! Strings and numbers that every language shares, and the forms in which scopes are passed.

use orbgate::{Detail, Reason, Scopes, Token, TokenKind};

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
    ];
    let now = Reason::ALL.map(|reason| (reason.as_str(), reason.number(), reason.status()));
    assert_eq!(now, frozen);
}

#[test]
fn details_are_frozen() {
    let frozen = "method length byte fragment form backslash matrix_param path_char percent bad_escape encoded_control \
        encoded_delimiter encoded_unreserved non_ascii whitespace empty_segment dot_segment non_canonical_literal \
        ambiguous_case upgrade insufficient bonus_not_allowed temporarily_held";
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
