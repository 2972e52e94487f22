//! Lint: each code finds what its fixture shows, and enumerating paths finds no other overlap.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::support::expected::Expected;
use orbgate::{Engine, Policy, Reason};
use orbgate_analysis::{Code, Findings, Level, Levels, lint, route_of};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn findings_of(text: &str) -> Findings {
    let policy = Policy::from_yaml(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    lint(&policy, text)
}

/// The lines of what was found and is not suppressed.
fn lines(text: &str) -> Vec<String> {
    let findings = findings_of(text);
    assert!(findings.complete);
    let open = findings.list.iter().filter(|finding| finding.suppressed.is_none());
    open.map(ToString::to_string).collect()
}

/// A page of the repository; the archive of the published package has none.
fn of_the_repository(path: &str) -> Option<PathBuf> {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let file = package.join("../..").join(path);
    if !file.exists() && package.join("Cargo.toml.orig").exists() {
        eprintln!("skipped: {path} is not part of the package's archive");
        return None;
    }
    Some(file)
}

/// A section of `policy/lint.md`.
struct Example<'p> {
    code: &'p str,
    failing: &'p str,
    findings: &'p str,
    passing: &'p str,
}

fn examples(page: &str) -> impl Iterator<Item = Example<'_>> {
    page.split("\n## ").skip(1).map(|section| {
        let (code, rest) = section.split_once("\n\n```yaml\n").unwrap();
        let (failing, rest) = rest.split_once("```\n\n```text\n").unwrap();
        let (findings, rest) = rest.split_once("```\n\n```yaml\n").unwrap();
        let (passing, rest) = rest.split_once("```\n").unwrap();
        assert_eq!(rest.trim(), "", "after the policies of {code}");
        Example { code, failing, findings, passing }
    })
}

/// Each code has a policy with exactly its findings and one without any, and a section of the page. `ORBGATE_UPDATE=1`
/// rewrites the findings.
#[test]
fn every_code_has_examples_and_a_section() {
    let (Some(file), Some(page)) = (of_the_repository("policy/lint.md"), of_the_repository("docs/lint.md")) else {
        return;
    };
    let page = fs::read_to_string(page).unwrap();
    let (_, codes) = page.split_once("\n## Codes\n").unwrap();
    let sections = codes.lines().filter_map(|line| line.strip_prefix("### `"));
    assert!(sections.eq(Code::ALL.map(|code| format!("{code}`"))));
    let before = fs::read_to_string(&file).unwrap();
    assert!(examples(&before).map(|example| example.code).eq(Code::ALL.map(Code::as_str)));
    let mut now = before.clone();
    for example in examples(&before) {
        let code = example.code;
        let findings = lines(example.failing);
        assert!(!findings.is_empty(), "{code}");
        let own = format!("[{code}]: ");
        assert!(findings.iter().all(|line| line.contains(&own)), "{code}: {findings:#?}");
        assert_eq!(lines(example.passing), [""; 0], "{code}");
        let [old, new] = [example.findings, &(findings.join("\n") + "\n")]
            .map(|findings| format!("{}```\n\n```text\n{findings}```\n", example.failing));
        now = now.replacen(&old, &new, 1);
    }
    if std::env::var_os("ORBGATE_UPDATE").is_some() {
        fs::write(&file, &now).unwrap();
    } else {
        assert_eq!(before, now);
    }
}

/// Codes are for tools and comments: this list only ever grows.
#[test]
fn codes_are_stable() {
    let now = Code::ALL.map(|code| (code.as_str(), code.level().as_str()));
    let stable = [
        ("overlap", "warning"),
        ("shadowed_route", "warning"),
        ("inference_elsewhere", "error"),
        ("unstated_get", "warning"),
        ("unstated_amount", "note"),
        ("similar_scopes", "warning"),
        ("case_or_plural", "warning"),
        ("colon_literal", "warning"),
        ("foreign_template", "warning"),
        ("repeated_base_path", "warning"),
        ("similar_literals", "warning"),
        ("unknown_method", "warning"),
        ("scope_without_routes", "note"),
        ("no_permits", "note"),
        ("repeated_requirement", "note"),
        ("no_end_marker", "note"),
        ("bad_suppression", "error"),
        ("unused_suppression", "warning"),
    ];
    assert_eq!(now, stable);
    assert!(Level::Note < Level::Warning && Level::Warning < Level::Error);
}

#[test]
fn a_parameter_of_another_format_is_named_where_it_is() {
    let text = "orbgate: 1\napis:\n  shop:\n    base_path: /:tenant/v1\n    scopes:\n      read:items:\n        \
                permits: x\n        orbs: false\n        routes:\n          - GET /items/:id/{part}/:9/a:b/:/x\n          \
                - GET /items\n...\n";
    let mut expected = Expected::default();
    expected.add(text, lines(text));
    expected.keep(env!("CARGO_MANIFEST_DIR"), "lint: parameters of another format");
}

/// One scope with this name next to `read:files`.
fn scopes(name: &str) -> Vec<String> {
    let text = format!(
        "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      read:files: {{ permits: x, orbs: false, routes: [GET /a] }}\n      \
         '{name}': {{ permits: x, orbs: false, routes: [GET /b] }}\n...\n"
    );
    lines(&text)
}

#[test]
fn names_are_compared_as_people_read_them() {
    for (name, code) in [
        ("read:file", Some("case_or_plural")),
        ("read:Files", Some("case_or_plural")),
        ("READ:FILE", Some("case_or_plural")),
        ("reads:files", Some("case_or_plural")),
        ("read:fils", Some("similar_scopes")),
        ("read:fiels", Some("similar_scopes")),
        ("read:filess", Some("similar_scopes")),
        ("raed:files", Some("similar_scopes")),
        ("lead:files", Some("similar_scopes")),
        ("read-files", Some("similar_scopes")),
        ("write:files", None),
        ("read:files2", None),
        ("read:fi", None),
        ("read:inference", Some("inference_elsewhere")),
        ("inference:files", None),
        ("read:inference:files", None),
        (":inference", None),
    ] {
        let lines = scopes(name);
        let codes: Vec<_> = lines.iter().map(|line| line.split(['[', ']']).nth(1).unwrap()).collect();
        assert_eq!(codes, code.into_iter().collect::<Vec<_>>(), "{name}: {lines:?}");
    }
}

#[test]
fn hostile_names_take_no_time() {
    // In seconds, for this many scopes.
    let time = |scopes: usize| {
        let mut text = "orbgate: 1\napis:\n  a:\n    scopes:\n".to_owned();
        for number in 0..scopes {
            text.push_str(&format!("      'read:{}{number}': {{ permits: x, routes: [] }}\n", "x".repeat(number % 60)));
        }
        text.push_str(&format!("      '{}': {{ permits: x, routes: [] }}\n...\n", "y".repeat(1_000)));
        let begun = std::time::Instant::now();
        let findings = findings_of(&text);
        assert!(!findings.complete, "more than 1,000 scopes have no route");
        begun.elapsed().as_secs_f64()
    };
    // Four times as many take four times as long, or sixteen times if each is compared with all others. One of five pairs shows
    // it, because other programs run, too.
    let mut ratios = (0..5).map(|_| time(20_000) / time(5_000));
    assert!(ratios.any(|ratio| ratio < 8.0));
}

#[test]
fn a_suppression_says_what_and_why() {
    let policy = |comment: &str, above: &str| {
        format!(
            "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        permits: x\n        orbs: true\n        routes:\n\
             {above}          - GET /x{comment}\n...\n"
        )
    };
    let open = lines(&policy("", ""));
    let mut expected = Expected::default();
    expected.add("", &open);
    for text in [
        policy(" # orbgate-lint: allow unstated_get: metered elsewhere", ""),
        policy("", "          # orbgate-lint: allow unstated_get: metered elsewhere\n"),
        policy("", "# orbgate-lint: allow unstated_get: metered elsewhere\n\n          # more\n"),
        format!("# orbgate-lint: allow-file unstated_get: metered elsewhere\n{}", policy("", "")),
    ] {
        let findings = findings_of(&text);
        assert_eq!(findings.list.len(), 1, "{:?}", findings.list);
        assert_eq!(findings.list[0].suppressed.as_deref(), Some("metered elsewhere"), "{text}");
    }
    for comment in [
        "allow unstated_get",
        "allow unstated_get: ",
        "allow unstatd_get: x",
        "allow bad_suppression: x",
        "ignore",
        "deny unstated_get: x",
        "allow overlap: x",
    ] {
        let result = lines(&policy(&format!(" # orbgate-lint: {comment}"), ""));
        assert_eq!((result.len(), &result[..1]), (2, &open[..]), "{comment}");
        expected.add(comment, &result[1..]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "lint: suppressions");
    // It is about its own line alone.
    let elsewhere = policy("", "").replace("permits: x\n", "permits: x # orbgate-lint: allow unstated_get: x\n");
    assert_eq!(lines(&elsewhere).len(), 2);
}

/// Where the resource comes first, the action is no resource.
#[test]
fn no_other_scope_is_taken_for_one_of_inference() {
    let text = "orbgate: 1\napis:\n  talk:\n    token: user\n    organisation: deny\n    base_path: /talk\n    scopes:\n      \
                talk:read: { permits: x, orbs: false, routes: [GET /a] }\n      read:talk: { permits: x, orbs: false, routes: [GET /b] }\n  \
                shop:\n    base_path: /shop\n    scopes:\n      files:read: { permits: x, orbs: false, routes: [GET /a] }\n      \
                write:talk: { permits: x, orbs: false, routes: [GET /b] }\n...\n";
    assert_eq!(lines(text), [""; 0]);
}

#[test]
fn a_suppression_may_stand_behind_a_byte_order_mark() {
    let text = "# orbgate-lint: allow-file unstated_get: metered\norbgate: 1\napis: { a: { base_path: '', scopes: { s: { permits: x, orbs: true, routes: [GET /x] } } } }\n...\n";
    assert_eq!(lines(text), [""; 0]);
    assert_eq!(lines(&format!("\u{feff}{text}")), [""; 0]);
    let unused = text.replace("orbs: true", "orbs: false");
    let findings = lines(&unused);
    assert!(findings[0].starts_with("1:1: warning[unused_suppression]"), "{findings:?}");
    assert_eq!(lines(&format!("\u{feff}{unused}")), findings);
}

/// The policy that is compiled in says in comments why it is as it is.
#[test]
fn the_shipped_policy_has_no_finding() {
    if let Some(file) = of_the_repository("policy/external.yaml") {
        assert_eq!(lines(&fs::read_to_string(file).unwrap()), [""; 0]);
    }
}

#[test]
fn a_code_that_the_file_allows_may_have_any_number_of_findings() {
    let policy = |comment: &str| {
        let scopes: String =
            (0..1_500).map(|number| format!("      s:{number}: {{ permits: x, routes: [] }}\n")).collect();
        format!("orbgate: 1\napis:\n  a:\n    scopes:\n{scopes}{comment}...\n")
    };
    let all = findings_of(&policy(""));
    assert_eq!((all.list.len(), all.complete), (1_000, false));
    let allowed = "# orbgate-lint: allow-file scope_without_routes: asked for by name\n";
    let allowed = findings_of(&policy(allowed));
    assert!(allowed.complete && allowed.list.iter().all(|finding| finding.suppressed.is_some()));
    // It is not about other codes, and may be about a finding that was not listed.
    let other = "# orbgate-lint: allow-file unstated_get: metered\n";
    assert!(!findings_of(&policy(other)).complete);
    let last = policy("").replace(
        "s:1499: { permits: x, routes: [] }\n",
        "s:1499: { permits: x, routes: [] } # orbgate-lint: allow scope_without_routes: by name\n",
    );
    let unused = |finding: &orbgate_analysis::Finding| finding.code == Code::UnusedSuppression;
    assert!(!findings_of(&last).list.iter().any(unused));
}

#[test]
fn a_text_is_no_comment() {
    const ALLOW: &str = "# orbgate-lint: allow-file unstated_get: smuggled";
    let policy = |permits: &str, behind: &str| {
        format!(
            "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        permits: {permits}\n        orbs: true\n        \
             routes:\n          - GET /x{behind}\n...\n"
        )
    };
    for permits in [
        format!("\"all of it {ALLOW}\""),
        format!("'all of it {ALLOW}'"),
        format!("\"all \\\" of it {ALLOW}\""),
        format!("|\n          all of it {ALLOW}"),
        format!("|\n          {ALLOW}\n          {ALLOW}\n"),
        format!(">-\n          all of it\n          {ALLOW}"),
        format!("\"all\r          of it {ALLOW}\""),
        format!("\"all of it\n          {ALLOW}\""),
    ] {
        let text = policy(&permits, "");
        let result = lines(&text);
        assert!(result.len() == 1 && result[0].contains("[unstated_get]"), "{text}{result:?}");
        // A comment after such a text counts.
        for text in [
            policy(&permits, &format!(" {ALLOW}")),
            policy(&permits, "").replace("        orbs:", &format!("        {ALLOW}\n        orbs:")),
        ] {
            assert_eq!(lines(&text), [""; 0], "{text}");
        }
    }
    // The comment after the start of a block is not part of the block.
    let header = policy(&format!("|- {ALLOW}\n          {ALLOW}"), "");
    assert_eq!(lines(&header), [""; 0]);
    let other = ALLOW.replace("unstated_get", "no_permits");
    let header = policy(&format!("| {other}\n          {ALLOW}"), "");
    let result = lines(&header);
    assert!(result.len() == 2 && result[1].contains("[unstated_get]"), "{result:?}");
    let quoted = policy(&format!("\"| {ALLOW}\""), "");
    assert_eq!(lines(&quoted).len(), 1);
    let behind = policy(&format!("\"{ALLOW}\" {ALLOW}"), "");
    assert_eq!(lines(&behind), [""; 0]);
    // An escaped mark is no mark, and does not hide a comment.
    let escaped = policy(&format!("\"\\x23 {}\"", &ALLOW[2..]), &format!(" {ALLOW}"));
    assert_eq!(lines(&escaped), [""; 0]);
    // Lines end as YAML ends them.
    let returns = policy("x", &format!(" {}", ALLOW.replace("-file", ""))).replace('\n', "\r");
    assert_eq!(lines(&returns), [""; 0]);
}

/// The method of a number: a letter and three letters.
fn method(first: char, number: usize) -> String {
    const LETTERS: &[u8; 26] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let letter = |power: u32| char::from(LETTERS[number / 26_usize.pow(power) % 26]);
    format!("{first}{}{}{}", letter(2), letter(1), letter(0))
}

/// Two templates, of which one hides every route of the other on one path.
#[test]
fn a_message_names_few_methods() {
    let policy = |count: usize| {
        let mut text = "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        permits: x\n        orbs: false\n        routes:\n"
            .to_owned();
        for number in 0..count {
            let [one, two] = ['A', 'B'].map(|first| method(first, number));
            text.push_str(&format!("          - {one} /x\n          - {two} /{{a}}\n"));
        }
        text + "...\n"
    };
    let lines = |text: &str| -> Vec<_> {
        let lines = lines(text).into_iter();
        lines.filter(|line| line.contains("[shadowed_route]")).collect()
    };
    let few = lines(&policy(5));
    assert!(few[0].contains(" AAAA, AAAB, AAAC, AAAD, AAAE alone "), "{few:?}");
    let more = lines(&policy(7));
    assert!(more[0].contains(" AAAA, AAAB, AAAC, AAAD, AAAE and 2 more "), "{more:?}");
    let many = findings_of(&policy(2_000));
    assert!(!many.complete);
    assert!(many.list.iter().all(|finding| finding.message.len() < 200));
}

#[test]
fn many_methods_of_templates_that_overlap_are_no_matter() {
    let mut text = "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        permits: x\n        orbs: false\n        routes:\n"
        .to_owned();
    for (template, method) in (0..100).flat_map(|at| (0..30).map(move |number| (at, method('M', number)))) {
        text.push_str(&format!("          - {method} /x{template}/{{a}}\n          - {method} /{{a}}/y{template}\n"));
    }
    text.push_str("...\n");
    assert!(lines(&text).iter().all(|line| line.contains("unknown_method")));
}

/// 250,000 pairs of templates overlap, and nothing is left out. Where each pair differs, the findings are too many to list.
#[test]
fn five_hundred_routes_that_all_overlap_are_looked_at() {
    let policy = |scope: &str, methods: [&str; 2]| {
        let list = |template: &str, method: &str| -> String {
            let route = |at: usize| format!("          - {method} {}\n", template.replace('#', &at.to_string()));
            (0..500).map(route).collect()
        };
        let [one, two] = [list("/x#/{a}", methods[0]), list("/{a}/y#", methods[1])];
        let start = "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        permits: x\n        orbs: false\n        routes:\n";
        format!("{start}{one}{scope}{two}...\n")
    };
    let other = "      t:\n        permits: x\n        orbs: false\n        routes:\n";
    let extra = "          - PUT /x7/y7\n";
    assert_eq!(lines(&policy("", ["GET", "GET"])), [""; 0]);
    let hidden = lines(&policy(extra, ["GET", "GET"]));
    assert_eq!(hidden.len(), 2, "{hidden:?}");
    for (scope, methods, code) in [(other, ["GET", "GET"], Code::Overlap), ("", ["GET", "PUT"], Code::ShadowedRoute)] {
        let findings = findings_of(&policy(scope, methods));
        assert_eq!((findings.list.len(), findings.cut), (1_000, vec![code]));
    }
    // Of the routes of one scope, one requires something else.
    let text = policy(other, ["GET", "PUT"]).replace("PUT /{a}/y7\n", "GET /{a}/y7\n");
    assert_eq!(overlaps(&text), 500);
}

fn overlaps(text: &str) -> usize {
    let list = findings_of(text).list.into_iter();
    list.filter(|finding| finding.code == Code::Overlap).count()
}

/// Scopes by orbs and routes, and how many pairs of routes overlap.
#[test]
fn overlaps_are_pairs_that_require_something_else() {
    for (scopes, count) in [
        // One scope, one charge.
        (&[("true", "'POST /x/{id}/run', POST /x/y/run")][..], 0),
        (&[("true", "'POST /x/{id}/run'"), ("true", "POST /x/y/run")], 1),
        // Neither template is the more general one.
        (&[("true", "'GET /{x}/b'"), ("false", "'GET /a/{y}'")], 1),
        // One scope, two amounts; the route's own amount is the scope's.
        (&[("5", "'POST /x/{id}', { route: POST /x/y, orbs: 7 }")], 1),
        (&[("5", "'POST /x/{id}', { route: POST /x/y, orbs: 5 }")], 0),
        // One scope, with and without another; twice the same alternatives.
        (&[("5", "'POST /x/{id}', { route: POST /x/y, and: s1 }"), ("5", "")], 1),
        (&[("5", "{ route: 'POST /x/{id}', or: [s1] }, { route: POST /x/y, or: [s1] }"), ("5", "")], 0),
        // Other methods and lengths. A parameter takes one segment that is not empty, and `/` has none.
        (&[("true", "'POST /{a}'"), ("false", "GET /x, POST /x/y, POST /")], 0),
    ] {
        let mut text = "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n".to_owned();
        for (at, (orbs, routes)) in scopes.iter().enumerate() {
            text.push_str(&format!("      s{at}: {{ permits: x, orbs: {orbs}, routes: [{routes}] }}\n"));
        }
        assert_eq!(overlaps(&text), count, "{text}");
    }
}

/// Of 900 million pairs of routes that overlap, all but one pair require the same: there is nothing to report that would end the search.
#[test]
fn routes_of_one_scope_overlap_without_taking_time() {
    let mut text =
        "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        orbs: false\n        routes:\n"
            .to_owned();
    for number in 0..30_000 {
        text.push_str(&format!("          - GET /a{number}/{{x}}/{{y}}\n          - GET /{{x}}/{{y}}/b{number}\n"));
    }
    text.push_str("      t:\n        orbs: true\n        routes: [GET /a7/b/c]\n");
    assert_eq!(overlaps(&text), 1);
}

const WORDS: [&str; 4] = ["a", "b", "A", "{}"];
const METHODS: [&str; 2] = ["GET", "PUT"];

/// A route of the random policies: method, segments, scope.
type Row = (&'static str, Vec<&'static str>, usize);

fn yaml(rows: &[Row]) -> String {
    let mut text = "orbgate: 1\napis:\n  one:\n    base_path: ''\n    scopes:\n".to_owned();
    for (scope, orbs) in [("first:one", "1"), ("other:two", "1"), ("third:six", "2")]
        .into_iter()
        .enumerate()
        .map(|(at, (name, orbs))| ((at, name), orbs))
    {
        text.push_str(&format!("      {}:\n        permits: x\n        orbs: {orbs}\n        routes:\n", scope.1));
        let mut none = true;
        for (method, segments, own) in rows {
            if *own == scope.0 {
                text.push_str(&format!("          - {method} {}\n", template(segments)));
                none = false;
            }
        }
        if none {
            text.truncate(text.len() - 1);
            text.push_str(" []\n");
        }
    }
    text + "...\n"
}

fn template(segments: &[&str]) -> String {
    let name = |(at, segment): (usize, &&str)| segment.replace("{}", &format!("{{p{at}}}"));
    let segments: Vec<_> = segments.iter().enumerate().map(name).collect();
    format!("/{}", segments.join("/"))
}

fn fits(segments: &[&str], path: &[&str]) -> bool {
    segments.len() == path.len()
        && segments.iter().zip(path).all(|(segment, value)| *segment == "{}" || segment == value)
}

/// Every path of up to three segments that can mean something different from the others.
fn paths() -> Vec<Vec<&'static str>> {
    let mut all = vec![vec![]];
    let mut longer: Vec<Vec<&str>> = vec![vec![]];
    for _ in 0..3 {
        longer =
            longer.iter().flat_map(|path| ["a", "b", "A", "q"].map(|value| [&path[..], &[value]].concat())).collect();
        all.extend(longer.clone());
    }
    all
}

/// What enumerating paths finds: pairs of routes that overlap, and routes that are hidden by a template.
fn oracle(engine: &Engine, rows: &[Row]) -> (BTreeSet<BTreeSet<String>>, BTreeSet<(String, String)>) {
    let (mut overlaps, mut shadowed) = (BTreeSet::new(), BTreeSet::new());
    let name = |row: &Row| format!("{} {}", row.0, template(&row.1));
    for path in paths() {
        let fitting: Vec<&Row> = rows.iter().filter(|row| fits(&row.1, &path)).collect();
        for one in &fitting {
            for two in &fitting {
                if one.0 == two.0 && one.2 != two.2 {
                    overlaps.insert(BTreeSet::from([name(one), name(two)]));
                }
            }
        }
        let target = format!("/{}", path.join("/"));
        for row in &fitting {
            let hidden = route_of(engine, row.0, &target).err();
            let hidden = hidden.filter(|decision| decision.reason() == Reason::MethodNotDeclared);
            shadowed.extend(hidden.map(|decision| (name(row), decision.route_name().unwrap().to_owned())));
        }
    }
    (overlaps, shadowed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn enumerating_paths_finds_the_same_overlaps(
        rows in vec((select(&METHODS[..]), vec(select(&WORDS[..]), 0..4), 0..3_usize), 0..9),
    ) {
        let mut valid: Vec<Row> = Vec::new();
        for row in rows {
            valid.push(row);
            // A route that conflicts with the others is left out.
            if Policy::from_yaml(&yaml(&valid)).is_err() {
                valid.pop();
            }
        }
        let findings = findings_of(&yaml(&valid));
        prop_assert!(findings.complete);
        let (mut overlaps, mut shadowed) = (BTreeSet::new(), BTreeSet::new());
        for finding in &findings.list {
            let quoted: Vec<_> = finding.message.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            let new = match finding.code {
                Code::Overlap => overlaps.insert(BTreeSet::from([quoted[0].clone(), quoted[1].clone()])),
                Code::ShadowedRoute => shadowed.insert((quoted[0].clone(), quoted[2].clone())),
                _ => continue,
            };
            prop_assert!(new, "twice: {}", finding);
        }
        prop_assert_eq!((overlaps, shadowed), oracle(&Engine::new(&Policy::from_yaml(&yaml(&valid)).unwrap()), &valid));
    }
}

/// A literal with a method of the parameter's template is one of its values. With other methods only, it is an action.
#[test]
fn a_hidden_route_is_a_warning_only_if_the_templates_share_a_method() {
    let policy = |routes: &[&str]| {
        let routes: String = routes.iter().map(|route| format!("          - {route}\n")).collect();
        format!(
            "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        permits: x\n        orbs: false\n        routes:\n{routes}...\n"
        )
    };
    let levels = |routes: &[&str]| {
        let findings =
            findings_of(&policy(routes)).list.into_iter().filter(|finding| finding.code == Code::ShadowedRoute);
        findings.map(|finding| (finding.level.as_str(), finding.location.line)).collect::<Vec<_>>()
    };
    assert_eq!(levels(&["GET /i/{id}", "POST /i/search"]), [("note", 10)]);
    assert_eq!(levels(&["GET /i/{id}", "PUT /i/{id}", "GET /i/top"]), [("warning", 11)]);
    assert_eq!(
        levels(&["GET /i/{id}", "PUT /i/{id}", "GET /i/top", "POST /i/search"]),
        [("note", 10), ("note", 11), ("warning", 11)]
    );
    assert_eq!(levels(&["GET /i/{id}", "GET /i/top"]), []);
    // A level that is set counts for both.
    let set: Levels = [Levels::read("shadowed_route", "error").unwrap()].into_iter().collect();
    for finding in findings_of(&policy(&["GET /i/{id}", "POST /i/search"])).list {
        assert_eq!((finding.level, set.of_finding(&finding)), (Level::Note, Some(Level::Error)));
        assert_eq!(Levels::default().of_finding(&finding), Some(Level::Note));
    }
}
