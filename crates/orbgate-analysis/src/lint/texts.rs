//! The strings of a policy, in which a suppression's mark isn't a comment.

use core::iter::Peekable;
use std::vec::IntoIter;

use orbgate::Location;
use orbgate::sorted::sort_by_key;
use orbgate_yaml::{Content, Node};

use crate::text::visit;

pub(super) const MARK: &str = "# orbgate-lint:";

/// Distinguishes marks within strings from marks of comments.
pub(super) struct Texts {
    /// The start of each string and its number of marks, in the order of the file.
    rest: Peekable<IntoIter<(Location, usize)>>,
    /// The last string that started, and the number of its marks that are left.
    last: (Location, usize),
}

impl Texts {
    /// The strings of a policy file.
    pub(super) fn of(text: &str) -> Self {
        let mut texts = Vec::new();
        let read = visit(text, |root| walk(root, &mut texts));
        sort_by_key(&mut texts, |(location, _)| *location);
        let file = Location { line: 1, column: 1 };
        if read.is_err() {
            // If a file can't be parsed, no mark counts as a comment.
            texts = vec![(file, usize::MAX)];
        }
        Self { rest: texts.into_iter().peekable(), last: (file, 0) }
    }

    /// Whether the mark at this location is within a string; `before` is the line up to the mark. Call this for marks
    /// in the order of the file. A string's marks come before those of any comment after it, so it is enough to count
    /// them. Escapes could write further marks, but no real policy does this.
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

/// Whether only a block's header (`|`, `>-`) is between the start of a string and a location on its line.
fn is_behind_block_header(start: Location, location: Location, before: &str) -> bool {
    let blanks = [' ', '\t'];
    let trimmed = before.trim_end_matches(blanks);
    let header = trimmed.rsplit(blanks).next().unwrap_or_default();
    let behind = before.len().saturating_sub(trimmed.len());
    let width = header.chars().count().saturating_add(behind);
    let column = u32::try_from(width).map_or(0, |width| location.column.saturating_sub(width));
    header.starts_with(['|', '>']) && start == Location { column, ..location }
}

/// Records the start of each string, and its number of marks.
fn walk(node: &Node<'_>, texts: &mut Vec<(Location, usize)>) {
    let mut note = |location: orbgate_yaml::Location, text: &str| {
        let (line, column) = (location.line, location.column);
        texts.push((Location { line, column }, text.matches(MARK).count()));
    };
    match &node.kind {
        // A missing value has its key's location.
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
