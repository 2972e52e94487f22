//! Deciding by route is deciding by a target of that route.

use std::collections::HashSet;

use orbgate::{Decision, Engine, Policy, Reason, Request, RouteId, Token, TokenKind};

use crate::support::valid;

/// The engine of a policy in `policy/valid.md`.
fn engine_of(name: &str) -> Engine {
    Engine::new(&Policy::from_yaml(&valid::policy(name)).unwrap())
}

#[test]
fn by_route_the_answer_is_that_of_a_target() {
    let engines = ["amounts", "inference", "scope-in-several-apis"].map(engine_of);
    for engine in engines.iter().chain([Engine::external()]) {
        let all = engine.scope_table().map(|scope| scope.name().to_owned());
        let all = all.collect::<Vec<_>>().join(" ");
        for route in engine.routes() {
            for scopes in [all.as_str(), route.scope().name(), "read:nothing", ""] {
                for kind in [TokenKind::User, TokenKind::Organisation, TokenKind::Unknown] {
                    let scopes = scopes.into();
                    for token in [None, Some(Token { kind, scopes })] {
                        let target = target(route.template());
                        let request = Request {
                            method: route.method().as_bytes(),
                            target: target.as_bytes(),
                            token,
                            allow_bonus_orbs_use: true,
                        };
                        let expected = engine.decide(&request);
                        let actual = engine.decide_route(route.id(), token, true);
                        assert_eq!(actual, expected, "{target}");
                    }
                }
            }
        }
    }
}

/// In every listing it is the first of the template's, so that logs and audits group alike.
#[test]
fn a_method_that_is_not_declared_names_the_first_route_of_its_template() {
    let text = "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n\
        \x20     w: { orbs: true, routes: [PUT /x, PATCH /x] }\n\
        \x20     r: { orbs: false, routes: [GET /x] }\n";
    let engine = Engine::new(&Policy::from_yaml(text).unwrap());
    for method in ["DELETE", "ZAP", "HEAD"] {
        let decision = engine.decide(&Request {
            method: method.as_bytes(),
            target: b"/x",
            token: Some(Token::user("w r")),
            allow_bonus_orbs_use: false,
        });
        assert_eq!(decision.reason(), Reason::MethodNotDeclared);
        let Decision::Deny(deny) = decision else {
            panic!("{decision:?}");
        };
        assert_eq!(deny.route().unwrap().as_str(), "GET /x", "{method}");
    }
}

/// A path that the template fits.
fn target(template: &str) -> String {
    let segments = template.split('/').map(|segment| {
        let is_parameter = segment.starts_with('{');
        if is_parameter { "a.value" } else { segment }
    });
    segments.collect::<Vec<_>>().join("/")
}

#[test]
fn a_route_is_found_as_the_policy_writes_it() {
    let engine = Engine::external();
    for (index, route) in (0..).zip(engine.routes()) {
        let same = engine.find_route(route.method(), route.template()).unwrap();
        assert_eq!((same.index(), same.id()), (index, route.id()));
        assert_eq!(engine.route(index), Some(route));
        assert_eq!(RouteId::from_bits(route.id().to_bits()), route.id());
        let scope = route.scope();
        assert_eq!(engine.scope(scope.index()), Some(scope));
    }
    assert_eq!(engine.find_route("HEAD", "/api/v1/external/account"), None);
    assert_eq!(engine.find_route("GET", "/account"), None);
    assert_eq!(engine.route(37), None);
    assert_eq!(engine.scope(u16::MAX), None);
}

/// An engine of one scope.
fn engine(api: &str, scope: &str, routes: &[&str]) -> Engine {
    let routes = routes.join(", ");
    let text = format!(
        "orbgate: 1\napis:\n  {api}:\n    base_path: /v1\n    scopes:\n      {scope}:\n        orbs: false\n        routes: [{routes}]\n"
    );
    Engine::new(&Policy::from_yaml(&text).unwrap())
}

#[test]
fn a_route_names_every_method_of_its_template() {
    let engine = engine("a", "read:a", &["POST /x", "GET /y", "GET /x", "PUT /x"]);
    let methods = |method, template| {
        let route = engine.find_route(method, template).unwrap();
        route.methods().collect::<Vec<_>>()
    };
    assert_eq!(methods("POST", "/v1/x"), ["GET", "POST", "PUT"]);
    assert_eq!(methods("GET", "/v1/y"), ["GET"]);
}

#[test]
fn routes_are_equal_where_method_template_scope_and_api_are() {
    let one = engine("a", "read:a", &["GET /x", "GET /y"]);
    let same = engine("a", "read:a", &["GET /x"]);
    assert_eq!(one.route(0), same.route(0));
    assert_ne!(one.route(0), one.route(1));
    assert_eq!(one.scope(0), same.scope(0));
    for (api, scope) in [("a", "read:b"), ("b", "read:a")] {
        let other = engine(api, scope, &["GET /x"]);
        assert_ne!(one.route(0), other.route(0));
        assert_ne!(one.scope(0), other.scope(0));
    }
}

#[test]
fn a_route_of_another_policy_is_denied() {
    let other = engine_of("amounts");
    let ids = other.routes().map(|route| route.id());
    for id in ids.chain([0, 1, u128::MAX].map(RouteId::from_bits)) {
        let token = Some(Token::user("read:account write:voxies"));
        let decision = Engine::external().decide_route(id, token, true);
        assert!(matches!(decision, Decision::Deny(_)), "{id:?}");
        assert_eq!(decision.reason(), Reason::NoRoute);
    }
}

/// An engine of one route, `name` apart the same for every number.
fn named(name: &str, scope: &str, route: &str) -> Engine {
    let text = format!(
        "orbgate: 1\nname: {name}\napis:\n  a:\n    base_path: /v1\n    scopes:\n      {scope}:\n        orbs: false\n        routes: [\"{route}\"]\n"
    );
    Engine::new(&Policy::from_yaml(&text).unwrap())
}

/// The two digests have 35 bits in common where an id once looked at no others. Such names are found in seconds.
#[test]
fn a_route_of_a_policy_chosen_to_look_alike_is_denied() {
    let old = named("v1-234811", "read:public", "GET /public");
    let new = named("v2-109091", "delete:users", "DELETE /users/{id}");
    let kept = old.route(0).unwrap().id();
    let decision = new.decide_route(kept, Some(Token::user("delete:users")), false);
    assert_eq!(decision.reason(), Reason::NoRoute);
}

#[test]
fn a_route_is_denied_by_every_small_variation_of_its_policy() {
    let engine = named("v0", "read:public", "GET /public");
    let kept = engine.route(0).unwrap().id();
    let token = Some(Token::user("read:public"));
    assert!(engine.decide_route(kept, token, false).is_allow());
    let mut ids = HashSet::from([kept]);
    for number in 1..2_000 {
        let other = named(&format!("v{number}"), "read:public", "GET /public");
        assert!(!other.decide_route(kept, token, false).is_allow());
        let id = other.route(0).unwrap().id();
        assert!(!engine.decide_route(id, token, false).is_allow());
        assert!(ids.insert(id), "two policies gave one id");
    }
}

#[test]
fn a_scope_of_several_apis_is_one() {
    let engine = engine_of("scope-in-several-apis");
    let scope = engine.find_scope("read:items").unwrap();
    assert_eq!(engine.scope_count(), 3);
    assert_eq!(scope.permits(), Some("reads items, in every api"));
    let apis: Vec<_> = scope.apis().map(|in_api| in_api.api()).collect();
    assert_eq!((scope.api(), &*apis), ("photos", &["photos", "v1", "v2"][..]));
    let lines = scope.apis().map(|in_api| in_api.location().line);
    assert_eq!(Some(scope.location().line), lines.min());
    for in_api in scope.apis() {
        assert_eq!(in_api.scope(), scope);
        assert!(in_api.routes().all(|route| route.api() == in_api.api()));
    }
    let routes: Vec<_> = scope.routes().map(|route| route.as_str()).collect();
    let expected = ["GET /api/v1/photos", "GET /api/v1/items", "GET /api/v2/items", "GET /api/v2/items/{itemId}"];
    assert_eq!(routes, expected);
    // In the file's order, each api with its own.
    let listed = engine.scopes_in_apis();
    let listed: Vec<_> = listed.map(|in_api| (in_api.api(), in_api.scope().name(), in_api.routes().count())).collect();
    let expected = [
        ("v2", "read:items", 2),
        ("v2", "write:items", 1),
        ("v1", "read:items", 1),
        ("v1", "write:items", 1),
        ("photos", "read:items", 1),
        ("inference", "read:inference", 0),
        ("speech", "read:inference", 1),
    ];
    assert_eq!(listed, expected);
}

#[test]
fn the_order_of_the_apis_of_a_scope_does_not_count() {
    let several = valid::policy("scope-in-several-apis");
    let (head, apis) = several.split_once("apis:\n").unwrap();
    let (v2, others) = apis.split_once("  v1:\n").unwrap();
    let others = others.strip_suffix("...\n").unwrap();
    let turned = format!("{head}apis:\n  v1:\n{others}{v2}...\n");
    let [one, other] = [&several, &turned].map(|text| Engine::new(&Policy::from_yaml(text).unwrap()));
    assert_eq!(one.digest(), other.digest());
    assert!(one.routes().eq(other.routes()));
    for scope in one.scope_table() {
        let token = Some(Token::user(scope.name()));
        assert_eq!(one.decide_scope(scope.name(), token, false), other.decide_scope(scope.name(), token, false));
        assert_eq!(other.find_scope(scope.name()), Some(scope));
    }
}
