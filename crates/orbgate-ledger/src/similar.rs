//! Accounts whose names look like those of new ones. A slip in a name would give them the orbs of another account.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::value::AccountId;

/// The most names that are compared, and those of a read: other reads wait for one, and not for the search.
const MOST: usize = 1_000_000;
const PAGE: usize = 10_000;

/// The most names of an answer.
const TOLD: usize = 10;

/// Names that differ only by case, spaces or invisible characters, by what they have in common.
#[derive(Clone, Debug, Default)]
pub struct Similar(HashMap<String, Vec<AccountId>>);

/// Looks for accounts with names like those of new ones, which are in the ledger too. It reads the names of all accounts once, whatever
/// the number of new ones, and nothing without new ones.
///
/// # Errors
///
/// The store can't be read, or has over a million accounts.
pub fn similar<'a>(
    ledger: &(impl Ledger + ?Sized),
    new: impl IntoIterator<Item = &'a AccountId>,
) -> Result<Similar, Error> {
    let mut similar = Similar(new.into_iter().map(|name| (folded(name.as_str()), Vec::new())).collect());
    if similar.0.is_empty() {
        return Ok(similar);
    }
    let (mut after, mut count) = (String::new(), 0_usize);
    loop {
        let names = ledger.names(&after, PAGE)?;
        count = count.saturating_add(names.len());
        let is_last = names.len() < PAGE;
        if let Some(last) = names.last() {
            last.as_str().clone_into(&mut after);
        }
        for name in names {
            if let Some(same) = similar.0.get_mut(&folded(name.as_str())).filter(|same| same.len() <= TOLD) {
                same.push(name);
            }
        }
        if is_last {
            return Ok(similar);
        }
        if count >= MOST {
            return Err(Error::Unknown(format!("there are over {MOST} accounts, so their names aren't compared")));
        }
    }
}

impl Similar {
    /// Other accounts with a name like this, at most 10.
    #[must_use]
    pub fn to(&self, account: &AccountId) -> Vec<AccountId> {
        let same = self.0.get(&folded(account.as_str())).into_iter().flatten();
        same.filter(|other| *other != account).take(TOLD).cloned().collect()
    }
}

/// What names have in common that look the same, or are written in another case: their letters in compatibility form (NFKC).
fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.chars().filter(|c| *c != ' ').map(|c| c.to_ascii_lowercase()).collect();
    }
    // Upper case first: `ς` and `σ` are one letter there.
    let cased = name.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    cased.nfkc().filter(|c| !c.is_whitespace() && !is_invisible(*c)).collect()
}

/// Whether a character isn't shown: those with the property `Default_Ignorable_Code_Point` (Unicode 16), the marks of annotations, and
/// the blank of Braille.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn names_that_look_the_same_are_the_same() {
        for (one, other) in [
            ("alice", "Alice"),
            ("alice", " al ice "),
            ("alice", "al\u{200b}ice\u{feff}"),
            ("alice", "\u{a0}ali\u{ad}ce"),
            ("caf\u{e9}", "CAFE\u{301}"),
            ("\u{3a3}\u{3b1}\u{3c2}", "\u{3c3}\u{3b1}\u{3c3}"),
            ("stra\u{df}e", "STRASSE"),
            ("\u{ff41}lice", "alice"),
            ("\u{212a}im", "kim"),
        ] {
            assert_eq!(folded(one), folded(other), "{one:?} {other:?}");
        }
        for (one, other) in [("alice", "alicia"), ("alice", "a-lice"), ("cafe", "caf\u{e9}"), ("1", "l")] {
            assert_ne!(folded(one), folded(other), "{one:?} {other:?}");
        }
    }
}
