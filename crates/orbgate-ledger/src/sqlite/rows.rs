//! The rows of the ledger as SQL statements.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use crate::answer::{Entry, Extended, Revoked, State};
use crate::columns::{Columns, account, entry, grant, hold};
use crate::log;
use crate::plan::{AccountRow, EntryRow, GrantRow, HoldRow, Settlement, Stop, Tables, broken};
use crate::value::{AccountId, Bucket, Id, Millis, Note, Orbs};

/// The rows, within a transaction.
#[derive(Debug)]
pub(crate) struct Rows<'c> {
    connection: &'c Connection,
    /// The commands of a commit are often about one account, which no other connection writes meanwhile.
    last: Option<Known>,
}

/// An account as it is in the database now.
#[derive(Debug)]
struct Known {
    account: AccountRow,
    /// Its open grants, once they were read.
    grants: Option<Vec<GrantRow>>,
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Broken(format!("sqlite: {error}"))
    }
}

/// A statement that selects rows in the order of `columns`. A literal: nothing is put together while a commit runs.
macro_rules! select {
    (account $rest:literal) => {
        concat!("SELECT key, id, clock, seq, paid, bonus, held, next_due FROM account ", $rest)
    };
    (grants $rest:literal) => {
        concat!(
            "SELECT account, seq, id, bucket, amount, expires_at, at, available, held, captured, expired, revoked FROM grants ",
            $rest
        )
    };
    (hold $rest:literal) => {
        concat!(
            "SELECT id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, state, requested, captured, \
             captured_bonus, shortfall, late, settled_at FROM hold ",
            $rest
        )
    };
    (entry $rest:literal) => {
        concat!("SELECT account, seq, at, cause, id, lines, paid, bonus, held, shortfall, position FROM entry ", $rest)
    };
}

impl<'c> Rows<'c> {
    pub(crate) const fn new(connection: &'c Connection) -> Self {
        Self { connection, last: None }
    }

    /// The account, unless it has to be read.
    fn known(&self, is: impl FnOnce(&AccountRow) -> bool) -> Option<AccountRow> {
        self.last.as_ref().map(|last| &last.account).filter(|account| is(account)).cloned()
    }

    fn know(&mut self, account: &AccountRow) {
        self.last = Some(Known { account: account.clone(), grants: None });
    }

    /// What is known of an account that changes.
    fn changing(&mut self, account: i64) -> Option<&mut Known> {
        self.last.as_mut().filter(|last| last.account.key == account)
    }

    fn one<R>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<R>,
    ) -> Result<Option<R>, Stop> {
        Ok(self.connection.prepare_cached(sql)?.query_row(parameters, read).optional()?)
    }

    fn all<R>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<R>,
    ) -> Result<Vec<R>, Stop> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(parameters, read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Changes exactly one row.
    fn change(&self, sql: &str, parameters: impl Params) -> Result<(), Stop> {
        match self.connection.prepare_cached(sql)?.execute(parameters)? {
            1 => Ok(()),
            _ => Err(broken("a row changed while a command ran")),
        }
    }

    /// The accounts in which something might have expired.
    pub(crate) fn due(&self, now: Millis, limit: u32) -> Result<Vec<AccountRow>, Stop> {
        self.all(
            select!(account "WHERE next_due <= ?1 ORDER BY next_due LIMIT ?2"),
            params![number(now.get())?, limit],
            |row| account(row),
        )
    }

    pub(crate) fn accounts(&self, after: i64, limit: u32) -> Result<Vec<AccountRow>, Stop> {
        self.all(select!(account "WHERE key > ?1 ORDER BY key LIMIT ?2"), params![after, limit], |row| account(row))
    }

    pub(crate) fn grants(&self, account: i64) -> Result<Vec<GrantRow>, Stop> {
        self.all(select!(grants "WHERE account = ?1"), [account], |row| grant(row))
    }

    pub(crate) fn entries_of(&self, account: i64, after: u64, limit: u32) -> Result<Vec<EntryRow>, Stop> {
        let sql = select!(entry "WHERE account = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3");
        self.all(sql, params![account, number(after)?, limit], |row| entry(row))
    }

    /// Entries of all accounts, in the order of commits, with their positions and names.
    pub(crate) fn entries(&self, after: u64, limit: usize) -> Result<Vec<(i64, Entry)>, Stop> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = select!(entry "WHERE position > ?1 ORDER BY position LIMIT ?2");
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let rows = self.all(sql, params![after, limit], |row| Ok((row.get(10)?, entry(row)?)))?;
        rows.into_iter().map(|(position, row)| Ok((position, self.named(&row)?))).collect()
    }

    fn named(&self, row: &EntryRow) -> Result<Entry, Stop> {
        let account =
            self.one("SELECT id FROM account WHERE key = ?1", [row.account], |row| row.name(0, AccountId::new))?;
        let account = account.ok_or_else(|| broken("an entry has no account"))?;
        let note = match log::is_of_a_hold(row.cause) {
            true => self.one("SELECT note FROM hold WHERE id = ?1", [row.id.as_str()], |row| row.name(0, Note::new))?,
            false => None,
        };
        log::entry(row, account, note.unwrap_or_default(), |seq| {
            let sql = "SELECT id, bucket FROM grants WHERE account = ?1 AND seq = ?2";
            let named = |row: &Row<'_>| Ok((row.name(0, Id::new)?, row.word(1, Bucket::from_name)?));
            let grant = self.one(sql, params![row.account, number(seq)?], named)?;
            grant.ok_or_else(|| broken("an entry has no grant"))
        })
    }
}

impl Tables for Rows<'_> {
    fn account(&mut self, id: &AccountId) -> Result<Option<AccountRow>, Stop> {
        if let Some(known) = self.known(|account| account.id == *id) {
            return Ok(Some(known));
        }
        let account = self.one(select!(account "WHERE id = ?1"), [id.as_str()], |row| account(row))?;
        account.iter().for_each(|account| self.know(account));
        Ok(account)
    }

    fn account_of(&mut self, key: i64) -> Result<AccountRow, Stop> {
        if let Some(known) = self.known(|account| account.key == key) {
            return Ok(known);
        }
        let account = self.one(select!(account "WHERE key = ?1"), [key], |row| account(row))?;
        let account = account.ok_or_else(|| broken("a hold has no account"))?;
        self.know(&account);
        Ok(account)
    }

    fn create_account(&mut self, account: &AccountRow) -> Result<i64, Stop> {
        let sql = "INSERT INTO account (id, clock, seq, paid, bonus, held) VALUES (?1, 0, 0, 0, 0, 0)";
        self.change(sql, [account.id.as_str()])?;
        Ok(self.connection.last_insert_rowid())
    }

    fn update_account(&mut self, account: &AccountRow) -> Result<(), Stop> {
        let AccountRow { key, clock, seq, paid, bonus, held, next_due, .. } = account;
        self.change(
            "UPDATE account SET clock = ?2, seq = ?3, paid = ?4, bonus = ?5, held = ?6, next_due = ?7 WHERE key = ?1",
            params![
                key,
                number(clock.get())?,
                number(*seq)?,
                number(paid.get())?,
                number(bonus.get())?,
                number(held.get())?,
                next_due.map(|due| number(due.get())).transpose()?
            ],
        )?;
        if let Some(known) = self.changing(*key) {
            known.account = account.clone();
        }
        Ok(())
    }

    fn grant(&mut self, id: &Id) -> Result<Option<GrantRow>, Stop> {
        self.one(select!(grants "WHERE id = ?1"), [id.as_str()], |row| grant(row))
    }

    fn open_grants(&mut self, account: i64) -> Result<Vec<GrantRow>, Stop> {
        if let Some(grants) = self.changing(account).and_then(|known| known.grants.clone()) {
            return Ok(grants);
        }
        let sql = select!(grants "WHERE account = ?1 AND (available > 0 OR held > 0)");
        let grants = self.all(sql, [account], |row| grant(row))?;
        if let Some(known) = self.changing(account) {
            known.grants = Some(grants.clone());
        }
        Ok(grants)
    }

    fn insert_grant(&mut self, grant: &GrantRow) -> Result<(), Stop> {
        let GrantRow { account, seq, id, bucket, amount, expires_at, at, .. } = grant;
        let GrantRow { available, held, captured, expired, revoked, .. } = grant;
        self.change(
            "INSERT INTO grants VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
                account,
                number(*seq)?,
                id.as_str(),
                bucket.name(),
                number(amount.get())?,
                expires_at.map(|time| number(time.get())).transpose()?,
                number(at.get())?,
                number(available.get())?,
                number(held.get())?,
                number(captured.get())?,
                number(expired.get())?,
                number(revoked.get())?,
            ],
        )?;
        if let Some(grants) = self.changing(*account).and_then(|known| known.grants.as_mut()) {
            grants.push(grant.clone());
        }
        Ok(())
    }

    fn update_grant(&mut self, grant: &GrantRow) -> Result<(), Stop> {
        let GrantRow { account, seq, available, held, captured, expired, revoked, .. } = grant;
        self.change(
            "UPDATE grants SET available = ?3, held = ?4, captured = ?5, expired = ?6, revoked = ?7 \
             WHERE account = ?1 AND seq = ?2",
            params![
                account,
                number(*seq)?,
                number(available.get())?,
                number(held.get())?,
                number(captured.get())?,
                number(expired.get())?,
                number(revoked.get())?,
            ],
        )?;
        if let Some(grants) = self.changing(*account).and_then(|known| known.grants.as_mut()) {
            grants.retain_mut(|known| {
                if known.seq == *seq {
                    known.clone_from(grant);
                }
                known.available > Orbs::ZERO || known.held > Orbs::ZERO
            });
        }
        Ok(())
    }

    fn hold(&mut self, id: &Id) -> Result<Option<HoldRow>, Stop> {
        self.one(select!(hold "WHERE id = ?1"), [id.as_str()], |row| hold(row))
    }

    fn pending(&mut self, account: i64, until: Millis) -> Result<Vec<HoldRow>, Stop> {
        let sql = select!(hold "WHERE account = ?1 AND state = 'pending' AND expires_at <= ?2");
        self.all(sql, params![account, number(until.get())?], |row| hold(row))
    }

    fn next_hold_expiry(&mut self, account: i64) -> Result<Option<Millis>, Stop> {
        let sql = "SELECT min(expires_at) FROM hold WHERE account = ?1 AND state = 'pending'";
        Ok(self.one(sql, [account], |row| row.optional_time(0))?.flatten())
    }

    fn insert_hold(&mut self, hold: &HoldRow) -> Result<bool, Stop> {
        let HoldRow { id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, .. } = hold;
        let sql = "INSERT INTO hold (id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, state, requested, \
             captured, captured_bonus, shortfall, late, settled_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) ON CONFLICT (id) DO NOTHING";
        let written = self.connection.prepare_cached(sql)?.execute(params![
            id.as_str(),
            account,
            number(amount.get())?,
            bonus_allowed,
            number(ttl.get())?,
            note.as_str(),
            number(at.get())?,
            written(lines.iter().map(|(grant, amount)| (grant, amount.get()))),
            number(bonus.get())?,
            number(expires_at.get())?,
            hold.state.name(),
            settled(hold, |settlement| settlement.requested.get())?,
            settled(hold, |settlement| settlement.captured.get())?,
            settled(hold, |settlement| settlement.bonus.get())?,
            settled(hold, |settlement| settlement.shortfall.get())?,
            settled(hold, |settlement| settlement.late.into())?,
            settled(hold, |settlement| settlement.at.get())?,
        ])?;
        Ok(written == 1)
    }

    fn update_hold(&mut self, hold: &HoldRow, was: State) -> Result<(), Stop> {
        self.change(
            "UPDATE hold SET expires_at = ?3, state = ?4, requested = ?5, captured = ?6, captured_bonus = ?7, shortfall = ?8, \
             late = ?9, settled_at = ?10 WHERE id = ?1 AND state = ?2",
            params![
                hold.id.as_str(),
                was.name(),
                number(hold.expires_at.get())?,
                hold.state.name(),
                settled(hold, |settlement| settlement.requested.get())?,
                settled(hold, |settlement| settlement.captured.get())?,
                settled(hold, |settlement| settlement.bonus.get())?,
                settled(hold, |settlement| settlement.shortfall.get())?,
                settled(hold, |settlement| settlement.late.into())?,
                settled(hold, |settlement| settlement.at.get())?,
            ],
        )
    }

    fn revocation(&mut self, id: &Id) -> Result<Option<(i64, Revoked)>, Stop> {
        let sql = "SELECT revocation.id, revocation.account, grant_id, amount, at, account.id FROM revocation \
             JOIN account ON account.key = revocation.account WHERE revocation.id = ?1";
        self.one(sql, [id.as_str()], |row| {
            let (account, grant, amount) = (row.name(5, AccountId::new)?, row.name(2, Id::new)?, row.orbs(3)?);
            Ok((row.get(1)?, Revoked { id: row.name(0, Id::new)?, account, grant, amount, at: row.time(4)? }))
        })
    }

    fn insert_revocation(&mut self, account: i64, receipt: &Revoked) -> Result<(), Stop> {
        let Revoked { id, grant, amount, at, .. } = receipt;
        let (amount, at) = (number(amount.get())?, number(at.get())?);
        let sql = "INSERT INTO revocation (id, account, grant_id, amount, at) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.change(sql, params![id.as_str(), account, grant.as_str(), amount, at])
    }

    fn extension(&mut self, id: &Id) -> Result<Option<(Millis, Extended)>, Stop> {
        self.one("SELECT id, hold, ttl, expires_at, at FROM extension WHERE id = ?1", [id.as_str()], |row| {
            let (id, hold) = (row.name(0, Id::new)?, row.name(1, Id::new)?);
            Ok((row.time(2)?, Extended { id, hold, expires_at: row.time(3)?, at: row.time(4)? }))
        })
    }

    fn insert_extension(&mut self, ttl: Millis, receipt: &Extended) -> Result<(), Stop> {
        let Extended { id, hold, expires_at, at } = receipt;
        let (ttl, expires_at, at) = (number(ttl.get())?, number(expires_at.get())?, number(at.get())?);
        let sql = "INSERT INTO extension (id, hold, ttl, expires_at, at) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.change(sql, params![id.as_str(), hold.as_str(), ttl, expires_at, at])
    }

    fn append(&mut self, entry: &EntryRow) -> Result<(), Stop> {
        let EntryRow { account, seq, at, cause, id, lines, paid, bonus, held, shortfall } = entry;
        self.change(
            "INSERT INTO entry (account, seq, at, cause, id, lines, paid, bonus, held, shortfall) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                account,
                number(*seq)?,
                number(at.get())?,
                cause.name(),
                id.as_str(),
                written(lines.iter().map(|line| (line.grant, line.available, line.held, line.captured))),
                number(paid.get())?,
                number(bonus.get())?,
                number(held.get())?,
                number(shortfall.get())?,
            ],
        )
    }
}

/// A column of a settlement.
fn settled(hold: &HoldRow, column: impl FnOnce(&Settlement) -> u64) -> Result<Option<i64>, Stop> {
    hold.settlement.as_ref().map(|settlement| number(column(settlement))).transpose()
}

/// Lines as a JSON array.
fn written(lines: impl Iterator<Item = impl serde::Serialize>) -> String {
    serde_json::to_string(&lines.collect::<Vec<_>>()).unwrap_or_default()
}

fn number(number: u64) -> Result<i64, Stop> {
    i64::try_from(number).map_err(|_| broken("a number is out of range"))
}

impl Columns for Row<'_> {
    type Error = rusqlite::Error;

    fn integer(&self, index: usize) -> rusqlite::Result<Option<i64>> {
        self.get(index)
    }

    fn text(&self, index: usize) -> rusqlite::Result<&str> {
        Ok(self.get_ref(index)?.as_str()?)
    }

    fn flag(&self, index: usize) -> rusqlite::Result<bool> {
        self.get(index)
    }

    fn wrong(index: usize) -> rusqlite::Error {
        rusqlite::Error::InvalidColumnType(index, "a value that the ledger doesn't write".to_owned(), Type::Text)
    }
}
