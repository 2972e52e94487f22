//! The ledger in memory: the same commands and receipts as a store, without durability. For tests, and to compare stores
//! with.

use std::collections::BTreeMap;

use crate::answer::{Answer, Cursor, Entry, Extended, Page, Revoked, State};
use crate::command::Command;
use crate::error::Error;
use crate::log;
use crate::plan::{self, AccountRow, EntryRow, GrantRow, HoldRow, Stop, Tables, broken};
use crate::value::{AccountId, Id, Millis, Note, Order};
use crate::verify::{Faults, Fold};

/// The ledger in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    order: Order,
    rows: Rows,
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
        plan::run(&mut self.rows, self.order, command, now).map_err(unknown)
    }

    /// The entries after a cursor, at most `limit`, once everything that has expired by now is written.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub fn entries(&mut self, after: &Cursor, limit: usize, now: Millis) -> Result<Page, Error> {
        let due: Vec<_> = self.rows.accounts.values().filter(|account| account.is_due(now)).cloned().collect();
        for account in due {
            plan::expire(&mut self.rows, account, now).map_err(unknown)?;
        }
        let after = log::position(after)?;
        let rows = self.rows.entries.iter().enumerate().map(|(index, row)| (index.saturating_add(1), row));
        let rows = rows.filter(|(index, _)| u64::try_from(*index).is_ok_and(|index| index > after)).take(limit);
        let entries = rows.map(|(index, row)| Ok((Cursor(index.to_string()), self.rows.entry(row)?)));
        Ok(Page { entries: entries.collect::<Result<_, Stop>>().map_err(unknown)? })
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
            fold.finish(account, &grants, &mut faults);
        }
        faults
    }
}

fn unknown(stop: Stop) -> Error {
    match stop {
        Stop::Refused(error) => error,
        Stop::Broken(why) => Error::Unknown(why),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rows {
    accounts: BTreeMap<i64, AccountRow>,
    grant_ids: BTreeMap<Id, (i64, u64)>,
    grants: BTreeMap<(i64, u64), GrantRow>,
    holds: BTreeMap<Id, HoldRow>,
    revocations: BTreeMap<Id, (i64, Revoked)>,
    extensions: BTreeMap<Id, (Millis, Extended)>,
    entries: Vec<EntryRow>,
}

impl Rows {
    /// An entry with its names.
    fn entry(&self, row: &EntryRow) -> Result<Entry, Stop> {
        let account = self.accounts.get(&row.account).ok_or_else(|| broken("an entry has no account"))?;
        let note = self.holds.get(&row.id).filter(|_| log::is_of_a_hold(row.cause));
        let note = note.map_or_else(Note::default, |hold| hold.note.clone());
        log::entry(row, account.id.clone(), note, |seq| {
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
        let key = i64::try_from(self.accounts.len()).map_err(|_| broken("too many accounts"))?.saturating_add(1);
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

    fn open_grants(&mut self, account: i64) -> Result<Vec<GrantRow>, Stop> {
        let grants = self.grants.range((account, 0)..=(account, u64::MAX)).map(|(_, grant)| grant);
        Ok(grants.filter(|grant| grant.is_open()).cloned().collect())
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

    fn pending(&mut self, account: i64, until: Millis) -> Result<Vec<HoldRow>, Stop> {
        let pending =
            |hold: &&HoldRow| hold.account == Some(account) && hold.state == State::Pending && hold.expires_at <= until;
        Ok(self.holds.values().filter(pending).cloned().collect())
    }

    fn next_hold_expiry(&mut self, account: i64) -> Result<Option<Millis>, Stop> {
        Ok(self.pending(account, Millis::MAX)?.iter().map(|hold| hold.expires_at).min())
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

    fn revocation(&mut self, id: &Id) -> Result<Option<(i64, Revoked)>, Stop> {
        Ok(self.revocations.get(id).cloned())
    }

    fn insert_revocation(&mut self, account: i64, receipt: &Revoked) -> Result<(), Stop> {
        self.revocations.insert(receipt.id.clone(), (account, receipt.clone()));
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
        self.entries.push(entry.clone());
        Ok(())
    }
}
