//! A hostile policy file costs no more than an honest one, and is refused.

use core::fmt::Write as _;
use core::time::Duration;

use orbgate::policy::{Diagnostic, Policy};

use crate::support::expected::Expected;

fn keep(name: &str, diagnostics: &[Diagnostic]) {
    let mut expected = Expected::default();
    expected.add("diagnostics", messages(diagnostics));
    expected.keep(env!("CARGO_MANIFEST_DIR"), name);
}

#[test]
fn a_file_over_8_mib_is_refused_before_any_other_work() {
    let limit = 8 * 1024 * 1024;
    let diagnostics = refused(&"&a [".repeat(4 * 1024 * 1024));
    let mut expected = Expected::default();
    expected.add("anchors", messages(&diagnostics));
    let diagnostics = refused(&"#".repeat(limit + 1));
    expected.add("a comment", messages(&diagnostics));
    expected.keep(env!("CARGO_MANIFEST_DIR"), "limits: 8 MiB");
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
        let diagnostics = refused(&text);
        assert!(diagnostics.len() <= 1_001, "{count} aliases give {} lines", diagnostics.len());
        assert!(diagnostics.iter().any(|diagnostic| diagnostic.message.starts_with("an alias")));
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
    for text in ["[".repeat(1_000_000), "- ".repeat(1_000_000), "? ".repeat(1_000_000), "{a: ".repeat(1_000_000)] {
        let diagnostics = refused(&text);
        let last = diagnostics.last().unwrap();
        assert!(last.message.starts_with("nested"), "{}", last.message);
    }
    let diagnostics = refused(&format!("a: {}{}", "[".repeat(7), "]".repeat(7)));
    assert!(diagnostics.iter().all(|diagnostic| !diagnostic.message.starts_with("nested")));
    let diagnostics = refused(&format!("a: {}{}", "[".repeat(8), "]".repeat(8)));
    keep("limits: depth", &diagnostics);
}

#[test]
fn the_report_is_limited_and_says_so() {
    let mut text = String::from("orbgate: 1\napis: {}\n");
    for number in 0..5_000 {
        writeln!(text, "key-{number}: x").unwrap();
    }
    let diagnostics = refused(&text);
    assert_eq!(diagnostics.len(), 1_001);
    keep("limits: report", &diagnostics[1_000..]);
}

#[test]
fn routes_are_limited_to_200_000() {
    let mut text = policy_with_routes(200_000);
    assert_eq!(Policy::from_yaml(&text).unwrap().apis()[0].scopes()[0].routes().len(), 200_000);
    text.push_str("          - GET /one-more\n          - GET /and-another\n");
    let diagnostics = Policy::from_yaml(&text).unwrap_err();
    keep("limits: routes", diagnostics.diagnostics());
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
    let diagnostics = Policy::from_yaml(&text).unwrap_err();
    let [diagnostic] = diagnostics.diagnostics() else {
        panic!("{diagnostics}");
    };
    let location = format!("{}:13: ", 9 + most);
    assert!(diagnostic.to_string().starts_with(&location), "{diagnostic}");
    assert!(diagnostic.message.contains("64 MiB"), "{diagnostic}");
}

#[test]
fn scopes_are_limited_to_65_535() {
    let mut text = String::from("orbgate: 1\napis:\n  external:\n    scopes:\n");
    for number in 0..65_535 {
        writeln!(text, "      scope-{number}: {{ routes: [] }}").unwrap();
    }
    assert!(Policy::from_yaml(&text).is_ok());
    text.push_str("      one-more: { routes: [] }\n");
    let diagnostics = Policy::from_yaml(&text).unwrap_err();
    keep("limits: scopes", diagnostics.diagnostics());
}

/// A name that stands at many positions is told from itself by the position.
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

fn policy_with_routes(count: usize) -> String {
    let mut text = String::from(
        "orbgate: 1\napis:\n  external:\n    base_path: /api\n    scopes:\n      read:a:\n        orbs: false\n        routes:\n",
    );
    for number in 0..count {
        writeln!(text, "          - GET /route/{number}/{{id}}").unwrap();
    }
    text
}

fn refused(text: &str) -> Vec<Diagnostic> {
    Policy::from_yaml(text).unwrap_err().diagnostics().to_vec()
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

fn messages(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(ToString::to_string).collect()
}

/// A short file must not take gigabytes: every route repeats its base path.
#[test]
fn a_long_base_path_before_many_routes_is_refused() {
    let base = format!("/{}", "b".repeat(255)).repeat(30);
    let routes: String = (0..9_000).map(|n| format!("          - GET /r{n}\n")).collect();
    let yaml = format!(
        "orbgate: 1\napis:\n  all:\n    base_path: {base}\n    scopes:\n      use:all:\n        orbs: false\n        routes:\n{routes}"
    );
    let error = Policy::from_yaml(&yaml).unwrap_err();
    assert_eq!(error.diagnostics().len(), 1, "{error}");
    assert!(error.to_string().contains("over 64 MiB"), "{error}");
}

/// A path is compared with each set of literal positions that templates of its length have.
#[test]
fn sets_of_literal_locations_are_limited_to_63_for_each_length() {
    let template = |length: u32, set: u32| {
        let segment = |location: u32| match set >> location & 1 {
            0 => "/w".to_owned(),
            _ => format!("/{{p{location}}}"),
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
    let diagnostics = Policy::from_yaml(&text).unwrap_err();
    keep("limits: mixes", diagnostics.diagnostics());
}

/// The time that this thread has had a processor, which other programs don't change.
#[cfg(unix)]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// The time of day, where a thread's own isn't known.
#[cfg(not(unix))]
fn now() -> Duration {
    std::time::UNIX_EPOCH.elapsed().unwrap()
}

/// Fails where 16 times as much at once takes more than four times as long as 16 times one after the other. Work that
/// is quadratic takes 16 times as long. Both take about the same time, so that a busy machine is as hard on one as on
/// the other, and the least of several runs counts.
pub(crate) fn check_linear(what: &str, size: usize, prepare: impl Fn(usize) -> Box<dyn Fn()>) {
    let (small, large) = (prepare(size), prepare(size * 16));
    let time = |work: &dyn Fn(), times: usize| {
        let start = now();
        (0..times).for_each(|_| work());
        now() - start
    };
    let mut least = [Duration::MAX; 2];
    for _ in 0..10 {
        least[0] = least[0].min(time(&small, 16));
        least[1] = least[1].min(time(&large, 1));
        if least[1] <= least[0] * 4 {
            return;
        }
    }
    let [small, large] = least;
    panic!("{what}: 16 times {size} took {small:?}, and 16 times as much took {large:?}");
}

#[test]
#[should_panic(expected = "16 times as much")]
fn quadratic_work_is_noticed() {
    check_linear("pairs", 500, |size| {
        Box::new(move || {
            for pair in 0..size * size {
                core::hint::black_box(pair);
            }
        })
    });
}

#[test]
fn a_requirement_has_at_most_128_alternatives_and_256_names() {
    // The owner's alternative has two names, like all others.
    let policy = |or: &[String], of_route: bool| {
        let keys = format!("and: b0, or: [{}]", or.join(", "));
        let (of_scope, route) = match of_route {
            true => (String::new(), format!("{{ route: GET /a, {keys} }}")),
            false => (format!("{keys}, "), "GET /a".to_owned()),
        };
        let names =
            (0..=200).flat_map(|at| ["a", "b", "c"].map(|name| format!("      {name}{at}: {{ routes: [] }}\n")));
        format!(
            "orbgate: 1\napis:\n  all:\n    base_path: ''\n    scopes:\n      own: {{ {of_scope}orbs: false, \
             routes: [{route}] }}\n{}",
            names.collect::<String>()
        )
    };
    let mut expected = Expected::default();
    let pairs: Vec<_> = (1..=127).map(|at| format!("a{at} b{at}")).collect();
    for of_route in [false, true] {
        let accepted = Policy::from_yaml(&policy(&pairs, of_route)).unwrap();
        let rule = accepted.apis()[0].scopes()[0].routes()[0].requirement().unwrap();
        assert_eq!(rule.alternatives().len(), 128);
        assert_eq!(rule.alternatives().flat_map(|scopes| scopes.split(' ')).count(), 256);
        let one_more = [&pairs[..], &["a200".to_owned()]].concat();
        let single: Vec<_> = (1..=128).map(|at| format!("a{at}")).collect();
        let long = [&pairs[1..], &["a1 b1 c1".to_owned()]].concat();
        for (case, or) in [("129 and 257", &one_more), ("129", &single), ("257 names", &long)] {
            let diagnostics = refused(&policy(or, of_route));
            expected.add(&format!("{case}, of a route: {of_route}"), messages(&diagnostics));
        }
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "limits: requirements");
    let nested = refused(&policy(&["[a1]".to_owned()], true));
    assert!(nested.iter().any(|diagnostic| diagnostic.message.starts_with("nested")), "{nested:?}");
}
