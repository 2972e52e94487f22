//! Reads a value of the tree as a type, or reports its actual type.

use core::cmp::Reverse;

use crate::diagnostics::{Diagnostics, quoted};
use crate::node::{Content, Entry, Location, Node, Spanned};
use crate::scalar::other_reading;

/// The owner of the keys that are read, for messages.
#[derive(Debug)]
pub struct Owner<'a> {
    /// The owner's name: ``api `x` ``.
    pub what: &'a str,
    /// The owner's location, at which a missing key is reported.
    pub location: Location,
}

/// Reads values. Reports values of the wrong type, and replaces them with defaults.
#[derive(Debug)]
pub struct Values<'f> {
    /// The errors found so far.
    pub diagnostics: &'f mut Diagnostics,
    /// What a file may have only so many of, and how many there were.
    counts: Vec<(&'static str, usize)>,
}

impl<'f> Values<'f> {
    /// With these errors so far.
    pub const fn new(diagnostics: &'f mut Diagnostics) -> Self {
        Self { diagnostics, counts: Vec::new() }
    }
}

impl Values<'_> {
    /// Counts one of these in the file; false if there are more than `most`, and the first of those is reported.
    pub fn is_within(&mut self, what: &'static str, most: usize, location: Location) -> bool {
        // What is counted most often was seen last.
        let counts = self.counts.iter_mut();
        let before = match counts.rev().find(|(counted, _)| *counted == what) {
            Some((_, count)) => {
                *count = count.saturating_add(1);
                count.saturating_sub(1)
            }
            None => {
                self.counts.push((what, 1));
                0
            }
        };
        if before == most {
            self.wrong_at(location, format!("too many {what}: {most} are the limit"));
        }
        before < most
    }

    /// The values of a mapping by known key. Reports unknown and missing keys.
    pub fn fields<'n, 'a, const N: usize>(
        &mut self,
        node: &'n Node<'a>,
        owner: &Owner<'_>,
        keys: [&'static str; N],
        required: &[&'static str],
    ) -> Option<[Option<&'n Node<'a>>; N]> {
        let Content::Mapping(entries) = &node.kind else {
            self.wrong(node, &format!("{} must be a mapping", owner.what));
            return None;
        };
        let mut values = [None; N];
        for entry in entries {
            if self.diagnostics.is_full() {
                break;
            }
            let slot = keys.iter().zip(&mut values).find(|(key, _)| **key == entry.key.text);
            match slot {
                // A duplicate key is already reported; the first one counts.
                Some((_, slot)) => *slot = slot.or(Some(&entry.value)),
                None => {
                    self.diagnostics.has_unknown(owner.location);
                    let near = near(&entry.key.text, &keys);
                    if let Some(known) = near {
                        self.diagnostics.misspelt(owner.location, known, entry.key_location);
                    }
                    let message = unknown_key(&entry.key.text, owner, &keys, near);
                    self.wrong_at(entry.key_location, message);
                }
            }
        }
        for (key, value) in keys.iter().zip(&values) {
            if value.is_none() && required.contains(key) {
                let message = format!("{} is missing the key `{key}`", owner.what);
                self.diagnostics.lacking(owner.location, key, message);
            }
        }
        Some(values)
    }

    /// The entries of a mapping. Empty, with an error, if it is something else.
    pub fn mapping<'n, 'a>(&mut self, node: &'n Node<'a>, what: &str) -> &'n [Entry<'a>] {
        if let Content::Mapping(entries) = &node.kind {
            return entries;
        }
        self.wrong(node, &format!("{what} must be a mapping"));
        &[]
    }

    /// The items of a list. Empty, with an error, if it is something else.
    pub fn list<'n, 'a>(&mut self, node: &'n Node<'a>, what: &str) -> &'n [Node<'a>] {
        if let Content::Sequence(items) = &node.kind {
            return items;
        }
        self.wrong(node, &format!("{what} must be a list"));
        &[]
    }

    /// The value with one of these names. A default, with an error, for any other name.
    pub fn choice<T: Copy + Default>(&mut self, node: &Node<'_>, what: &str, choices: &[(&str, T)]) -> Spanned<T> {
        self.choice_with_tips(node, what, choices, &[])
    }

    /// The same. A tip is a word that people write instead of a name, and the name.
    pub fn choice_with_tips<T: Copy + Default>(
        &mut self,
        node: &Node<'_>,
        what: &str,
        choices: &[(&str, T)],
        tips: &[(&str, &str)],
    ) -> Spanned<T> {
        let chosen = match &node.kind {
            Content::Scalar(scalar) => choices.iter().find(|(name, _)| *name == scalar.text),
            _ => None,
        };
        if chosen.is_none() {
            let must = format!("{what} must be {}", any_of(choices.iter().map(|(name, _)| *name)));
            let is_written =
                |word: &str| matches!(&node.kind, Content::Scalar(scalar) if scalar.text.eq_ignore_ascii_case(word));
            let meant: Vec<_> = tips.iter().filter(|(word, _)| is_written(word)).collect();
            let tip = meant.first().map_or_else(String::new, |(word, _)| {
                let names = any_of(meant.iter().map(|(_, name)| *name));
                format!("; for `{word}`, write {names}")
            });
            self.wrong_with_tip(node, &must, &tip);
        }
        node.spanned(chosen.map(|(_, value)| *value).unwrap_or_default())
    }

    /// `true` or `false`. False, with an error, if it is neither.
    pub fn flag(&mut self, node: &Node<'_>, what: &str) -> Spanned<bool> {
        self.choice(node, what, &[("true", true), ("false", false)])
    }

    /// Reports a format version, the value of this key in backticks, other than 1, which is the only one.
    pub fn version(&mut self, node: &Node<'_>, key: &str) {
        if !matches!(&node.kind, Content::Scalar(scalar) if scalar.plain && scalar.text == "1") {
            let must = format!("{key} must be the plain number 1, the version of the format");
            self.wrong(node, &must);
        }
    }

    /// A string. Empty, with an error, if the value is or could be something else.
    pub fn text(&mut self, node: &Node<'_>, what: &str) -> Spanned<String> {
        let Content::Scalar(scalar) = &node.kind else {
            self.wrong(node, &format!("{what} must be a string"));
            return node.spanned(String::new());
        };
        if scalar.plain {
            self.refuse_other_readings(&scalar.text, node.location, what);
        }
        node.spanned(scalar.text.clone().into_owned())
    }

    /// A key that the author chooses. Like a value, it must be a string.
    pub fn key(&mut self, entry: &Entry<'_>, what: &str) -> Spanned<String> {
        if entry.key.plain {
            self.refuse_other_readings(&entry.key.text, entry.key_location, what);
        }
        Spanned { location: entry.key_location, value: entry.key.text.clone().into_owned() }
    }

    fn refuse_other_readings(&mut self, plain: &str, location: Location, what: &str) {
        match other_reading(plain) {
            Some(_) if plain.is_empty() => {
                self.wrong_at(location, format!("{what} must be a string, not an empty value"))
            }
            Some(reading) => {
                let message = format!(
                    "{what} must be a string, and {} can be read as {reading}: write `'{plain}'`",
                    quoted(plain)
                );
                self.wrong_at(location, message);
            }
            None => {}
        }
    }

    /// Reports the required and the actual type of a value.
    pub fn wrong(&mut self, node: &Node<'_>, must: &str) {
        self.wrong_with_tip(node, must, "");
    }

    /// The same, and then the way out.
    pub fn wrong_with_tip(&mut self, node: &Node<'_>, must: &str, tip: &str) {
        let kind = match &node.kind {
            Content::Refused => return,
            Content::Sequence(_) => "a list".into(),
            Content::Mapping(_) => "a mapping".into(),
            Content::Scalar(scalar) if !scalar.plain => {
                format!("the string {}", quoted(&scalar.text))
            }
            Content::Scalar(scalar) if scalar.text.is_empty() => "an empty value".into(),
            Content::Scalar(scalar) => quoted(&scalar.text),
        };
        self.wrong_at(node.location, format!("{must}, not {kind}{tip}"));
    }

    /// Reports an error at a location, unless there is already one.
    pub fn wrong_at(&mut self, location: Location, message: String) {
        if !self.diagnostics.stand_at(location) {
            self.diagnostics.push(location, message);
        }
    }
}

/// The names in backticks, with `or` between them.
fn any_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}

/// A plain `[1-9][0-9]*` of at most `i64::MAX`, without a sign, separator, other base or quotes.
pub fn amount(node: &Node<'_>) -> Option<u64> {
    let Content::Scalar(scalar) = &node.kind else {
        return None;
    };
    let is_decimal = scalar.text.bytes().all(|byte| byte.is_ascii_digit()) && !scalar.text.starts_with('0');
    if !scalar.plain || !is_decimal {
        return None;
    }
    scalar.text.parse().ok().filter(|amount| i64::try_from(*amount).is_ok())
}

/// What a whole number must be. The limit is named only to who wrote a number beyond it.
pub(crate) fn must_be_whole(node: &Node<'_>, what: &str, least: &str) -> String {
    const DIGITS: usize = 18; // all numbers of so many digits are below the limit
    let is_beyond = match &node.kind {
        Content::Scalar(scalar) => {
            let digits = scalar.text.trim_start_matches('0');
            scalar.plain && digits.len() > DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    };
    let limit = if is_beyond { format!(", at most {}", i64::MAX) } else { String::new() };
    format!("{what} must be a plain whole number{least}{limit}")
}

/// Whether some YAML reader reads the value as null: nothing, `~`, `null`.
pub fn is_null(node: &Node<'_>) -> bool {
    matches!(&node.kind, Content::Scalar(scalar) if scalar.plain && other_reading(&scalar.text) == Some("null"))
}

/// Whether the value is missing.
pub fn is_empty_value(node: &Node<'_>) -> bool {
    matches!(&node.kind, Content::Scalar(scalar) if scalar.plain && scalar.text.is_empty())
}

/// The known word that was probably intended, if at most two letters and half of it differ. Of two that are equally near,
/// the one that starts like it for longer: `orb` is rather `orbs` than `or`.
pub fn near<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let alike = |known: &str| known.chars().zip(key.chars()).take_while(|(a, b)| a == b).count();
    let known = known.iter().map(|known| (distance(key, known), Reverse(alike(known)), *known));
    let near = known.filter(|(edits, _, known)| *edits <= 2 && edits.saturating_mul(2) <= known.len());
    near.min().map(|(_, _, known)| known)
}

fn unknown_key(key: &str, owner: &Owner<'_>, known: &[&'static str], near: Option<&'static str>) -> String {
    let advice = near.map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
    let known: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
    format!("unknown key {} in {} (known: {}){advice}", quoted(key), owner.what, known.join(", "))
}

/// The number of letters to change, insert or delete to turn one word into the other (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    // A key far longer than any known key isn't a misspelling, and comparing it must cost nothing.
    if left.len() > right.len().saturating_add(4) {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=right.chars().count()).collect();
    for (index, a) in left.chars().enumerate() {
        let mut diagonal = index;
        let mut before = index.saturating_add(1);
        for (cell, b) in row.iter_mut().zip(core::iter::once(None).chain(right.chars().map(Some))) {
            let cost = match b {
                None => before,
                Some(b) => {
                    let replaced = diagonal.saturating_add(usize::from(!a.eq_ignore_ascii_case(&b)));
                    replaced.min(before.saturating_add(1)).min(cell.saturating_add(1))
                }
            };
            diagonal = core::mem::replace(cell, cost);
            before = cost;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}
