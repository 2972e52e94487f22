//! Templates of web frameworks, made from the grammar of each: each is valid and means the same here, or it is reported with routes
//! that are valid and decide what it means.

use orbgate::policy::advice;
use orbgate::{Engine, Policy, Request, Scopes, Token, TokenKind};
use proptest::prelude::*;

/// How a framework spells the parts of a template. `None`: it has no such part.
struct Framework {
    name: &'static str,
    parameter: fn(&str) -> String,
    /// A parameter with a type or pattern.
    typed: Option<fn(&str) -> String>,
    /// What stands for one or two optional segments at the end.
    optional: Option<fn(&[&str]) -> String>,
    /// The end that takes any number of segments.
    rest: Option<fn(&str) -> String>,
    /// An optional format at the end.
    format: Option<&'static str>,
}

/// Each optional segment in brackets of its own, the second within the first.
fn nested(names: &[&str], [open, close]: [&str; 2], parameter: fn(&str) -> String) -> String {
    match names {
        [] => String::new(),
        [first, others @ ..] => {
            format!("{open}/{}{}{close}", parameter(first), nested(others, [open, close], parameter))
        }
    }
}

fn in_a_row(names: &[&str], parameter: fn(&str) -> String) -> String {
    names.iter().map(|name| format!("/{}", parameter(name))).collect()
}

const FRAMEWORKS: [Framework; 11] = [
    Framework {
        name: "Rails",
        parameter: |name| format!(":{name}"),
        typed: None,
        optional: Some(|names| nested(names, ["(", ")"], |name| format!(":{name}"))),
        rest: Some(|name| format!("/*{name}")),
        format: Some("(.:format)"),
    },
    Framework {
        name: "Laravel",
        parameter: |name| format!("{{{name}}}"),
        typed: None,
        optional: Some(|names| in_a_row(names, |name| format!("{{{name}?}}"))),
        rest: None,
        format: None,
    },
    Framework {
        name: "ASP.NET",
        parameter: |name| format!("{{{name}}}"),
        typed: Some(|name| format!("{{{name}:length(3,5)}}")),
        optional: Some(|names| in_a_row(names, |name| format!("{{{name}:int?}}"))),
        rest: Some(|name| format!("/{{**{name}}}")),
        format: None,
    },
    Framework {
        name: "ASP.NET with defaults",
        parameter: |name| format!("{{{name}:int}}"),
        typed: Some(|name| format!("{{{name}:min(1)}}")),
        optional: Some(|names| in_a_row(names, |name| format!("{{{name}=Index}}"))),
        rest: Some(|name| format!("/{{*{name}}}")),
        format: None,
    },
    Framework {
        name: "Express 4",
        parameter: |name| format!(":{name}"),
        typed: Some(|name| format!(":{name}(\\d+)")),
        optional: Some(|names| in_a_row(names, |name| format!(":{name}?"))),
        rest: Some(|name| format!("/:{name}*")),
        format: None,
    },
    Framework {
        name: "Express 5",
        parameter: |name| format!(":{name}"),
        typed: None,
        optional: Some(|names| nested(names, ["{", "}"], |name| format!(":{name}"))),
        rest: Some(|name| format!("/*{name}")),
        format: Some("{.:format}"),
    },
    Framework {
        name: "Hono",
        parameter: |name| format!(":{name}"),
        typed: Some(|name| format!(":{name}{{[0-9]+}}")),
        optional: Some(|names| in_a_row(names, |name| format!(":{name}?"))),
        rest: Some(|_| "/*".to_owned()),
        format: None,
    },
    Framework {
        name: "FastAPI",
        parameter: |name| format!("{{{name}}}"),
        typed: Some(|name| format!("{{{name}:uuid}}")),
        optional: None,
        rest: Some(|name| format!("/{{{name}:path}}")),
        format: None,
    },
    Framework {
        name: "Flask",
        parameter: |name| format!("<{name}>"),
        typed: Some(|name| format!("<int:{name}>")),
        optional: None,
        rest: Some(|name| format!("/<path:{name}>")),
        format: None,
    },
    Framework {
        name: "Slim",
        parameter: |name| format!("{{{name}}}"),
        typed: Some(|name| format!("{{{name}:[^/]+}}")),
        optional: Some(|names| nested(names, ["[", "]"], |name| format!("{{{name}}}"))),
        rest: Some(|name| format!("/{{{name}:.*}}")),
        format: None,
    },
    Framework {
        name: "Go",
        parameter: |name| format!("{{{name}}}"),
        typed: None,
        optional: None,
        rest: Some(|name| format!("/{{{name}...}}")),
        format: None,
    },
];

/// A template, and paths that it matches.
type Made = (String, Vec<String>);

/// A template from what a seed chooses: the segments, and how it ends.
fn made(framework: &Framework, segments: &[u8], end: u8) -> Made {
    const NAMES: [&str; 6] = ["id", "postId", "user_id", "slug", "year", "x"];
    let mut template = String::new();
    let mut path = String::new();
    let names = NAMES.iter().zip(segments);
    for (name, kind) in names {
        let typed = framework.typed.unwrap_or(framework.parameter);
        let (segment, value) = match kind % 4 {
            0 => ((framework.parameter)(name), "7"),
            1 => (typed(name), "42"),
            2 => ("photos".to_owned(), "photos"),
            _ => ("v1.2".to_owned(), "v1.2"),
        };
        template.extend(["/", &segment]);
        path.extend(["/", value]);
    }
    let mut paths = vec![path.clone()];
    match end % 5 {
        1 | 2 if framework.optional.is_some() => {
            let names = ["first", "second"].get(..usize::from(end % 5)).unwrap();
            template.push_str(&framework.optional.unwrap()(names));
            paths.push(format!("{path}/a"));
            if names.len() == 2 {
                paths.push(format!("{path}/a/b"));
            }
        }
        3 if framework.rest.is_some() => {
            template.push_str(&framework.rest.unwrap()("rest"));
            paths = vec![format!("{path}/a"), format!("{path}/a/b")];
        }
        4 if framework.format.is_some() && !path.is_empty() => {
            template.push_str(framework.format.unwrap());
            paths.push(format!("{path}.json"));
        }
        _ => {}
    }
    if template.is_empty() {
        (template, paths) = ("/".to_owned(), vec!["/".to_owned()]);
    }
    for path in &mut paths {
        if path.is_empty() {
            path.push('/');
        }
    }
    (template, paths)
}

fn policy(routes: &[String]) -> Result<Policy, String> {
    let routes: String = routes.iter().map(|route| format!("          - '{route}'\n")).collect();
    let text = format!(
        "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        orbs: false\n        routes:\n{routes}"
    );
    Policy::from_yaml(&text).map_err(|error| error.to_string())
}

/// The routes that a message proposes.
fn proposed(message: &str) -> Vec<String> {
    let quoted = message.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.starts_with("GET ")).map(str::to_owned).collect()
}

fn check_made(framework: &str, (template, paths): &Made) {
    let route = format!("GET {template}");
    let found = policy(core::slice::from_ref(&route));
    let routes = match (&found, advice("GET", template)) {
        (Ok(_), None) => vec![route.clone()],
        (Ok(_), Some(advice)) => proposed(&advice),
        (Err(message), Some(advice)) => {
            assert!(message.ends_with(&advice), "{framework}: {message}");
            proposed(message)
        }
        (Err(message), None) => panic!("{framework}: {template} has no advice: {message}"),
    };
    assert!(!routes.is_empty(), "{framework}: {template}");
    let policy = policy(&routes).unwrap_or_else(|error| panic!("{framework}: {template}: {error}"));
    let engine = Engine::new(&policy);
    for path in paths {
        let token = Some(Token { kind: TokenKind::User, scopes: Scopes::Text(b"s") });
        let request = Request { method: b"GET", target: path.as_bytes(), token, allow_bonus_orbs_use: false };
        assert!(engine.decide(&request).is_allow(), "{framework}: {template} matches {path}, and {routes:?} don't");
    }
    // A proposal is never in need of another.
    for route in &routes {
        let template = route.strip_prefix("GET ").unwrap();
        assert_eq!(advice("GET", template), None, "{framework}");
    }
}

#[test]
fn every_template_of_a_framework_means_the_same_or_has_routes_that_do() {
    for framework in &FRAMEWORKS {
        // All of up to three segments, with each end.
        for count in 0..=3_u32 {
            for choice in 0..4_u32.pow(count) {
                let segments: Vec<_> = (0..count).map(|at| u8::try_from(choice / 4_u32.pow(at) % 4).unwrap()).collect();
                for end in 0..5 {
                    check_made(framework.name, &made(framework, &segments, end));
                }
            }
        }
    }
}

proptest! {
    /// Whatever is in a template, what is proposed is valid, and names no other format.
    #[test]
    fn what_is_proposed_is_valid(template in "(/|[a-c:*?.(){}<>\\[\\]=+|-]|\\{[a-c]\\}|:[a-c]|\\(/|\\{/){1,20}") {
        if let Some(advice) = advice("GET", &template) {
            let routes = proposed(advice.strip_prefix(&format!("`{template}`")).unwrap());
            prop_assert!(!routes.is_empty(), "{advice}");
            for route in &routes {
                prop_assert!(policy(core::slice::from_ref(route)).is_ok(), "{template}: {route}");
            }
        }
    }
}
