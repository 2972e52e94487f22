//! What it takes to read a policy, and to refuse one: memory in proportion to the text, whatever is in it.

use core::fmt::Write as _;

use crate::support::expected::Expected;
use allocation_counter::measure;
use orbgate::Policy;

const MIB: usize = 1024 * 1024;

/// Texts that are no policy take this many times their size …
const REFUSED: usize = 20;
/// … and policies, valid or not, this many times theirs: each is there three times, as the file says it, as it is
/// understood, and as a tree of its segments.
const READ: usize = 64;
/// Where that is little, this much: the parser may have to read so far to see whether a bracket starts a key.
const LEAST: usize = 48 * MIB;

const POLICY: &str = "orbgate: 1\napis:\n a:\n  base_path: ''\n  scopes:\n   s:\n    orbs: 1\n    routes:\n";

fn peak(text: &str) -> (usize, Result<Policy, String>) {
    let mut read = None;
    let allocations = measure(|| read = Some(Policy::from_yaml(text)));
    let read = read.unwrap().map_err(|error| error.to_string());
    (usize::try_from(allocations.bytes_max).unwrap(), read)
}

#[test]
fn a_refused_text_takes_a_small_multiple_of_its_size() {
    let patterns = [
        ("", "- \n", ""),
        ("", "- a\n", ""),
        ("a:\n", "- abc\n", ""),
        ("[", "a, ", "]"),
        ("[", "[],", "]"),
        ("[", "a:,", "]"),
        ("[", "[[[[[[]]]]]],", "]"),
        ("[", "[[[[[[a,", ""),
        ("{", "a,", "}"),
        ("{", "a: b, ", "}"),
        ("- [", "a, ", "]"),
        ("a: [", "x,", "]"),
        ("a: [", "x,", ""),
        ("a: [", "abc, ", "]"),
        ("a: [", "{},", "]"),
        ("a: [", "{a: {b: {c: d}}}, ", "]"),
        ("a: [[", "x,", "]]"),
        ("a: [", "&a x,", "]"),
        ("a: [", "*a, ", "]"),
        ("a: [", "\"\\n\",  ", "]"),
        ("a: [", "é, x", "]"),
        ("a: \"", "\\n", "\""),
        ("a: '", "x\n ", "'"),
        ("a: |\n", " x\n", ""),
        ("a: ", "x\n ", ""),
        ("# ", "x", ""),
        ("", "\u{1}", ""),
        ("", "\n", ""),
        (POLICY, "    - x\n", ""),
        ("orbgate: 1\napis: {a: {scopes: {s: {orbs: 1, routes: [", "x,", "]}}}}"),
    ];
    for size in [MIB / 4, 4 * MIB] {
        for (start, unit, end) in patterns {
            let text = format!("{start}{}{end}", unit.repeat(size / unit.len()));
            let (peak, read) = peak(&text);
            let bound = LEAST.max(REFUSED * text.len());
            assert!(peak <= bound, "{start:?} {unit:?} {end:?}: {peak} bytes for {size}");
            assert!(read.is_err(), "{start:?} {unit:?} {end:?}");
        }
    }
}

#[test]
fn a_policy_takes_a_multiple_of_its_size() {
    let deep = "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/1/2/3/4";
    let patterns: [fn(usize) -> String; 5] = [
        |n| format!("    - GET /things/{n}/parts/{{part}}\n"),
        |n| format!("    - A /{n:x}\n"),
        |n| format!("    - {{route: A /{n:x}, orbs: 3}}\n"),
        |n| format!("    - A /{{a}}/b{n}/{{c}}/d\n"),
        |n| format!("    - A /{n:x}@\n"),
    ];
    for pattern in patterns {
        for diagnostic in ["", "    - GET\n"] {
            let mut text = POLICY.to_owned();
            for n in 0.. {
                if text.len() > MIB {
                    break;
                }
                text.push_str(&pattern(n).replace('@', deep));
            }
            write!(text, "{diagnostic}").unwrap();
            let (peak, read) = peak(&text);
            let bound = LEAST.max(READ * text.len());
            assert!(peak <= bound, "{}: {peak} bytes for {}", pattern(0), text.len());
            assert_eq!(read.is_ok(), diagnostic.is_empty(), "{}", pattern(0));
        }
    }
}

/// What is written in brackets has a limit of its own, and it is far from what people write.
#[test]
fn a_large_policy_in_brackets_is_read_and_a_huge_one_is_told_what_to_do() {
    let policy = |routes: usize| {
        let routes: Vec<_> = (0..routes).map(|n| format!("{{\"route\":\"GET /r{n}\",\"orbs\":5}}")).collect();
        let routes = routes.join(",");
        format!(
            "{{\"orbgate\":1,\"apis\":{{\"a\":{{\"base_path\":\"\",\"scopes\":{{\"s\":{{\"orbs\":1,\"routes\":[{routes}]}}}}}}}}}}"
        )
    };
    assert!(Policy::from_yaml(&policy(8_000)).is_ok());
    let error = Policy::from_yaml(&policy(9_000)).unwrap_err().to_string();
    // Behind `---` a brace cannot start a key.
    assert!(Policy::from_yaml(&format!("--- {}", policy(30_000))).is_ok());
    let mut expected = Expected::default();
    expected.add("a policy in brackets", [error]);
    let item = format!("{POLICY}    - [{}]\n", "a, ".repeat(40_000));
    expected.add("a list in brackets", [Policy::from_yaml(&item).unwrap_err()]);
    // A text is not a value in brackets, but must not be taken for the part of it that was read.
    let text = format!("{POLICY}    - GET /a{}/b\n", ",".repeat(40_000));
    expected.add("a string of commas", [Policy::from_yaml(&text).unwrap_err()]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "limits: brackets");
}
