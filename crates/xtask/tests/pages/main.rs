//! What the project's pages say is so: links lead somewhere, examples are tested, rules are where the table says.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "a test reads files and stops at its first surprise"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

mod english;
#[path = "../../../orbgate/tests/support/expected.rs"]
mod expected;
mod figures;
mod floors;
#[path = "../../../orbgate-testing/src/pages.rs"]
mod pages;
mod programs;
mod recipes;
mod servers;

use crate::pages::{commands, files, pages, read, root};

const LANGUAGES: [&str; 6] = ["c", "cpp", "go", "java", "node", "python"];

/// Where whole addresses of our own begin.
const OWN: &str = "https://github.com/orbgate/orbgate/";

#[test]
fn links_lead_somewhere() {
    let mut count = 0;
    for page in pages() {
        let text = read(&page);
        for link in links(&text) {
            let own = link.strip_prefix(OWN);
            let own = own.map(|rest| rest.split_once("/main/").map_or("", |(_, path)| path));
            let path = match own {
                Some(path) => root().join(path),
                None if link.contains("://") => continue,
                None => page.parent().unwrap().join(link),
            };
            let shown = path.display().to_string();
            let (file, heading) = shown.split_once('#').unwrap_or((&shown, ""));
            // `#heading` is on the page itself.
            let file = match link.starts_with('#') {
                true => page.clone(),
                false => PathBuf::from(file.split('?').next().unwrap()),
            };
            assert!(file.exists(), "{}: {link} leads nowhere", page.display());
            let is_there = heading.is_empty() || anchors(&read(&file)).any(|id| id == heading);
            assert!(is_there, "{}: {link} is not a heading", page.display());
            count += 1;
        }
    }
    assert!(count >= 60, "{count} links");
}

/// The page about MCP has copies of the services that the SDKs' clients call in tests.
#[test]
fn the_guides_of_mcp_are_tested_ones() {
    let page = read(&root().join("docs/mcp.md"));
    for (language, sources) in [
        ("go", ["bindings/go/recipes/mcp.go", "bindings/go/recipes/mcp_lists.go"]),
        ("js", ["bindings/node/guide/mcp.mjs", "bindings/node/guide/mcp-lists.mjs"]),
        ("python", ["bindings/python/tests/mcp_guide.py", "bindings/python/tests/mcp_lists_guide.py"]),
    ] {
        let guides: Vec<_> = page.split(&format!("```{language}\n")).skip(1).collect();
        assert_eq!(guides.len(), sources.len(), "{language}");
        for (guide, source) in guides.iter().zip(sources) {
            let guide = guide.split("```").next().unwrap();
            assert!(read(&root().join(source)).contains(guide), "{source} differs from:\n{guide}");
        }
    }
}

/// The pages of the project have copies of what `cargo test` runs: the core's own page, the documentation of a type.
#[test]
fn examples_in_rust_are_tested_ones() {
    let sources = [
        "crates/orbgate/README.md",
        "crates/orbgate/src/engine/grant.rs",
        "crates/orbgate-analysis/src/suite/mod.rs",
        "crates/orbgate-tower/examples/charge.rs",
        "crates/orbgate-tower/tests/mcp.rs",
        "crates/orbgate-tower/tests/mcp_lists.rs",
    ];
    let plain = |text: String| text.replace("/// ", "").replace("///\n", "\n");
    let tested = sources.map(|source| plain(read(&root().join(source))));
    let own = ["crates", "bindings"].map(|folder| root().join(folder));
    let mut count = 0;
    for page in pages().filter(|page| !own.iter().any(|own| page.starts_with(own))) {
        for example in read(&page).split("```rust\n").skip(1) {
            let example = example.split("```").next().unwrap();
            let is_tested = tested.iter().any(|text| text.contains(example));
            assert!(is_tested, "{}: not tested:\n{example}", page.display());
            count += 1;
        }
    }
    assert!(count >= 1, "{count} examples");
}

/// The table of rules in ARCHITECTURE.md: each has its one home, and every function that it names is in its file.
#[test]
fn rules_are_where_the_table_says() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let mut rules = Vec::new();
    for row in text.lines().filter(|line| line.starts_with("| P")) {
        let cells: Vec<_> = row.split('|').map(str::trim).skip(1).take(5).collect();
        rules.push(cells[0].to_owned());
        for cell in &cells[3..] {
            let Some((file, functions)) = cell.split_once(": ") else {
                continue;
            };
            let path = format!("crates/orbgate/src/{}", file.trim_matches('`'));
            let source = read(&root().join(&path));
            let functions = functions.split('`');
            for function in functions.filter(|name| name.starts_with(char::is_alphabetic)) {
                let is_there = has_function(&source, function);
                assert!(is_there, "{path} has no function {function}: {row}");
            }
        }
    }
    rules.dedup();
    let expected: Vec<_> = (1..=22).map(|number| format!("P{number}")).collect();
    assert_eq!(rules, expected);
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn has_function(code: &str, name: &str) -> bool {
    ["(", "<"].iter().any(|end| code.contains(&format!("fn {name}{end}")))
}

/// The lines of a function, up to the brace that is indented as it is.
fn body<'c>(code: &'c str, name: &'c str) -> impl Iterator<Item = &'c str> {
    let indent =
        code.lines().find(|line| has_function(line, name)).map_or(0, |line| line.len() - line.trim_start().len());
    let rest = code.lines().skip_while(move |line| !has_function(line, name));
    rest.take_while(move |line| line.trim() != "}" || line.len() - 1 != indent)
}

/// Instead of tables of files: each file says what it knows.
#[test]
fn every_file_says_what_it_knows() {
    let sources = ["crates/*/src/**.rs", "benches/src/**.rs"];
    let mut count = 0;
    for file in files(&sources) {
        let text = read(&root().join(&file));
        let says = text.starts_with("//!") || text.starts_with("#![doc = include_str!");
        assert!(says, "{file} says nothing of itself");
        count += 1;
    }
    assert!(count >= 200, "{count} files");
}

/// The fields of an access log, as each page or file that lists them has them.
#[test]
fn every_list_has_the_fields_of_an_access_log() {
    let plain = |path: &str| {
        let text = read(&root().join(path)).replace(['`', '"'], "");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.replace(" and agent", ", agent")
    };
    let home = plain("crates/orbgate-log/src/access/field.rs");
    let (_, names) = home.split_once("NAMES: [&str; 9] = [").unwrap();
    let names = names.split(']').next().unwrap().trim();
    for list in [
        "bindings/python/docs/logs.md",
        "bindings/python/python/orbgate/_read/reader.py",
        "bindings/python/python/orbgate/_command/replay.py",
        "crates/orbgate-cli/src/unused.rs",
    ] {
        assert!(plain(list).contains(names), "{list} does not list {names}");
    }
}

/// A reload refuses a file that ends early, so what readers copy has its end marker.
#[test]
fn every_file_that_readers_copy_can_be_reloaded() {
    let mut count = 0;
    for page in files(&["bindings/*/README.md", "docs/**.md", "README.md", "policy/README.md"]) {
        let text = read(&root().join(&page));
        for block in text.split("```yaml\n").skip(1).filter_map(|block| block.split("```").next()) {
            let is_file = |line: &str| ["orbgate: 1", "orbgate_token: 1", "orbgate_gateway: 1"].contains(&line);
            let mut lines = block.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(" #").next());
            if lines.next().flatten().is_some_and(|line| is_file(line.trim_end())) {
                let end = block.trim_end().lines().last().unwrap_or_default();
                assert!(end.starts_with("..."), "{page}: a file without `...` at its end:\n{block}");
                count += 1;
            }
        }
    }
    assert!(count >= 15, "{count} files");
}

/// The parts that bindings/README.md promises.
#[test]
fn every_binding_has_the_same_parts() {
    for language in LANGUAGES {
        let tests = match language {
            "go" => "orbgate",
            "java" => "src/test",
            _ => "tests",
        };
        for part in ["README.md", "example", "conformance", "bench", tests] {
            let path = root().join("bindings").join(language).join(part);
            assert!(path.exists(), "{} is missing", path.display());
        }
    }
}

/// Deciding without a gate is easy to get wrong: `docs/gates.md` has the raw target in each language's frameworks, and each guide
/// leads there before its first example that decides.
#[test]
fn every_guide_leads_to_the_raw_target_of_its_frameworks() {
    let rows = table("docs/gates.md", "| language | framework |");
    for language in LANGUAGES {
        let own = rows.iter().filter(|row| row[0].to_lowercase().replace("++", "pp") == language);
        let own = own.count();
        assert!(own >= 4, "{language}: {own} frameworks");
        let guide = read(&root().join("bindings").join(language).join("README.md"));
        let (before, _) = guide.split_once("\n## A first decision").unwrap();
        assert!(before.contains("docs/gates.md#decide-without-a-gate"), "{language}");
        assert!(!before.contains("/api/v1/external"), "{language}");
    }
}

/// A reader who searches finds every page of `docs`.
#[test]
fn the_site_has_every_page_of_docs() {
    let summary = read(&root().join("docs/SUMMARY.md"));
    let listed: BTreeSet<_> = links(&summary).map(str::to_owned).collect();
    let pages = files(&["docs/*.md"]).into_iter();
    let pages = pages.filter_map(|page| Some(page.strip_prefix("docs/")?.to_owned()));
    let missing: Vec<_> = pages.filter(|page| page != "SUMMARY.md" && !listed.contains(page)).collect();
    assert_eq!(missing, Vec::<String>::new(), "not in docs/SUMMARY.md");
}

/// Each word of the glossary is a word of the interface of its language.
#[test]
fn the_glossary_says_the_words_of_each_language() {
    let interfaces: [(&str, &[&str]); 7] = [
        ("C", &["bindings/c/include/orbgate.h", "bindings/c/include/orbgate_gate.h"]),
        ("C++", &["bindings/cpp/include"]),
        ("Go", &["bindings/go/orbgate", "bindings/go/orbgate/gate"]),
        (
            "Java",
            &[
                "bindings/java/src/main/java/io/github/orbgate",
                "bindings/java/src/main/java/io/github/orbgate/httpserver",
            ],
        ),
        ("Node", &["bindings/node/index.d.ts", "bindings/node/gate.d.ts"]),
        (
            "Python",
            &[
                "bindings/python/python/orbgate/_native.pyi",
                "bindings/python/python/orbgate",
                "bindings/python/python/orbgate/gate",
            ],
        ),
        ("JSON", &["docs/calls.md", "docs/json.md"]),
    ];
    let rows = table("bindings/README.md", "| idea |");
    assert!(rows.len() >= 12, "{} words", rows.len());
    for (language, paths) in interfaces {
        let column = rows[0].iter().position(|head| head == language).unwrap();
        let text = paths.iter().map(|path| read_all(&root().join(path)));
        let text: String = text.collect();
        let words: BTreeSet<_> = words(&text).collect();
        for row in &rows[1..] {
            for word in row[column].split('`').skip(1).step_by(2) {
                let idea = &row[0];
                assert!(words.contains(word), "{language} has no `{word}`: {idea}");
            }
        }
    }
}

/// The words of bindings/README.md that mean one thing: each is the name of a type in those files and in no others.
#[test]
fn one_idea_has_a_word() {
    let rows = table("bindings/README.md", "| word |");
    let homes = rows.iter().skip(1).map(|row| {
        let (first, rest) = row[0].split_at(1);
        let files = row[2].split('`').skip(1).step_by(2);
        let files: BTreeSet<_> = files.map(str::to_owned).collect();
        (format!("{}{rest}", first.to_uppercase()), files)
    });
    let mut homes: Vec<_> = homes.collect();
    assert!(homes.len() >= 9, "{} words", homes.len());
    let ends = ["rs", "py", "go", "java", "js", "ts", "hpp"];
    let sources = ["crates", "bindings", "benches/src"].iter();
    let sources = sources.flat_map(|folder| ends.map(|end| format!("{folder}/**.{end}")));
    let sources: Vec<_> = sources.collect();
    let ours =
        files(&sources).into_iter().filter(|file| !file.starts_with("crates/orbgate/") && !file.contains("/embed/"));
    for file in ours {
        let text = read(&root().join(&file));
        let words: Vec<_> = words(&text).collect();
        let kinds = ["struct", "enum", "trait", "class", "type"];
        for (word, known) in &mut homes {
            let defines = |pair: &[&str]| kinds.contains(&pair[0]) && pair[1] == word.as_str();
            if words.windows(2).any(defines) {
                assert!(known.remove(&file), "{file} has another `{word}`");
            }
        }
    }
    for (word, files) in homes {
        assert!(files.is_empty(), "{files:?} have no `{word}`");
    }
}

/// A reason of `.cargo/mutants.toml` hides the mutants of one function. One for code that was renamed or rewritten hides none, or another's.
#[test]
fn every_mutant_with_a_reason_is_of_code_that_exists() {
    let list = read(&root().join(".cargo/mutants.toml"));
    let (_, list) = list.split_once("\nexclude_re = [").unwrap();
    let lines = list.lines().map(|line| line.trim().trim_end_matches(','));
    let mut count = 0;
    for line in lines.filter(|line| line.starts_with('\'')) {
        let (file, what) = line.trim_matches('\'').split_once(r":\S+").expect(line);
        // `:9:` or `:(9|24):` before the rest names columns.
        let (columns, what) = match what.strip_prefix(':') {
            Some(rest) => rest.split_once(':').expect(line),
            None => ("", what),
        };
        let code = read(&root().join("crates").join(file.replace('\\', "")));
        // `replace FUNCTION -> TYPE with VALUE` is of a whole body.
        let function = match what.split_once(" -> ") {
            Some((function, _)) => function,
            None => what.rsplit_once(" in ").expect(line).1,
        };
        let name = function.trim_end_matches('$').rsplit("::").next().unwrap();
        assert!(has_function(&code, name), "{line}: no such function");
        let what = what.split(" in ").next().unwrap();
        let what = what.split(" with ").next().unwrap();
        let starts = ["replace match guard", "delete match arm", "replace", "delete"];
        let starts = starts.map(|start| format!(" {start} "));
        let changed = starts.iter().find_map(|start| what.strip_prefix(start));
        let changed = changed.unwrap_or_default().replace(['\\', ' '], "");
        let is_there = code.replace(' ', "").contains(&changed) || changed.contains(".*");
        for column in columns.split(['(', '|', ')']).filter_map(|column| column.parse::<usize>().ok()) {
            let is_at = |line: &str| line.get(column - 1..).is_some_and(|rest| rest.starts_with(&changed));
            assert!(body(&code, name).any(is_at), "{line}: no `{changed}` is at column {column}");
        }
        // A whole body has no text of its own here, and is not a part of one.
        assert!(is_there || what.contains(" -> "), "{line}: `{changed}` is not there");
        count += 1;
    }
    assert_eq!(count, list.matches(r"\.rs:\S+").count(), "reasons");
}

/// A file, or the files of a folder that are written in the language: others are made, the engines of the Go package.
fn read_all(path: &Path) -> String {
    if path.is_file() {
        return read(path);
    }
    let entries = fs::read_dir(path).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    let is_written = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        ["go", "hpp", "java", "py", "pyi"].contains(&extension.unwrap_or_default())
    };
    files.filter(is_written).map(|path| read(&path)).collect()
}

/// The tests write only their own sections, so that one stays after its test is gone.
#[test]
fn every_section_of_expected_messages_has_its_test() {
    for file in files(&[":(glob)crates/*/testdata/expected.txt"]) {
        let of_crate = file.strip_suffix("testdata/expected.txt").unwrap();
        let code = files(&[format!(":(glob){of_crate}**/*.rs")]).into_iter();
        let code: String = code.map(|code| read(&root().join(code))).collect();
        let text = read(&root().join(&file));
        for name in text.lines().filter_map(|line| line.strip_prefix("## ")) {
            let is_kept = code.contains(&format!("\"{name}\""));
            assert!(is_kept, "no test keeps `{name}` of {file}");
        }
    }
}

/// A reader types the project's commands as the pages write them. `gate` passes its arguments on, even `--help`.
#[test]
fn the_pages_commands_exist() {
    let mut count = 0;
    for page in pages() {
        for (line, mut words) in commands(&read(&page), &["cargo", "xtask"]) {
            match &*words[0] {
                "gate" => words = ["help", "gate"].map(str::to_owned).to_vec(),
                _ => words.push("--help".to_owned()),
            }
            let ran = Command::new(env!("CARGO_BIN_EXE_xtask")).args(&words).output().unwrap();
            let error = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success(), "{}:{line}: {words:?}: {error}", page.display());
            count += 1;
        }
    }
    assert!(count >= 60, "{count} commands");
}

#[test]
fn every_command_is_in_contributing() {
    let text = read(&root().join("CONTRIBUTING.md"));
    let mut help = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let help = help.arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, commands) = help.split_once("\nCommands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    // A longer description goes on below, further to the right.
    let commands = commands.lines().filter(|line| !line.starts_with("   "));
    let names = commands.map(|line| line.split_whitespace().next());
    let names: Vec<_> = names.flatten().filter(|name| *name != "help").collect();
    assert!(names.len() >= 10, "{help}");
    for name in names {
        let shown = format!("`cargo xtask {name}");
        assert!(text.contains(&shown), "{shown}` is not there");
    }
}

/// The cells of a page's table, its head first: the one whose first line begins so.
fn table(page: &str, head: &str) -> Vec<Vec<String>> {
    let page = read(&root().join(page));
    let lines = page.lines().skip_while(|line| !line.starts_with(head));
    let rows = lines.take_while(|line| line.starts_with('|'));
    let rows = rows.filter(|line| !line.starts_with("|---"));
    let cells = |row: &str| {
        let cells = row.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    rows.map(cells).collect()
}

/// What `](…)` and `[name]: …` lead to, outside code.
fn links(page: &str) -> impl Iterator<Item = &str> {
    let prose = page.split("```").step_by(2);
    prose.flat_map(|prose| {
        let inline = prose.split("](").skip(1);
        let inline = inline.filter_map(|rest| rest.split(')').next());
        let named = prose.lines().filter(|line| line.starts_with('['));
        inline.chain(named.filter_map(|line| Some(line.split_once("]: ")?.1)))
    })
}

/// The headings of a page as GitHub names them.
fn anchors(page: &str) -> impl Iterator<Item = String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| {
        let text = line.trim_start_matches('#').trim().to_lowercase();
        let is_kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
        let kept = text.chars().filter(is_kept);
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}
