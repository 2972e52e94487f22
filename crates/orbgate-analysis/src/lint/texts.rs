//! The texts of a policy: a suppression's mark within one is not a comment.

use core::iter::Peekable;
use std::vec::IntoIter;

use orbgate::Location;
use orbgate_yaml::{Content, Node};

use crate::nodes::visit;

/// What a suppression starts with.
pub(super) const MARK: &str = "# orbgate-lint:";

/// Tells the marks in texts from those of comments.
pub(super) struct Texts {
    /// Where each text starts, and how many marks it holds, in the order of the file.
    rest: Peekable<IntoIter<(Location, usize)>>,
    /// The text that started last, and how many of its marks are left.
    last: (Location, usize),
}

impl Texts {
    /// The texts of a policy file.
    pub(super) fn of(text: &str) -> Self {
        let mut texts = Vec::new();
        let read = visit(text, |root| walk(root, &mut texts));
        texts.sort_by_key(|(location, _)| *location);
        let file = Location { line: 1, column: 1 };
        if read.is_err() {
            // In a file that cannot be read, no mark counts as a comment.
            texts = vec![(file, usize::MAX)];
        }
        Self {
            rest: texts.into_iter().peekable(),
            last: (file, 0),
        }
    }

    /// Whether a text holds the mark at a location; `before` is the line before it. Marks are asked for in the order of
    /// the file. A text's own marks come before those of any comment after it, so it is enough to count them. An
    /// escape may write further marks, which no real policy does.
    pub(super) fn hold(&mut self, location: Location, before: &str) -> bool {
        while let Some(next) = self.rest.next_if(|(start, _)| *start <= location) {
            self.last = next;
        }
        let (start, marks) = &mut self.last;
        if *marks == 0 || is_behind_block_header(*start, location, before) {
            return false;
        }
        *marks = marks.saturating_sub(1);
        true
    }
}

/// Whether only the header of a block (`|`, `>-`) is between the start of a text and a location on its line.
fn is_behind_block_header(start: Location, location: Location, before: &str) -> bool {
    let blanks = [' ', '\t'];
    let trimmed = before.trim_end_matches(blanks);
    let header = trimmed.rsplit(blanks).next().unwrap_or_default();
    let behind = before.len().saturating_sub(trimmed.len());
    let width = header.chars().count().saturating_add(behind);
    let column = u32::try_from(width).map_or(0, |width| location.column.saturating_sub(width));
    header.starts_with(['|', '>']) && start == Location { column, ..location }
}

/// Notes where each text starts, and how many marks it holds.
fn walk(node: &Node<'_>, texts: &mut Vec<(Location, usize)>) {
    let mut note = |location: orbgate_yaml::Location, text: &str| {
        let (line, column) = (location.line, location.column);
        texts.push((Location { line, column }, text.matches(MARK).count()));
    };
    match &node.kind {
        // A value that is left out has its key's location.
        Content::Scalar(scalar) if !scalar.text.is_empty() => note(node.location, &scalar.text),
        Content::Mapping(entries) => {
            for entry in entries {
                note(entry.key_location, &entry.key.text);
            }
            entries.iter().for_each(|entry| walk(&entry.value, texts));
        }
        Content::Sequence(items) => items.iter().for_each(|item| walk(item, texts)),
        Content::Scalar(_) | Content::Refused => {}
    }
}
