//! Escapes untrusted strings for terminals, machine-read logs and Markdown.

use std::borrow::Cow;

use orbgate_yaml::is_hidden;

/// A string on one line, with control characters and invisible characters escaped.
///
/// ```
/// use orbgate_analysis::shown::one_line;
///
/// assert_eq!(one_line("a\nb\u{202e}c"), "a b\\u{202e}c");
/// ```
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    let acts = |character: char| character.is_control() || is_hidden(character);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => line.push(' '),
            control if control.is_control() => line.extend(control.escape_default()),
            hidden if is_hidden(hidden) => line.extend(hidden.escape_unicode()),
            other => line.push(other),
        }
    }
    Cow::Owned(line)
}

/// A string for a cell of a Markdown table: plain words unchanged, everything else as code.
///
/// Escapes aren't enough, because GitHub looks for `@names`, addresses, commits and `#numbers` after it has parsed the
/// Markdown.
///
/// ```
/// use orbgate_analysis::shown::prose;
///
/// assert_eq!(prose("creates, runs (and modifies) items"), "creates, runs (and modifies) items");
/// assert_eq!(prose("ask @org/team"), "`ask @org/team`");
/// ```
#[must_use]
pub fn prose(text: &str) -> String {
    let text = one_line(text);
    match text.split(' ').all(is_plain) {
        true => text.replace('|', "\\|"),
        false => code(&text),
    }
}

/// Whether a word, apart from punctuation around it, is only letters or a short number: no markup, address or commit.
fn is_plain(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '"']);
    let word = word.trim_end_matches([',', ';', ':', '.', '?', ')', '"']);
    let is_number = word.len() < 7 && word.bytes().all(|byte| byte.is_ascii_digit());
    let may_be_commit = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let of_letters = word.split(['-', '\'', '’', '/']).all(|part| part.chars().all(char::is_alphabetic));
    word == "|" || is_number || of_letters && !may_be_commit
}

/// Code in a cell of a Markdown table, which a `|` would end even within code.
#[must_use]
pub fn code(text: &str) -> String {
    span(&text.replace('|', "\\|"))
}

/// Code in Markdown outside tables.
///
/// ```
/// use orbgate_analysis::shown::span;
///
/// assert_eq!(span("GET /{id}"), "`GET /{id}`");
/// assert_eq!(span("a`b``c"), "``` a`b``c ```");
/// ```
#[must_use]
pub fn span(text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() {
        return text.into_owned();
    }
    // The delimiter has more backticks than any run inside the code.
    let runs = text.split(|character| character != '`').map(str::len);
    match runs.max().unwrap_or(0) {
        0 => format!("`{text}`"),
        longest => {
            let fence = "`".repeat(longest.saturating_add(1));
            format!("{fence} {text} {fence}")
        }
    }
}

/// Lines for a terminal, which might be a log of GitHub Actions. If its runner would read a line as a command
/// (`::name::`, or `##[name]` anywhere), the first character is escaped. Styles and blanks before a command don't hide
/// it.
///
/// ```
/// use orbgate_analysis::shown::lines;
///
/// assert_eq!(lines("::stop-commands::x: ok\nb::c\n"), "\\u{3a}:stop-commands::x: ok\nb::c\n");
/// ```
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    if !text.contains("::") && !text.contains("##[") {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive(['\n', '\r']) {
        let command = without_styles(line);
        let (before, after) = line.split_at_checked(line.len().saturating_sub(command.len())).unwrap_or(("", line));
        shown.push_str(before);
        let after = match after.strip_prefix("::") {
            Some(rest) => {
                shown.push_str("\\u{3a}:");
                rest
            }
            None => after,
        };
        shown.push_str(&after.replace("##[", "\\u{23}#["));
    }
    Cow::Owned(shown)
}

/// JSON, or YAML in quotes, for the same output. No line starts with `::`, and a `##[` in a string is written as an
/// escape, which has the same meaning.
///
/// ```
/// use orbgate_analysis::shown::json;
///
/// assert_eq!(json("[\"##[group]x\"]"), "[\"\\u0023#[group]x\"]");
/// ```
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    match text.contains("##[") {
        true => Cow::Owned(text.replace("##[", "\\u0023#[")),
        false => Cow::Borrowed(text),
    }
}

/// A line without blanks and ANSI styles at its start.
fn without_styles(mut line: &str) -> &str {
    loop {
        line = line.trim_start();
        let style = line.strip_prefix("\u{1b}[");
        match style.and_then(|style| style.split_once('m')) {
            Some((_, rest)) => line = rest,
            None => return line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{code, lines, prose};

    #[test]
    fn only_plain_words_are_no_code() {
        for plain in [
            "",
            "reads the account profile",
            "creates, runs and modifies voxies",
            "the user's \"own\"; 24 per day (or less).",
            "lädt Größen, чтение",
            "create/delete read-only",
        ] {
            assert_eq!(prose(plain), plain);
        }
        for live in [
            "@org/team",
            "see https://example.com",
            "www.example.com",
            "a@b.example",
            "#12",
            "GH-12",
            "org/repo#1",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "1234567",
            "<b>",
            "![x](y)",
            "*a*",
            "_a_",
            "a ~~b~~",
            "&copy;",
            ":smile:",
            "a\\",
        ] {
            assert_eq!(prose(live), format!("`{live}`"));
        }
        assert_eq!(prose("a | b"), "a \\| b");
        assert_eq!(prose("a|b"), "`a\\|b`");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!(prose("a\u{200b}b"), "`a\\u{200b}b`");
    }

    #[test]
    fn no_line_is_a_command() {
        for (line, expected) in [
            ("a: ::b::", "a: ::b::"),
            ("  ::b::", "  \\u{3a}:b::"),
            ("\u{1b}[1m::b::\u{1b}[0m", "\u{1b}[1m\\u{3a}:b::\u{1b}[0m"),
            ("\u{1b}[1m \u{1b}[32m::b", "\u{1b}[1m \u{1b}[32m\\u{3a}:b"),
            ("a ##[group]x", "a \\u{23}#[group]x"),
            ("a\r::b::\n\n::c", "a\r\\u{3a}:b::\n\n\\u{3a}:c"),
        ] {
            assert_eq!(lines(line), expected);
        }
    }
}
