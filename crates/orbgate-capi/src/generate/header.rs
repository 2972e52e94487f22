//! The header is generated from these modules, committed, and complete.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cbindgen::{Builder, Config};

use super::codes::families;
use super::committed::{compare, root};
use crate::version::ABI_VERSION;

#[test]
fn the_header_is_current() {
    let header = compact(&generated());
    compare("bindings/c/include/orbgate.h", &header);
    let of_gates = fs::read_to_string(root().join("bindings/c/include/orbgate_gate.h")).unwrap();
    let lines = header.lines().count() + of_gates.lines().count();
    assert!(lines <= 1_850, "{lines} lines are too long to read");
}

/// If the configuration weren't read, the header would lack its prefixes and checks.
#[test]
fn the_configuration_is_used() {
    let mut other = config();
    other.function.must_use = Some("SOMETHING_ELSE".to_owned());
    assert_ne!(header(other), header(config()));
}

/// Each function documents ownership, thread safety, allocation, blocking and cost.
#[test]
fn every_function_states_its_contract() {
    let header = header(config());
    let functions = functions(&header);
    assert!(functions.len() > 40, "{functions:?}");
    for Function { name, documentation, .. } in functions {
        assert!(documentation.contains("\n/// Ownership: "), "{name}: ownership");
        let contract = documentation.lines().find(|line| line.contains("Thread-safe: "));
        let contract = contract.unwrap_or_else(|| panic!("{name}: no contract"));
        let words = contract.trim_start_matches("/// ").trim_end_matches('.');
        let words: Vec<_> = words.split(". ").filter_map(|tag| tag.split_once(": ")).collect();
        let yes_no = ["yes", "no"];
        let allocates = ["yes", "no", "once per thread"];
        let costs = ["constant", "decision", "batch", "policy", "token", "keys"];
        let tags: [(&str, &[&str]); 4] =
            [("Thread-safe", &["yes"]), ("Allocates", &allocates), ("Blocks", &yes_no), ("Cost", &costs)];
        assert_eq!(words.len(), tags.len(), "{name}: {contract}");
        for ((tag, value), (expected, values)) in words.iter().zip(tags) {
            assert!(*tag == expected && values.contains(value), "{name}: {contract}");
        }
        let hot = contract.contains("Cost: decision") && !name.contains("scope_set");
        assert!(!hot || !contract.contains("Allocates: yes") && contract.contains("Blocks: no."), "{name}: {contract}");
    }
}

/// The exported symbols are locked: bindings and linker scripts rely on them.
#[test]
fn the_symbols_are_those_of_the_list() {
    let header = header(config());
    let declared: BTreeSet<_> = functions(&header).into_iter().map(|function| function.name).collect();
    let list = include_str!("../../symbols.txt");
    let list: Vec<_> = list.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(list.is_sorted(), "symbols.txt is sorted");
    let listed: BTreeSet<_> = list.into_iter().map(str::to_owned).collect();
    assert_eq!(declared, listed, "the header's functions and those of symbols.txt");
}

/// `arguments.c` and `gate_arguments.c` in `bindings/c/tests` pass null for each pointer of every function that takes
/// one.
#[test]
fn every_function_is_tested_from_c() {
    let tests = root().join("bindings/c/tests");
    let read = |name: &str| fs::read_to_string(tests.join(name)).unwrap();
    let arguments = read("arguments.c") + &read("gate_arguments.c");
    let usage = read("usage.c");
    let header = header(config());
    for Function { name, declaration, .. } in functions(&header) {
        let call = format!("{name}(");
        let tested = arguments.contains(&call) || (!declaration.contains('*') && usage.contains(&call));
        assert!(tested, "{name} is not in bindings/c/tests/arguments.c, nor in gate_arguments.c");
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

/// A function of the header, and the comment above it.
#[derive(Debug)]
struct Function {
    name: String,
    documentation: String,
    declaration: String,
}

fn functions(header: &str) -> Vec<Function> {
    let declarations = header.split("\n\n").filter(|part| part.contains("ORBGATE_API"));
    let declarations = declarations.filter(|part| part.starts_with("///"));
    let function = |part: &str| {
        let (documentation, declaration) = part.split_once("\nORBGATE_API").unwrap();
        let name = declaration.split('(').find_map(|text| {
            let word = text.rsplit([' ', '*', '\n']).next()?;
            word.starts_with("orbgate_").then(|| word.to_owned())
        });
        Function { name: name.unwrap(), documentation: documentation.to_owned(), declaration: declaration.to_owned() }
    };
    declarations.map(function).collect()
}

/// The header as cbindgen writes it, from the crate.
pub(super) fn generated() -> String {
    header(config())
}

/// The longest line with a comment behind its code, and the longest other line.
const WIDTHS: [usize; 2] = [140, 120];

/// The header with fewer lines: paragraphs and parameters fill theirs, and what a field or a constant means stands behind it.
fn compact(header: &str) -> String {
    let (mut lines, mut comment) = (Vec::<String>::new(), Vec::new());
    for line in header.lines() {
        if let Some(text) = line.trim_start().strip_prefix("///") {
            comment.push(text.trim());
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_field = !indent.is_empty() && line.ends_with([',', ';']);
        let whole = format!("{line} ///< {}", comment.join(" "));
        match comment.is_empty() {
            false if (is_field || line.starts_with("#define")) && whole.len() <= WIDTHS[0] => {
                // Constants of one family stand together.
                let family = |line: &str| line.strip_prefix("#define ORBGATE_")?.split('_').next().map(str::to_owned);
                if let [.., before, blank] = &lines[..]
                    && blank.is_empty()
                    && before.contains("///<")
                    && family(before) == family(line)
                    && family(line).is_some()
                {
                    lines.pop();
                }
                lines.push(whole);
            }
            _ => {
                lines.extend(filled(&comment).map(|text| format!("{indent}/// {text}").trim_end().to_owned()));
                lines.extend(wrapped(line));
            }
        }
        comment.clear();
    }
    lines.join("\n") + "\n"
}

/// The paragraphs of a comment. What a function promises is one line if there is room.
fn filled<'c>(comment: &[&'c str]) -> impl Iterator<Item = String> + use<'c> {
    let mut lines = vec![String::new()];
    for text in comment {
        let last = lines.last_mut().unwrap();
        if text.is_empty() {
            lines.extend([String::new(), String::new()]);
        } else if text.starts_with("Thread-safe: ")
            && (!last.starts_with("Ownership: ") || last.len() + text.len() >= WIDTHS[1] - 4)
        {
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
