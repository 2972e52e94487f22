//! Any two small policies: `diff` says that the new one widens if and only if some call says so.
#![no_main]

use core::fmt::Write as _;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use orbgate::{Decision, Engine, Policy, Request, Scopes, Token, TokenKind};
use orbgate_analysis::diff;

const WORDS: [&str; 4] = ["a", "A", "x:y", "{}"];
const SCOPES: [&str; 3] = ["r", "w", "z"];
const METHODS: [&str; 2] = ["GET", "PUT"];
/// What a segment of a request may be: each literal, with each of its letter cases and escapes, and two that are no literals, one
/// of them with an escape.
const VALUES: [&str; 10] = ["a", "A", "x:y", "X:y", "x:Y", "X:Y", "x%3Ay", "X%3Ay", "q", "q%20q"];

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
    /// Method, path, and the scope with what else the route needs.
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
                let rule = if without { "allow_without_scope" } else { "deny" };
                write!(text, "    token: user\n    organisation: {rule}\n").ok()?;
            }
            text.push_str("    scopes:\n");
            for scope in scopes {
                let orbs = self.orbs[scope].map_or("false", |stated| if stated { "2" } else { "true" });
                let scope_name = SCOPES[scope];
                write!(text, "      {scope_name}:\n        orbs: {orbs}\n        routes:").ok()?;
                let routes = self.routes.iter().take(6);
                let mut routes = routes.filter(|(.., of)| usize::from(*of) % 3 == scope).peekable();
                // In plain block style, which is read fastest.
                text.push_str(if routes.peek().is_some() { "\n" } else { " []\n" });
                for (method, path, of) in routes {
                    let route = format!("{} {}", METHODS[usize::from(*method) % 2], template(*path));
                    let [next, last] = [1, 2].map(|step| SCOPES[(scope + step) % 3]);
                    match of / 3 % 6 {
                        0 => writeln!(text, "          - {{ route: '{route}', or: [{next}] }}").ok()?,
                        1 => writeln!(text, "          - {{ route: '{route}', and: {last} }}").ok()?,
                        2 => writeln!(text, "          - {{ route: '{route}', or: [{next} {last}] }}").ok()?,
                        _ => writeln!(text, "          - {route}").ok()?,
                    }
                }
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
    assert_eq!(diff.widens(), widens(&old, &new), "{input:?}: {:?}", diff.changes);
});

/// Tries every call of every caller.
fn widens(old: &Engine, new: &Engine) -> bool {
    let callers = callers();
    let is_wider_for = |decide: &dyn Fn(&Engine, Token<'_>) -> Decided| {
        callers.iter().any(|(kind, scopes)| {
            let token = Token { kind: *kind, scopes: scopes.as_bytes().into() };
            is_wider(decide(old, token), decide(new, token))
        })
    };
    let by_scope = SCOPES
        .iter()
        .any(|scope| is_wider_for(&|engine, token| decided(&engine.decide_scope(scope, Some(token), true))));
    // Calls that are decided by the same routes are decided alike: one of them is put to every caller.
    let mut seen = Vec::new();
    by_scope
        || calls().any(|(method, target)| {
            let call = (method, target.as_str());
            let routes = [old, new].map(|engine| {
                let decision = engine.decide(&request(call, ALL));
                (decision.reason(), decision.route_name())
            });
            if seen.contains(&routes) {
                return false;
            }
            seen.push(routes);
            is_wider_for(&|engine, token| decided(&engine.decide(&request(call, token))))
        })
}

fn request<'r>((method, target): (&'r str, &'r str), token: Token<'r>) -> Request<'r> {
    Request { method: method.as_bytes(), target: target.as_bytes(), token: Some(token), allow_bonus_orbs_use: true }
}

/// A user who holds every scope.
const ALL: Token<'static> = Token { kind: TokenKind::User, scopes: Scopes::Text(b"r w z") };

/// Each kind of token with each set of scopes.
fn callers() -> Vec<(TokenKind, String)> {
    let kinds = [TokenKind::User, TokenKind::Organisation].into_iter();
    let of_kind = |kind| {
        (0..8_u8).map(move |bits| {
            let scopes = SCOPES.iter().enumerate();
            let held = scopes.filter(|(at, _)| bits >> at & 1 == 1);
            let held: Vec<_> = held.map(|(_, scope)| *scope).collect();
            (kind, held.join(" "))
        })
    };
    kinds.flat_map(of_kind).collect()
}

/// Each method with each target of at most two segments.
fn calls() -> impl Iterator<Item = (&'static str, String)> {
    let one = VALUES.iter().map(|one| format!("/{one}"));
    let two = VALUES.iter().flat_map(|one| VALUES.iter().map(move |two| format!("/{one}/{two}")));
    let targets = core::iter::once("/".to_owned()).chain(one).chain(two);
    targets.flat_map(|target| METHODS.map(|method| (method, target.clone())))
}

/// What an engine said: nothing where it denies; otherwise what the call consumes, where that is stated.
type Decided = Option<Option<u64>>;

/// Whether the call is newly allowed, or may consume less than before.
fn is_wider(old: Decided, new: Decided) -> bool {
    let (Some(old), Some(new)) = (old, new) else {
        return new.is_some();
    };
    // Where one of the amounts is not stated, it may be less.
    match (old, new) {
        (Some(old), Some(new)) => new < old,
        (None, None) | (Some(0), None) => false,
        _ => true,
    }
}

fn decided(decision: &Decision<'_>) -> Decided {
    decision.is_allow().then(|| decision.charge().and_then(|charge| charge.amount))
}
