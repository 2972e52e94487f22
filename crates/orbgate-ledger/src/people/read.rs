//! Puts together what people read, of rows that any store reads in one snapshot. Nothing is written.

use std::collections::BTreeMap;

use crate::answer::{Entry, Line};
use crate::cause::Cause;
use crate::error::Error;
use crate::people::{Left, Listed, Listing, Movement, Part, Statement, Sums, Totals};
use crate::plan::{self, AccountRow, GrantRow, Stop};
use crate::value::{AccountId, Bucket, Millis, Orbs};

/// The accounts of a read.
const PAGE: usize = 100;

/// By then, whatever has this time is committed.
const MINUTE: u64 = 60_000;

/// What has expired in an account and isn't written.
#[derive(Debug)]
pub(crate) struct Due {
    /// The account as it will be.
    pub(crate) account: AccountRow,
    /// The entries that will be written.
    pub(crate) entries: Vec<Entry>,
    /// The grants that will change, by their numbers.
    pub(crate) grants: BTreeMap<u64, GrantRow>,
}

impl Due {
    /// Nothing has expired.
    pub(crate) const fn nothing(account: AccountRow) -> Self {
        Self { account, entries: Vec::new(), grants: BTreeMap::new() }
    }
}

/// Rows at one moment. Each read has a bound.
pub(crate) trait ReadRows {
    type Failed: From<Stop>;

    fn now(&self) -> Millis;
    fn account(&mut self, id: &AccountId) -> Result<Option<AccountRow>, Self::Failed>;
    /// Accounts with entries whose names are at least `first`, and after `after`, in the order of their bytes.
    fn accounts(&mut self, first: &str, after: &str, limit: usize) -> Result<Vec<AccountRow>, Self::Failed>;
    /// Accounts with a higher key in which something might have expired by this time, in the order of their keys.
    fn due_accounts(&mut self, after: i64, until: Millis, limit: usize) -> Result<Vec<AccountRow>, Self::Failed>;
    /// What has expired in an account by this time and isn't written.
    fn due(&mut self, account: AccountRow, until: Millis) -> Result<Due, Self::Failed>;
    /// Grants with available or held orbs and a higher number, in the order of their numbers.
    fn open_grants(&mut self, account: i64, after: u64, limit: usize) -> Result<Vec<GrantRow>, Self::Failed>;
    /// The entries of an account with these numbers.
    fn entries(&mut self, account: &AccountRow, first: u64, last: u64) -> Result<Vec<Entry>, Self::Failed>;
    /// The time of the newest entry of an account that a command has made.
    fn last_command(&mut self, account: &AccountRow) -> Result<Option<Millis>, Self::Failed>;
    /// Adds the changes of all entries at this time or before: of each cause and bucket those of available, held and captured orbs.
    fn moved(&mut self, until: Millis, add: &mut dyn FnMut(Cause, Bucket, [i128; 3])) -> Result<(), Self::Failed>;
}

pub(crate) fn accounts<S: ReadRows>(rows: &mut S, listing: &Listing) -> Result<Vec<Listed>, S::Failed> {
    let now = rows.now();
    // No name has a control character, and PostgreSQL takes no text with NUL. The names after one with it are those after its beginning.
    let after = listing.after.split('\0').next().unwrap_or_default();
    if listing.prefix.chars().any(char::is_control) {
        return Ok(Vec::new());
    }
    let found = rows.accounts(&listing.prefix, after, listing.limit)?;
    // In the order of bytes, those with the prefix come one after the other.
    let found = found.into_iter().take_while(|account| account.id.as_str().starts_with(&listing.prefix));
    found.map(|account| listed(rows, account, now)).collect()
}

fn listed<S: ReadRows>(rows: &mut S, account: AccountRow, now: Millis) -> Result<Listed, S::Failed> {
    let last_used = rows.last_command(&account)?;
    let due = rows.due(account, now)?;
    Ok(Listed { balance: plan::balance_of(&due.account)?, last_used })
}

pub(crate) fn statement<S: ReadRows>(rows: &mut S, part: &Part) -> Result<Statement, S::Failed> {
    let now = rows.now();
    let Some(row) = rows.account(&part.account)? else {
        return Err(Stop::from(Error::UnknownAccount).into());
    };
    let due = rows.due(row.clone(), now)?;
    let (grants, more_grants) = left(rows, &row, &due, part)?;
    let limit = u64::try_from(part.limit).unwrap_or(u64::MAX);
    let end = due.account.seq.min(part.before.unwrap_or(u64::MAX).saturating_sub(1));
    let start = part.after.unwrap_or(0).saturating_add(1);
    let (first, last) = match part.after {
        Some(_) => (start, end.min(start.saturating_add(limit).saturating_sub(1))),
        None => (start.max(end.saturating_sub(limit).saturating_add(1)), end),
    };
    let written = if first <= row.seq { rows.entries(&row, first, last.min(row.seq))? } else { Vec::new() };
    let unwritten = due.entries.iter().filter(|entry| (first..=last).contains(&entry.seq));
    let period = part.period();
    let is_wanted = |entry: &Entry| period.has(entry.at);
    let movements = written.iter().chain(unwritten).filter(|entry| is_wanted(entry));
    Ok(Statement {
        at: now,
        balance: plan::balance_of(&due.account)?,
        grants,
        more_grants,
        movements: movements.map(|entry| movement(entry, entry.seq <= row.seq)).collect::<Result<_, _>>()?,
        earlier: (first > 1 && first <= last).then_some(first),
        later: (last < due.account.seq && first <= last).then_some(last),
    })
}

fn left<S: ReadRows>(
    rows: &mut S,
    account: &AccountRow,
    due: &Due,
    part: &Part,
) -> Result<(Vec<Left>, Option<u64>), S::Failed> {
    // No number of a grant is higher.
    let after = part.grants_after.min(Orbs::MAX.get());
    let open = rows.open_grants(account.key, after, part.limit)?;
    let more = open.last().map(|grant| grant.seq).filter(|_| open.len() == part.limit);
    let seen = open.into_iter().map(|grant| due.grants.get(&grant.seq).cloned().unwrap_or(grant));
    let left = seen.filter(|grant| grant.available > Orbs::ZERO || grant.held > Orbs::ZERO).map(|grant| {
        let GrantRow { id: grant, seq, bucket, amount, expires_at, at, available, held, .. } = grant;
        Left { grant, seq, bucket, amount, expires_at, at, available, held }
    });
    Ok((left.collect(), more))
}

fn movement(entry: &Entry, written: bool) -> Result<Movement, Stop> {
    let change = |of: fn(&Line) -> i64, bucket: Option<Bucket>| {
        let lines = entry.lines.iter().filter(|line| bucket.is_none_or(|bucket| line.bucket == bucket));
        lines.map(of).fold(0, i64::saturating_add)
    };
    let posted = |bucket| change(|line| line.available.saturating_add(line.held), Some(bucket));
    // Of what a command doesn't add or take, all that isn't captured stays, or has expired.
    let left = |line: &Line| line.available.saturating_add(line.held).saturating_add(line.captured);
    let expired = if entry.cause.row().sum.is_none() { change(left, None).saturating_neg() } else { 0 };
    let Entry { seq, at, cause, id, note, author, hold, paid, bonus, held, shortfall, .. } = entry.clone();
    let available = paid.plus(bonus).ok_or_else(plan::too_many)?;
    let call = entry.note.call().filter(|_| cause.row().hold.is_some());
    Ok(Movement {
        seq,
        at,
        cause,
        id,
        hold,
        route: call.map(|(route, _)| route.to_owned()),
        policy: call.map(|(_, policy)| policy.to_owned()),
        note,
        author,
        paid_change: posted(Bucket::Paid),
        bonus_change: posted(Bucket::Bonus),
        held_change: change(|line| line.held, None),
        captured: change(|line| line.captured, None),
        expired,
        posted: available.plus(held).ok_or_else(plan::too_many)?,
        held,
        available,
        paid,
        bonus,
        shortfall,
        written,
    })
}

/// A sum of a bucket, before it is known that none is negative.
#[derive(Clone, Copy, Default)]
struct Sum {
    granted: i128,
    captured: i128,
    refunded: i128,
    expired: i128,
    revoked: i128,
    available: i128,
    held: i128,
}

impl Sum {
    fn add(&mut self, cause: Cause, [available, held, captured]: [i128; 3]) {
        let more = |sum: &mut i128, change: i128| *sum = sum.saturating_add(change);
        more(&mut self.available, available);
        more(&mut self.held, held);
        // A refund gives back what was captured, and leaves the sum as it is.
        let (spent, sign) = if cause == Cause::Refund { (&mut self.refunded, -1) } else { (&mut self.captured, 1) };
        more(spent, captured.saturating_mul(sign));
        let new = available.saturating_add(held).saturating_add(captured);
        match cause {
            Cause::Grant => more(&mut self.granted, new),
            Cause::Revoke => more(&mut self.revoked, new.saturating_neg()),
            _ => more(&mut self.expired, new.saturating_neg()),
        }
    }

    fn checked(self) -> Result<Sums, Stop> {
        let number = |sum: i128| u64::try_from(sum).map_err(|_| plan::broken("a total is negative or too large"));
        Ok(Sums {
            granted: number(self.granted)?,
            captured: number(self.captured)?,
            refunded: number(self.refunded)?,
            expired: number(self.expired)?,
            revoked: number(self.revoked)?,
            outstanding: number(self.available.saturating_add(self.held))?,
            available: number(self.available)?,
            held: number(self.held)?,
        })
    }
}

pub(crate) fn totals<S: ReadRows>(rows: &mut S, at: Option<Millis>) -> Result<Totals, S::Failed> {
    let latest = Millis::new(rows.now().get().saturating_sub(MINUTE)).unwrap_or_default();
    let at = at.unwrap_or(latest);
    if at > latest {
        return Err(Stop::from(Error::TooRecent(latest)).into());
    }
    let (mut paid, mut bonus) = (Sum::default(), Sum::default());
    let mut add = |cause, bucket, changes| match bucket {
        Bucket::Paid => paid.add(cause, changes),
        Bucket::Bonus => bonus.add(cause, changes),
    };
    rows.moved(at, &mut add)?;
    let mut after = i64::MIN;
    loop {
        let accounts = rows.due_accounts(after, at, PAGE)?;
        let Some(last) = accounts.last() else { break };
        after = last.key;
        for account in accounts {
            let due = rows.due(account, at)?;
            for entry in due.entries.iter().filter(|entry| entry.at <= at) {
                for line in &entry.lines {
                    add(entry.cause, line.bucket, [line.available, line.held, line.captured].map(i128::from));
                }
            }
        }
    }
    let (paid, bonus) = (paid.checked()?, bonus.checked()?);
    Ok(Totals { at, outstanding: paid.outstanding.saturating_add(bonus.outstanding), paid, bonus })
}
