//! Errors in a file, each with its location, collected while it is read.

use core::fmt;
use std::collections::{HashMap, HashSet};

use crate::node::Location;

/// An error or a warning about a file.
///
/// Printed as `line:column: message`. If two locations conflict, the error is at the second, and its
/// message names the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Diagnostic {
    /// The location of the error.
    pub location: Location,
    /// The message: lower case, no final period, input in backticks.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message)
    }
}

/// Prints an error with `Debug` as with `Display`, because `main` and `unwrap` print it.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_display {
    ($type:ty) => {
        impl core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
    };
}

/// The errors found so far. Bounded, so that a hostile file can't produce a huge report.
#[derive(Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    locations: HashSet<Location>,
    /// Misspelt keys: the intended key with the location of its owner, and the location of the
    /// misspelling.
    misspelt: HashMap<(Location, &'static str), Location>,
    /// The owners of unknown keys.
    with_unknown_key: HashSet<Location>,
    cut: Option<(Location, &'static str)>,
}

impl Diagnostics {
    /// The maximum number of errors that are listed. More wouldn't be useful.
    const LISTED: usize = 1_000;

    /// Records an error, if there is room.
    pub fn push(&mut self, location: Location, message: impl Into<String>) {
        if self.is_full() {
            return;
        }
        self.locations.insert(location);
        self.list.push(Diagnostic { location, message: message.into() });
        if self.is_full() {
            self.cut(location, "1,000 lines are the limit: there may be more to report");
        }
    }

    /// Records that the search ended early, which the report's last line states.
    pub const fn cut(&mut self, location: Location, message: &'static str) {
        if self.cut.is_none() {
            self.cut = Some((location, message));
        }
    }

    /// Records an error, unless there is already one at this location.
    pub fn push_new(&mut self, location: Location, message: impl Into<String>) {
        if !self.stand_at(location) {
            self.push(location, message);
        }
    }

    /// Whether there is already an error at exactly this location. A second error about the same
    /// value would only be noise.
    pub fn stand_at(&self, location: Location) -> bool {
        self.locations.contains(&location)
    }

    /// Records that a key of this owner is present but misspelt.
    pub fn misspelt(&mut self, owner: Location, key: &'static str, location: Location) {
        self.misspelt.insert((owner, key), location);
    }

    /// Records that this owner has an unknown key.
    pub(crate) fn has_unknown(&mut self, owner: Location) {
        self.with_unknown_key.insert(owner);
    }

    /// Whether this owner has an unknown key, so that it lacks what the key was meant to be.
    pub fn is_with_unknown_key(&self, owner: Location) -> bool {
        self.with_unknown_key.contains(&owner)
    }

    /// Where a missing key is reported: at its owner, or where the key is misspelt.
    pub(crate) fn location_of_missing(&self, owner: Location, key: &'static str) -> Location {
        let misspelt = self.misspelt.get(&(owner, key));
        misspelt.copied().unwrap_or(owner)
    }

    /// Whether a key of this owner is present but misspelt, so that its absence isn't a second error.
    pub fn is_misspelt(&self, owner: Location, key: &'static str) -> bool {
        self.misspelt.contains_key(&(owner, key))
    }

    /// Records that a key of this owner is missing, unless it is only misspelt.
    pub fn lacking(&mut self, owner: Location, key: &'static str, message: String) {
        if !self.is_misspelt(owner, key) {
            self.push(owner, message);
        }
    }

    /// Whether there are no errors so far.
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether the list is full, so that searching further is pointless.
    pub const fn is_full(&self) -> bool {
        self.list.len() >= Self::LISTED
    }

    /// The errors in the order of the file. If some are left out, a last line states that.
    pub fn into_list(self) -> Vec<Diagnostic> {
        let mut list = self.list;
        list.sort();
        list.dedup();
        if let Some((location, message)) = self.cut {
            list.push(Diagnostic { location, message: message.into() });
        }
        list
    }
}

/// How the message at the second of two locations refers to the first: by its line, and also by its column if both are
/// on one line.
pub fn first_location(first: Location, second: Location) -> String {
    if first.line == second.line {
        format!("line {}, column {}", first.line, first.column)
    } else {
        format!("line {}", first.line)
    }
}

/// Input in backticks, escaped and short enough for one line of a terminal.
pub fn quoted(text: &str) -> String {
    const SHOWN: usize = 120;
    let mut shown = String::from("`");
    for c in text.chars().take(SHOWN) {
        if is_hidden(c) || matches!(c, '\t' | '\n' | '\r') {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown.push('`');
    shown
}

/// Characters that never belong in a file that people edit. They are invisible (Unicode's
/// `Default_Ignorable_Code_Point`, and fillers that look like blanks), reorder the text around them (Trojan Source), or
/// break lines in one YAML version but not in the other. Tab, line feed and carriage return are layout, so they aren't
/// included.
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
