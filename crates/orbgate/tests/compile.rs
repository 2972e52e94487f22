//! Compiling a policy: linear time, whatever its templates look like, and nothing lost.

use core::fmt::Write;

use crate::policy_limits::check_linear;
use orbgate::{Engine, Policy, Reason, Request, Token};

/// A policy with these templates, all of one scope.
fn policy(templates: impl Iterator<Item = String>) -> Policy {
    let mut yaml = String::from(
        "orbgate: 1\napis:\n  all:\n    base_path: /api/v1\n    scopes:\n      use:all:\n        orbs: false\n        routes:\n",
    );
    for template in templates {
        writeln!(yaml, "          - \"{template}\"").unwrap();
    }
    Policy::from_yaml(&yaml).unwrap_or_else(|error| panic!("{error}"))
}

/// Every route is decided as itself.
fn check(engine: &Engine) {
    for route in engine.routes() {
        let segment = |segment: &str| {
            if segment.starts_with('{') { "no-such-word".to_owned() } else { segment.to_owned() }
        };
        let target: Vec<_> = route.template().split('/').map(segment).collect();
        let decision = engine.decide(&Request {
            method: route.method().as_bytes(),
            target: target.join("/").as_bytes(),
            token: Some(Token::user("use:all")),
            allow_bonus_orbs_use: false,
        });
        assert_eq!(decision.route_name(), Some(route.as_str()));
    }
}

/// Names that differ in one place only are where a weak hash gives itself away: with one, 20,000 of
/// these took minutes.
#[test]
fn regular_names_compile_in_linear_time() {
    let series: [fn(u32) -> String; 7] = [
        |n| format!("GET /reports/r{n:05}"),
        |n| format!("GET /r{n:06}"),
        |n| format!("GET /r{n:06}-name"),
        |n| format!("GET /abcdefgh{n:06}abcdefgh"),
        |n| format!("GET /{n}/{{id}}"),
        |n| format!("GET /a{}/b{}/c{}", n % 40, n / 40 % 40, n / 1600),
        |n| format!("GET /{{a}}/x{n:x}/{{b}}/y{}", n % 7),
    ];
    for template in series {
        let policy = |count: usize| policy((0..32_000).take(count).map(template));
        check_linear(&template(1), 2_000, |count| {
            let policy = policy(count);
            Box::new(move || drop(Engine::new(&policy)))
        });
        check(&Engine::new(&policy(32_000)));
    }
}

/// Long literals with equal ends and equal length have one slot, and each is still found.
#[test]
fn literals_that_differ_in_the_middle_are_each_found() {
    let engine = Engine::new(&policy((0..2_000).map(|n| format!("GET /abcdefgh{n:04}abcdefgh/{{id}}"))));
    check(&engine);
}

/// A policy of one path is nothing but prefix, whatever its length.
#[test]
fn one_path_of_any_length_is_found() {
    for length in 1..150 {
        let template = format!("/{}", "a".repeat(length));
        let engine = Engine::new(&policy([format!("GET {template}")].into_iter()));
        let path = format!("/api/v1{template}");
        for target in [path.clone(), format!("{path}?{path}")] {
            let decision = engine.decide(&Request {
                method: b"GET",
                target: target.as_bytes(),
                token: Some(Token::user(engine.scope_table().next().unwrap().name())),
                allow_bonus_orbs_use: false,
            });
            assert_eq!(decision.reason(), Reason::ScopeHeld, "{target}");
        }
    }
}

/// More literals and positions than a key of 64 bits has bits for: the slow way decides.
#[test]
fn literals_that_do_not_fit_into_keys_are_found() {
    let template = |n: u32| {
        let segments = (0..8).map(|at| format!("w{at}-{}", (n * 31 + at * 7) % 600));
        format!("GET /{}", segments.collect::<Vec<_>>().join("/"))
    };
    check(&Engine::new(&policy((0..600).map(template))));
}

/// Two scopes that differ in their first bytes alone, far from their end.
#[test]
fn no_pair_of_scopes_stops_the_compiler() {
    let middle = "m".repeat(1_000);
    let yaml = format!(
        "orbgate: 1\napis:\n  all:\n    scopes:\n      ? aaaaaaaa{middle}_jlJhUnd\n      : routes: []\n      ? bbbbbbbb{middle}_jlJhUnd\n      : routes: []\n"
    );
    let engine = Engine::new(&Policy::from_yaml(&yaml).unwrap());
    let scope = format!("bbbbbbbb{middle}_jlJhUnd");
    let decision = engine.decide_scope(&scope, Some(Token::user(scope.as_str())), false);
    assert!(decision.is_allow());
}

/// More methods on one path than a template has columns for, and than can be looked at one by one.
#[test]
fn every_method_of_a_crowded_path_is_found() {
    let name = |n: u32| {
        let letter = |n: u32| char::from(b'A' + u8::try_from(n % 26).unwrap());
        format!("M{}{}{}", letter(n), letter(n / 26), letter(n / 676))
    };
    let engine = Engine::new(&policy((0..700).map(|n| format!("{} /crowd/{{id}}", name(n)))));
    check(&engine);
    let decision = engine.decide(&Request {
        method: b"NONE",
        target: b"/api/v1/crowd/1",
        token: Some(Token::user("use:all")),
        allow_bonus_orbs_use: false,
    });
    assert_eq!(decision.reason().as_str(), "method_not_declared");
    assert_eq!(decision.route_name(), Some("/api/v1/crowd/{id}"));
}

/// What a template has in common with the one before is not read again.
#[test]
fn templates_that_start_alike_are_told_apart() {
    let templates = "GET / POST / GET /a POST /a GET /a/b GET /ab GET /a/bc GET /a/{b} PUT /a/{b} GET /a/{b}/c \
                     GET /a/{c}/d GET /{a} GET /{a}/b GET /{b}/bc DELETE /";
    let words: Vec<_> = templates.split_whitespace().collect();
    let routes = words.chunks(2).map(|pair| pair.join(" "));
    for base_path in ["", "/api", "/a/b"] {
        let list: String = routes.clone().map(|route| format!("          - {route}\n")).collect();
        let yaml = format!(
            "orbgate: 1\napis:\n  all:\n    base_path: \"{base_path}\"\n    scopes:\n      use:all:\n        orbs: false\n        routes:\n{list}"
        );
        let engine = Engine::new(&Policy::from_yaml(&yaml).unwrap());
        assert_eq!(engine.routes().len(), words.len() / 2);
        check(&engine);
    }
}

/// Scope sets on both sides of every boundary of their representation.
#[test]
fn sets_of_many_scopes_agree_with_their_text() {
    for count in [1, 63, 64, 65, 127, 128, 129, 191, 192, 193, 300] {
        let mut yaml = String::from("orbgate: 1\napis:\n  all:\n    scopes:\n");
        for n in 0..count {
            writeln!(yaml, "      scope:{n}:\n        routes: []").unwrap();
        }
        let engine = Engine::new(&Policy::from_yaml(&yaml).unwrap());
        for held in 0..count {
            let text = format!("scope:{held} other");
            let set = engine.scopes(&text);
            for number in [0, 1, held, count / 2, count - 1] {
                let scope = format!("scope:{number}");
                let by_text = engine.decide_scope(&scope, Some(Token::user(text.as_str())), false);
                let by_set = engine.decide_scope(&scope, Some(Token::user(&set)), false);
                assert_eq!(by_text.is_allow(), number == held, "{number} of {count}");
                assert_eq!(by_text, by_set, "{number} of {count}");
            }
        }
    }
}

/// In a table of one word nearly every probe lands on it: length, position and bytes must all be compared.
#[test]
fn a_stranger_in_a_words_slot_is_no_word() {
    let engine = Engine::new(&policy(["GET /{x}/aaaaaaaa".to_owned()].into_iter()));
    let fits = |path: String| {
        let decision = engine.decide(&Request {
            method: b"GET",
            target: format!("/api/v1/{path}").as_bytes(),
            token: Some(Token::user("use:all")),
            allow_bonus_orbs_use: false,
        });
        decision.is_allow()
    };
    assert!(fits("x/aaaaaaaa".to_owned()));
    assert!(fits("aaaaaaaa/aaaaaaaa".to_owned()));
    for length in (1..60).filter(|length| *length != 8) {
        let other = "a".repeat(length);
        assert!(!fits(format!("x/{other}")), "{length}");
        assert!(!fits(format!("aaaaaaaa/{other}")), "{length}");
        assert!(!fits(format!("x/y/{other}")), "{length}");
        assert!(!fits(format!("aaaaaaaa/x{other}")), "{length}");
    }
    for position in 0..8 {
        let before = "/x".repeat(position);
        assert_eq!(fits(format!("x{before}/aaaaaaaa")), position == 0);
        assert!(!fits(format!("aaaaaaaa{before}/x")));
    }
}

/// As many as a policy may have: the last one is one too many for no table.
#[test]
fn sixty_five_thousand_scopes_compile() {
    let mut yaml = String::from("orbgate: 1\napis:\n  all:\n    base_path: /api/v1\n    scopes:\n");
    for number in 0..65_535 {
        writeln!(yaml, "      s{number}: {{ routes: [] }}").unwrap();
    }
    let engine = Engine::new(&Policy::from_yaml(&yaml).unwrap());
    assert_eq!(engine.scope_table().count(), 65_535);
    for scope in ["s0", "s9999", "s65534"] {
        let token = Some(Token::user(scope));
        assert!(engine.decide_scope(scope, token, false).is_allow(), "{scope}");
    }
}
