//! The header is complete, and says what each function promises.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{Header, config, library};
use crate::root;
use crate::words::lower;

/// If the configuration weren't read, the header would lack its prefixes and checks.
#[test]
fn the_configuration_is_used() {
    let mut other = config().unwrap();
    other.function.must_use = Some("SOMETHING_ELSE".to_owned());
    assert_ne!(Header::of(other).unwrap().text, Header::of(config().unwrap()).unwrap().text);
}

/// What a comment states about its functions: each with the default, which is that of the preamble, and the other values.
const PROMISES: [(&str, &str, &[&str]); 3] = [
    ("Allocates", "no", &["yes", "once per thread"]),
    ("Blocks", "no", &["yes"]),
    ("Cost", "constant", &["decision", "batch", "policy", "token", "keys"]),
];

/// Each function allocates, blocks and costs what its comment says, and otherwise what the preamble does.
#[test]
fn every_function_states_its_contract() {
    let header = Header::read().unwrap().compact();
    for (tag, default, _) in PROMISES {
        assert!(header.contains(&format!("\n *   {tag:<13}{default}")), "the preamble doesn't state {tag}");
    }
    let functions = functions(&header);
    assert!(functions.len() > 40, "{functions:?}");
    let is_there = |name: &str| functions.iter().any(|function| function.name == name);
    for Function { name, documentation, declaration } in &functions {
        let lines = documentation.lines().filter_map(|line| line.strip_prefix("/// "));
        let lines = lines.filter(|line| PROMISES.iter().any(|(tag, ..)| line.starts_with(&format!("{tag}: "))));
        let words = lines.flat_map(|line| line.trim_end_matches('.').split(". "));
        let mut tags: Vec<_> = words.filter_map(|word| word.split_once(": ")).collect();
        let [allocates, blocks, cost] = PROMISES.map(|(tag, default, values)| {
            let Some(at) = tags.iter().position(|(it, _)| *it == tag) else { return default };
            assert!(at == 0 && values.contains(&tags[0].1), "{name}: {tag} isn't next, or says what the preamble does");
            tags.remove(0).1
        });
        assert!(tags.is_empty(), "{name}: {tags:?}");
        let cost_of_decisions = match name.contains("batch") || name.contains("arrow") {
            true => "batch",
            false => "decision",
        };
        let decides = name.contains("_decide");
        assert!(
            !decides || cost == cost_of_decisions && allocates != "yes" && blocks == "no",
            "{name}: {documentation}"
        );
        // Who owns an object frees it.
        let made = declaration.split("struct Orbgate").filter_map(|it| it.split_once(" **")).map(|(name, _)| name);
        let made: Vec<_> = made.filter(|name| !name.contains(' ')).collect();
        for object in &made {
            assert!(is_there(&format!("orbgate_{}_free", lower(object))), "{name}: nothing frees {object}");
        }
        assert!(made.is_empty() || allocates != "no", "{name}: {documentation}");
        // What the preamble says about them is enough.
        let is_of_owners = name.ends_with("_retain") || name.ends_with("_free");
        assert!(is_of_owners || !documentation.is_empty(), "{name} has no comment");
    }
}

/// The exported symbols are locked: bindings and linker scripts rely on them.
#[test]
fn the_symbols_are_those_of_the_list() {
    let header = Header::read().unwrap().compact();
    let declared: BTreeSet<_> = functions(&header).into_iter().map(|function| function.name).collect();
    let list = include_str!("../../../orbgate-capi/symbols.txt");
    let list: Vec<_> = list.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(list.is_sorted(), "symbols.txt is sorted");
    let listed: BTreeSet<_> = list.into_iter().map(str::to_owned).collect();
    assert_eq!(declared, listed, "the header's functions and those of symbols.txt");
}

/// `arguments.c`, `gate_arguments.c` and `gate_handles.c` in `bindings/c/tests` pass null for each pointer of every function that takes
/// one.
#[test]
fn every_function_is_tested_from_c() {
    let tests = root().join("bindings/c/tests");
    let read = |name: &str| fs::read_to_string(tests.join(name)).unwrap();
    let arguments = read("arguments.c") + &read("gate_arguments.c") + &read("gate_handles.c");
    let usage = read("usage.c");
    let header = Header::read().unwrap().compact();
    for Function { name, declaration, .. } in functions(&header) {
        let call = format!("{name}(");
        let tested = arguments.contains(&call) || (!declaration.contains('*') && usage.contains(&call));
        assert!(tested, "{name} is not in bindings/c/tests/arguments.c, gate_arguments.c or gate_handles.c");
    }
}

/// cargo-c installs the headers that `bindings/c/install/install.sh` installs: all of them, each by a link in `include`.
#[test]
fn every_header_is_installed_with_cargo_c() {
    let folder = library().join("include");
    let names = |of: &Path| {
        let files = fs::read_dir(of).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        files.collect::<BTreeSet<_>>()
    };
    let mut headers = names(&root().join("bindings/c/include"));
    headers.extend(names(&root().join("bindings/cpp/include")));
    let manifest = include_str!("../../../orbgate-capi/Cargo.toml");
    let assets = manifest.lines().filter_map(|line| line.trim().strip_prefix("{ from = \"include/"));
    let assets: BTreeSet<_> = assets.filter_map(|line| line.split('"').next()).map(str::to_owned).collect();
    assert_eq!(assets, headers, "what Cargo.toml lists");
    assert_eq!(names(&folder), headers, "the links");
    assert!(headers.iter().all(|name| folder.join(name).is_file()), "a link leads nowhere");
}

/// A function of the header, and the comment above it and perhaps others.
#[derive(Debug)]
struct Function {
    name: String,
    documentation: String,
    declaration: String,
}

fn functions(header: &str) -> Vec<Function> {
    let families = header.split("\n\n").filter_map(|part| {
        let at = if part.starts_with("ORBGATE_API") { 0 } else { part.find("\nORBGATE_API")? };
        Some(part.split_at(at))
    });
    let functions = families.flat_map(|(documentation, declarations)| {
        declarations.split("ORBGATE_API ").skip(1).map(move |declaration| {
            let before = declaration.split('(').next().unwrap();
            Function {
                name: before.rsplit([' ', '*']).next().unwrap().to_owned(),
                documentation: documentation.to_owned(),
                declaration: declaration.to_owned(),
            }
        })
    });
    functions.collect()
}
