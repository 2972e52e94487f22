//! Near misses: a misspelt call finds its route, and what is said of it is true.

use orbgate::{Detail, Engine, Policy};
use orbgate_analysis::{Miss, in_order, near_misses, near_scope, route_of};

use crate::support::valid;

fn target(template: &str) -> String {
    let value = |segment: &str| {
        if segment.starts_with('{') { "q7".to_owned() } else { segment.to_owned() }
    };
    template.split('/').map(value).collect::<Vec<_>>().join("/")
}

fn segment(location: usize, found: &str, expected: &str) -> Miss {
    let (found, expected) = (found.to_owned(), expected.to_owned());
    Miss::Segment { location, found, expected }
}

#[test]
fn a_call_with_one_wrong_character_finds_its_route() {
    let engine = Engine::external();
    let mut misspelt = 0;
    for route in engine.routes() {
        let target = target(route.template());
        for at in target.char_indices().map(|(at, _)| at).filter(|at| target.as_bytes()[*at].is_ascii_alphabetic()) {
            for wrong in
                [format!("{}x{}", &target[..at], &target[at + 1..]), format!("{}{}", &target[..at], &target[at + 1..])]
            {
                // The value of a parameter may be anything, and another route may decide what was typed.
                if route_of(engine, route.method(), &wrong).is_ok() || wrong.contains("//") {
                    continue;
                }
                let near = near_misses(engine, route.method(), &wrong);
                assert!(near.len() <= 3);
                for near in &near {
                    let decided = near.meant.as_ref().map(|meant| route_of(engine, route.method(), meant));
                    assert!(decided.is_none_or(|decided| decided == Ok(near.route)), "{wrong}: {near:?}");
                }
                let is_listed = near.iter().any(|near| near.route == route || near.meant.as_deref() == Some(&*target));
                // A template without the method hides it: then that is the reason given.
                let hidden = route_of(engine, route.method(), &wrong).unwrap_err().route().is_some();
                assert!(is_listed || hidden, "{wrong}: {near:?}");
                misspelt += 1;
            }
        }
    }
    assert!(misspelt > 1_000, "{misspelt}");
}

#[test]
fn what_fits_and_is_less_specific_is_named() {
    let text = "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: ['GET /x/{id}', 'GET /{a}/y', DELETE /x/y, 'GET /x/{id}/z'] } } } }";
    let engine = Engine::new(&Policy::from_yaml(text).unwrap());
    let why = |method: &str, target: &str| {
        let near = near_misses(&engine, method, target);
        near.into_iter().map(|near| (near.route.as_str().to_owned(), near.why)).collect::<Vec<_>>()
    };
    let pair = |route: &str, why: &Miss| (route.to_owned(), why.clone());
    let less = &Miss::LessSpecific("/x/y".to_owned());
    assert_eq!(why("GET", "/x/y?a=b"), [pair("GET /x/{id}", less), pair("GET /{a}/y", less)]);
    assert_eq!(why("DELETE", "/x/y"), []);
    assert_eq!(why("DELETE", "/X/y"), [pair("DELETE /x/y", &segment(1, "X", "x"))]);
    assert_eq!(why("GET", "/x/1/z"), []);
    let near = near_misses(&engine, "GET", "/x");
    assert_eq!(near[0].why, Miss::Segments { found: 1, expected: 2 });
    assert_eq!(near[0].meant, None);
}

#[test]
fn what_is_spelt_otherwise_is_what_was_meant() {
    let text = "orbgate: 1\napis: { a: { base_path: /v1/shop, scopes: { s: { orbs: false, routes: [GET /items, 'GET /items/{id}', 'GET /items/{id}/parts'] } } } }";
    let engine = Engine::new(&Policy::from_yaml(text).unwrap());
    let empty = &Miss::Malformed(Detail::EmptySegment);
    let dots = &Miss::Malformed(Detail::DotSegment);
    let start = &Miss::Start("/v1/shop".to_owned());
    for (method, target, route, why, meant) in [
        ("GET", "/v1/shop/items/", "/items", empty, Some("/v1/shop/items")),
        ("GET", "/v1//shop/items/7", "/items/{id}", empty, Some("/v1/shop/items/7")),
        ("GET", "/v1/shop/x/../items/./7", "/items/{id}", dots, Some("/v1/shop/items/7")),
        ("GET", "https://example.com/v1/shop/items", "/items", &Miss::Malformed(Detail::Form), Some("/v1/shop/items")),
        ("GET", "v1/shop/items?x=1", "/items", &Miss::Malformed(Detail::Form), Some("/v1/shop/items")),
        ("GET", "/v1/shop/items#top", "/items", &Miss::Malformed(Detail::Fragment), Some("/v1/shop/items")),
        ("GET", "/v1/shop/items/a;b", "/items/{id}", &Miss::Malformed(Detail::MatrixParam), None),
        ("get", "/v1/shop/items", "/items", &Miss::Malformed(Detail::Method), None),
        ("GET", "/items", "/items", start, Some("/v1/shop/items")),
        ("GET", "/items/7/parts", "/items/{id}/parts", start, Some("/v1/shop/items/7/parts")),
        ("GET", "/shop/items", "/items", &Miss::Start("/v1".to_owned()), Some("/v1/shop/items")),
        ("GET", "/items/", "/items", start, Some("/v1/shop/items")),
    ] {
        let near = near_misses(&engine, method, target);
        let first = near.first().map(|near| (near.route.as_str(), &near.why, near.meant.as_deref()));
        let route = format!("GET /v1/shop{route}");
        assert_eq!(first, Some((&*route, why, meant)), "{target}: {near:#?}");
        assert!(meant.is_none() || near.len() == 1, "{target}: {near:#?}");
    }
    // Parameters alone fit anything.
    assert_eq!(near_misses(&engine, "GET", "/7"), []);
}

#[test]
fn hostile_calls_take_no_time_and_find_nothing() {
    let engine = Engine::external();
    for target in [
        "",
        "/",
        "x",
        "//",
        "?",
        "#",
        "/%",
        "\u{0}",
        &"/a".repeat(5_000),
        &format!("/api/v1/external/{}", "x".repeat(1_000_000)),
    ] {
        for method in ["GET", "", "\u{7f}"] {
            assert_eq!(near_misses(engine, method, target), [], "{method}");
        }
    }
    assert_eq!(near_scope("read:orbs", &"x".repeat(1_000_000)), None);
}

#[test]
fn a_scope_is_near_by_a_few_characters() {
    for (needed, carried, near) in [
        ("read:orbs", "read:orb", Some("read:orb")),
        ("read:orbs", "x Read:Orbs y", Some("Read:Orbs")),
        ("read:orbs", "read:vox write:orbs", None),
        ("read:orbs", "read:orbs", None),
        ("read:orbs", "", None),
        ("abc", "xyc", None),
    ] {
        assert_eq!(near_scope(needed, carried), near, "{carried}");
    }
}

#[test]
fn a_path_without_its_slash_is_a_near_miss() {
    let text = valid::policy("trailing-slash");
    let engine = Engine::new(&Policy::from_yaml(&text).unwrap());
    for (target, why, meant) in [
        ("/v1/items/7", Miss::Slash, "/v1/items/7/"),
        ("/v1/items?a", Miss::Slash, "/v1/items/"),
        ("/v1/item/", segment(2, "item", "items"), "/v1/items/"),
        ("/items/7/", Miss::Start("/v1".to_owned()), "/v1/items/7/"),
        ("/v1/items//", Miss::Malformed(Detail::EmptySegment), "/v1/items/"),
    ] {
        let near = near_misses(&engine, "GET", target);
        let first = near.first().map(|near| (&near.why, near.meant.as_deref()));
        assert_eq!(first, Some((&why, Some(meant))), "{target}");
    }
    assert_eq!(near_misses(&engine, "GET", "/v1/items/"), []);
}

#[test]
fn a_malformed_target_is_in_order_up_to_its_diagnostic() {
    let policy = |target: &str| {
        let text = format!(
            "orbgate: 1\ntarget: {target}\napis: {{ a: {{ base_path: '', scopes: {{ s: {{ orbs: false, routes: [GET /x, 'GET /@', 'GET /{{id}}'] }} }} }} }}"
        );
        Engine::new(&Policy::from_yaml(&text).unwrap())
    };
    let (strict, encoded) = (policy("strict"), policy("encoded_params"));
    let long = format!("/{}/x", "a".repeat(256));
    let too_long = format!("/{}/x", "a".repeat(257));
    for (engine, target, expected) in [
        (&strict, "", Some(0)),
        (&strict, "x", Some(0)),
        (&strict, "/a/b", None),
        (&strict, "/X", None), // refused only because of `/x`
        (&strict, "/a/b/", Some(4)),
        (&strict, "/a//b", Some(2)),
        (&strict, "/a/../b", Some(2)),
        (&strict, "/a/..b/./c", Some(6)),
        (&strict, "/a#b", Some(2)),
        (&strict, "/a?b#c", Some(4)),
        (&strict, "/a b", Some(2)),
        (&strict, "/a;b", Some(2)),
        (&strict, "/a%20b", Some(2)),
        (&strict, &long, None),
        (&strict, &too_long, Some(257)),
        (&encoded, "/%78", Some(1)),
        (&encoded, "/%40", None), // refused only because of `/@`
        (&encoded, "/a%20b/%zz", Some(6)),
        (&encoded, "/a%20b/c%2f", Some(8)),
        (&encoded, "/a%20", Some(2)),
        (&encoded, "/a%20/b", Some(2)),
    ] {
        assert_eq!(in_order(engine, target), expected, "{target}");
    }
    let query = format!("/a?{}", "q".repeat(100_000));
    assert_eq!(in_order(&strict, &query), Some(8_192));
    assert_eq!(in_order(&strict, vec![b'/'; 100_000]), Some(1));
    assert_eq!(in_order(&strict, b"/a\xff"), Some(2));
}
