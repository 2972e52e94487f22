//! The project's pages, and what a reader copies from them: policies and commands.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests of two crates read the pages, each for its own program"
)]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// The files that git has of these, and new ones, but no links to files that are there already.
pub fn files(of: &[impl AsRef<OsStr>]) -> Vec<String> {
    let list = "ls-files --cached --others --exclude-standard --".split(' ');
    let mut git = Command::new("git");
    let output = git.args(list).args(of).current_dir(root()).output();
    let output = output.unwrap();
    let files = String::from_utf8(output.stdout).unwrap();
    let files = files.lines().filter(|file| root().join(file).is_file());
    let files = files.filter(|file| !root().join(file).is_symlink());
    files.map(str::to_owned).collect()
}

/// The pages at the root, in docs/ and its folders, policy/, benches/, explorer/, fuzz/, and in each crate and binding.
pub fn pages() -> impl Iterator<Item = PathBuf> {
    let folders = ". docs docs/* policy policy/cases policy/cases/* benches bindings crates/* bindings/* bindings/*/docs explorer fuzz";
    let pages = folders.split(' ').map(|folder| format!(":(glob){folder}/*.md"));
    let pages: Vec<_> = pages.collect();
    files(&pages).into_iter().map(|file| root().join(file))
}

/// The policies of a page, each with the number of its first line: from `orbgate: 1` to the end marker or to the end of
/// the block, in YAML, in a shell's here-document or in a string of a program, but not in the output of a command. A
/// block that begins with `apis:` is a policy without its first and last lines.
pub fn policies(page: &str) -> Vec<(usize, String)> {
    let mut policies: Vec<(usize, String)> = Vec::new();
    // The language of the block, and the indentation of the policy.
    let (mut block, mut open) = (None::<&str>, None);
    let lines: Vec<_> = page.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        if text.starts_with("```") {
            block = if block.is_some() { None } else { text.strip_prefix("```") };
            open = None;
            continue;
        }
        let is_code = block.is_some_and(|language| language != "console");
        let is_first = is_code && lines[index - 1].trim_start().starts_with("```yaml");
        let starts = text.split(" #").next().unwrap().trim_end() == "orbgate: 1";
        if is_code && (starts || (is_first && text.starts_with("apis:"))) {
            let start = if starts { String::new() } else { "orbgate: 1\n".to_owned() };
            policies.push((index + 1, start));
            open = Some(line.len() - text.len());
        }
        if let (Some(indent), Some((_, policy))) = (open, policies.last_mut()) {
            let text = line.get(indent..).unwrap_or_default();
            // A string of a program ends.
            if text.starts_with('"') {
                open = None;
                continue;
            }
            policy.push_str(text);
            policy.push('\n');
            if text.starts_with("...") {
                open = None;
            }
        }
    }
    policies
}

/// The commands of a program on a page, each with its line and its words: in running text between backticks, and in
/// blocks of a shell.
pub fn commands(page: &str, program: &[&str]) -> Vec<(usize, Vec<String>)> {
    let mut commands = Vec::new();
    let mut line = 1;
    for (index, piece) in page.split("```").enumerate() {
        let language = piece.lines().next().unwrap_or_default();
        // In a session, only what comes after `$ ` is typed.
        let typed = |line: &str| language != "console" || line.starts_with("$ ");
        let mut at = line;
        match index % 2 {
            1 if ["sh", "console"].contains(&language) => {
                for text in piece.lines() {
                    if typed(text) {
                        commands.extend(words(text).into_iter().map(|words| (at, words)));
                    }
                    at += 1;
                }
            }
            1 => {}
            _ => {
                for (index, span) in piece.split('`').enumerate() {
                    if index % 2 == 1 {
                        commands.extend(words(span).into_iter().map(|words| (at, words)));
                    }
                    at += span.matches('\n').count();
                }
            }
        }
        line += piece.matches('\n').count();
    }
    let of_program = commands.into_iter().filter_map(|(line, words)| {
        let rest = program.iter().zip(&words).all(|(name, word)| name == word);
        (rest && words.len() > program.len()).then(|| (line, words[program.len()..].to_vec()))
    });
    of_program.collect()
}

/// The simple commands of a line, each as its words: what a shell would start, without redirections and comments.
fn words(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let (mut word, mut quote, mut is_target) = (None::<String>, None, false);
    let line = line.strip_prefix("$ ").unwrap_or(line);
    for c in line.chars().chain(['\n']) {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '\n' | '|' | '&' | ';' | '(' | ')' | '<' | '>') => {
                if matches!(c, '<' | '>') && word.as_deref() == Some("2") {
                    word = None;
                }
                if let Some(word) = word.take().filter(|_| !core::mem::take(&mut is_target)) {
                    commands.last_mut().unwrap().push(word);
                }
                match c {
                    '<' | '>' => is_target = true,
                    '|' | '&' | ';' | '(' | ')' => commands.push(Vec::new()),
                    _ => {}
                }
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    commands.retain(|words| !words.is_empty());
    commands
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
