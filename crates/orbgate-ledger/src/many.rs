//! Many grants at once, of a message or of a file: what they have to be before any of them is done.

use core::fmt::Display;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::value::{Id, Orbs};

/// A line and a column, from 1.
pub type Place = (u64, usize);

/// What is wrong with many grants. If anything is, none of them is done, so that the whole can be mended and sent again.
#[derive(Debug, Default)]
pub struct Wrong {
    found: Vec<(Place, String)>,
    ids: HashMap<Id, Place>,
}

/// The members of a grant in JSON that are checked although others can't be read.
#[derive(Default, Deserialize)]
struct Members<'j> {
    #[serde(borrow, default)]
    id: Option<&'j RawValue>,
    #[serde(borrow, default)]
    amount: Option<&'j RawValue>,
}

impl Wrong {
    /// Adds what is wrong at a place.
    pub fn add(&mut self, place: Place, message: impl Display) {
        self.found.push((place, message.to_string()));
    }

    /// Whether nothing is wrong so far.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// An id, which only one grant has.
    pub fn id(&mut self, id: Id, place: Place) {
        match self.ids.entry(id) {
            Entry::Vacant(first) => drop(first.insert(place)),
            Entry::Occupied(known) => {
                let (id, (line, column)) = (known.key(), known.get());
                let message = format!("the id `{id}` is already at {line}:{column}");
                self.add(place, message);
            }
        }
    }

    /// An amount, which isn't 0.
    pub fn amount(&mut self, amount: Orbs, place: Place) {
        if amount == Orbs::ZERO {
            self.add(place, "a grant has at least 1 orb");
        }
    }

    /// Reads a grant of JSON, which begins at this place.
    pub fn json<'j, T: Deserialize<'j>>(&mut self, text: &'j str, start: Place) -> Option<T> {
        let members: Members<'_> = serde_json::from_str(text).unwrap_or_default();
        let place = |raw: &RawValue| after(start, text.get(..offset(text, raw.get())).unwrap_or_default());
        let read = serde_json::from_str(text);
        if let Err(error) = &read {
            let (line, column) = start;
            let (down, right) = (error.line().saturating_sub(1), error.column().max(1));
            let place = match u64::try_from(down).unwrap_or(u64::MAX) {
                0 => (line, column.saturating_add(right).saturating_sub(1)),
                down => (line.saturating_add(down), right),
            };
            let message = error.to_string();
            self.add(place, message.split(" at line ").next().unwrap_or_default());
        }
        if let Some((raw, amount)) = members.amount.and_then(|raw| Some((raw, serde_json::from_str(raw.get()).ok()?))) {
            self.amount(amount, place(raw));
        }
        if let Some((raw, id)) = members.id.and_then(|raw| Some((raw, serde_json::from_str(raw.get()).ok()?))) {
            self.id(id, place(raw));
        }
        read.ok()
    }

    /// What was found, `line:column: message` each, in the order of the places. The error is that something was.
    ///
    /// # Errors
    ///
    /// Something was found.
    pub fn found(mut self) -> Result<(), Vec<String>> {
        if self.found.is_empty() {
            return Ok(());
        }
        // One place can have several.
        self.found.sort_by_key(|(place, _)| *place);
        Err(self.found.into_iter().map(|((line, column), message)| format!("{line}:{column}: {message}")).collect())
    }
}

/// The place after a string that begins at one.
#[must_use]
pub fn after((line, column): Place, text: &str) -> Place {
    let lines = u64::try_from(text.matches('\n').count()).unwrap_or(u64::MAX);
    let last = text.rsplit('\n').next().unwrap_or_default().chars().count();
    let before = if lines == 0 { column } else { 1 };
    (line.saturating_add(lines), before.saturating_add(last))
}

/// Where a part of a string begins, in bytes.
#[must_use]
pub fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

#[cfg(test)]
mod tests {
    use super::Wrong;
    use crate::command::Grant;

    #[test]
    fn each_error_has_its_place() {
        let mut wrong = Wrong::default();
        for (text, line) in [
            (r#"{"id": "g", "account": "a", "amount": 1, "bucket": "paid"}"#, 3),
            (r#"{"id": "g", "account": "a", "amount": 0, "bucket": "gold"}"#, 4),
            ("{\"account\": \"a\",\n \"amount\": -1}", 5),
            ("[1", 9),
        ] {
            let _: Option<Grant> = wrong.json(text, (line, 5));
        }
        let found = wrong.found().unwrap_err();
        let places: Vec<_> = found.iter().map(|found| found.rsplit_once(": ").unwrap().0).collect();
        let whole = found.join("\n");
        assert!(places.len() == 5 && whole.contains("4:12: the id `g` is already at 3:12"), "{whole}");
        assert!(whole.contains("4:43: a grant has at least 1 orb") && whole.contains("6:13: "), "{whole}");
        assert!(whole.contains("4:61: unknown variant `gold`") && whole.contains("\n9:6: "), "{whole}");
    }
}
