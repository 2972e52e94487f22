//! What a recipe touches: the files that name an existing row and that no generator writes, tests apart. ARCHITECTURE.md lists them;
//! `ORBGATE_UPDATE=1` writes the list of today.

use std::collections::BTreeMap;

use crate::{files, read, root};

const PAGE: &str = "ARCHITECTURE.md";

/// What takes a whole new part.
const WHOLE_PARTS: [&str; 2] = ["a store of the ledger", "a language"];

/// What is no change by hand: tests and their data, what a tool writes, what only records.
const WITHOUT: [&str; 14] = [
    "/tests/",
    "/test/",
    "_test.go",
    "/testdata/",
    "/cases/",
    "/invalid/",
    "/conformance/",
    "/record/",
    "CHANGELOG",
    "Cargo.lock",
    "docs/cli.md",
    "policy/external.test.yaml",
    "policy/policy.schema.json",
    PAGE,
];

#[test]
fn recipes_list_what_their_rows_touch() {
    let page = read(&root().join(PAGE));
    let header = "| to add | like | files by hand | |\n|---|---|--:|---|\n";
    let (head, rest) = page.split_once(header).unwrap();
    let (rows, tail) = rest.split_once("\n\n").unwrap();
    let texts = by_hand();
    let made: String = rows.lines().map(|row| format!("{}\n", made(row, &texts))).collect();
    let now = format!("{head}{header}{made}\n{tail}");
    if std::env::var_os("ORBGATE_UPDATE").is_some() {
        std::fs::write(root().join(PAGE), now).unwrap();
    } else {
        assert_eq!(page, now, "a recipe takes other files: ORBGATE_UPDATE=1 cargo test -p xtask --test pages recipes");
    }
}

/// A row as it should be.
fn made(row: &str, texts: &BTreeMap<String, String>) -> String {
    let cells: Vec<_> = row.split('|').map(str::trim).collect();
    let (what, like) = (cells[1], cells[2].trim_matches('`'));
    let spellings = spellings(like);
    let names = |text: &str| spellings.iter().any(|word| has_word(text, word));
    let touched: Vec<_> = texts.iter().filter(|(_, text)| names(text)).map(|(path, _)| path.as_str()).collect();
    let is_whole = WHOLE_PARTS.contains(&what);
    assert!(touched.len() > 1, "nothing is like `{like}`");
    let list = if is_whole { "the folders of one, and what names it".to_owned() } else { in_folders(&touched) };
    format!("| {what} | `{like}` | {} | {list} |", touched.len())
}

/// `user_token_required`, `UserTokenRequired`, `userTokenRequired`, `USER_TOKEN_REQUIRED`. A word with a capital is that of code alone.
fn spellings(word: &str) -> Vec<String> {
    if word.starts_with(char::is_uppercase) {
        return vec![word.to_owned()];
    }
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let pascal: String = word.split('_').map(capital).collect();
    let camel = pascal[..1].to_lowercase() + &pascal[1..];
    vec![word.to_owned(), pascal, camel, word.to_uppercase()]
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// The tracked files, each with what is written by hand in it.
fn by_hand() -> BTreeMap<String, String> {
    let is_by_hand = |path: &String| {
        let in_root = format!("/{path}");
        let name = path.rsplit('/').next().unwrap();
        !WITHOUT.iter().any(|part| in_root.contains(part))
            && !name.starts_with("test_")
            && !name.contains(".test.")
            && name != "tests.rs"
    };
    let texts = files(&["."]).into_iter().filter(is_by_hand).filter_map(|path| {
        let text = std::fs::read_to_string(root().join(&path)).ok()?;
        let start: String = text.chars().take(1_000).collect();
        let is_made = ["not to be edited", "Made by `cargo xtask codes`"].iter().any(|mark| start.contains(mark));
        (!is_made).then(|| (path, without_sections(&text)))
    });
    texts.collect()
}

/// A file without the sections that the generator writes.
fn without_sections(text: &str) -> String {
    let (mut left, mut is_made) = (String::new(), false);
    for line in text.split_inclusive('\n') {
        is_made |= line.contains("cargo xtask codes: ");
        if !is_made {
            left.push_str(line);
        }
        is_made &= !line.contains("end of ");
    }
    left
}

/// `` `a/b.rs` `c.rs`, `d/e.md` ``: what is in one folder stands together.
fn in_folders(paths: &[&str]) -> String {
    let mut folders = BTreeMap::<_, Vec<_>>::new();
    for path in paths {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        folders.entry(folder).or_default().push(name);
    }
    let folders = folders.iter().map(|(folder, names)| match (*folder, names.as_slice()) {
        ("", names) => format!("`{}`", names.join("` `")),
        (folder, [name]) => format!("`{folder}/{name}`"),
        (folder, names) => format!("`{folder}/`: `{}`", names.join("` `")),
    });
    folders.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_word_is_found_in_every_spelling() {
    let text = "if reason == Reason::UserTokenRequired { USER_TOKEN_REQUIRED }";
    assert!(spellings("user_token_required").iter().any(|word| has_word(text, word)));
    assert!(!has_word("xuser_token", "user_token") && !has_word("user_tokens", "user_token"));
    let made = "a\n// cargo xtask codes: reasons\nb\n// end of reasons\nc\n";
    assert_eq!(without_sections(made), "a\nc\n");
}
