//! What people read of the ledger in memory, to compare stores with.

use crate::answer::Entry;
use crate::cause::Cause;
use crate::error::Error;
use crate::model::{Model, Rows};
use crate::people::read::{Due, ReadRows, accounts, statement, totals};
use crate::people::{Listed, Listing, Part, Statement, Totals};
use crate::plan::{self, AccountRow, GrantRow, Stop, Tables as _, broken};
use crate::value::{AccountId, Bucket, Millis, Orbs};

/// A copy of the rows at a time.
struct Copied {
    rows: Rows,
    now: Millis,
}

impl Model {
    /// As [`crate::Ledger::accounts`] does, at this time.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub fn accounts(&self, listing: &Listing, now: Millis) -> Result<Vec<Listed>, Error> {
        accounts(&mut self.copied(now), listing).map_err(Stop::error)
    }

    /// As [`crate::Ledger::statement`] does, at this time.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub fn statement(&self, part: &Part, now: Millis) -> Result<Statement, Error> {
        statement(&mut self.copied(now), part).map_err(Stop::error)
    }

    /// As [`crate::Ledger::totals`] does, at this time.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    pub fn totals(&self, at: Option<Millis>, now: Millis) -> Result<Totals, Error> {
        totals(&mut self.copied(now), at).map_err(Stop::error)
    }

    fn copied(&self, now: Millis) -> Copied {
        Copied { rows: self.rows.clone(), now }
    }
}

impl ReadRows for Copied {
    type Failed = Stop;

    fn now(&self) -> Millis {
        self.now
    }

    fn account(&mut self, id: &AccountId) -> Result<Option<AccountRow>, Stop> {
        self.rows.account(id)
    }

    fn accounts(&mut self, first: &str, after: &str, limit: usize) -> Result<Vec<AccountRow>, Stop> {
        let mut accounts: Vec<_> = self.rows.accounts.values().cloned().collect();
        accounts.retain(|account| account.id.as_str() >= first && account.id.as_str() > after && account.seq > 0);
        accounts.sort_by(|a, b| a.id.cmp(&b.id));
        accounts.truncate(limit);
        Ok(accounts)
    }

    fn due_accounts(&mut self, after: i64, until: Millis, limit: usize) -> Result<Vec<AccountRow>, Stop> {
        let accounts = self.rows.accounts.range(after.saturating_add(1)..).map(|(_, account)| account);
        Ok(accounts.filter(|account| account.next_due.is_some_and(|due| due <= until)).take(limit).cloned().collect())
    }

    fn due(&mut self, account: AccountRow, until: Millis) -> Result<Due, Stop> {
        let (account, entries, grants) = plan::due(&mut self.rows, account, until)?;
        let entries = entries.iter().map(|row| self.rows.entry(row)).collect::<Result<_, _>>()?;
        Ok(Due { account, entries, grants })
    }

    fn open_grants(&mut self, account: i64, after: u64, limit: usize) -> Result<Vec<GrantRow>, Stop> {
        let grants = self.rows.grants.range((account, after.saturating_add(1))..=(account, u64::MAX));
        let open = grants.map(|(_, grant)| grant).filter(|grant| grant.available.max(grant.held) > Orbs::ZERO);
        Ok(open.take(limit).cloned().collect())
    }

    fn entries(&mut self, account: &AccountRow, first: u64, last: u64) -> Result<Vec<Entry>, Stop> {
        let entries = self.rows.entries.iter().filter(|row| row.account == account.key);
        entries.filter(|row| (first..=last).contains(&row.seq)).map(|row| self.rows.entry(row)).collect()
    }

    fn last_command(&mut self, account: &AccountRow) -> Result<Option<Millis>, Stop> {
        let entries = self.rows.entries.iter().filter(|row| row.account == account.key && row.cause.is_command());
        Ok(entries.max_by_key(|row| row.seq).map(|row| row.at))
    }

    fn moved(&mut self, until: Millis, add: &mut dyn FnMut(Cause, Bucket, [i128; 3])) -> Result<(), Stop> {
        for row in self.rows.entries.iter().filter(|row| row.at <= until) {
            for line in &row.lines {
                let grant = self.rows.grants.get(&(row.account, line.grant));
                let grant = grant.ok_or_else(|| broken("an entry has no grant"))?;
                add(row.cause, grant.bucket, [line.available, line.held, line.captured].map(i128::from));
            }
        }
        Ok(())
    }
}
