//! What is said of each rule of a target agrees with the decision, and with the rules as plain sentences.

use orbgate::{Engine, Grant, Policy, Reason, Request, Token};
use orbgate_analysis::{RuleState, explain, target_rules};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const PARTS: &[&str] = &[
    "/", "/", "/", "a", "b", "A", "@", "%40", "%61", "%20", "%2f", "%00", "%c3", "%", "%4", ".", "..", ";", "\\", "\"",
    "#", "?", " ", "\u{e9}", "x", "7",
];

fn engine(profile: &str) -> Engine {
    let text = format!(
        "orbgate: 1\ntarget: {profile}\napis: {{ a: {{ base_path: '', scopes: {{ s: {{ orbs: false, routes: [GET /, GET /a, 'GET /{{id}}', 'GET /@/b', 'GET /{{id}}/{{id2}}'] }} }} }} }}"
    );
    Engine::new(&Policy::from_yaml(&text).unwrap())
}

/// Whether a call keeps a rule that does not read the policy, as its row in ARCHITECTURE.md says it.
fn keeps(detail: &str, method: &str, target: &str) -> bool {
    let path = target.split('?').next().unwrap();
    let segments: Vec<_> = match path {
        "/" => vec![],
        path => path.strip_prefix('/').unwrap_or(path).split('/').collect(),
    };
    // Each `%` of the path with the number after it, `None` where there is none.
    let escapes: Vec<_> = path
        .match_indices('%')
        .map(|(at, _)| {
            let digits = path.get(at + 1..at + 3)?;
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex.then(|| u8::from_str_radix(digits, 16).unwrap())
        })
        .collect();
    let no_escape = |bad: fn(u8) -> bool| !escapes.iter().flatten().any(|byte| bad(*byte));
    match detail {
        "method" => (1..=16).contains(&method.len()) && method.bytes().all(|b| b.is_ascii_uppercase()),
        "length" => {
            (1..=8_192).contains(&target.len())
                && segments.len() <= 32
                && segments.iter().all(|segment| segment.len() <= 256)
        }
        "byte" => target.bytes().all(|byte| (0x21..=0x7e).contains(&byte)),
        "fragment" => !target.contains('#'),
        "form" => target.starts_with('/'),
        "backslash" => !path.contains('\\'),
        "matrix_param" => !path.contains(';'),
        "path_char" => !path.contains(['"', '<', '>', '^', '`', '{', '}', '|', '[', ']']),
        "percent" => !path.contains('%'),
        "bad_escape" => escapes.iter().all(Option::is_some),
        "encoded_control" => no_escape(|byte| byte.is_ascii_control()),
        "encoded_delimiter" => no_escape(|byte| b"/\\;?#%".contains(&byte)),
        "encoded_unreserved" => no_escape(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)),
        "non_ascii" => no_escape(|byte| byte >= 0x80),
        "whitespace" => !segments.iter().any(|segment| segment.starts_with("%20") || segment.ends_with("%20")),
        "empty_segment" => !segments.contains(&""),
        "dot_segment" => {
            !segments.iter().any(|segment| !segment.is_empty() && segment.bytes().all(|byte| byte == b'.'))
        }
        // Broken only with this policy.
        "non_canonical_literal" => !(segments.first() == Some(&"%40") && segments.len() == 2),
        "ambiguous_case" => path != "/A" && segments[..] != ["@", "B"],
        other => panic!("{other} is not in the table"),
    }
}

fn check(engine: &Engine, method: &str, target: &str, token: Option<Token<'_>>) {
    let request = Request { method: method.as_bytes(), target: target.as_bytes(), token, allow_bonus_orbs_use: false };
    let explained = explain(engine, &request, &Grant::default());
    let decision = engine.decide(&request);
    assert_eq!(explained.decision, decision);
    let rules = target_rules(engine, request.target, &decision);
    assert_eq!(explained.rules, rules);
    assert!(rules.windows(2).all(|pair| pair[0].detail.rule() < pair[1].detail.rule()));
    let mut failed = None;
    for rule in rules {
        let detail = rule.detail;
        let keeps = keeps(detail.as_str(), method, target);
        match rule.state {
            RuleState::Pass => assert!(keeps, "{detail} passes: {method} {target}"),
            RuleState::Fail => {
                assert!(!keeps, "{detail} fails: {method} {target}");
                assert_eq!(failed.replace(detail), None, "{method} {target}");
            }
            RuleState::NotReached => assert!(!decision.is_allow(), "{detail}: {method} {target}"),
            _ => panic!("another state"),
        }
    }
    assert_eq!(failed, decision.detail(), "{method} {target}");
    let is_in_order = !matches!(decision.reason(), Reason::MalformedRequest | Reason::NoToken | Reason::InvalidToken);
    let mut rules = explained.rules.iter();
    assert_eq!(rules.all(|rule| rule.state == RuleState::Pass), is_in_order, "{method} {target}");
}

proptest! {
    #[test]
    fn a_rule_passes_where_it_holds_and_fails_where_the_decision_says_so(
        encoded in any::<bool>(),
        method in select(&["GET", "GET", "GET", "get", "DELETE"][..]),
        parts in vec(select(PARTS), 0..12),
        slash in any::<bool>(),
        has_token in any::<bool>(),
    ) {
        let engine = engine(if encoded { "encoded_params" } else { "strict" });
        let target = format!("{}{}", if slash { "/" } else { "" }, parts.concat());
        check(&engine, method, &target, has_token.then(|| Token::user("s")));
    }
}

#[test]
fn limits_are_of_two_steps() {
    for profile in ["strict", "encoded_params"] {
        let engine = engine(profile);
        for target in [
            String::new(),
            "/a".repeat(5_000),
            "/a".repeat(33),
            format!("/{}", "a".repeat(257)),
            format!("/{}#", "a".repeat(8_192)),
            format!("/{}//", "a".repeat(257)),
            "/%40/b".to_owned(),
            "/A".to_owned(),
            "/@/B".to_owned(),
        ] {
            for token in [None, Some(Token::user("")), Some(Token::user("s"))] {
                check(&engine, "GET", &target, token);
            }
        }
    }
    let states = |target: &str| {
        let engine = engine("strict");
        let request = Request { method: b"GET", target: target.as_bytes(), token: None, allow_bonus_orbs_use: false };
        let rules = target_rules(&engine, target.as_bytes(), &engine.decide(&request));
        let passed = |rule: &orbgate_analysis::TargetRule| rule.state == RuleState::Pass;
        rules.iter().filter(|rule| passed(rule)).count()
    };
    // Only the method; all rules but those that read the policy; the same without the limits.
    assert_eq!(states(""), 1);
    assert_eq!(states("/a"), 11);
    assert_eq!(states(&format!("/{}", "a".repeat(257))), 10);
}
