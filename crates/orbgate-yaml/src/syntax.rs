//! Explains YAML syntax errors, in the words of a format.

use saphyr_parser::{Marker, ScanError, Span};

use crate::diagnostics::quoted;
use crate::lines::with_line_feeds;
use crate::node::Location;

/// The longest key that YAML allows on one line, with its quotes.
const KEY: usize = 1_024;

/// The properties of a format that messages need.
#[derive(Debug)]
pub struct Format {
    /// The name of such a file, with its article: `a settings file`.
    pub file: &'static str,
    /// How such a file starts, for authors of an empty file: ``a settings file starts with
    /// `version: 1` ``.
    pub start: &'static str,
    /// Whether this is a key at any level of a file. With it, `key:value` without the space is
    /// detected.
    pub has_key: fn(&str) -> bool,
    /// Strings that can contain braces, which have a meaning in YAML's flow style.
    pub braced: Option<Braced>,
    /// Why a key that contains a colon isn't a missing space after a key: `a name has no space`.
    pub key_with_colon: Option<&'static str>,
}

/// Strings with braces, which must be quoted in flow style.
#[derive(Debug)]
pub struct Braced {
    /// The name of such a string, with its article: `a pattern with braces`.
    pub name: &'static str,
    /// Whether a string is one, judging by its form.
    pub is: fn(&str) -> bool,
}

impl Format {
    /// The message for `key:value`, which YAML reads as one string.
    #[must_use]
    pub fn missing_space(&self, line: &str) -> Option<String> {
        let (key, value) = line.split_once(':')?;
        let is_separate = value.is_empty() || value.starts_with([' ', '\t', '\n', '\r']);
        if is_separate || !(self.has_key)(key) {
            return None;
        }
        let value = value.lines().next().unwrap_or_default();
        let (joined, meant) = (format!("{key}:{value}"), format!("{key}: {value}"));
        Some(format!("{} needs a space after the `:`: write {}", quoted(&joined), quoted(&meant)))
    }

    /// The message for a string with braces that isn't quoted in flow style.
    pub(crate) fn unquoted_braces(&self, text: &str) -> String {
        let name = self.braced.as_ref().map_or("a text with braces", |braced| braced.name);
        let text = quoted(&format!("'{text}'"));
        format!("in flow style {name} must be quoted: write {text}")
    }
}

/// The location and the message for a file that isn't valid YAML.
///
/// `last_plain` is the last unquoted string. `open_flow` is the start of the innermost collection,
/// if it is written in brackets or braces.
pub(super) fn diagnosis(
    error: &ScanError,
    text: &str,
    format: &Format,
    last_plain: Option<Span>,
    open_flow: Option<Location>,
) -> (Location, String) {
    let at = error.marker();
    let text = &with_line_feeds(text);
    if let Some(problem) = tab(error, text).or_else(|| unclosed_quote(error, text)) {
        return problem;
    }
    if let Some(start) = open_flow {
        if let Some(problem) = last_plain.and_then(|plain| unquoted_braces(text, format, &plain, at)) {
            return problem;
        }
        if let Some(problem) = unquoted_item(text, format, at) {
            return problem;
        }
        let message = format!("{}, within the bracket opened on line {}", parser_words(error), start.line);
        return (location(at), message);
    }
    colon(error, text, format).unwrap_or_else(|| (location(at), parser_words(error)))
}

/// Converts a location from the parser.
pub(super) fn location(marker: &Marker) -> Location {
    Location {
        line: u32::try_from(marker.line()).unwrap_or(u32::MAX),
        column: u32::try_from(marker.col()).unwrap_or(u32::MAX).saturating_add(1),
    }
}

/// A tab where YAML allows none. The parser often finds it at the end of the line before.
fn tab(error: &ScanError, text: &str) -> Option<(Location, String)> {
    let (at, info) = (error.marker(), error.info());
    let after_colon = info.contains("must be followed by a valid YAML whitespace");
    if !after_colon && !info.contains("tab") {
        return None;
    }
    let here = at.line().checked_sub(1)?;
    for (number, line) in text.lines().enumerate().skip(here) {
        let is_indented = line.trim_start_matches(' ').starts_with('\t');
        // Not one before the place at which the parser stopped.
        let from = if number == here && !is_indented { at.col().saturating_sub(1) } else { 0 };
        let Some(column) = line.chars().enumerate().skip(from).find_map(|(column, c)| (c == '\t').then_some(column))
        else {
            continue;
        };
        let message = match is_indented {
            true => "a tab can't indent a line: use spaces",
            false => "a tab isn't allowed here: write a space",
        };
        let location = Location {
            line: u32::try_from(number.saturating_add(1)).ok()?,
            column: u32::try_from(column.saturating_add(1)).ok()?,
        };
        return Some((location, message.to_owned()));
    }
    None
}

/// In flow style, an unquoted `{` ends the string before it, and the parser's own message doesn't
/// help.
fn unquoted_braces(text: &str, format: &Format, plain: &Span, at: &Marker) -> Option<(Location, String)> {
    let length = plain.end.index().checked_sub(plain.start.index())?;
    let gap = at.index().checked_sub(plain.end.index())?;
    let mut tail = text.chars().skip(plain.start.index());
    let start: String = tail.by_ref().take(length).collect();
    if !tail.by_ref().take(gap).all(char::is_whitespace) {
        return None;
    }
    // Up to the character that ends an item in flow style. A brace that was opened belongs to the
    // string.
    let mut braces = 0_u32;
    let rest: String = tail
        .take_while(|c| {
            match c {
                '{' => braces = braces.saturating_add(1),
                '}' if braces == 0 => return false,
                '}' => braces = braces.saturating_sub(1),
                ',' | ']' | '\n' | '\r' | '#' => return false,
                _ => {}
            }
            true
        })
        .collect();
    if !rest.starts_with('{') {
        return None;
    }
    let whole = format!("{start}{rest}");
    let message = format.unquoted_braces(whole.trim_end());
    Some((location(&plain.start), message))
}

/// The same, for an error that the parser finds within the item or after it.
fn unquoted_item(text: &str, format: &Format, at: &Marker) -> Option<(Location, String)> {
    let braced = format.braced.as_ref()?;
    let line = text.lines().nth(at.line().checked_sub(1)?)?;
    let characters: Vec<char> = line.chars().collect();
    // Back to the character that starts an item in flow style. A brace after a `/` belongs to the
    // string.
    let before = characters.get(..at.col().min(characters.len()))?;
    let mut braces = 0_usize;
    let mut start = before.len();
    for (index, c) in before.iter().enumerate().rev() {
        let behind_slash = || index.checked_sub(1).and_then(|index| before.get(index)) == Some(&'/');
        match c {
            '}' => braces = braces.saturating_add(1),
            '{' if braces == 0 && !behind_slash() => break,
            '{' => braces = braces.saturating_sub(1),
            '[' | ',' if braces == 0 => break,
            _ => {}
        }
        start = index;
    }
    let mut open = 0_usize;
    let item: String = characters
        .get(start..)?
        .iter()
        .take_while(|c| {
            match c {
                '{' => open = open.saturating_add(1),
                '}' if open > 0 => open = open.saturating_sub(1),
                '}' | ',' | ']' if open == 0 => return false,
                _ => {}
            }
            true
        })
        .collect();
    let blanks = item.chars().take_while(|c| c.is_whitespace()).count();
    let item = item.trim();
    let column = u32::try_from(start.saturating_add(blanks).saturating_add(1)).ok()?;
    let location = Location { line: location(at).line, column };
    (braced.is)(item).then(|| (location, format.unquoted_braces(item)))
}

/// An opening quote without a closing one. The parser notices it at the end of the file, at a less
/// indented line, or where it treats the next quote in the file as the closing one.
fn unclosed_quote(error: &ScanError, text: &str) -> Option<(Location, String)> {
    let (at, info) = (error.marker(), error.info());
    if info == "invalid indentation in quoted scalar"
        || info.starts_with("while scanning a quoted scalar, found unexpected")
    {
        return Some((location(at), "the quote is never closed".to_owned()));
    }
    if !info.starts_with("invalid trailing content after") {
        return None;
    }
    let end = text.char_indices().nth(at.index()).map_or(text.len(), |(end, _)| end);
    let scalar = text.get(..end)?.trim_end_matches([' ', '\t']);
    let quote = scalar.chars().next_back().filter(|c| matches!(c, '\'' | '"'))?;
    let scalar = scalar.strip_suffix(quote)?;
    let (before, inside) = scalar.rsplit_once(quote)?;
    if !inside.contains('\n') {
        let message = match quote {
            '\'' => "unexpected text after the closing quote: inside `'…'`, write a quote as `''`",
            _ => "unexpected text after the closing quote: inside `\"…\"`, write a quote as `\\\"`",
        };
        return Some((location(at), message.to_owned()));
    }
    let line = before.lines().count().max(1);
    let column = before.lines().next_back().unwrap_or_default().chars().count();
    let opened = Location { line: u32::try_from(line).ok()?, column: u32::try_from(column).ok()?.saturating_add(1) };
    Some((opened, "the quote is never closed on its line".to_owned()))
}

/// A `:` without its space, or with too many.
fn colon(error: &ScanError, text: &str, format: &Format) -> Option<(Location, String)> {
    let (at, info) = (error.marker(), error.info());
    let second = info.starts_with("mapping values are not allowed");
    if !second && !info.starts_with("simple key expect") {
        return None;
    }
    let lines: Vec<&str> = text.lines().take(at.line()).collect();
    let is_content = |line: &&str| !line.trim_start().is_empty() && !line.trim_start().starts_with('#');
    let here = at.line().checked_sub(1)?;
    if second {
        let line = lines.get(here)?;
        let (content, indent) = content(line);
        let colon = at.col().checked_sub(indent)?;
        let end = content.char_indices().nth(colon).map_or(content.len(), |(end, _)| end);
        let (before, after) = content.split_at_checked(end)?;
        if before.starts_with(['"', '\'']) && before.chars().count() > KEY {
            let start = u32::try_from(indent.saturating_add(1)).ok()?;
            let message =
                "a key has at most 1,024 characters, and its quotes count: write it without quotes".to_owned();
            return Some((Location { line: location(at).line, column: start }, message));
        }
        if let Some((key, value)) = before.split_once(": ") {
            let rest = after.strip_prefix(':').unwrap_or(after).trim();
            let quoted_text = "text with `: ` in it must be quoted";
            let is_key = rest.is_empty() || rest.starts_with(['{', '[', '#']);
            let message = if let Some(why) = format.key_with_colon.filter(|_| is_key) {
                let key = quoted(&format!("{key}:{}", value.trim_start()));
                format!("{quoted_text}, and {why}: write {key}")
            } else {
                let text = content.get(key.len().saturating_add(2)..)?;
                let text = text.split(" #").next().unwrap_or_default().trim();
                let text = quoted(&format!("{key}: '{}'", text.replace('\'', "''")));
                format!("{quoted_text}: write {text}")
            };
            return Some((location(at), message));
        }
    }
    let (number, line) = lines.iter().enumerate().take(here).rfind(|(_, line)| is_content(line))?;
    let (content, indent) = content(line);
    let message = format.missing_space(content.trim_end())?;
    let location = Location {
        line: u32::try_from(number.saturating_add(1)).ok()?,
        column: u32::try_from(indent.saturating_add(1)).ok()?,
    };
    Some((location, message))
}

/// A line without its indentation and list dashes, and the number of characters that those take.
fn content(line: &str) -> (&str, usize) {
    let mut content = line.trim_start();
    while let Some(item) = content.strip_prefix("- ") {
        content = item.trim_start();
    }
    let indent = line.len().saturating_sub(content.len());
    (content, indent)
}

/// The parser's message, with our quotes.
fn parser_words(error: &ScanError) -> String {
    let info = error.info().replace("wasn't", "was not").replace('\'', "`");
    format!("invalid YAML: {info}")
}
