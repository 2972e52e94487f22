//! The codes in every language and on the pages.

mod family;

pub(super) use self::family::families;

use self::family::{Code, Family, go_name};
use super::committed::compare_section;
use super::layout::constants;

#[test]
fn every_language_has_the_codes() {
    let [status, effect, reason, detail, kind] = &families();
    // Java finds a code by its place.
    for family in [reason, detail] {
        assert!(
            family
                .codes
                .iter()
                .zip(1..)
                .all(|(code, place)| code.number == place)
        );
    }
    let cpp = [status, reason, detail, kind].map(Family::cpp).join("\n");
    compare_section("bindings/cpp/include/orbgate.hpp", "codes", &cpp);

    let go = "bindings/go/orbgate/codes.go";
    for (name, family) in [
        ("kinds", kind),
        ("reasons", reason),
        ("details", detail),
        ("statuses", status),
    ] {
        compare_section(go, name, &family.go());
    }
    let (mut lines, numbers_of_go) = (String::new(), numbers(&[status, reason, detail, kind]));
    let numbers_of_go = numbers_of_go.into_iter().map(|(name, number)| {
        let (first, rest) = name.split_once('_').unwrap();
        let name = first.to_lowercase() + &go_name(&rest.to_lowercase());
        (name, number)
    });
    let numbers_of_go: Vec<_> = numbers_of_go.collect();
    // As gofmt aligns them.
    let width = numbers_of_go
        .iter()
        .map(|(name, _)| name.len())
        .max()
        .unwrap();
    for (name, number) in numbers_of_go {
        lines.push_str(&format!("\t{name:<width$} = {number}\n"));
    }
    compare_section(go, "numbers", &lines);

    for (name, family) in [("Reason", reason), ("Detail", detail), ("TokenKind", kind)] {
        let java = format!("bindings/java/src/main/java/io/github/orbgate/{name}.java");
        compare_section(&java, "codes", &family.java());
    }
    for family in [effect, reason, detail, kind] {
        let terms = "bindings/python/python/orbgate/_terms.py";
        compare_section(terms, family.name, &family.python());
    }

    let denies = |code: &&Code| code.status != Some(0);
    let mut statuses: Vec<_> = reason
        .codes
        .iter()
        .filter(denies)
        .filter_map(|code| code.status)
        .collect();
    statuses.sort_unstable();
    statuses.dedup();
    let statuses: Vec<_> = statuses.iter().map(u16::to_string).collect();
    let node = [
        kind.node(
            "TokenKind",
            "Whose token it is: an unknown kind is denied as `invalid_token`.",
            |_| true,
        ),
        reason.node("AllowReason", "Why a call is allowed.", |code| {
            !denies(code)
        }),
        reason.node("DenyReason", "Why a call is denied.", denies),
        detail.node("Detail", "Which rule a `malformed_request` breaks.", |_| {
            true
        }),
        format!(
            "/** The HTTP status of a denial. */\nexport type DenyStatus = {};\n",
            statuses.join(" | ")
        ),
    ];
    compare_section("bindings/node/index.d.ts", "codes", &node.concat());
    let numbers = numbers(&[reason, detail]).into_iter();
    let numbers: String = numbers
        .map(|(name, number)| format!("  {name}: {number},\n"))
        .collect();
    compare_section("bindings/node/lib/layout.js", "numbers", &numbers);
}

#[test]
fn pages_have_the_reasons() {
    let [_, _, reason, ..] = &families();
    let (mut all, mut denials) = (String::new(), String::new());
    for Code {
        word,
        sentence,
        status,
        ..
    } in &reason.codes
    {
        match status {
            Some(0) => all.push_str(&format!("| `{word}` | allow | – | {sentence} |\n")),
            Some(status) => {
                let header = match status {
                    401 | 403 => "`WWW-Authenticate`",
                    405 => "`Allow`: the methods that the policy declares",
                    _ => "",
                };
                all.push_str(&format!("| `{word}` | deny | {status} | {sentence} |\n"));
                denials.push_str(&format!("| `{word}` | {status} | {header} |\n"));
            }
            None => panic!("{word} is a reason"),
        }
    }
    let all = format!("| reason | decision | status | when |\n|---|---|---|---|\n{all}");
    compare_section("README.md", "reasons", &all);
    let denials = format!("| reason | status | header |\n|---|---|---|\n{denials}");
    compare_section("crates/orbgate-tower/README.md", "denials", &denials);
}

/// The constants of the C header without their prefix, but for those of some families.
fn numbers(without: &[&Family]) -> Vec<(String, String)> {
    let constants = constants().into_iter();
    let is_left = |name: &str| {
        without
            .iter()
            .all(|family| !name.starts_with(&format!("{}_", family.upper())))
    };
    constants.filter(|(name, _)| is_left(name)).collect()
}
