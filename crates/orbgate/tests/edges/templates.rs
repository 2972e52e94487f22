//! Templates: literals, prefixes, depths and mixtures of literals and parameters, each around its limits.

use orbgate::Policy;

use super::{Table, segments};
use crate::support::policies::base_of;
use crate::support::strategies::{SIZES, long_word};

/// A template of nothing but literals takes its own path and no longer, shorter or other one.
#[test]
fn a_literal_template_of_every_size() {
    for size in (2..140).chain(SIZES.iter().copied().filter(|size| (140..=8_192).contains(size))) {
        let template = base_of(size);
        if template.len() != size {
            continue;
        }
        let (base, end) = template.split_at(template.rfind('/').unwrap());
        for (base, end) in [("", template.as_str()), (base, end)] {
            let table = Table::new(base, [end]);
            assert_eq!(table.winner(&template), template);
            for more in ["c", "/", "/c", "?", "?c", ".", "/.", "%"] {
                table.get(format!("{template}{more}"));
            }
            let positions = (0..size).filter(|at| size < 600 || at % 64 < 2 || at % 64 == 63);
            for at in positions.step_by(if size < 600 { 1 } else { 3 }) {
                for byte in [b'x', b'C', b'/', b'.'] {
                    let mut other = template.clone().into_bytes();
                    other[at] = byte;
                    table.get(other);
                }
                table.get(&template[..at]);
            }
        }
    }
}

/// A literal of any length beats a parameter, and what is not it does not.
#[test]
fn a_literal_of_every_length_beside_a_parameter() {
    for length in 1..=256 {
        let word = if length > 16 { long_word(length, length / 2, 'x') } else { "w".repeat(length) };
        for (before, behind) in [("", ""), ("/{a}", ""), ("", "/{b}"), ("/a", "/b")] {
            let template = format!("{before}/{word}{behind}");
            let other = format!("{before}/{{v}}{behind}");
            let table = Table::new("/v1", [&template, &other]);
            let target = |value: &str| format!("/v1{before}/{value}{behind}").replace(['{', '}'], "");
            assert_eq!(table.winner(target(&word)), format!("/v1{template}"), "{length} bytes");
            for at in 0..length {
                let mut near = word.clone();
                near.replace_range(at..=at, "y");
                assert_eq!(table.winner(target(&near)), format!("/v1{other}"), "{length} bytes, {at}");
                near.replace_range(at..=at, &word[at..=at].to_ascii_uppercase());
                table.get(target(&near));
            }
            table.get(target(&word[1..]));
            table.get(target(&word[..length - 1]));
            table.get(target(&format!("{word}w")));
            table.get(target(&format!("{word}{word}")));
        }
    }
}

/// Literals of one length, one beginning and one end: each is found, and what lies between them is a value.
#[test]
fn literals_that_differ_in_one_byte_of_their_middle() {
    for length in [17, 18, 24, 25, 31, 32, 33, 40, 48, 63, 64, 65, 127, 128, 129, 200, 255, 256] {
        let words: Vec<_> = (0..length - 16).map(|position| long_word(length, position, 'x')).collect();
        let literals = words.iter().step_by(2).map(|word| format!("/{word}/{{a}}"));
        let table = Table::new("", literals.chain(["/{v}/{a}".to_owned()]));
        for (at, word) in words.iter().enumerate() {
            let right = if at % 2 == 0 { format!("/{word}/{{a}}") } else { "/{v}/{a}".to_owned() };
            assert_eq!(table.winner(format!("/{word}/a")), right);
            assert_eq!(table.winner(format!("/{word}/{}", words[0])), right);
        }
        let actual = table.get(format!("/{}/a", words[0].to_ascii_uppercase()));
        assert_eq!(actual.detail, Some("ambiguous_case"));
    }
}

/// An escaped spelling of a literal is refused where templates of the path's length have the literal there. Elsewhere it is a
/// value like any other.
#[test]
fn a_literal_is_escaped_where_it_is_none() {
    let table = Table::of(true, "/api", ["/a@b/x", "/{p}", "/{p}/{q}/{r}"]);
    let detail = |target| table.get(target).detail;
    assert_eq!(detail("/api/a%40b/x"), Some("non_canonical_literal"));
    assert_eq!(detail("/api/a%40b/y"), Some("non_canonical_literal"));
    assert_eq!(table.winner("/api/a%40b"), "/api/{p}");
    assert_eq!(table.winner("/api/a%40b/x/y"), "/api/{p}/{q}/{r}");
}

/// A literal that different templates spell with other letters: each counts below its own only.
#[test]
fn a_literal_of_several_spellings() {
    let long = |text: &str| format!("{text}-of-an-organisation");
    let spellings = ["USERS", "Users", "users"].map(str::to_owned);
    for spellings in [spellings.clone(), spellings.map(|text| long(&text))] {
        let [all, first, none] = &spellings;
        let templates = [
            format!("/a/{all}"),
            format!("/b/{first}"),
            format!("/c/{none}"),
            "/d/{p}".to_owned(),
            format!("/d/x/{none}"),
            format!("/{first}/x"),
        ];
        let table = Table::new("/v1", &templates);
        for below in ["a", "b", "c", "d", "e"] {
            for (spelling, own) in spellings.iter().zip(["a", "b", "c"]) {
                let actual = table.get(format!("/v1/{below}/{spelling}"));
                let is_own = below == own || below == "d";
                let reason = if is_own { "scope_held" } else { "no_route" };
                assert_eq!(actual.reason, reason, "{below} {spelling}");
                for target in [
                    format!("/v1/{below}/x/{spelling}"),
                    format!("/v1/{spelling}/{below}"),
                    format!("/v1/{spelling}/x"),
                    format!("/v1/{below}/{spelling}/{spelling}"),
                ] {
                    table.get(target);
                }
            }
        }
    }
}

/// 1 to 32 segments below prefixes of any depth, some of them parameters whose values are literals elsewhere.
#[test]
fn every_depth() {
    for base in ["", "/api/v1/external"] {
        for depth in 1..=32 - segments(base).len() {
            let template = |is_parameter: &dyn Fn(usize) -> bool| {
                let segment = |at| {
                    if is_parameter(at) { format!("/{{p{at}}}") } else { format!("/w{at}") }
                };
                (0..depth).map(segment).collect::<String>()
            };
            let kinds: [&dyn Fn(usize) -> bool; 6] =
                [&|_| false, &|_| true, &|at| at % 2 == 0, &|at| at % 2 == 1, &|at| at == depth - 1, &|at| at == 0];
            let mut templates: Vec<_> = kinds.into_iter().map(template).collect();
            templates.sort();
            templates.dedup();
            let table = Table::new(base, &templates);
            for target in &templates {
                for value in ["v", "w0", "w1", "w31"] {
                    let target = segments(target).into_iter().map(|segment| {
                        if segment.starts_with('{') { format!("/{value}") } else { format!("/{segment}") }
                    });
                    let target = target.collect::<String>();
                    let actual = table.get(format!("{base}{target}"));
                    assert_eq!(actual.reason, "scope_held", "{target}");
                    table.get(format!("{base}{target}/w{depth}"));
                    table.get(format!("{base}{}", &target[..target.rfind('/').unwrap()]));
                    // One segment another literal than its position's.
                    for at in 0..depth {
                        let mut other = segments(&target);
                        other[at] = "w5".to_owned();
                        table.get(format!("{base}/{}", other.join("/")));
                    }
                }
            }
        }
    }
}

/// Up to 63 mixtures of literals and parameters in one length: the most specific one that fits wins.
#[test]
fn every_number_of_mixtures() {
    for count in [1, 2, 3, 15, 16, 17, 31, 32, 33, 62, 63] {
        for depth in [7_usize, 8, 9, 12] {
            // An odd step passes by every mixture of the seven last positions.
            let mixture = |number: usize| number * 77 % 128;
            let is_literal = |mask: usize, at: usize| at + 7 >= depth && mask >> (depth - 1 - at) & 1 == 1;
            let template = |mask| {
                let segment = |at| {
                    if is_literal(mask, at) { "/w".to_owned() } else { format!("/{{p{at}}}") }
                };
                (0..depth).map(segment).collect::<String>()
            };
            let table = Table::new("/v1", (0..count).map(|number| template(mixture(number))));
            for mask in 0..128 {
                for strange in ["v", "/x", "W"] {
                    let segment = |at| {
                        if is_literal(mask, at) { "/w".to_owned() } else { format!("/{strange}") }
                    };
                    let target = (0..depth).map(segment).collect::<String>();
                    table.get(format!("/v1{target}"));
                }
            }
        }
    }
}

/// More literals at more positions than a key of 64 bits has bits for: every path is decided by the slow path.
#[test]
fn more_literals_than_a_key_holds() {
    for base in ["", "/v1"] {
        let template = |segment: &dyn Fn(usize) -> String| (0..20).map(segment).collect::<String>();
        let literals = |number: usize| template(&|_| format!("/w{number}"));
        let half = |even: usize| {
            template(&|at| match at % 2 == even {
                true => "/w1".to_owned(),
                false => format!("/{{p{at}}}"),
            })
        };
        let all = template(&|at| format!("/{{p{at}}}"));
        let short = ["/".to_owned(), "/w1".to_owned(), "/w2/{p}".to_owned()];
        let table = Table::new(base, (1..=15).map(literals).chain([half(0), half(1), all]).chain(short));
        assert_eq!(table.winner(format!("{base}{}", literals(7))), format!("{base}{}", literals(7)));
        for path in [1, 7, 15, 16].map(literals).iter().chain(&["".to_owned(), "/w1".to_owned(), "/w2/w1".to_owned()]) {
            for position in 0..=segments(path).len() {
                for other in ["w1", "w2", "v", "W1", "", ".", "%77"] {
                    let mut changed = segments(path);
                    match changed.get_mut(position) {
                        Some(segment) => other.clone_into(segment),
                        None => changed.push(other.to_owned()),
                    }
                    table.get(format!("{base}/{}", changed.join("/")));
                }
            }
            // Without the slash that it starts with, and without its last segment.
            let whole = format!("{base}{path}");
            table.get(whole.strip_prefix('/').unwrap_or(&whole));
            table.get(whole.rsplit_once('/').map_or("", |(before, _)| before));
        }
    }
}

/// At the limits of a template a policy is read and decides; one more and it is refused.
#[test]
fn the_limits_of_a_template() {
    let read = |base: &str, template: &str| {
        let scopes = format!("s: {{ orbs: false, routes: [\"GET {template}\"] }}");
        let yaml = format!("orbgate: 1\napis:\n  a:\n    base_path: \"{base}\"\n    scopes:\n      {scopes}\n");
        Policy::from_yaml(&yaml).map_err(|error| error.to_string())
    };
    for bytes in [7_950, 7_967] {
        let base = base_of(bytes);
        let template = format!("/{}", "l".repeat(8_192 - bytes - 1));
        Table::new(&base, [&template]).winner(format!("{base}{template}"));
        let message = read(&base, &format!("{template}l")).unwrap_err();
        assert!(message.contains("8193 bytes; the limit is 8192"), "{message}");
    }
    let base = base_of(8_192);
    Table::new(&base, ["/"]).winner(&base);
    let message = read(&format!("{base}c"), "/").unwrap_err();
    assert!(message.contains("8193 bytes; the limit is 8192"), "{message}");
    for above in [0, 1, 30, 31] {
        let base = "/b".repeat(above);
        let template = "/t".repeat(32 - above);
        Table::new(&base, [&template]).winner(format!("{base}{template}"));
        let message = read(&base, &format!("{template}/t")).unwrap_err();
        assert!(message.contains("33 segments; the limit is 32"), "{message}");
    }
    let literal = format!("/{}", "l".repeat(256));
    Table::new("", [&literal]).winner(&literal);
    let message = read("", &format!("{literal}l")).unwrap_err();
    assert!(message.contains("257 bytes; the limit is 256"), "{message}");
}

/// Fast hashing reads both ends of a literal, and each must count.
#[test]
fn literals_that_differ_at_one_end_only_are_each_found() {
    let heads = |number: u32| format!("/{number:08}same-end");
    let tails = |number: u32| format!("/same-end{number:08}");
    for literal in [heads, tails] {
        let table = Table::new("/v1", (0..1_000).map(literal));
        for number in (0..1_000).step_by(111) {
            let path = format!("/v1{}", literal(number));
            assert_eq!(table.winner(&path), path);
        }
    }
}
