//! Checks a ledger, in reads so short that the write-ahead log stays small.

use rusqlite::Connection;

use crate::plan::{AccountRow, EntryRow, Stop, Tables as _};
use crate::sqlite::rows::Rows;
use crate::value::Id;
use crate::verify::{Faults, Fold};

/// The rows of a read.
const PAGE: u32 = 1000;

pub(crate) fn verify(connection: &Connection) -> Result<Faults, Stop> {
    let mut faults = Faults::default();
    let check: String = connection.query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?;
    if check != "ok" {
        faults.found.push(format!("the file is damaged: {check}"));
    }
    let mut after = i64::MIN;
    loop {
        let accounts = Rows::new(connection).accounts(after, PAGE)?;
        let Some(last) = accounts.last() else {
            break;
        };
        after = last.key;
        for account in accounts {
            verify_account(connection, account, &mut faults)?;
        }
    }
    let mut place = Rows::new(connection).start()?;
    loop {
        let entries = Rows::new(connection).numbered(place.number, usize::try_from(PAGE).unwrap_or(usize::MAX))?;
        if entries.is_empty() {
            return Ok(faults);
        }
        faults.follow(&mut place, &entries);
    }
}

fn verify_account(connection: &Connection, account: AccountRow, faults: &mut Faults) -> Result<(), Stop> {
    let mut fold = Fold::new(account.id);
    loop {
        // The last page is read in one transaction with the rows that can still change.
        let transaction = connection.unchecked_transaction()?;
        let mut rows = Rows::new(&transaction);
        let entries = rows.entries_of(account.key, fold.seq(), PAGE)?;
        let is_last = u32::try_from(entries.len()).is_ok_and(|length| length < PAGE);
        add(&mut fold, &entries, faults);
        let ids = if is_last { fold.holds() } else { fold.settled() };
        compare(&mut rows, &mut fold, &ids, faults)?;
        if is_last {
            for hold in rows.pending(account.key, crate::value::Millis::MAX, usize::MAX)? {
                if !ids.contains(&hold.id) {
                    fold.hold(&hold, faults);
                }
            }
            let grants = rows.grants(account.key)?;
            let refunds = rows.refunds(account.key)?;
            fold.finish(&rows.account_of(account.key)?, &grants, &refunds, faults);
            return Ok(());
        }
    }
}

fn add(fold: &mut Fold, entries: &[EntryRow], faults: &mut Faults) {
    for entry in entries {
        fold.entry(entry, faults);
    }
}

fn compare(rows: &mut Rows<'_>, fold: &mut Fold, ids: &[Id], faults: &mut Faults) -> Result<(), Stop> {
    for id in ids {
        // The end of the account reports one that isn't there.
        if let Some(hold) = rows.hold(id)? {
            fold.hold(&hold, faults);
        }
    }
    Ok(())
}
