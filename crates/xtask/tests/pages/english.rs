//! The English of pages and documentation comments: the phrases of `english.tsv` may only become fewer in each file.
//! `ORBGATE_UPDATE=1` writes the counts of today.

use core::fmt::Write as _;
use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use fancy_regex::Regex;

/// The phrases, each with the advice.
const RULES: &str = include_str!("english.tsv");

/// The committed counts: a file and its phrases on each line.
const COUNTS: &str = "crates/xtask/tests/pages/english-counts.tsv";

static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`+[^`]*`+").unwrap());
static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\]\([^)]*\)").unwrap());

#[test]
fn no_file_has_more_slips_of_english_than_before() {
    let rules = rules();
    let mut counts = BTreeMap::new();
    let mut slips = BTreeMap::new();
    for file in crate::files(&["*.md", "crates/*/src/*.rs", "bindings/c/include/*.h"]) {
        if file.starts_with("benches/record/") {
            continue;
        }
        let text = fs::read_to_string(crate::root().join(&file)).unwrap_or_default();
        let hits = hits(&rules, &file, &text);
        if !hits.is_empty() {
            counts.insert(file.clone(), hits.len());
            slips.insert(file, hits);
        }
    }
    let path = crate::root().join(COUNTS);
    if std::env::var_os("ORBGATE_UPDATE").is_some() {
        let rows = counts.iter();
        let text = rows.fold(String::new(), |mut text, (file, count)| {
            let _ = writeln!(text, "{file}\t{count}");
            text
        });
        return fs::write(path, text).unwrap();
    }
    let committed = crate::read(&path);
    let rows = committed.lines().filter_map(|row| row.split_once('\t'));
    let allowed: BTreeMap<_, usize> = rows.map(|(file, count)| (file, count.parse().unwrap())).collect();
    let more = counts.iter().filter_map(|(file, count)| {
        let allowed = allowed.get(file.as_str()).copied().unwrap_or_default();
        let hits = slips[file].join("\n");
        (*count > allowed).then(|| format!("{count} slips, {allowed} before:\n{hits}"))
    });
    let more: Vec<_> = more.collect();
    assert!(more.is_empty(), "{}", more.join("\n"));
}

fn rules() -> Vec<(Regex, &'static str)> {
    let rules = RULES.lines().filter(|line| !line.starts_with('#'));
    let rules = rules.map(|line| line.split_once('\t').unwrap());
    rules.map(|(phrase, advice)| (Regex::new(phrase).unwrap(), advice)).collect()
}

/// The slips in the prose of a file: code blocks, inline code and targets of links are left out.
fn hits(rules: &[(Regex, &str)], file: &str, text: &str) -> Vec<String> {
    let mut slips = Vec::new();
    let mut is_code = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let prose = match file.rsplit_once('.') {
            Some((_, "rs")) => line.strip_prefix("//!").or(line.strip_prefix("///")),
            Some((_, "h")) => line.strip_prefix('/').or(Some(line)).and_then(|line| {
                let text = line.trim_start_matches('*');
                (text.len() < line.len()).then_some(text)
            }),
            _ => Some(line),
        };
        let prose = prose.unwrap_or_default();
        let prose = prose.strip_prefix(' ').unwrap_or(prose);
        if prose.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code || prose.is_empty() {
            continue;
        }
        let prose = CODE.replace_all(prose, "CODE");
        let prose = LINK.replace_all(&prose, "]");
        for (phrase, advice) in rules {
            let hits = phrase.find_iter(&prose).flatten();
            let hit =
                |hit: fancy_regex::Match<'_>| format!("{file}:{}: {:?} -> {advice}", number + 1, hit.as_str().trim());
            slips.extend(hits.map(hit));
        }
    }
    slips
}

#[test]
fn a_slip_is_found_in_prose_only() {
    let rules = rules();
    let page = "Nobody knows.\n```\nNobody\n```\n`Nobody` [x](Nobody)\n";
    assert_eq!(hits(&rules, "a.md", page).len(), 1);
    let code = "/// Nobody knows.\nfn a() {} // Nobody\n";
    assert_eq!(hits(&rules, "a.rs", code).len(), 1);
    assert_eq!(hits(&rules, "a.h", "/** Nobody. */\nint nobody;\n").len(), 1);
}
