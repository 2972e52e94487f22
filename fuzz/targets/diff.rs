//! Any two small policies: `diff` says that the new one widens if and only if some call says so.
#![no_main]

use core::fmt::Write as _;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use orbgate::{Decision, Engine, Policy, Request, Token, TokenKind};
use orbgate_analysis::diff;

const WORDS: [&str; 4] = ["a", "A", "x:y", "{}"];
const SCOPES: [&str; 3] = ["r", "w", "z"];
const METHODS: [&str; 2] = ["GET", "PUT"];
/// What a segment of a request may be: each literal, with each of its letter cases and escapes, and one that is no literal.
const VALUES: [&str; 9] = ["a", "A", "x:y", "X:y", "x:Y", "X:Y", "x%3Ay", "X%3Ay", "q"];

#[derive(Arbitrary, Debug)]
struct Input {
    old: Table,
    new: Table,
}

#[derive(Arbitrary, Debug)]
struct Table {
    encoded_params: bool,
    /// Whether `z` is for users alone, and whether organisations go without it.
    users: Option<bool>,
    orbs: [Option<bool>; 3],
    routes: Vec<(u8, u8, u8)>,
}

impl Table {
    /// The policy; none where the routes cannot be in one policy.
    fn engine(&self) -> Option<Engine> {
        let mut text = String::from("orbgate: 1\n");
        if self.encoded_params {
            text.push_str("target: encoded_params\n");
        }
        text.push_str("apis:\n");
        for (api, scopes) in [("one", 0..2), ("two", 2..3)] {
            write!(text, "  {api}:\n    base_path: ''\n").ok()?;
            if let (Some(without), "two") = (self.users, api) {
                let rule = if without {
                    "allow_without_scope"
                } else {
                    "deny"
                };
                write!(text, "    token: user\n    organisation: {rule}\n").ok()?;
            }
            text.push_str("    scopes:\n");
            for scope in scopes {
                let orbs =
                    self.orbs[scope].map_or("false", |stated| if stated { "2" } else { "true" });
                write!(
                    text,
                    "      {}:\n        orbs: {orbs}\n        routes:\n          [",
                    SCOPES[scope]
                )
                .ok()?;
                for (method, path, of) in self.routes.iter().take(6) {
                    if usize::from(*of) % 3 == scope {
                        write!(
                            text,
                            "'{} {}', ",
                            METHODS[usize::from(*method) % 2],
                            template(*path)
                        )
                        .ok()?;
                    }
                }
                text.push_str("]\n");
            }
        }
        Some(Engine::new(&Policy::from_yaml(&text).ok()?))
    }
}

/// `/`, or one or two segments.
fn template(path: u8) -> String {
    let segment = |at: u8, number: u8| match WORDS[usize::from(number) % WORDS.len()] {
        "{}" => format!("/{{p{at}}}"),
        word => format!("/{word}"),
    };
    match path % 3 {
        0 => "/".to_owned(),
        1 => segment(0, path / 3),
        _ => segment(0, path / 3) + &segment(1, path / 12),
    }
}

fuzz_target!(|input: Input| {
    let (Some(old), Some(new)) = (input.old.engine(), input.new.engine()) else {
        return;
    };
    let diff = diff(&old, &new);
    assert!(diff.complete);
    assert_eq!(
        diff.widens(),
        widens(&old, &new),
        "{input:?}: {:?}",
        diff.changes
    );
});

/// Tries every call of every caller.
fn widens(old: &Engine, new: &Engine) -> bool {
    let mut targets = vec!["/".to_owned()];
    targets.extend(VALUES.iter().map(|one| format!("/{one}")));
    targets.extend(
        VALUES
            .iter()
            .flat_map(|one| VALUES.iter().map(move |two| format!("/{one}/{two}"))),
    );
    let callers = [TokenKind::User, TokenKind::Organisation]
        .into_iter()
        .flat_map(|kind| {
            (0..8_u8).map(move |bits| {
                let held = SCOPES
                    .iter()
                    .enumerate()
                    .filter(move |(at, _)| bits >> at & 1 == 1);
                (
                    kind,
                    held.map(|(_, scope)| *scope).collect::<Vec<_>>().join(" "),
                )
            })
        });
    let callers: Vec<_> = callers.collect();
    callers.iter().any(|(kind, scopes)| {
        let token = Some(Token {
            kind: *kind,
            scopes: scopes.as_bytes().into(),
        });
        let by_route = targets.iter().any(|target| {
            METHODS.iter().any(|method| {
                let request = Request {
                    method: method.as_bytes(),
                    target: target.as_bytes(),
                    token,
                    allow_bonus_orbs_use: true,
                };
                is_wider(&old.decide(&request), &new.decide(&request))
            })
        });
        let by_scope = || {
            SCOPES.iter().any(|scope| {
                is_wider(
                    &old.decide_scope(scope, token, true),
                    &new.decide_scope(scope, token, true),
                )
            })
        };
        by_route || by_scope()
    })
}

/// Whether the call is newly allowed, or may consume less than before.
fn is_wider(old: &Decision<'_>, new: &Decision<'_>) -> bool {
    if !new.is_allow() {
        return false;
    }
    if !old.is_allow() {
        return true;
    }
    // Where one of the amounts is not stated, it may be less.
    match (amount(old), amount(new)) {
        (Some(old), Some(new)) => new < old,
        (None, None) => false,
        (Some(0), None) => false,
        _ => true,
    }
}

/// What an allowed call consumes; `None` where it is not stated.
fn amount(decision: &Decision<'_>) -> Option<u64> {
    decision.charge().and_then(|charge| charge.amount)
}
