//! What people read of a SQLite file: one snapshot, in short statements.

use std::path::Path;

use rusqlite::params;

use crate::answer::{Cursor, Entry};
use crate::cause::Cause;
use crate::columns::{Columns as _, account, entry, grant};
use crate::error::Error;
use crate::feed::{Place, first_after};
use crate::people::read::{Due, ReadRows};
use crate::plan::{self, AccountRow, GrantRow, Stop, Tables as _};
use crate::sqlite::open;
use crate::sqlite::rows::{Rows, limit, number, select};
use crate::value::{AccountId, Bucket, Millis};

/// The entries whose changes a statement adds. The orbs of an account are at most 2^53, so the sums of so many are less than 2^63.
const ENTRIES: u64 = 1000;

/// The names of accounts after one, in the order of their bytes.
pub(crate) fn names(path: &Path, after: &str, most: usize) -> Result<Vec<AccountId>, Error> {
    let connection = open::reader(path)?;
    let sql = "SELECT id FROM account WHERE id > ?1 AND seq > 0 ORDER BY id LIMIT ?2";
    let names = Rows::new(&connection).all(sql, params![after, limit(most)], |row| row.name(0, AccountId::new));
    names.map_err(Stop::error)
}

/// The rows of a snapshot at a time.
pub(crate) struct Read<'c> {
    rows: Rows<'c>,
    now: Millis,
}

/// Reads at this time, in a snapshot.
pub(crate) fn read<T>(
    path: &Path,
    now: Millis,
    work: impl FnOnce(&mut Read<'_>) -> Result<T, Stop>,
) -> Result<T, Error> {
    let mut connection = open::reader(path)?;
    let snapshot = connection.transaction().map_err(|error| Stop::from(error).error())?;
    work(&mut Read { rows: Rows::new(&snapshot), now }).map_err(Stop::error)
}

/// The entries of an account after a cursor, each with its place.
pub(crate) fn entries_of(
    rows: &mut Rows<'_>,
    id: &AccountId,
    after: &Cursor,
    most: usize,
) -> Result<Vec<(Place, Entry)>, Stop> {
    let after = rows.number_of(after)?;
    let Some(account) = rows.account(id)? else {
        return Ok(Vec::new());
    };
    let first = first_after(account.seq, after, |seq| {
        let sql = "SELECT number FROM entry WHERE account = ?1 AND seq = ?2";
        rows.one(sql, params![account.key, number(seq)?], |row| row.number(0))
    })?;
    let sql = select!(entry "WHERE account = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3");
    rows.placed(sql, params![account.key, number(first)?, limit(most)])
}

impl ReadRows for Read<'_> {
    type Failed = Stop;

    fn now(&self) -> Millis {
        self.now
    }

    fn account(&mut self, id: &AccountId) -> Result<Option<AccountRow>, Stop> {
        self.rows.account(id)
    }

    fn accounts(&mut self, first: &str, after: &str, most: usize) -> Result<Vec<AccountRow>, Stop> {
        // One bound, so that the index begins there.
        let sql = select!(account "WHERE id >= ?1 AND id <> ?2 AND seq > 0 ORDER BY id LIMIT ?3");
        self.rows.all(sql, params![first.max(after), after, limit(most)], |row| account(row))
    }

    fn due_accounts(&mut self, after: i64, until: Millis, most: usize) -> Result<Vec<AccountRow>, Stop> {
        let sql = select!(account "WHERE key > ?1 AND next_due <= ?2 ORDER BY key LIMIT ?3");
        self.rows.all(sql, params![after, number(until.get())?, limit(most)], |row| account(row))
    }

    fn due(&mut self, account: AccountRow, until: Millis) -> Result<Due, Stop> {
        if !account.is_due(until) {
            return Ok(Due::nothing(account));
        }
        let (account, entries, grants) = plan::due(&mut self.rows, account, until)?;
        let entries = entries.iter().map(|row| self.rows.named(row)).collect::<Result<_, _>>()?;
        Ok(Due { account, entries, grants })
    }

    fn open_grants(&mut self, account: i64, after: u64, most: usize) -> Result<Vec<GrantRow>, Stop> {
        let sql = select!(grants "INDEXED BY grants_open WHERE account = ?1 AND seq > ?2 AND (available > 0 OR held > 0) \
            ORDER BY seq LIMIT ?3");
        self.rows.all(sql, params![account, number(after)?, limit(most)], |row| grant(row))
    }

    fn entries(&mut self, account: &AccountRow, first: u64, last: u64) -> Result<Vec<Entry>, Stop> {
        let sql = select!(entry "WHERE account = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq");
        let rows = self.rows.all(sql, params![account.key, number(first)?, number(last)?], |row| entry(row))?;
        rows.iter().map(|row| self.rows.named(row)).collect()
    }

    fn last_command(&mut self, account: &AccountRow) -> Result<Option<Millis>, Stop> {
        let causes = serde_json::Value::from(Cause::of_commands()).to_string();
        let sql = "SELECT at FROM entry WHERE account = ?1 AND cause IN (SELECT value FROM json_each(?2)) \
            ORDER BY seq DESC LIMIT 1";
        self.rows.one(sql, params![account.key, causes], |row| row.time(0))
    }

    fn moved(&mut self, until: Millis, add: &mut dyn FnMut(Cause, Bucket, [i128; 3])) -> Result<(), Stop> {
        let end = self.rows.one("SELECT ifnull(max(number), 0) FROM entry", (), |row| row.number(0))?.unwrap_or(0);
        let mut after = 0_u64;
        while after < end {
            let last = after.saturating_add(ENTRIES);
            // CROSS: the entries are read in their order.
            let sql = "SELECT cause, bucket, sum(line.value ->> 1), sum(line.value ->> 2), sum(line.value ->> 3) \
                FROM entry CROSS JOIN json_each(lines) AS line \
                LEFT JOIN grants ON grants.account = entry.account AND grants.seq = line.value ->> 0 \
                WHERE number > ?1 AND number <= ?2 AND entry.at <= ?3 GROUP BY cause, bucket";
            let sums = self.rows.all(sql, params![number(after)?, number(last)?, number(until.get())?], |row| {
                let changes = [row.key(2)?, row.key(3)?, row.key(4)?].map(i128::from);
                Ok((row.word(0, Cause::from_name)?, row.word(1, Bucket::from_name)?, changes))
            })?;
            sums.into_iter().for_each(|(cause, bucket, changes)| add(cause, bucket, changes));
            after = last;
        }
        Ok(())
    }
}
