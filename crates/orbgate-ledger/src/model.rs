//! The ledger in memory: the same commands and receipts as a store, without durability. For tests, and to compare stores
//! with.

use std::collections::{BTreeMap, BTreeSet};

use crate::answer::{Answer, Cursor, Entry, Extended, Frozen, Page, Refunded, Revoked};
use crate::cause::{Cause, State};
use crate::command::Command;
use crate::error::Error;
use crate::feed::Place;
use crate::log::{self, Told};
use crate::plan::{self, AccountRow, EntryRow, GrantRow, HoldRow, Receipt, Remark, Stop, Tables, broken, first};
use crate::value::{AccountId, Bucket, Id, Millis, Orbs, Order};
use crate::verify::{Faults, Fold};

/// The ledger in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    order: Order,
    pub(crate) rows: Rows,
}

impl Model {
    /// An empty ledger.
    #[must_use]
    pub fn new(order: Order) -> Self {
        Self { order, rows: Rows::default() }
    }

    /// Does a command at this time.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub fn run(&mut self, command: &Command, now: Millis) -> Result<Answer, Error> {
        plan::run(&mut self.rows, self.order, command, now).map_err(Stop::error)
    }

    /// Writes everything that has expired by now.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub fn expire(&mut self, now: Millis) -> Result<(), Error> {
        let due: Vec<_> = self.rows.accounts.values().filter(|account| account.is_due(now)).cloned().collect();
        for account in due {
            plan::expire(&mut self.rows, account, now, usize::MAX).map_err(Stop::error)?;
        }
        Ok(())
    }

    /// Brings each account whose time is ahead of this one back to it, and returns how many pending holds are shortened.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub fn reset(&mut self, now: Millis) -> Result<u64, Error> {
        let mut shortened = 0_u64;
        for account in self.rows.accounts.values().cloned().collect::<Vec<_>>() {
            let more = plan::reset(&mut self.rows, account, now).map_err(Stop::error)?;
            shortened = shortened.saturating_add(more.unwrap_or_default());
        }
        Ok(shortened)
    }

    /// The entries after a cursor at this time, at most `limit`.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub fn entries(&self, after: &Cursor, limit: usize, now: Millis) -> Result<Page, Error> {
        let start = Place::start(0);
        let after = if after.as_str().is_empty() { start } else { Place::of(after).ok_or(Error::Cursor)? };
        let mut place = start;
        let rows = self.rows.entries.iter().map(|row| {
            place = place.after(row);
            (place, row)
        });
        let rows: Vec<_> = rows.collect();
        if after != start && !rows.iter().any(|(place, _)| *place == after) {
            return Err(Error::Cursor);
        }
        let rows = rows.into_iter().filter(|(place, _)| place.number > after.number).take(limit);
        let entries = rows.map(|(place, row)| Ok((place.cursor(), self.rows.entry(row)?)));
        let due = self.rows.accounts.values().filter_map(|account| account.next_due);
        let complete_until = due.fold(now, Ord::min);
        Ok(Page { entries: entries.collect::<Result<_, Stop>>().map_err(Stop::error)?, complete_until })
    }

    /// Recomputes everything from the entries, and returns what differs.
    #[must_use]
    pub fn verify(&self) -> Faults {
        let mut faults = Faults::default();
        for (key, account) in &self.rows.accounts {
            let mut fold = Fold::new(account.id.clone());
            for entry in self.rows.entries.iter().filter(|entry| entry.account == *key) {
                fold.entry(entry, &mut faults);
            }
            for hold in self.rows.holds.values().filter(|hold| hold.account == Some(*key)) {
                fold.hold(hold, &mut faults);
            }
            let grants: Vec<_> = self.rows.grants.values().filter(|grant| grant.account == *key).cloned().collect();
            let refunds = self.rows.refunds.values().filter(|row| row.account == *key);
            let captured = |row: &Receipt<Refunded>| {
                let hold = self.rows.holds.get(&row.receipt.hold);
                hold.and_then(|hold| hold.settlement.as_ref()).map_or(Orbs::ZERO, |settlement| settlement.captured)
            };
            let refunds: Vec<_> = refunds.map(|row| (row.receipt.clone(), captured(row))).collect();
            fold.finish(account, &grants, &refunds, &mut faults);
        }
        faults
    }
}

/// The rows in memory: of a whole ledger, or those that a batch of another store has read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    /// The keys that new accounts get. Without one, it is the next number.
    pub(crate) keys: BTreeMap<AccountId, i64>,
    pub(crate) accounts: BTreeMap<i64, AccountRow>,
    pub(crate) grant_ids: BTreeMap<Id, (i64, u64)>,
    pub(crate) grants: BTreeMap<(i64, u64), GrantRow>,
    pub(crate) holds: BTreeMap<Id, HoldRow>,
    pub(crate) revocations: BTreeMap<Id, Receipt<Revoked>>,
    pub(crate) refunds: BTreeMap<Id, Receipt<Refunded>>,
    pub(crate) freezes: BTreeMap<Id, Receipt<Frozen>>,
    /// By the word of the entry's cause.
    pub(crate) remarks: BTreeMap<(&'static str, Id), Remark>,
    /// What captures took that another store has read: a whole ledger has their entries.
    pub(crate) captured: BTreeMap<Id, Vec<(u64, Orbs)>>,
    pub(crate) extensions: BTreeMap<Id, (Millis, Extended)>,
    pub(crate) entries: Vec<EntryRow>,
    pub(crate) bounds: Bounds,
}

/// What a batch of another store may write, and what it hasn't read. A whole ledger has no bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// How much that has expired may still be written, and the part of it that an account leaves to others.
    pub(crate) left: Option<(usize, usize)>,
    /// How much of it an account may write. One more has been read, if there is more.
    pub(crate) due: BTreeMap<i64, usize>,
    /// The rank up to which the available grants of a bucket are read, if there are more.
    pub(crate) known_to: BTreeMap<(i64, Bucket), (u64, u64)>,
    /// The accounts of which some grants with held orbs aren't read.
    pub(crate) partly_held: BTreeSet<i64>,
    /// Those of which a command needs all of them.
    pub(crate) whole: BTreeSet<i64>,
}

impl Rows {
    fn grants_of(&self, account: i64) -> impl Iterator<Item = &GrantRow> {
        self.grants.range((account, 0)..=(account, u64::MAX)).map(|(_, grant)| grant)
    }

    fn available(&self, account: i64) -> impl Iterator<Item = &GrantRow> {
        self.grants_of(account).filter(|grant| grant.available > Orbs::ZERO)
    }

    fn pending_of(&self, account: i64) -> impl Iterator<Item = &HoldRow> {
        self.holds.values().filter(move |hold| hold.account == Some(account) && hold.state == State::Pending)
    }

    /// A command needs more grants than were read: it comes again once all are.
    fn needs_all(&mut self, account: i64) -> Stop {
        self.bounds.whole.insert(account);
        Stop::Later(account)
    }

    /// An entry with its names.
    pub(crate) fn entry(&self, row: &EntryRow) -> Result<Entry, Stop> {
        let account = self.accounts.get(&row.account).ok_or_else(|| broken("an entry has no account"))?;
        let mut told = Told::default();
        if let Some(hold) = self.holds.get(&row.id).filter(|_| row.cause.row().hold.is_some()) {
            told.note = hold.note.clone();
        }
        if let Some(Remark { note, author }) = self.remarks.get(&(row.cause.name(), row.id.clone())) {
            (told.note, told.author) = (note.clone(), author.clone());
        }
        let refund = self.refunds.get(&row.id).filter(|_| row.cause == Cause::Refund);
        told.hold = refund.map(|row| row.receipt.hold.clone());
        log::entry(row, account.id.clone(), told, |seq| {
            let grant = self.grants.get(&(row.account, seq));
            grant.map(|grant| (grant.id.clone(), grant.bucket)).ok_or_else(|| broken("an entry has no grant"))
        })
    }
}

impl Tables for Rows {
    fn account(&mut self, id: &AccountId) -> Result<Option<AccountRow>, Stop> {
        Ok(self.accounts.values().find(|account| account.id == *id).cloned())
    }

    fn account_of(&mut self, key: i64) -> Result<AccountRow, Stop> {
        self.accounts.get(&key).cloned().ok_or_else(|| broken("a hold has no account"))
    }

    fn create_account(&mut self, account: &AccountRow) -> Result<i64, Stop> {
        let next = i64::try_from(self.accounts.len()).map_err(|_| broken("too many accounts"))?.saturating_add(1);
        let key = self.keys.get(&account.id).copied().unwrap_or(next);
        self.accounts.insert(key, AccountRow { key, ..account.clone() });
        Ok(key)
    }

    fn update_account(&mut self, account: &AccountRow) -> Result<(), Stop> {
        self.accounts.insert(account.key, account.clone());
        Ok(())
    }

    fn grant(&mut self, id: &Id) -> Result<Option<GrantRow>, Stop> {
        Ok(self.grant_ids.get(id).and_then(|key| self.grants.get(key)).cloned())
    }

    fn grant_of(&mut self, account: i64, seq: u64) -> Result<GrantRow, Stop> {
        self.grants.get(&(account, seq)).cloned().ok_or_else(|| broken("a hold has orbs of a grant that isn't there"))
    }

    fn held_grants(&mut self, account: i64) -> Result<Vec<GrantRow>, Stop> {
        if self.bounds.partly_held.contains(&account) {
            return Err(self.needs_all(account));
        }
        Ok(self.grants_of(account).filter(|grant| grant.held > Orbs::ZERO).cloned().collect())
    }

    fn spendable(&mut self, account: i64, bucket: Bucket, amount: Orbs) -> Result<Vec<GrantRow>, Stop> {
        let known_to = self.bounds.known_to.get(&(account, bucket)).copied();
        let grants = self.available(account).filter(|grant| grant.bucket == bucket);
        let grants = first(grants.filter(|grant| known_to.is_none_or(|last| grant.rank() <= last)).cloned(), amount);
        let sum = grants.iter().try_fold(Orbs::ZERO, |sum, grant| sum.plus(grant.available));
        match known_to.is_some() && sum.is_some_and(|sum| sum < amount) {
            true => Err(self.needs_all(account)),
            false => Ok(grants),
        }
    }

    fn due_grants(&mut self, account: i64, until: Millis, most: usize) -> Result<Vec<GrantRow>, Stop> {
        let mut due: Vec<_> = self.available(account).filter(|grant| grant.has_expired(until)).cloned().collect();
        due.sort_by_key(GrantRow::rank);
        due.truncate(most);
        Ok(due)
    }

    fn next_grant_expiry(&mut self, account: i64) -> Result<Option<Millis>, Stop> {
        Ok(self.available(account).filter_map(|grant| grant.expires_at).min())
    }

    fn insert_grant(&mut self, grant: &GrantRow) -> Result<(), Stop> {
        self.grant_ids.insert(grant.id.clone(), (grant.account, grant.seq));
        self.update_grant(grant)
    }

    fn update_grant(&mut self, grant: &GrantRow) -> Result<(), Stop> {
        self.grants.insert((grant.account, grant.seq), grant.clone());
        Ok(())
    }

    fn hold(&mut self, id: &Id) -> Result<Option<HoldRow>, Stop> {
        Ok(self.holds.get(id).cloned())
    }

    fn pending(&mut self, account: i64, until: Millis, most: usize) -> Result<Vec<HoldRow>, Stop> {
        let mut pending: Vec<_> = self.pending_of(account).filter(|hold| hold.expires_at <= until).collect();
        pending.sort_by(|a, b| (a.expires_at, &a.id).cmp(&(b.expires_at, &b.id)));
        Ok(pending.into_iter().take(most).cloned().collect())
    }

    fn next_hold_expiry(&mut self, account: i64) -> Result<Option<Millis>, Stop> {
        Ok(self.pending_of(account).map(|hold| hold.expires_at).min())
    }

    fn insert_hold(&mut self, hold: &HoldRow) -> Result<bool, Stop> {
        let is_new = !self.holds.contains_key(&hold.id);
        if is_new {
            self.holds.insert(hold.id.clone(), hold.clone());
        }
        Ok(is_new)
    }

    fn update_hold(&mut self, hold: &HoldRow, was: State) -> Result<(), Stop> {
        match self.holds.insert(hold.id.clone(), hold.clone()) {
            Some(before) if before.state == was => Ok(()),
            _ => Err(broken("a hold changed while it was settled")),
        }
    }

    fn revocation(&mut self, id: &Id) -> Result<Option<Receipt<Revoked>>, Stop> {
        Ok(self.revocations.get(id).cloned())
    }

    fn insert_revocation(&mut self, row: &Receipt<Revoked>) -> Result<(), Stop> {
        self.revocations.insert(row.receipt.id.clone(), row.clone());
        Ok(())
    }

    fn refund(&mut self, id: &Id) -> Result<Option<Receipt<Refunded>>, Stop> {
        Ok(self.refunds.get(id).cloned())
    }

    fn insert_refund(&mut self, row: &Receipt<Refunded>) -> Result<(), Stop> {
        self.refunds.insert(row.receipt.id.clone(), row.clone());
        Ok(())
    }

    fn refunded(&mut self, hold: &Id) -> Result<Orbs, Stop> {
        let mut amounts = self.refunds.values().filter(|row| row.receipt.hold == *hold).map(|row| row.receipt.amount);
        let sum = amounts.try_fold(Orbs::ZERO, |sum, amount| sum.plus(amount));
        sum.ok_or_else(|| broken("a hold has too many refunds"))
    }

    fn captured(&mut self, account: i64, hold: &Id) -> Result<Vec<(u64, Orbs)>, Stop> {
        let is = |entry: &&EntryRow| entry.account == account && entry.cause == Cause::Capture && entry.id == *hold;
        match self.entries.iter().find(is) {
            Some(entry) => entry.captured(),
            None => self.captured.get(hold).cloned().ok_or_else(|| broken("a capture has no entry")),
        }
    }

    fn freeze(&mut self, id: &Id) -> Result<Option<Receipt<Frozen>>, Stop> {
        Ok(self.freezes.get(id).cloned())
    }

    fn insert_freeze(&mut self, row: &Receipt<Frozen>) -> Result<(), Stop> {
        self.freezes.insert(row.receipt.id.clone(), row.clone());
        Ok(())
    }

    fn insert_remark(&mut self, cause: Cause, id: &Id, remark: &Remark) -> Result<(), Stop> {
        self.remarks.insert((cause.name(), id.clone()), remark.clone());
        Ok(())
    }

    fn extension(&mut self, id: &Id) -> Result<Option<(Millis, Extended)>, Stop> {
        Ok(self.extensions.get(id).cloned())
    }

    fn insert_extension(&mut self, ttl: Millis, receipt: &Extended) -> Result<(), Stop> {
        self.extensions.insert(receipt.id.clone(), (ttl, receipt.clone()));
        Ok(())
    }

    fn append(&mut self, entry: &EntryRow) -> Result<(), Stop> {
        if let (Some((left, _)), true) = (&mut self.bounds.left, entry.cause.row().is_expiry) {
            *left = left.saturating_sub(1);
        }
        self.entries.push(entry.clone());
        Ok(())
    }

    /// A batch knows this before it plans a command.
    fn is_behind(&mut self, _: i64) -> bool {
        false
    }

    fn most_expiries(&mut self, account: i64) -> usize {
        let left = self.bounds.left.map_or(usize::MAX, |(left, share)| left.div_ceil(share));
        self.bounds.due.get(&account).map_or(left, |due| left.min(*due))
    }
}
