//! A hostile policy file costs no more than an honest one, and is refused.

use core::fmt::Write as _;

use crate::growth::check_linear;
use orbgate::policy::{Fault, Policy};

#[test]
fn a_file_over_8_mib_is_refused_before_any_other_work() {
    let limit = 8 * 1024 * 1024;
    let faults = refused(&"&a [".repeat(4 * 1024 * 1024));
    assert_eq!(
        messages(&faults),
        ["1:1: the file has more than 8388608 bytes, which is the limit"]
    );
    let faults = refused(&"#".repeat(limit + 1));
    assert_eq!(
        messages(&faults),
        ["1:1: the file has more than 8388608 bytes, which is the limit"]
    );
}

#[test]
fn a_file_of_exactly_8_mib_is_read() {
    let policy = "orbgate: 1\napis: {}\n#";
    let text = format!("{policy}{}", "x".repeat(8 * 1024 * 1024 - policy.len()));
    assert!(Policy::from_yaml(&text).is_ok());
}

#[test]
fn aliases_are_never_expanded() {
    for count in [2, 100, 10_000, 250_000] {
        let text = format!("a: &a [x]\nb: [{}*a]\n", "*a, ".repeat(count));
        let faults = refused(&text);
        assert!(
            faults.len() <= 1_001,
            "{count} aliases give {} lines",
            faults.len()
        );
        assert!(
            faults
                .iter()
                .any(|fault| fault.message.starts_with("an alias is not allowed"))
        );
    }
    let mut doubling = String::from("a0: &a0 [x, x]\n");
    for level in 1..5_000 {
        let below = level - 1;
        writeln!(doubling, "a{level}: &a{level} [*a{below}, *a{below}]").unwrap();
    }
    doubling.push_str(&format!("# {}\n", "x".repeat(1024 * 1024)));
    assert!(refused(&doubling).len() <= 1_001);
}

#[test]
fn depth_is_limited() {
    for text in [
        "[".repeat(1_000_000),
        "- ".repeat(1_000_000),
        "? ".repeat(1_000_000),
        "{a: ".repeat(1_000_000),
    ] {
        let faults = refused(&text);
        assert_eq!(
            faults.last().unwrap().message,
            "nested too deeply: 8 levels are the limit"
        );
    }
    let faults = refused(&format!("a: {}{}", "[".repeat(7), "]".repeat(7)));
    assert!(
        faults
            .iter()
            .all(|fault| !fault.message.starts_with("nested"))
    );
    let faults = refused(&format!("a: {}{}", "[".repeat(8), "]".repeat(8)));
    assert_eq!(
        messages(&faults),
        ["1:11: nested too deeply: 8 levels are the limit"]
    );
}

#[test]
fn the_report_is_limited_and_says_so() {
    let mut text = String::from("orbgate: 1\napis: {}\n");
    for number in 0..5_000 {
        writeln!(text, "key-{number}: x").unwrap();
    }
    let faults = refused(&text);
    assert_eq!(faults.len(), 1_001);
    assert_eq!(
        faults.last().unwrap().message,
        "1,000 lines are the limit: there may be more to report"
    );
}

#[test]
fn routes_are_limited_to_200_000() {
    let mut text = policy_with_routes(200_000);
    assert_eq!(
        Policy::from_yaml(&text).unwrap().apis()[0].scopes()[0]
            .routes()
            .len(),
        200_000
    );
    text.push_str("          - GET /one-more\n          - GET /and-another\n");
    let faults = Policy::from_yaml(&text).unwrap_err();
    assert_eq!(
        messages(faults.faults()),
        ["200009:13: too many routes: 200000 are the limit"]
    );
}

/// A short file with a long base path must not take gigabytes.
#[test]
fn the_full_paths_are_limited_to_64_mib_together() {
    let base_path = format!("/{}", "a".repeat(250)).repeat(31);
    let each = base_path.len() + "/00000".len();
    let most = (64 << 20) / each;
    let mut text = format!(
        "orbgate: 1\napis:\n  external:\n    base_path: {base_path}\n    scopes:\n      read:all:\n        \
         orbs: false\n        routes:\n"
    );
    for number in 0..most {
        writeln!(text, "          - GET /{number:05}").unwrap();
    }
    assert!(Policy::from_yaml(&text).is_ok());
    text.push_str("          - GET /one-more\n");
    let faults = Policy::from_yaml(&text).unwrap_err();
    let place = format!("{}:13", 9 + most);
    let message = "the full paths up to here, each with its base path, have over 64 MiB together";
    assert_eq!(messages(faults.faults()), [format!("{place}: {message}")]);
}

#[test]
fn scopes_are_limited_to_65_535() {
    let mut text = String::from("orbgate: 1\napis:\n  external:\n    scopes:\n");
    for number in 0..65_535 {
        writeln!(text, "      scope-{number}: {{ routes: [] }}").unwrap();
    }
    assert!(Policy::from_yaml(&text).is_ok());
    text.push_str("      one-more: { routes: [] }\n");
    let faults = Policy::from_yaml(&text).unwrap_err();
    assert_eq!(
        messages(faults.faults()),
        ["65540:7: too many scopes: 65535 are the limit"]
    );
}

#[test]
fn overlaps_of_hostile_routes_are_bounded() {
    let policy = |count: usize| {
        let mut text = policy_with_routes(0);
        for number in 0..count {
            writeln!(text, "          - GET /a{number}/{{x}}/{{y}}").unwrap();
        }
        text.push_str("      write:a:\n        orbs: true\n        routes:\n");
        for number in 0..count {
            writeln!(text, "          - GET /{{x}}/{{y}}/b{number}").unwrap();
        }
        Policy::from_yaml(&text).unwrap()
    };
    assert_eq!(policy(40_000).overlaps().len(), 1_001);
    check_linear("overlaps", 5_000, |count| {
        let policy = policy(count);
        Box::new(move || drop(policy.overlaps()))
    });
}

/// A name that stands at many places is told from itself by the place.
#[test]
fn a_name_below_many_others_is_read_in_proportion() {
    check_linear("a name below many", 1_000, |count| {
        let mut text = policy_with_routes(0);
        for number in 0..count {
            writeln!(text, "          - GET /a{number}/name").unwrap();
        }
        Box::new(move || drop(Policy::from_yaml(&text).unwrap()))
    });
}

/// Routes of one scope overlap without harm: there is nothing to report that would end the search.
#[test]
fn routes_of_one_scope_overlap_without_taking_time() {
    let mut text = policy_with_routes(0);
    for number in 0..30_000 {
        writeln!(text, "          - GET /a{number}/{{x}}/{{y}}").unwrap();
    }
    for number in 0..30_000 {
        writeln!(text, "          - GET /{{x}}/{{y}}/b{number}").unwrap();
    }
    // Of 900 million pairs one requires something else.
    text.push_str("      write:a:\n        orbs: true\n        routes: [GET /a7/b/c]\n");
    let policy = Policy::from_yaml(&text).unwrap();
    let overlaps = policy.overlapping();
    assert_eq!((overlaps.pairs.len(), overlaps.complete), (1, true));
    assert_eq!(policy.overlaps().len(), 1);
}

fn policy_with_routes(count: usize) -> String {
    let mut text = String::from(
        "orbgate: 1\napis:\n  external:\n    base_path: /api\n    scopes:\n      read:a:\n        orbs: false\n        routes:\n",
    );
    for number in 0..count {
        writeln!(text, "          - GET /route/{number}/{{id}}").unwrap();
    }
    text
}

fn refused(text: &str) -> Vec<Fault> {
    Policy::from_yaml(text).unwrap_err().faults().to_vec()
}

/// Refusing more takes more time in proportion, whatever it is that there is more of.
#[test]
fn refusing_takes_time_in_proportion() {
    let routes = "apis: {a: {base_path: '', scopes: {s: {orbs: 1, routes: [GET /a";
    let patterns: [(&str, &str, &str); 14] = [
        ("a: &a [x]\nb: [", "*a, ", "]"),
        ("a: ", "[", ""),
        ("", "- ", ""),
        ("", "? ", ""),
        ("", "{a: ", ""),
        ("", "a: b\n", ""),
        ("a: [", "abc, ", "]"),
        ("a: '", "x\n ", ""),
        ("a: \"", "\\n", ""),
        ("a: [GET /", "{x", ""),
        ("a: ", "x\n ", "[: b"),
        ("orbgate: 1\n", routes, "x"),
        ("orbgate: 1\n# ", "\u{202e}é", ""),
        ("orbgate: 1\n", "# x\n...\n", ""),
    ];
    for (start, unit, end) in patterns {
        check_linear(&format!("{start:?} {unit:?} {end:?}"), 64_000, |bytes| {
            let text = format!("{start}{}{end}", unit.repeat(bytes / unit.len()));
            Box::new(move || drop(refused(&text)))
        });
    }
    let numbered: [fn(usize) -> String; 5] = [
        |n| format!("key-{n}: x\n"),
        |n| format!("orbgate{n}:\n"),
        |n| format!("a{n}: &a{n} [x, x]\n"),
        |n| format!("a{}: b\n", n / 2),
        |n| format!("{n}: [a, {{b: c}}]\n"),
    ];
    for line in numbered {
        check_linear(&line(7), 4_000, |lines| {
            let text: String = (0..lines).map(line).collect();
            Box::new(move || drop(refused(&text)))
        });
    }
}

fn messages(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

/// A short file must not take gigabytes: every route repeats its base path.
#[test]
fn a_long_base_path_before_many_routes_is_refused() {
    let base = format!("/{}", "b".repeat(255)).repeat(30);
    let routes: String = (0..9_000)
        .map(|n| format!("          - GET /r{n}\n"))
        .collect();
    let yaml = format!(
        "orbgate: 1\napis:\n  all:\n    base_path: {base}\n    scopes:\n      use:all:\n        orbs: false\n        routes:\n{routes}"
    );
    let error = Policy::from_yaml(&yaml).unwrap_err();
    assert_eq!(error.faults().len(), 1, "{error}");
    assert!(error.to_string().contains("over 64 MiB"), "{error}");
}

/// A path is compared with each set of literal places that templates of its length have.
#[test]
fn sets_of_literal_places_are_limited_to_63_for_each_length() {
    let template = |length: u32, set: u32| {
        let segment = |place: u32| match set >> place & 1 {
            0 => "/w".to_owned(),
            _ => format!("/{{p{place}}}"),
        };
        (0..length).map(segment).collect::<String>()
    };
    let mut text = policy_with_routes(0);
    for length in [6, 16, 31] {
        for set in 0..63 {
            writeln!(text, "          - GET {}", template(length, set)).unwrap();
        }
    }
    writeln!(text, "          - POST {}", template(16, 62)).unwrap();
    assert!(Policy::from_yaml(&text).is_ok());
    for set in 63..70 {
        writeln!(text, "          - GET {}", template(16, set)).unwrap();
    }
    let faults = Policy::from_yaml(&text).unwrap_err();
    let route = format!("GET /api{}", template(16, 63));
    assert_eq!(
        messages(faults.faults()),
        [format!(
            "199:13: route `{route}` mixes literals and parameters in one more way than the 63 that paths of 17 segments may have"
        )]
    );
}
