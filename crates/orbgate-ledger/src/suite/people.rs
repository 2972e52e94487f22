//! Compares what people read of a store with what they read of the model.

use core::fmt::Debug;

use crate::answer::Cursor;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::model::Model;
use crate::people::{Listing, Part};
use crate::value::{AccountId, Millis};

/// Reads accounts, statements, totals and entries of a store and of the model, in pages of several sizes. Both have had the same
/// commands, and the store's clock is at this time.
///
/// # Errors
///
/// The first difference, in words.
pub fn compare_people(model: &Model, store: &(impl Ledger + ?Sized), now: Millis) -> Result<(), String> {
    for (prefix, after, limit) in [("", "", 100), ("account", "", 1), ("account 1", "account", 2), ("", "account 1", 1)]
    {
        let listing = Listing { prefix: prefix.to_owned(), after: after.to_owned(), limit };
        same(&listing, model.accounts(&listing, now), store.accounts(&listing))?;
    }
    for name in ["account 0", "account 1", "account 2", "unknown"] {
        let account = AccountId::valid(name.to_owned());
        for limit in [1, 3, 1000] {
            let newest = Part { limit, ..Part::newest(account.clone()) };
            walk(newest.clone(), model, store, now)?;
            walk(Part { after: Some(0), ..newest.clone() }, model, store, now)?;
            let middle = Millis::new(now.get().saturating_sub(500)).unwrap_or_default();
            walk(
                Part { after: Some(0), from: Some(middle), to: Some(now), grants_after: 2, ..newest },
                model,
                store,
                now,
            )?;
        }
        entries(model, store, &account, now)?;
    }
    // A totals' time is at least a minute old.
    for age in [0, 59_999, 60_000, 60_100, 61_000, 1_000_000] {
        let at = Millis::new(now.get().saturating_sub(age)).unwrap_or_default();
        same(&at, model.totals(Some(at), now), store.totals(Some(at)))?;
    }
    same(&"totals", model.totals(None, now), store.totals(None))
}

/// Reads the pages of a statement, at most 5, to one end.
fn walk(mut part: Part, model: &Model, store: &(impl Ledger + ?Sized), now: Millis) -> Result<(), String> {
    for _ in 0..5 {
        let expected = model.statement(&part, now);
        let next = expected.as_ref().ok().and_then(|page| if part.after.is_some() { page.later } else { page.earlier });
        same(&part, expected, store.statement(&part))?;
        match (next, part.after) {
            (None, _) => break,
            (later, Some(_)) => part.after = later,
            (earlier, None) => part.before = earlier,
        }
    }
    Ok(())
}

/// The entries of an account are those of it among all, whatever the cursor.
fn entries(model: &Model, store: &(impl Ledger + ?Sized), account: &AccountId, now: Millis) -> Result<(), String> {
    let all = store.entries(&Cursor::default(), usize::MAX).map_err(|error| error.to_string())?.entries;
    let of = |entries: &[(Cursor, crate::answer::Entry)]| {
        entries.iter().filter(|(_, entry)| entry.account == *account).cloned().collect::<Vec<_>>()
    };
    let page = model.entries(&Cursor::default(), usize::MAX, now).map_err(|error| error.to_string())?;
    let names =
        |entries: Vec<(Cursor, crate::answer::Entry)>| entries.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>();
    same(account, Ok(names(of(&page.entries))), Ok(names(of(&all))))?;
    let third = all.len().checked_div(3).unwrap_or_default();
    for start in [0, third, third.saturating_mul(2), all.len()] {
        let (before, rest) = all.split_at_checked(start).unwrap_or_default();
        let after = before.last().map(|(cursor, _)| cursor.clone()).unwrap_or_default();
        let expected: Vec<_> = of(rest).into_iter().take(4).collect();
        same(&after, Ok(expected), store.entries_of(account, &after, 4).map(|page| page.entries))?;
    }
    let strange = Cursor::new("of another ledger");
    same(&strange, Err(Error::Cursor), store.entries_of(account, &strange, 1).map(|page| page.entries))
}

fn same<T: Debug + PartialEq>(
    what: &impl Debug,
    expected: Result<T, Error>,
    found: Result<T, Error>,
) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what:?}\nexpected {expected:#?}\nfound    {found:#?}")) }
}
