//! Any method, target and token: the engine's answer is the reference's, on two policies that have every rule.
#![no_main]

#[path = "../../crates/orbgate/tests/support/engine.rs"]
#[allow(dead_code, reason = "batches have a test of their own")]
mod engine;
#[path = "../../crates/orbgate/tests/support/model.rs"]
#[allow(dead_code, reason = "the policies here need a part of it")]
mod model;
#[path = "../../crates/orbgate/tests/support/reference.rs"]
#[allow(dead_code, reason = "asking by scope has a target of its own")]
mod reference;

use std::sync::LazyLock;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use model::{Api, Keys, Model, Orbs, Route, Scope};
use orbgate::Engine;
use reference::Ask;

#[derive(Arbitrary, Debug)]
struct Input {
    encoded_params: bool,
    trailing_slash: bool,
    method: Method,
    target: Vec<u8>,
    kind: Option<u8>,
    scopes: Vec<u8>,
    bonus: bool,
}

/// Random bytes are rarely a method.
#[derive(Arbitrary, Debug)]
enum Method {
    Get,
    Post,
    Other(Vec<u8>),
}

static POLICIES: LazyLock<[(Model, Engine); 4]> = LazyLock::new(|| {
    [0, 1, 2, 3].map(|bits| {
        let model = model(bits & 1 == 1, bits & 2 == 2);
        let engine = engine::engine(&model);
        (model, engine)
    })
});

fuzz_target!(|input: Input| {
    let at = usize::from(input.encoded_params) | usize::from(input.trailing_slash) << 1;
    let (model, engine) = &POLICIES[at];
    let kinds = ["user", "organisation", "service"];
    let ask = Ask {
        method: match input.method {
            Method::Get => b"GET".to_vec(),
            Method::Post => b"POST".to_vec(),
            Method::Other(method) => method,
        },
        target: input.target,
        token: input.kind.map(|kind| (kinds[usize::from(kind) % kinds.len()], input.scopes)),
        bonus: input.bonus,
    };
    assert_eq!(engine::answer(&engine::ask_engine(engine, &ask)), reference::decide(model, &ask), "{ask:?}");
});

/// Templates that overlap, differ in case, have characters that may be escaped or are closed, an api for users, and routes
/// that need several scopes or any of several, or have their own price.
fn model(encoded_params: bool, trailing_slash: bool) -> Model {
    let route = |text: &str, orbs| {
        let (method, path) = text.split_once(" /").unwrap();
        Route { method: method.to_owned(), segments: path.split('/').map(str::to_owned).collect(), orbs, keys: None }
    };
    let keys = |or: &[&str], and: &str| {
        let names = |text: &&str| text.split_whitespace().map(str::to_owned).collect();
        Some(Keys { or: or.iter().map(names).collect(), and: names(&and) })
    };
    let scope = |name: &str, orbs, routes: &[(&str, Orbs)]| Scope {
        name: name.to_owned(),
        orbs,
        keys: None,
        routes: routes.iter().map(|(text, orbs)| route(text, *orbs)).collect(),
    };
    let api = |name: &str, base_path: &str, organisation, scopes: Vec<Scope>| Api {
        name: name.to_owned(),
        base_path: base_path.to_owned(),
        organisation,
        scopes,
        closed: vec![vec!["shut".to_owned()], vec!["a".to_owned(), "{id}".to_owned(), "shut".to_owned()]],
    };
    let mut model = Model {
        encoded_params,
        trailing_slash,
        apis: vec![
            api(
                "one",
                "/v1",
                None,
                vec![
                    scope(
                        "r",
                        Orbs::No,
                        &[
                            ("GET /a", Orbs::Absent),
                            ("GET /a/{id}", Orbs::Absent),
                            ("GET /{x}/b", Orbs::Absent),
                            ("GET /a/b", Orbs::Amount(2)),
                        ],
                    ),
                    scope(
                        "w",
                        Orbs::Yes,
                        &[
                            ("POST /a", Orbs::Amount(5)),
                            ("POST /a/x:y", Orbs::No),
                            ("PUT /a/{id}/c-._~d/{more}", Orbs::Absent),
                        ],
                    ),
                ],
            ),
            api(
                "two",
                "/u",
                Some("deny"),
                vec![scope("z", Orbs::Amount(3), &[("GET /{id}", Orbs::Absent), ("GET /me", Orbs::Absent)])],
            ),
            api(
                "three",
                "/u/o",
                Some("allow_without_scope"),
                vec![
                    scope("y", Orbs::Yes, &[("GET /{id}", Orbs::Absent)]),
                    scope("x", Orbs::No, &[("GET /x", Orbs::Absent)]),
                ],
            ),
        ],
    };
    model.apis[0].scopes[0].keys = keys(&["w"], "");
    model.apis[0].scopes[0].routes[1].keys = keys(&["v w", "v t"], "w t");
    model.apis[0].scopes[0].routes[2].keys = keys(&[], "");
    model.apis[0].scopes.extend([scope("v", Orbs::No, &[]), scope("t", Orbs::No, &[])]);
    model.apis[2].scopes[0].keys = keys(&[], "x");
    model
}
