//! The rows of the ledger as SQL statements.

use std::collections::BTreeSet;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use crate::answer::{Cursor, Entry, Extended, Frozen, Refunded, Revoked};
use crate::cause::{Cause, State};
use crate::columns::{Columns, account, entry, extension, freeze, grant, hold, refund, revocation};
use crate::command::Command;
use crate::error::Error;
use crate::feed::Place;
use crate::log::{self, Told};
use crate::plan::{AccountRow, EntryRow, GrantRow, HoldRow, Receipt, Remark, Settlement, Stop, Tables, broken, first};
use crate::value::{AccountId, Bucket, Id, Millis, Note, Orbs};

/// The rows, within a transaction.
#[derive(Debug)]
pub(crate) struct Rows<'c> {
    connection: &'c Connection,
    /// The commands of a commit are often about one account, which no other connection writes meanwhile.
    last: Option<Known>,
    /// How much that has expired this transaction may still write for commands.
    left: usize,
    /// The first account with a backlog leaves something to the others: it writes one part in so many.
    share: usize,
    /// The accounts that have to wait for another transaction.
    behind: BTreeSet<i64>,
    /// The place after the last entry, once this transaction has written one.
    end: Option<Place>,
    /// How many holds this transaction has released, because they had expired.
    pub(crate) expired: u64,
}

/// An account as it is in the database now.
#[derive(Debug)]
struct Known {
    account: AccountRow,
    grants: Grants,
}

/// What is known of the open grants of an account.
#[derive(Debug)]
enum Grants {
    Unread,
    /// All of them.
    Few(Vec<GrantRow>),
    /// Too many to keep: each question is asked of an index.
    Many,
}

/// How many open grants are kept.
const FEW: usize = 32;

impl Known {
    const fn few(&mut self) -> Option<&mut Vec<GrantRow>> {
        match &mut self.grants {
            Grants::Few(grants) => Some(grants),
            Grants::Unread | Grants::Many => None,
        }
    }
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Broken(format!("sqlite: {error}"))
    }
}

/// A statement that selects rows in the order of `columns`. A literal: nothing is put together while a commit runs.
macro_rules! select {
    (account $rest:literal) => {
        concat!("SELECT key, id, clock, seq, paid, bonus, held, next_due, frozen FROM account ", $rest)
    };
    (grants $rest:literal) => {
        concat!(
            "SELECT account, seq, id, bucket, amount, expires_at, at, available, held, captured, expired, revoked, \
             refunded FROM grants ",
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
        concat!("SELECT account, seq, at, cause, id, lines, paid, bonus, held, shortfall, number, digest FROM entry ", $rest)
    };
}
pub(crate) use select;

/// The available grants of a bucket in the order of their ranks, by the index that is for it.
macro_rules! ranked {
    ($also:literal, $rest:literal) => {
        concat!(
            select!(grants "INDEXED BY grants_rank WHERE account = ?1 AND bucket = ?2 AND available > 0 "),
            $also,
            " ORDER BY ifnull(expires_at, 9007199254740992), seq ",
            $rest
        )
    };
}

/// Refunds with the names of their accounts, and more columns.
macro_rules! refunds {
    ($more:literal, $rest:literal) => {
        concat!(
            "SELECT refund.id, refund.account, refund.hold, refund.amount, refund.bonus, refund.expires_at, refund.at, \
             refund.stated, account.id",
            $more,
            " FROM refund JOIN account ON account.key = refund.account ",
            $rest
        )
    };
}

impl<'c> Rows<'c> {
    pub(crate) const fn new(connection: &'c Connection) -> Self {
        Self { connection, last: None, left: usize::MAX, share: 1, behind: BTreeSet::new(), end: None, expired: 0 }
    }

    /// Commands write at most so much that has expired.
    pub(crate) fn bounded(connection: &'c Connection, left: usize, share: usize) -> Self {
        Self { left, share, ..Self::new(connection) }
    }

    /// The commands of an account have to wait.
    pub(crate) fn falls_behind(&mut self, account: i64) {
        self.behind.insert(account);
    }

    /// The same for the account of a command.
    pub(crate) fn falls_behind_with(&mut self, command: &Command) -> Result<(), Stop> {
        let account = match (command.account(), command.of_hold()) {
            (Some(id), _) => self.account(id)?.map(|account| account.key),
            (None, Some(id)) => self.hold(id)?.and_then(|hold| hold.account),
            (None, None) => None,
        };
        self.behind.extend(account);
        Ok(())
    }

    /// The account, unless it has to be read.
    fn known(&self, is: impl FnOnce(&AccountRow) -> bool) -> Option<AccountRow> {
        self.last.as_ref().map(|last| &last.account).filter(|account| is(account)).cloned()
    }

    fn know(&mut self, account: &AccountRow) {
        self.last = Some(Known { account: account.clone(), grants: Grants::Unread });
    }

    /// What is known of an account that changes.
    fn changing(&mut self, account: i64) -> Option<&mut Known> {
        self.last.as_mut().filter(|last| last.account.key == account)
    }

    pub(crate) fn one<R>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<R>,
    ) -> Result<Option<R>, Stop> {
        Ok(self.connection.prepare_cached(sql)?.query_row(parameters, read).optional()?)
    }

    pub(crate) fn all<R>(
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

    /// The open grants of the account, if they are few. They are read once.
    fn few(&mut self, account: i64) -> Result<Option<&[GrantRow]>, Stop> {
        if self.last.as_ref().is_some_and(|last| last.account.key == account && matches!(last.grants, Grants::Unread)) {
            let read = self.open(account, FEW.saturating_add(1))?;
            if let Some(known) = self.changing(account) {
                known.grants = if read.len() > FEW { Grants::Many } else { Grants::Few(read) };
            }
        }
        Ok(self.changing(account).and_then(Known::few).map(|grants| &**grants))
    }

    fn open(&self, account: i64, most: usize) -> Result<Vec<GrantRow>, Stop> {
        let sql = select!(grants "INDEXED BY grants_open WHERE account = ?1 AND (available > 0 OR held > 0) LIMIT ?2");
        self.all(sql, params![account, limit(most)], |row| grant(row))
    }

    /// When the first account is due.
    pub(crate) fn first_due(&self) -> Result<Option<Millis>, Stop> {
        let sql = "SELECT next_due FROM account WHERE next_due IS NOT NULL ORDER BY next_due LIMIT 1";
        Ok(self.one(sql, (), |row| row.optional_time(0))?.flatten())
    }

    pub(crate) fn count_due(&self, now: Millis) -> Result<u64, Stop> {
        let count =
            self.one("SELECT count(*) FROM account WHERE next_due <= ?1", [number(now.get())?], |row| row.number(0))?;
        Ok(count.unwrap_or_default())
    }

    pub(crate) fn count_pending(&self) -> Result<u64, Stop> {
        let count = self.one("SELECT count(*) FROM hold WHERE state = 'pending'", (), |row| row.number(0))?;
        Ok(count.unwrap_or_default())
    }

    /// The time of the account that moved orbs last.
    pub(crate) fn last_time(&self) -> Result<Option<Millis>, Stop> {
        let sql = "SELECT clock FROM account WHERE key = (SELECT account FROM entry ORDER BY number DESC LIMIT 1)";
        self.one(sql, (), |row| row.time(0))
    }

    /// The accounts in which something might have expired.
    pub(crate) fn due(&self, now: Millis, most: usize) -> Result<Vec<AccountRow>, Stop> {
        self.all(
            select!(account "WHERE next_due <= ?1 ORDER BY next_due LIMIT ?2"),
            params![number(now.get())?, limit(most)],
            |row| account(row),
        )
    }

    /// Accounts whose time is ahead of this one.
    pub(crate) fn ahead(&self, now: Millis, most: usize) -> Result<Vec<AccountRow>, Stop> {
        let sql = select!(account "WHERE clock > ?1 LIMIT ?2");
        self.all(sql, params![number(now.get())?, limit(most)], |row| account(row))
    }

    pub(crate) fn accounts(&self, after: i64, limit: u32) -> Result<Vec<AccountRow>, Stop> {
        self.all(select!(account "WHERE key > ?1 ORDER BY key LIMIT ?2"), params![after, limit], |row| account(row))
    }

    pub(crate) fn grants(&self, account: i64) -> Result<Vec<GrantRow>, Stop> {
        self.all(select!(grants "WHERE account = ?1"), [account], |row| grant(row))
    }

    /// The refunds of an account, each with what its hold captured.
    pub(crate) fn refunds(&self, account: i64) -> Result<Vec<(Refunded, Orbs)>, Stop> {
        let sql =
            refunds!(", ifnull(hold.captured, 0)", "LEFT JOIN hold ON hold.id = refund.hold WHERE refund.account = ?1");
        self.all(sql, [account], |row| Ok((refund(row)?.receipt, row.orbs(9)?)))
    }

    pub(crate) fn entries_of(&self, account: i64, after: u64, limit: u32) -> Result<Vec<EntryRow>, Stop> {
        let sql = select!(entry "WHERE account = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3");
        self.all(sql, params![account, number(after)?, limit], |row| entry(row))
    }

    /// Entries of all accounts, in the order of the ledger, with their places and names.
    pub(crate) fn entries(&self, after: u64, limit: usize) -> Result<Vec<(Place, Entry)>, Stop> {
        let sql = select!(entry "WHERE number > ?1 ORDER BY number LIMIT ?2");
        self.placed(sql, params![number(after)?, self::limit(limit)])
    }

    /// Selected entries, with their places and names.
    pub(crate) fn placed(&self, sql: &str, parameters: impl Params) -> Result<Vec<(Place, Entry)>, Stop> {
        let rows = self.with_places(sql, parameters)?;
        rows.into_iter().map(|(place, row)| Ok((place, self.named(&row)?))).collect()
    }

    pub(crate) fn numbered(&self, after: u64, limit: usize) -> Result<Vec<(Place, EntryRow)>, Stop> {
        let sql = select!(entry "WHERE number > ?1 ORDER BY number LIMIT ?2");
        self.with_places(sql, params![number(after)?, self::limit(limit)])
    }

    fn with_places(&self, sql: &str, parameters: impl Params) -> Result<Vec<(Place, EntryRow)>, Stop> {
        self.all(sql, parameters, |row| {
            let (number, digest) = (row.number(10)?, row.get::<_, i64>(11)?.cast_unsigned());
            Ok((Place { number, digest }, entry(row)?))
        })
    }

    /// The place before the first entry.
    pub(crate) fn start(&self) -> Result<Place, Stop> {
        let ledger = self.setting("ledger")?;
        let ledger = u64::from_str_radix(&ledger, 16).map_err(|_| broken("it has no digest to begin with"))?;
        Ok(Place::start(ledger))
    }

    fn setting(&self, name: &str) -> Result<String, Stop> {
        let value = self.one("SELECT value FROM setting WHERE name = ?1", [name], |row| row.get(0))?;
        Ok(value.unwrap_or_default())
    }

    /// The number of the entry after which a cursor is.
    pub(crate) fn number_of(&self, cursor: &Cursor) -> Result<u64, Stop> {
        if cursor.as_str().is_empty() {
            return Ok(0);
        }
        let is_known = match Place::of(cursor) {
            Some(Place { number, digest }) => {
                let sql = "SELECT 1 FROM entry WHERE number = ?1 AND digest = ?2";
                let found = self.one(sql, params![self::number(number)?, digest.cast_signed()], |_| Ok(()))?;
                found.map(|()| number)
            }
            None => {
                // Of the first version: the number alone.
                let number = cursor.as_str().parse::<u64>().ok().filter(|number| number.to_string() == cursor.as_str());
                let last = self.setting("translated")?.parse().unwrap_or(0);
                number.filter(|number| (1..=last).contains(number))
            }
        };
        is_known.ok_or_else(|| Error::Cursor.into())
    }

    /// The place after the last entry.
    fn end(&self) -> Result<Place, Stop> {
        let last = self.one("SELECT number, digest FROM entry ORDER BY number DESC LIMIT 1", (), |row| {
            Ok(Place { number: row.number(0)?, digest: row.get::<_, i64>(1)?.cast_unsigned() })
        })?;
        last.map_or_else(|| self.start(), Ok)
    }

    /// What an entry tells in addition to what moved.
    fn told(&self, row: &EntryRow) -> Result<Told, Stop> {
        let (of, id, mut told) = (row.cause.row(), row.id.as_str(), Told::default());
        if of.hold.is_some() {
            let note = self.one("SELECT note FROM hold WHERE id = ?1", [id], |row| row.name(0, Note::new))?;
            told.note = note.unwrap_or_default();
        }
        if of.has_remark {
            let sql = "SELECT note, author FROM remark WHERE cause = ?1 AND id = ?2";
            let remark = |row: &Row<'_>| Ok((row.name(0, Note::new)?, row.name(1, Note::new)?));
            (told.note, told.author) = self.one(sql, [row.cause.name(), id], remark)?.unwrap_or_default();
        }
        if row.cause == Cause::Refund {
            told.hold = self.one("SELECT hold FROM refund WHERE id = ?1", [id], |row| row.name(0, Id::new))?;
        }
        Ok(told)
    }

    pub(crate) fn named(&self, row: &EntryRow) -> Result<Entry, Stop> {
        let account =
            self.one("SELECT id FROM account WHERE key = ?1", [row.account], |row| row.name(0, AccountId::new))?;
        let account = account.ok_or_else(|| broken("an entry has no account"))?;
        log::entry(row, account, self.told(row)?, |seq| {
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
        let AccountRow { key, clock, seq, paid, bonus, held, next_due, frozen, .. } = account;
        self.change(
            "UPDATE account SET clock = ?2, seq = ?3, paid = ?4, bonus = ?5, held = ?6, next_due = ?7, frozen = ?8 \
             WHERE key = ?1",
            params![
                key,
                number(clock.get())?,
                number(*seq)?,
                number(paid.get())?,
                number(bonus.get())?,
                number(held.get())?,
                next_due.map(|due| number(due.get())).transpose()?,
                frozen,
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

    fn grant_of(&mut self, account: i64, seq: u64) -> Result<GrantRow, Stop> {
        if let Some(grant) = self.few(account)?.and_then(|grants| grants.iter().find(|grant| grant.seq == seq)) {
            return Ok(grant.clone());
        }
        let sql = select!(grants "WHERE account = ?1 AND seq = ?2");
        let grant = self.one(sql, params![account, number(seq)?], |row| grant(row))?;
        grant.ok_or_else(|| broken("a hold has orbs of a grant that isn't there"))
    }

    fn held_grants(&mut self, account: i64) -> Result<Vec<GrantRow>, Stop> {
        let mut grants = match self.few(account)? {
            Some(grants) => grants.to_vec(),
            None => self.open(account, usize::MAX)?,
        };
        grants.retain(|grant| grant.held > Orbs::ZERO);
        Ok(grants)
    }

    fn spendable(&mut self, account: i64, bucket: Bucket, amount: Orbs) -> Result<Vec<GrantRow>, Stop> {
        if let Some(grants) = self.few(account)? {
            let grants = grants.iter().filter(|grant| grant.bucket == bucket && grant.available > Orbs::ZERO);
            return Ok(first(grants.cloned(), amount));
        }
        let mut statement = self.connection.prepare_cached(ranked!("", ""))?;
        let (mut grants, mut rest) = (Vec::new(), amount);
        let mut rows = statement.query(params![account, bucket.name()])?;
        while rest > Orbs::ZERO
            && let Some(row) = rows.next()?
        {
            let grant = grant(row)?;
            rest = rest.minus(grant.available).unwrap_or_default();
            grants.push(grant);
        }
        Ok(grants)
    }

    fn due_grants(&mut self, account: i64, until: Millis, most: usize) -> Result<Vec<GrantRow>, Stop> {
        let mut due = match self.few(account)? {
            Some(grants) => {
                let grants = grants.iter().filter(|grant| grant.available > Orbs::ZERO && grant.has_expired(until));
                grants.cloned().collect()
            }
            None => {
                let sql = ranked!("AND ifnull(expires_at, 9007199254740992) <= ?3", "LIMIT ?4");
                let mut due = Vec::new();
                for bucket in [Bucket::Paid, Bucket::Bonus] {
                    let parameters = params![account, bucket.name(), number(until.get())?, limit(most)];
                    due.extend(self.all(sql, parameters, |row| grant(row))?);
                }
                due
            }
        };
        due.sort_by_key(GrantRow::rank);
        due.truncate(most);
        Ok(due)
    }

    fn next_grant_expiry(&mut self, account: i64) -> Result<Option<Millis>, Stop> {
        if let Some(grants) = self.few(account)? {
            let grants = grants.iter().filter(|grant| grant.available > Orbs::ZERO);
            return Ok(grants.filter_map(|grant| grant.expires_at).min());
        }
        let mut next = None;
        for bucket in [Bucket::Paid, Bucket::Bonus] {
            let first = self.one(ranked!("", "LIMIT 1"), params![account, bucket.name()], |row| grant(row))?;
            next = [next, first.and_then(|grant| grant.expires_at)].into_iter().flatten().min();
        }
        Ok(next)
    }

    fn is_behind(&mut self, account: i64) -> bool {
        self.behind.contains(&account)
    }

    fn most_expiries(&mut self, _: i64) -> usize {
        self.left.div_ceil(self.share)
    }

    fn insert_grant(&mut self, grant: &GrantRow) -> Result<(), Stop> {
        let GrantRow { account, seq, id, bucket, amount, expires_at, at, .. } = grant;
        let GrantRow { available, held, captured, expired, revoked, refunded, .. } = grant;
        self.change(
            "INSERT INTO grants VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
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
                number(refunded.get())?,
            ],
        )?;
        if let Some(grants) = self.changing(*account).and_then(Known::few) {
            grants.push(grant.clone());
        }
        Ok(())
    }

    fn update_grant(&mut self, grant: &GrantRow) -> Result<(), Stop> {
        let GrantRow { account, seq, available, held, captured, expired, revoked, refunded, .. } = grant;
        self.change(
            "UPDATE grants SET available = ?3, held = ?4, captured = ?5, expired = ?6, revoked = ?7, \
             refunded = ?8 WHERE account = ?1 AND seq = ?2",
            params![
                account,
                number(*seq)?,
                number(available.get())?,
                number(held.get())?,
                number(captured.get())?,
                number(expired.get())?,
                number(revoked.get())?,
                number(refunded.get())?,
            ],
        )?;
        if let Some(grants) = self.changing(*account).and_then(Known::few) {
            // One that was closed isn't among them, and a refund opens it again.
            grants.retain(|known| known.seq != *seq);
            if grant.available > Orbs::ZERO || grant.held > Orbs::ZERO {
                grants.push(grant.clone());
            }
        }
        Ok(())
    }

    fn hold(&mut self, id: &Id) -> Result<Option<HoldRow>, Stop> {
        self.one(select!(hold "WHERE id = ?1"), [id.as_str()], |row| hold(row))
    }

    fn pending(&mut self, account: i64, until: Millis, most: usize) -> Result<Vec<HoldRow>, Stop> {
        let sql = select!(hold "WHERE account = ?1 AND state = 'pending' AND expires_at <= ?2 ORDER BY expires_at, id LIMIT ?3");
        self.all(sql, params![account, number(until.get())?, limit(most)], |row| hold(row))
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

    fn revocation(&mut self, id: &Id) -> Result<Option<Receipt<Revoked>>, Stop> {
        let sql = "SELECT revocation.id, revocation.account, grant_id, amount, at, stated, account.id FROM revocation \
             JOIN account ON account.key = revocation.account WHERE revocation.id = ?1";
        self.one(sql, [id.as_str()], |row| revocation(row))
    }

    fn insert_revocation(&mut self, row: &Receipt<Revoked>) -> Result<(), Stop> {
        let Revoked { id, grant, amount, at, .. } = &row.receipt;
        let (amount, at) = (number(amount.get())?, number(at.get())?);
        let sql = "INSERT INTO revocation (id, account, grant_id, amount, at, stated) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.change(sql, params![id.as_str(), row.account, grant.as_str(), amount, at, stated(row)?])
    }

    fn refund(&mut self, id: &Id) -> Result<Option<Receipt<Refunded>>, Stop> {
        self.one(refunds!("", "WHERE refund.id = ?1"), [id.as_str()], |row| refund(row))
    }

    fn insert_refund(&mut self, row: &Receipt<Refunded>) -> Result<(), Stop> {
        let Refunded { id, hold, amount, bonus, expires_at, at, .. } = &row.receipt;
        self.change(
            "INSERT INTO refund (id, account, hold, amount, bonus, expires_at, at, stated) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                id.as_str(),
                row.account,
                hold.as_str(),
                number(amount.get())?,
                number(bonus.get())?,
                expires_at.map(|time| number(time.get())).transpose()?,
                number(at.get())?,
                stated(row)?,
            ],
        )
    }

    fn refunded(&mut self, hold: &Id) -> Result<Orbs, Stop> {
        let sql = "SELECT ifnull(sum(amount), 0) FROM refund WHERE hold = ?1";
        Ok(self.one(sql, [hold.as_str()], |row| row.orbs(0))?.unwrap_or_default())
    }

    fn captured(&mut self, account: i64, hold: &Id) -> Result<Vec<(u64, Orbs)>, Stop> {
        let sql = select!(entry "WHERE account = ?1 AND cause = 'capture' AND id = ?2");
        let capture = self.one(sql, params![account, hold.as_str()], |row| entry(row))?;
        capture.ok_or_else(|| broken("a capture has no entry"))?.captured()
    }

    fn freeze(&mut self, id: &Id) -> Result<Option<Receipt<Frozen>>, Stop> {
        let sql = "SELECT freeze.id, freeze.account, freeze.frozen, at, account.id FROM freeze \
             JOIN account ON account.key = freeze.account WHERE freeze.id = ?1";
        self.one(sql, [id.as_str()], |row| freeze(row))
    }

    fn insert_freeze(&mut self, row: &Receipt<Frozen>) -> Result<(), Stop> {
        let Frozen { id, frozen, at, .. } = &row.receipt;
        let sql = "INSERT INTO freeze (id, account, frozen, at) VALUES (?1, ?2, ?3, ?4)";
        self.change(sql, params![id.as_str(), row.account, frozen, number(at.get())?])
    }

    fn insert_remark(&mut self, cause: Cause, id: &Id, remark: &Remark) -> Result<(), Stop> {
        let sql = "INSERT INTO remark (cause, id, note, author) VALUES (?1, ?2, ?3, ?4)";
        self.change(sql, [cause.name(), id.as_str(), remark.note.as_str(), remark.author.as_str()])
    }

    fn extension(&mut self, id: &Id) -> Result<Option<(Millis, Extended)>, Stop> {
        let sql = "SELECT id, hold, ttl, expires_at, at FROM extension WHERE id = ?1";
        self.one(sql, [id.as_str()], |row| extension(row))
    }

    fn insert_extension(&mut self, ttl: Millis, receipt: &Extended) -> Result<(), Stop> {
        let Extended { id, hold, expires_at, at } = receipt;
        let (ttl, expires_at, at) = (number(ttl.get())?, number(expires_at.get())?, number(at.get())?);
        let sql = "INSERT INTO extension (id, hold, ttl, expires_at, at) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.change(sql, params![id.as_str(), hold.as_str(), ttl, expires_at, at])
    }

    fn append(&mut self, entry: &EntryRow) -> Result<(), Stop> {
        let EntryRow { account, seq, at, cause, id, lines, paid, bonus, held, shortfall } = entry;
        if cause.row().is_expiry {
            self.left = self.left.saturating_sub(1);
        }
        self.expired = self.expired.saturating_add((cause.row().hold == Some(State::Expired)).into());
        let place = self.end.map_or_else(|| self.end(), Ok)?.after(entry);
        self.end = Some(place);
        self.change(
            "INSERT INTO entry (account, seq, at, cause, id, lines, paid, bonus, held, shortfall, number, digest) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
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
                number(place.number)?,
                place.digest.cast_signed(),
            ],
        )
    }
}

/// Copies the entries of an older version, each with its digest.
pub(crate) fn number_all(file: &Connection) -> Result<(), Stop> {
    let mut rows = Rows::new(file);
    let sql =
        "SELECT account, seq, at, cause, id, lines, paid, bonus, held, shortfall FROM entry_before ORDER BY position";
    let mut statement = file.prepare(sql)?;
    let mut before = statement.query(())?;
    while let Some(row) = before.next()? {
        rows.append(&entry(row)?)?;
    }
    Ok(())
}

/// A column of a settlement.
fn settled(hold: &HoldRow, column: impl FnOnce(&Settlement) -> u64) -> Result<Option<i64>, Stop> {
    hold.settlement.as_ref().map(|settlement| number(column(settlement))).transpose()
}

/// The amount that a command stated.
fn stated<R>(row: &Receipt<R>) -> Result<Option<i64>, Stop> {
    row.stated.map(|amount| number(amount.get())).transpose()
}

/// Lines as a JSON array.
fn written(lines: impl Iterator<Item = impl serde::Serialize>) -> String {
    serde_json::to_string(&lines.collect::<Vec<_>>()).unwrap_or_default()
}

pub(crate) fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

pub(crate) fn number(number: u64) -> Result<i64, Stop> {
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
