//! An account while a command works on it: its time, its grants, and the rules by which orbs move.

use std::collections::BTreeMap;

use crate::answer::{Cause, State};
use crate::command::Grant;
use crate::plan::rows::{AccountRow, EntryRow, GrantRow, HoldRow, LineRow, Tables};
use crate::plan::{Stop, broken};
use crate::value::{Bucket, Id, Millis, Orbs, Order};

/// An account at a time. What had expired by then is written.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) account: AccountRow,
    /// The time of the command: never before that of an earlier command.
    pub(crate) now: Millis,
    /// The open grants, once they were needed, and whether each has changed.
    grants: Vec<(GrantRow, bool)>,
    /// Whether the account has changed.
    is_changed: bool,
    /// Whether only its next due time has.
    is_rescheduled: bool,
    entries: Vec<EntryRow>,
    new_grants: Vec<GrantRow>,
}

/// The changes of an entry, by the number of the grant.
type Lines = BTreeMap<u64, LineRow>;

impl Open {
    pub(crate) fn new(tables: &mut impl Tables, account: AccountRow, now: Millis) -> Result<Self, Stop> {
        let now = now.max(account.clock);
        let grants = match account.posted() {
            // Every grant is closed.
            Some(Orbs::ZERO) => Vec::new(),
            _ => tables.open_grants(account.key)?.into_iter().map(|grant| (grant, false)).collect(),
        };
        let (entries, new_grants) = (Vec::new(), Vec::new());
        let mut open = Self { account, now, grants, is_changed: false, is_rescheduled: false, entries, new_grants };
        if open.account.is_due(now) {
            open.expire(tables)?;
        }
        Ok(open)
    }

    /// Opens an account, works on it, and closes it. A refused command keeps what has expired.
    pub(crate) fn with<T: Tables, A>(
        tables: &mut T,
        account: AccountRow,
        now: Millis,
        work: impl FnOnce(&mut T, &mut Self) -> Result<A, Stop>,
    ) -> Result<A, Stop> {
        let mut open = Self::new(tables, account, now)?;
        let done = work(tables, &mut open);
        if !matches!(done, Err(Stop::Broken(_))) {
            open.close(tables)?;
        }
        done
    }

    /// Writes what has changed.
    pub(crate) fn close(mut self, tables: &mut impl Tables) -> Result<(), Stop> {
        if !self.is_changed {
            return if self.is_rescheduled { tables.update_account(&self.account) } else { Ok(()) };
        }
        for grant in &self.new_grants {
            tables.insert_grant(grant)?;
        }
        for (grant, _) in self.grants.iter().filter(|(_, is_changed)| *is_changed) {
            tables.update_grant(grant)?;
        }
        for entry in &self.entries {
            tables.append(entry)?;
        }
        self.account.clock = self.now;
        tables.update_account(&self.account)
    }

    pub(crate) fn posted(&self) -> Option<Orbs> {
        self.account.posted()
    }

    /// Moves the account's clock although no orbs move.
    pub(crate) const fn touch(&mut self) {
        self.is_changed = true;
    }

    pub(crate) fn grant(&mut self, command: &Grant) -> Result<(), Stop> {
        let Grant { id, amount, bucket, expires_at, .. } = command.clone();
        let seq = self.next_seq()?;
        let line = LineRow { grant: seq, available: signed(amount)?, ..LineRow::default() };
        self.due_by(expires_at);
        let row = GrantRow {
            account: self.account.key,
            seq,
            id: id.clone(),
            bucket,
            amount,
            expires_at,
            at: self.now,
            available: amount,
            held: Orbs::ZERO,
            captured: Orbs::ZERO,
            expired: Orbs::ZERO,
            revoked: Orbs::ZERO,
        };
        self.new_grants.push(row);
        *self.available(bucket) = add(*self.available(bucket), amount)?;
        self.append(self.now, Cause::Grant, &id, [(seq, line)].into(), Orbs::ZERO)
    }

    /// Takes back what is available of a grant.
    pub(crate) fn revoke(&mut self, id: &Id, grant: &GrantRow) -> Result<Orbs, Stop> {
        let mut lines = Lines::new();
        // The row might have been read before the account's expiries were written.
        let open = self.grants.iter().find(|(open, _)| open.seq == grant.seq);
        let amount = open.map_or(Orbs::ZERO, |(open, _)| open.available);
        if amount > Orbs::ZERO {
            let line = lines.entry(grant.seq).or_default();
            let grant = self.open(grant.seq)?;
            grant.available = Orbs::ZERO;
            grant.revoked = add(grant.revoked, amount)?;
            line.available = minus(amount)?;
            let bucket = grant.bucket;
            *self.available(bucket) = sub(*self.available(bucket), amount)?;
        }
        self.append(self.now, Cause::Revoke, id, lines, Orbs::ZERO)?;
        Ok(amount)
    }

    /// The orbs of the grants that a hold may use: available, and held but coming back if other holds are voided.
    pub(crate) fn eligible(&self, bonus: bool) -> Option<(Orbs, Orbs)> {
        let sums = self.grants.iter().map(|(grant, _)| grant);
        let mut sums = sums.filter(|grant| (bonus || grant.bucket == Bucket::Paid) && !grant.has_expired(self.now));
        sums.try_fold((Orbs::ZERO, Orbs::ZERO), |(available, held), grant| {
            Some((available.plus(grant.available)?, held.plus(grant.held)?))
        })
    }

    /// Chooses the grants that give an amount, in order, as far as they have it.
    pub(crate) fn draw(&self, order: Order, bonus: bool, amount: Orbs) -> Vec<(u64, Orbs)> {
        let eligible = self.grants.iter().map(|(grant, _)| grant);
        let mut eligible: Vec<_> =
            eligible.filter(|grant| (bonus || grant.bucket == Bucket::Paid) && grant.available > Orbs::ZERO).collect();
        // INVARIANT: what has expired isn't available, because its expiry is written when the account is opened.
        eligible.sort_by_key(|grant| {
            let expiry = grant.expires_at.map_or(u64::MAX, Millis::get);
            let is = |bucket| u64::from(grant.bucket == bucket);
            match order {
                Order::BonusFirst => (is(Bucket::Paid), expiry, grant.seq),
                Order::PaidFirst => (is(Bucket::Bonus), expiry, grant.seq),
                Order::SoonestFirst => (expiry, is(Bucket::Paid), grant.seq),
            }
        });
        let mut rest = amount;
        let mut lines = Vec::new();
        for grant in eligible {
            let taken = grant.available.min(rest);
            rest = rest.minus(taken).unwrap_or_default();
            if taken > Orbs::ZERO {
                lines.push((grant.seq, taken));
            }
        }
        lines
    }

    /// The bonus orbs among these lines.
    pub(crate) fn bonus_of(&self, lines: &[(u64, Orbs)]) -> Result<Orbs, Stop> {
        let bonus = lines
            .iter()
            .filter(|(seq, _)| self.grants.iter().any(|(grant, _)| grant.seq == *seq && grant.bucket == Bucket::Bonus));
        bonus.map(|(_, amount)| *amount).try_fold(Orbs::ZERO, add)
    }

    pub(crate) fn hold(&mut self, id: &Id, lines: &[(u64, Orbs)], expires_at: Millis) -> Result<(), Stop> {
        let mut changes = Lines::new();
        for (seq, amount) in lines {
            let line = changes.entry(*seq).or_default();
            let grant = self.open(*seq)?;
            grant.available = sub(grant.available, *amount)?;
            grant.held = add(grant.held, *amount)?;
            line.available = minus(*amount)?;
            line.held = signed(*amount)?;
            let bucket = grant.bucket;
            *self.available(bucket) = sub(*self.available(bucket), *amount)?;
            self.account.held = add(self.account.held, *amount)?;
        }
        self.due_by(Some(expires_at));
        self.append(self.now, Cause::Hold, id, changes, Orbs::ZERO)
    }

    /// Captures part of what is held, releases the rest, and captures more of what is available.
    pub(crate) fn settle(
        &mut self,
        id: &Id,
        cause: Cause,
        (held, captured): (&[(u64, Orbs)], Orbs),
        more: &[(u64, Orbs)],
        shortfall: Orbs,
    ) -> Result<(), Stop> {
        let mut changes = Lines::new();
        self.end(&mut changes, held, captured, self.now)?;
        for (seq, amount) in more {
            let line = changes.entry(*seq).or_default();
            let grant = self.open(*seq)?;
            grant.available = sub(grant.available, *amount)?;
            grant.captured = add(grant.captured, *amount)?;
            line.available = line.available.checked_sub(signed(*amount)?).ok_or_else(overflow)?;
            line.captured = line.captured.checked_add(signed(*amount)?).ok_or_else(overflow)?;
            let bucket = grant.bucket;
            *self.available(bucket) = sub(*self.available(bucket), *amount)?;
        }
        self.append(self.now, cause, id, changes, shortfall)
    }

    /// Ends the lines of a hold: the first orbs of them are captured, and the others released.
    fn end(&mut self, changes: &mut Lines, lines: &[(u64, Orbs)], captured: Orbs, at: Millis) -> Result<(), Stop> {
        let mut rest = captured;
        for (seq, amount) in lines {
            let taken = rest.min(*amount);
            rest = sub(rest, taken)?;
            let released = sub(*amount, taken)?;
            let line = changes.entry(*seq).or_default();
            let grant = self.open(*seq)?;
            grant.held = sub(grant.held, *amount)?;
            grant.captured = add(grant.captured, taken)?;
            line.held = minus(*amount)?;
            line.captured = signed(taken)?;
            let (bucket, expiry) = (grant.bucket, grant.expires_at);
            if grant.has_expired(at) {
                grant.expired = add(grant.expired, released)?;
            } else if released > Orbs::ZERO {
                grant.available = add(grant.available, released)?;
                line.available = signed(released)?;
                *self.available(bucket) = add(*self.available(bucket), released)?;
                self.due_by(expiry);
            }
            self.account.held = sub(self.account.held, *amount)?;
        }
        Ok(())
    }

    /// Writes the expiries of holds and grants, in the order of their times. At one time, grants come before holds.
    fn expire(&mut self, tables: &mut impl Tables) -> Result<(), Stop> {
        let mut holds = tables.pending(self.account.key, self.now)?;
        holds.sort_by(|a, b| (b.expires_at, &b.id).cmp(&(a.expires_at, &a.id)));
        loop {
            let grants = self.grants.iter().map(|(grant, _)| grant).filter(|grant| grant.available > Orbs::ZERO);
            let grants = grants.filter_map(|grant| Some((grant.expires_at?, grant.seq)));
            let grant = grants.filter(|(expiry, _)| *expiry <= self.now).min();
            match (grant, holds.last().map(|hold| hold.expires_at)) {
                (Some((time, seq)), hold) if hold.is_none_or(|hold| time <= hold) => self.expire_grant(seq, time)?,
                (_, Some(_)) => self.expire_hold(tables, holds.pop())?,
                (_, None) => break,
            }
        }
        self.account.next_due = tables.next_hold_expiry(self.account.key)?;
        let grants = self.grants.iter().filter(|(grant, _)| grant.available > Orbs::ZERO);
        for expiry in grants.map(|(grant, _)| grant.expires_at).collect::<Vec<_>>() {
            self.due_by(expiry);
        }
        // If nothing had expired, the account's time stays, as in a store that doesn't keep a next due time.
        self.is_rescheduled = true;
        Ok(())
    }

    fn expire_grant(&mut self, seq: u64, time: Millis) -> Result<(), Stop> {
        let grant = self.open(seq)?;
        let (id, bucket, amount) = (grant.id.clone(), grant.bucket, grant.available);
        grant.available = Orbs::ZERO;
        grant.expired = add(grant.expired, amount)?;
        *self.available(bucket) = sub(*self.available(bucket), amount)?;
        let line = LineRow { grant: seq, available: minus(amount)?, ..LineRow::default() };
        self.append(time, Cause::GrantExpired, &id, [(seq, line)].into(), Orbs::ZERO)
    }

    fn expire_hold(&mut self, tables: &mut impl Tables, hold: Option<HoldRow>) -> Result<(), Stop> {
        let Some(mut hold) = hold else {
            return Ok(());
        };
        let mut changes = Lines::new();
        self.end(&mut changes, &hold.lines, Orbs::ZERO, hold.expires_at)?;
        self.append(hold.expires_at, Cause::HoldExpired, &hold.id, changes, Orbs::ZERO)?;
        hold.state = State::Expired;
        tables.update_hold(&hold, State::Pending)
    }

    fn append(&mut self, at: Millis, cause: Cause, id: &Id, lines: Lines, shortfall: Orbs) -> Result<(), Stop> {
        let seq = self.next_seq()?;
        let lines = lines.into_iter().map(|(grant, line)| LineRow { grant, ..line }).collect();
        let AccountRow { key: account, paid, bonus, held, .. } = self.account;
        self.entries.push(EntryRow { account, seq, at, cause, id: id.clone(), lines, paid, bonus, held, shortfall });
        self.account.seq = seq;
        self.is_changed = true;
        Ok(())
    }

    fn next_seq(&self) -> Result<u64, Stop> {
        self.account.seq.checked_add(1).filter(|seq| *seq <= crate::value::MAX).ok_or_else(overflow)
    }

    /// An open grant, which is about to change.
    fn open(&mut self, seq: u64) -> Result<&mut GrantRow, Stop> {
        let grant = self.grants.iter_mut().find(|(grant, _)| grant.seq == seq);
        let (grant, is_changed) = grant.ok_or_else(|| broken("a hold has orbs of a grant that isn't open"))?;
        *is_changed = true;
        Ok(grant)
    }

    const fn available(&mut self, bucket: Bucket) -> &mut Orbs {
        match bucket {
            Bucket::Paid => &mut self.account.paid,
            Bucket::Bonus => &mut self.account.bonus,
        }
    }

    fn due_by(&mut self, time: Option<Millis>) {
        self.account.next_due = [self.account.next_due, time].into_iter().flatten().min();
    }
}

impl AccountRow {
    pub(crate) fn posted(&self) -> Option<Orbs> {
        self.paid.plus(self.bonus)?.plus(self.held)
    }
}

fn overflow() -> Stop {
    broken("a number is out of range")
}

fn add(sum: Orbs, more: Orbs) -> Result<Orbs, Stop> {
    sum.plus(more).ok_or_else(overflow)
}

fn sub(sum: Orbs, less: Orbs) -> Result<Orbs, Stop> {
    sum.minus(less).ok_or_else(overflow)
}

fn signed(amount: Orbs) -> Result<i64, Stop> {
    i64::try_from(amount.get()).map_err(|_| overflow())
}

fn minus(amount: Orbs) -> Result<i64, Stop> {
    signed(amount)?.checked_neg().ok_or_else(overflow)
}
