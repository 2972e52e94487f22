//! The header is generated from these modules, committed, and complete.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cbindgen::{Builder, Config};

use super::codes::family::families;
use super::committed::{compare, root};
use super::messages::lower;
use crate::version::ABI_VERSION;

#[test]
fn the_header_is_current() {
    let header = compact(&generated());
    compare("bindings/c/include/orbgate.h", &header);
    let of_gates = fs::read_to_string(root().join("bindings/c/include/orbgate_gate.h")).unwrap();
    let lines = header.lines().count() + of_gates.lines().count();
    assert!(lines <= 1_500, "{lines} lines are too long to read");
}

/// If the configuration weren't read, the header would lack its prefixes and checks.
#[test]
fn the_configuration_is_used() {
    let mut other = config();
    other.function.must_use = Some("SOMETHING_ELSE".to_owned());
    assert_ne!(header(other), header(config()));
}

/// What a comment states about its functions: each with the default, which is that of the preamble, and the other values.
const PROMISES: [(&str, &str, &[&str]); 3] = [
    ("Allocates", "no", &["yes", "once per thread"]),
    ("Blocks", "no", &["yes"]),
    ("Cost", "constant", &["decision", "batch", "policy", "token", "keys"]),
];

/// What a comment says in lines of its own.
const OWN_LINE: [&str; 5] = ["Ownership: ", "Thread-safe: ", "Allocates: ", "Blocks: ", "Cost: "];

/// Each function allocates, blocks and costs what its comment says, and otherwise what the preamble does.
#[test]
fn every_function_states_its_contract() {
    let header = compact(&generated());
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
    let header = compact(&generated());
    let declared: BTreeSet<_> = functions(&header).into_iter().map(|function| function.name).collect();
    let list = include_str!("../../symbols.txt");
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
    let header = compact(&generated());
    for Function { name, declaration, .. } in functions(&header) {
        let call = format!("{name}(");
        let tested = arguments.contains(&call) || (!declaration.contains('*') && usage.contains(&call));
        assert!(tested, "{name} is not in bindings/c/tests/arguments.c, gate_arguments.c or gate_handles.c");
    }
}

/// cargo-c installs the headers that `bindings/c/install/install.sh` installs: all of them, each by a link in `include`.
#[test]
fn every_header_is_installed_with_cargo_c() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let names = |of: &Path| {
        let files = fs::read_dir(of).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        files.collect::<BTreeSet<_>>()
    };
    let mut headers = names(&root().join("bindings/c/include"));
    headers.extend(names(&root().join("bindings/cpp/include")));
    let manifest = include_str!("../../Cargo.toml");
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

/// The header as cbindgen writes it, from the crate.
pub(super) fn generated() -> String {
    header(config())
}

/// The longest line with a comment behind its code, and the longest other line.
const WIDTHS: [usize; 2] = [140, 120];

/// The header with fewer lines: paragraphs and parameters fill theirs, what a field or a constant means stands behind it, and
/// what has one comment stands together.
fn compact(header: &str) -> String {
    let (mut lines, mut comment, mut before) = (Vec::<String>::new(), Vec::new(), "");
    for line in header.lines() {
        if let Some(text) = line.trim_start().strip_prefix("///") {
            comment.push(text.trim());
            continue;
        }
        // Rust wants a comment for each function; the family's, or the preamble, has said this.
        let is_said =
            |text: &&str| text.starts_with("Like `") || ["Adds an owner.", "Removes an owner."].contains(text);
        comment.retain(|text| !is_said(text));
        if continues(before, &comment, line) && lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let above = |text: String| format!("{indent}/// {text}").trim_end().to_owned();
        let is_constant = line.starts_with("#define");
        if let Some(end) = comment.iter().position(|text| is_constant && text.is_empty()) {
            lines.extend(filled(&comment[..end]).map(above));
            comment.drain(..=end);
        }
        let whole = format!("{line} ///< {}", comment.join(" "));
        let is_field = !indent.is_empty() && line.ends_with([',', ';']);
        if !comment.is_empty() && (is_field || is_constant) && whole.len() <= WIDTHS[0] {
            lines.push(whole);
        } else {
            lines.extend(filled(&comment).map(above));
            lines.extend(wrapped(line));
        }
        comment.clear();
        before = if line.is_empty() { before } else { line };
    }
    lines.join("\n") + "\n"
}

/// Whether a line belongs to the one before: a constant whose comment doesn't begin with that of a group, or a function
/// that has no comment, except for the first one of a type's owners.
fn continues(before: &str, comment: &[&str], line: &str) -> bool {
    let ends = |line: &str, end: &str| line.split('(').next().is_some_and(|name| name.ends_with(end));
    let both = |start: &str| before.starts_with(start) && line.starts_with(start);
    let begins_owners = ends(line, "_retain") || ends(line, "_free") && !ends(before, "_retain");
    match comment {
        [] => both("ORBGATE_API ") && !begins_owners,
        _ => both("#define ") && !comment.contains(&""),
    }
}

/// The paragraphs of a comment. What a function promises is a line of its own.
fn filled<'c>(comment: &[&'c str]) -> impl Iterator<Item = String> + use<'c> {
    let mut lines = vec![String::new()];
    for text in comment {
        if text.is_empty() {
            lines.extend([String::new(), String::new()]);
        } else if OWN_LINE.iter().any(|tag| text.starts_with(tag)) && lines != [""] {
            lines.push((*text).to_owned());
        } else {
            for word in text.split(' ') {
                let last = lines.last_mut().unwrap();
                match last.len() + word.len() + 1 > WIDTHS[1] - 4 {
                    true => lines.push(word.to_owned()),
                    false if last.is_empty() => last.push_str(word),
                    false => *last += &format!(" {word}"),
                }
            }
        }
    }
    lines.truncate(if comment.is_empty() { 0 } else { lines.len() });
    lines.into_iter()
}

/// A declaration in lines; a pointer and its length stay together.
fn wrapped(line: &str) -> Vec<String> {
    if !line.starts_with("ORBGATE_API ") || line.len() <= WIDTHS[1] {
        return vec![line.to_owned()];
    }
    let (head, parameters) = line.split_once('(').unwrap();
    let mut lines = vec![format!("{head}("), String::from("   ")];
    for parameter in parameters.replace(", size_t ", ",\u{a0}size_t ").split_inclusive(", ") {
        let parameter = parameter.trim_end().replace('\u{a0}', " ");
        let last = lines.last_mut().unwrap();
        match last.len() + parameter.len() + 1 > WIDTHS[1] {
            true => lines.push(format!("    {parameter}")),
            false => *last += &format!(" {parameter}"),
        }
    }
    lines
}

fn header(config: Config) -> String {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bindings = Builder::new().with_crate(crate_dir).with_config(config);
    let mut text = Vec::new();
    bindings.generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

fn config() -> Config {
    let parts = Path::new(env!("CARGO_MANIFEST_DIR")).join("header");
    let part = |name: &str| Some(fs::read_to_string(parts.join(name)).unwrap());
    let mut config = Config::from_file(parts.join("cbindgen.toml")).unwrap();
    config.header = part("preamble.h").map(|text| text.trim_end().to_owned());
    config.after_includes = part("macros.h").map(|text| versions(&text));
    config.trailer = part("inline.h");
    config
}

fn versions(macros: &str) -> String {
    let abi = (ABI_VERSION >> 16, ABI_VERSION & 0xffff);
    let codes = families().map(|family| family.c()).concat();
    let macros = format!("{macros}{codes}");
    macros
        .trim_end_matches('\n')
        .replace("@MAJOR@", env!("CARGO_PKG_VERSION_MAJOR"))
        .replace("@MINOR@", env!("CARGO_PKG_VERSION_MINOR"))
        .replace("@PATCH@", env!("CARGO_PKG_VERSION_PATCH"))
        .replace("@ABI_MAJOR@", &abi.0.to_string())
        .replace("@ABI_MINOR@", &abi.1.to_string())
}
