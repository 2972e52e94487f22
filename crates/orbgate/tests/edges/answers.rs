//! Answers: what makes two of them equal, methods that are nearly declared, and batches of any size.

use std::sync::LazyLock;

use orbgate::{Decision, Engine, Policy, Request, Token};
use proptest::collection::vec;
use proptest::prelude::*;

use super::Table;
use crate::support::engine::{answer, ask_batch, ask_engine, engine};
use crate::support::model::{Api, Model, Orbs, Route, Scope};
use crate::support::reference::{self, Answer, Ask};
use crate::support::strategies::METHODS;

const POLICY: &str = "
orbgate: 1
apis:
  a:
    base_path: ''
    scopes:
      free: { orbs: false, routes: [GET /free, GET /free2] }
      paid: { orbs: true, routes: [GET /paid, 'GET /paid/{id}'] }
      five: { orbs: true, routes: [{ route: GET /five, orbs: 5 }, { route: GET /six, orbs: 6 }] }
      none: { routes: [] }
  users:
    token: user
    organisation: allow_without_scope
    base_path: /users
    scopes:
      user: { orbs: false, routes: [GET /a] }
";

/// Two answers are equal if nothing that a caller can read of them differs.
#[test]
fn answers_that_differ_in_one_thing_are_not_equal() {
    let engine = Engine::new(&Policy::from_yaml(POLICY).unwrap());
    let ask = |method: &str, target: &str, token, bonus| {
        engine.decide(&Request {
            method: method.as_bytes(),
            target: target.as_bytes(),
            token,
            allow_bonus_orbs_use: bonus,
        })
    };
    let user = Some(Token::user("free paid five none user"));
    let organisation = Some(Token::organisation("free paid five none user"));
    let get = |target| ask("GET", target, user, false);
    let different = |one: Decision<'_>, other: Decision<'_>, what: &str| {
        assert_ne!(one, other, "{what}");
        assert_eq!(one, { one });
    };
    different(get("/paid"), ask("GET", "/paid", user, true), "bonus allowed");
    different(get("/five"), get("/six"), "amount and route");
    different(get("/free"), get("/free2"), "route");
    different(get("/free"), ask("GET", "/free", None, false), "allow and deny");
    different(get("/free"), engine.decide_scope("free", user, false), "route or none");
    different(engine.decide_scope("free", user, false), engine.decide_scope("none", user, false), "scope and charge");
    different(engine.decide_scope("paid", user, false), engine.decide_scope("paid", user, true), "bonus, by scope");
    different(engine.decide_scope("paid", None, false), engine.decide_scope("other", user, false), "reason");
    different(get("/users/a"), ask("GET", "/users/a", organisation, false), "reason of an allow");
    different(get("//"), get("/."), "detail");
    different(get("//"), get(""), "detail");
    different(get("//"), get("/nowhere"), "detail or none");
    different(ask("PUT", "/free", user, false), ask("PUT", "/paid", user, false), "template of a 405");
    let poor = Some(Token::user(""));
    different(ask("GET", "/free", poor, false), ask("GET", "/paid", poor, false), "scope of a denial");
    different(ask("GET", "/free", poor, false), ask("GET", "/free2", poor, false), "route of a denial");
    // What is not part of the answer makes no difference.
    assert_eq!(get("/free"), ask("GET", "/free?q", user, true));
    assert_eq!(get("/paid/1"), get("/paid/2"));
    assert_eq!(ask("GET", "/paid", poor, false), ask("GET", "/paid", poor, true));
    assert_eq!(get("//"), get("/a//"));
}

/// Methods that differ in a letter or in length from declared ones.
#[test]
fn methods_that_are_nearly_declared() {
    let mut methods: Vec<_> = METHODS.iter().map(|method| (*method).to_owned()).collect();
    methods.extend((1..=16).map(|length| "Z".repeat(length)));
    methods.extend(["AAB", "ABA", "BAA", "AAAAAAAB", "AAAABAAA", "AAAAAAAAB", "GETGET", "GEGE"].map(str::to_owned));
    for count in [1, 2, 7, 8, 9, 14, 15, 16, 17, 20, methods.len()] {
        let route = |method: &String| Route {
            method: method.clone(),
            segments: vec!["a".to_owned()],
            orbs: Orbs::Absent,
            keys: None,
        };
        let scope =
            |(at, method)| Scope { name: format!("s{at}"), orbs: Orbs::No, keys: None, routes: vec![route(method)] };
        let mut scopes: Vec<_> = methods.iter().take(count).enumerate().map(scope).collect();
        // The last one is the most frequent, whatever stands before it in the alphabet.
        scopes.push(Scope {
            name: "more".to_owned(),
            orbs: Orbs::No,
            keys: None,
            routes: ["b", "c"]
                .map(|segment| Route { segments: vec![segment.to_owned()], ..route(&methods[count - 1]) })
                .to_vec(),
        });
        let model = Model {
            encoded_params: false,
            trailing_slash: false,
            apis: vec![Api {
                name: "a".to_owned(),
                base_path: String::new(),
                organisation: None,
                scopes,
                closed: Vec::new(),
            }],
        };
        let engine = engine(&model);
        let names = (0..count).map(|at| format!("s{at}")).collect::<Vec<_>>().join(" ");
        let check = |method: &[u8]| {
            let ask = Ask {
                method: method.to_vec(),
                target: b"/a".to_vec(),
                token: Some(("user", names.clone().into_bytes())),
                bonus: false,
            };
            assert_eq!(answer(&ask_engine(&engine, &ask)), reference::decide(&model, &ask), "{ask:?}");
        };
        check(b"");
        for method in &methods {
            check(method.as_bytes());
            for at in 0..method.len() {
                let mut other = method.clone().into_bytes();
                for byte in [b'A', b'Z', b'@', b'[', b'a', b'z', 0, 0x80, b' ', other[at] ^ 1, other[at] | 0x20] {
                    other[at] = byte;
                    check(&other);
                }
                check(&method.as_bytes()[..at]);
                check(&method.as_bytes()[at..]);
                check(&[method.as_bytes(), &method.as_bytes()[at..]].concat());
            }
        }
    }
}

/// Rows of every kind in turn, in batches of any size: no row's answer depends on its neighbours.
#[test]
fn a_batch_of_every_size() {
    let table = Table::new(
        "/v1",
        ["/a", "/{a}", "/a/{b}", "/{a}/b", "/a/b/c/{d}/e/f/g/h/i/j/{k}", "/long-literal-of-more-than-16-bytes"],
    );
    let targets = [
        "/v1/a",
        "/v1/x",
        "/v1/a/x",
        "//",
        "/v1/x/b?q",
        "/v1/a/b/c/d/e/f/g/h/i/j/k",
        "/v1/A",
        "",
        "/v1/long-literal-of-more-than-16-bytes",
        "/v1/x/x",
        "/v1/a/b/c/d/e/f/g/h/i/j/.",
    ];
    let long = format!("/v1/{}", "v".repeat(256));
    let asks: Vec<_> = targets
        .into_iter()
        .chain([long.as_str()])
        .enumerate()
        .map(|(at, target)| Ask {
            method: if at % 5 == 4 { b"PUT".to_vec() } else { b"GET".to_vec() },
            target: target.as_bytes().to_vec(),
            token: [Some(("user", b"r0 r1 r2 r4".to_vec())), Some(("user", b"r5 r3".to_vec())), None][at % 7 % 3]
                .clone(),
            bonus: at % 2 == 0,
        })
        .collect();
    let alone: Vec<_> = asks.iter().map(|ask| table.ask(ask)).collect();
    for rows in (0..140).chain([255, 256, 257, 1_000]) {
        let expected: Vec<_> = alone.iter().cloned().cycle().take(rows).collect();
        for interned in [false, true] {
            assert_eq!(ask_batch(&table.engine, &asks, rows, interned), expected, "{rows} rows");
        }
    }
}

/// A table whose batches go in stages, and requests with their answers: what is simple, what is not, and what has no route.
static LARGE: LazyLock<(Table, Vec<(Ask, Answer)>)> = LazyLock::new(|| {
    let table = Table::new("/v1", (0..8_193).map(|number| format!("/t{number}/{{id}}")));
    let targets = [
        "/v1/t1/x",
        "/v1/t1/x?q",
        "/v1/t8192/x",
        "/v1/t8192/x~",
        "/v1/T1/x",
        "/v1/t1/..",
        "/v1/t8193/x",
        "/v2/t1/x",
        "",
    ];
    let ask = |target: &str, method: &str, scope: &str| Ask {
        method: method.as_bytes().to_vec(),
        target: target.as_bytes().to_vec(),
        token: Some(("user", scope.as_bytes().to_vec())),
        bonus: false,
    };
    let asks = targets.iter().flat_map(|target| {
        let asks = ["GET", "PUT"].map(|method| ["r1", "r8192"].map(|scope| ask(target, method, scope)));
        asks.into_iter().flatten()
    });
    let asks = asks.map(|ask| (ask.clone(), table.ask(&ask))).collect();
    (table, asks)
});

proptest! {
    #[test]
    fn a_batch_of_a_large_table_answers_each_row_alone(
        rows in vec(any::<proptest::sample::Index>(), 1..100),
        interned: bool,
    ) {
        let (table, asks) = &*LARGE;
        let rows = rows.iter().map(|row| row.get(asks).clone());
        let (asks, alone): (Vec<_>, Vec<_>) = rows.unzip();
        prop_assert_eq!(ask_batch(&table.engine, &asks, asks.len(), interned), alone);
    }
}
