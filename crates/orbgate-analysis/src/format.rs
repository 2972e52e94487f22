//! Formats a policy file. Comments and the order of the file are kept, and values aren't rewritten.

use std::collections::BTreeMap;

use orbgate::policy::Diagnostic;
use orbgate::{Location, Policy};
use orbgate_yaml::{Content, Entry, Node};

use crate::text::visit;

/// Formats a policy: two spaces for each level, one space after a `-` and a `:`, no spaces at the end of a line, and
/// one blank line in place of several. Strings in brackets, in quotes or in a block aren't changed.
///
/// The result has the same digest, and formatting it again changes nothing. A seal that doesn't match the contents
/// before it is removed, so that only the end marker remains.
///
/// ```
/// let text = "orbgate: 1\napis:\n    a:\n        # All of it.\n        scopes: {}\n";
/// let laid_out = "orbgate: 1\napis:\n  a:\n    # All of it.\n    scopes: {}\n";
/// assert_eq!(orbgate_analysis::format(text).unwrap(), laid_out);
/// ```
///
/// # Errors
///
/// Returns the errors of an invalid policy, or one error if formatting would change the policy.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let unsealed = orbgate_yaml::unseal(text);
    let laid_out = format_unsealed(&unsealed)?;
    let sealed = (unsealed != text).then(|| orbgate_yaml::seal(&laid_out));
    Ok(sealed.filter(|sealed| sealed == text).unwrap_or(laid_out))
}

/// Formats and seals a policy, for a file that is to be deployed.
///
/// ```
/// let sealed = orbgate_analysis::format_and_seal("orbgate: 1\napis: { a: { scopes: {} } }\n").unwrap();
/// assert!(orbgate::Policy::from_yaml(&sealed).unwrap().is_sealed());
/// assert_eq!(orbgate_analysis::format(&sealed).unwrap(), sealed);
/// let other = sealed.replace("a:", "b:");
/// assert!(orbgate::Policy::from_yaml(&other).is_err());
/// assert!(orbgate_analysis::format(&other).unwrap().ends_with("\n...\n"));
/// ```
///
/// # Errors
///
/// The same as those of [`format()`].
pub fn format_and_seal(text: &str) -> Result<String, Vec<Diagnostic>> {
    let laid_out = format_unsealed(&orbgate_yaml::unseal(text))?;
    Ok(orbgate_yaml::seal(&laid_out))
}

/// Whether a policy file has a seal, valid or not.
#[must_use]
pub fn is_sealed(text: &str) -> bool {
    orbgate_yaml::is_sealed(text.as_bytes())
}

fn format_unsealed(text: &str) -> Result<String, Vec<Diagnostic>> {
    let diagnostics = |error: orbgate::PolicyError| error.diagnostics().to_vec();
    let policy = Policy::from_yaml(text).map_err(diagnostics)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let laid_out = lay_out(text, &starts(text)?);
    // Formatting must never change the policy.
    match Policy::from_yaml(&laid_out) {
        Ok(same) if same.digest() == policy.digest() && same.has_end_marker() == policy.has_end_marker() => {
            Ok(laid_out)
        }
        _ => Err(vec![Diagnostic {
            location: Location { line: 1, column: 1 },
            message: "this text cannot be formatted without changing its meaning: write its strings on one line"
                .to_owned(),
        }]),
    }
}

/// A line on which a key or an item starts.
#[derive(Clone, Copy)]
struct Start {
    /// The number of spaces that belong before it.
    indent: usize,
    /// Whether it starts with a `-`.
    item: bool,
    /// The start and end of its key's name, in characters from the start of the line, if it has a key.
    key: Option<(usize, usize)>,
}

/// White space around a line's content. Other white space, such as a no-break space, is part of the
/// content.
const BLANK: [char; 3] = [' ', '\t', '\r'];

impl Start {
    /// The old and new column of the key or, without a key, of the item. Lines that continue its value move by the
    /// same distance.
    fn moves(&self, line: &str) -> (usize, usize) {
        match self.key {
            Some((key, _)) if self.item => (key, self.indent.saturating_add(2)),
            _ => (spaces(line), self.indent),
        }
    }
}

/// The lines of the file, each without its line ending.
struct Lines<'t>(Vec<&'t str>);

impl<'t> Lines<'t> {
    fn get(&self, line: u32) -> Option<&'t str> {
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        self.0.get(at).copied()
    }
}

/// The lines on which a key or an item starts, outside of brackets.
fn starts(text: &str) -> Result<BTreeMap<u32, Start>, Vec<Diagnostic>> {
    let lines = Lines(text.lines().collect());
    let mut starts = BTreeMap::new();
    let read = visit(text, |root| walk(root, 0, &lines, &mut starts));
    let diagnostic = |diagnostic: orbgate_yaml::Diagnostic| Diagnostic {
        location: Location { line: diagnostic.location.line, column: diagnostic.location.column },
        message: diagnostic.message,
    };
    read.map_err(|diagnostics| diagnostics.into_iter().map(diagnostic).collect::<Vec<_>>())?;
    Ok(starts)
}

fn walk(node: &Node<'_>, indent: usize, lines: &Lines<'_>, starts: &mut BTreeMap<u32, Start>) {
    let deeper = indent.saturating_add(2);
    let at = lines.get(node.location.line).unwrap_or_default();
    let column = usize::try_from(node.location.column).unwrap_or(usize::MAX);
    let first = at.chars().nth(column.saturating_sub(1));
    match &node.kind {
        Content::Mapping(entries) if first != Some('{') => {
            for entry in entries {
                start_of_key(entry, indent, lines, starts);
                walk(&entry.value, deeper, lines, starts);
            }
        }
        Content::Sequence(items) if first != Some('[') => {
            for item in items {
                let at = dash(item, lines);
                if let Some(at) = at {
                    let start = Start { indent, item: true, key: None };
                    starts.insert(at, start);
                }
                walk(item, deeper, lines, starts);
            }
        }
        _ => {}
    }
}

/// The line of an item's `-`: the line of its value, or the nearest line above that isn't a
/// comment.
fn dash(item: &Node<'_>, lines: &Lines<'_>) -> Option<u32> {
    let content = |line: u32| lines.get(line).unwrap_or_default().trim_matches(BLANK);
    let own = item.location.line;
    if content(own).starts_with("- ") {
        return Some(own);
    }
    // The location of a block is where its contents start; its header can be on a line in between.
    let is_between = |line: u32| content(line).is_empty() || content(line).starts_with(['#', '|', '>']);
    let above = (1..own).rev().find(|line| !is_between(*line))?;
    let value = content(above).strip_prefix('-')?;
    let value = match value.strip_prefix(BLANK) {
        Some(value) => value.trim_start_matches(BLANK),
        None => value,
    };
    (value.is_empty() || value.starts_with(['#', '|', '>'])).then_some(above)
}

/// Records a key that is the first of its line or of an item.
fn start_of_key(entry: &Entry<'_>, indent: usize, lines: &Lines<'_>, starts: &mut BTreeMap<u32, Start>) {
    let line = lines.get(entry.key_location.line).unwrap_or_default();
    let column = usize::try_from(entry.key_location.column).unwrap_or(usize::MAX);
    let before = column.saturating_sub(1);
    let quotes = if entry.key.plain { 0 } else { 2 };
    let length = entry.key.text.chars().count().saturating_add(quotes);
    let key = Some((before, before.saturating_add(length)));
    if spaces(line) == before {
        let start = Start { indent, item: false, key };
        starts.insert(entry.key_location.line, start);
    } else if let Some(start) = starts.get_mut(&entry.key_location.line)
        && start.item
    {
        start.key = start.key.or(key);
    }
}

fn spaces(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}

fn lay_out(text: &str, starts: &BTreeMap<u32, Start>) -> String {
    let mut out = String::with_capacity(text.len());
    // How far continuation lines of a value move with the line on which it starts.
    let mut moved = (0, 0);
    // The number of characters before the key or item whose value is a block (`|`), until the block
    // ends.
    let mut block: Option<usize> = None;
    let mut blank = false;
    // Comments, until the line after them is known.
    let mut comments: Vec<(&str, bool)> = Vec::new();
    for (number, line) in (1_u32..).zip(text.lines()) {
        let content = line.trim_matches(BLANK);
        let is_blank = content.is_empty();
        if block.is_some_and(|key| is_blank || spaces(line) > key) {
            push(&mut out, &shifted(line, moved));
            continue;
        }
        block = None;
        if is_blank {
            blank = true;
            continue;
        }
        let after_blank = core::mem::take(&mut blank) && !(out.is_empty() && comments.is_empty());
        if content.starts_with('#') {
            comments.push((line, after_blank));
            continue;
        }
        let start = starts.get(&number);
        // A comment belongs to the line after it.
        let is_marker = line.starts_with("...") || line.starts_with("---");
        for (comment, after_blank) in comments.drain(..) {
            let laid_out = match start {
                Some(start) => indented(comment.trim_matches(BLANK), start.indent),
                None => without_start(comment, is_marker, moved),
            };
            push_after(&mut out, after_blank, &laid_out);
        }
        let laid_out = match start {
            Some(start) => {
                moved = start.moves(line);
                let (content, is_block) = tidy(line, start);
                block = is_block.then_some(moved.0);
                indented(&content, start.indent)
            }
            None => without_start(line, is_marker, moved),
        };
        push_after(&mut out, after_blank, &laid_out);
    }
    for (comment, after_blank) in comments {
        push_after(&mut out, after_blank, comment.trim_matches(BLANK));
    }
    out
}

/// A line on which no value starts: a marker, a line before it, or a line that moves with the value that it
/// continues.
fn without_start(line: &str, at_marker: bool, moved: (usize, usize)) -> String {
    match at_marker {
        true => line.trim_matches(BLANK).to_owned(),
        false => shifted(line.trim_end_matches(BLANK), moved),
    }
}

/// Writes a line, with an empty line before it if there was one.
fn push_after(out: &mut String, blank: bool, line: &str) {
    if blank {
        out.push('\n');
    }
    push(out, line);
}

fn indented(content: &str, indent: usize) -> String {
    format!("{:indent$}{content}", "")
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// A line, shifted by the same distance as another one.
fn shifted(line: &str, (from, to): (usize, usize)) -> String {
    let indent = spaces(line);
    let content = line.get(indent..).unwrap_or_default();
    if content.is_empty() {
        return String::new();
    }
    indented(content, indent.saturating_add(to).saturating_sub(from))
}

/// A line's content with one space after its `-` and its key, and whether the key's value is a block.
fn tidy(line: &str, start: &Start) -> (String, bool) {
    let line = line.trim_end_matches(BLANK);
    let end = start.key;
    let end = end.and_then(|(_, end)| line.char_indices().nth(end));
    let end = end.map_or(line.len(), |(at, _)| at);
    let (before, rest) = line.split_at_checked(end).unwrap_or((line, ""));
    let mut content = before.trim_start_matches(BLANK).to_owned();
    let is_block = |value: &str| value.starts_with(['|', '>']);
    if start.item {
        let item = content.strip_prefix('-').unwrap_or(&content);
        let item = item.trim_start_matches(BLANK);
        let item_is_block = is_block(item);
        let space = if item.is_empty() { "" } else { " " };
        content = format!("-{space}{item}");
        if start.key.is_none() {
            return (content, item_is_block);
        }
    }
    let Some(value) = rest.trim_start_matches(BLANK).strip_prefix(':') else {
        return (content + rest, false);
    };
    content.push(':');
    let after = value.trim_start_matches(BLANK);
    if after.is_empty() || after.starts_with('#') {
        return (content + value, false);
    }
    (format!("{content} {after}"), is_block(after))
}
