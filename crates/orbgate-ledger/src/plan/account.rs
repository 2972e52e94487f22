//! An account while a command works on it: its time, its grants, and the rules by which orbs move.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::cause::{Cause, State};
use crate::command::{Grant, Refund};
use crate::error::Error;
use crate::plan::rows::{AccountRow, EntryRow, GrantRow, HoldRow, LineRow, Tables};
use crate::plan::stop::{Stop, broken};
use crate::value::{Bucket, Id, Millis, Orbs, Order};

/// An account at a time. What had expired by then is written.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) account: AccountRow,
    /// The time of the command: never before that of an earlier command.
    pub(crate) now: Millis,
    /// The grants that were needed, by their numbers, and whether each has changed.
    grants: BTreeMap<u64, (GrantRow, bool)>,
    /// Whether the account has changed.
    is_changed: bool,
    entries: Vec<EntryRow>,
    new_grants: Vec<GrantRow>,
}

/// The changes of an entry, by the number of the grant.
type Lines = BTreeMap<u64, LineRow>;

impl Open {
    /// Writes what has expired, and opens the account, unless there is more than the store writes at once.
    fn new(tables: &mut impl Tables, mut account: AccountRow, now: Millis) -> Result<Self, Stop> {
        keeps_order(tables, &account)?;
        if account.is_due(now) {
            let most = tables.most_expiries(account.key);
            account = expire(tables, account, now, most)?.0;
            if account.is_due(now) {
                return Err(Stop::Later(account.key));
            }
        }
        Ok(Self::unwritten(account, now))
    }

    /// The account at a time. What has expired by then isn't written.
    fn unwritten(account: AccountRow, now: Millis) -> Self {
        let (now, grants) = (now.max(account.clock), BTreeMap::new());
        let (entries, new_grants) = (Vec::new(), Vec::new());
        Self { account, now, grants, is_changed: false, entries, new_grants }
    }

    /// The account as it will be once what has expired by now is written. Writes nothing.
    pub(crate) fn seen(tables: &mut impl Tables, account: AccountRow, now: Millis) -> Result<Self, Stop> {
        keeps_order(tables, &account)?;
        let mut open = Self::unwritten(account, now);
        if open.account.is_due(now) {
            open.end_due(tables, usize::MAX)?;
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
    fn close(mut self, tables: &mut impl Tables) -> Result<(), Stop> {
        if !self.is_changed {
            return Ok(());
        }
        self.write(tables)?;
        self.account.clock = self.now;
        tables.update_account(&self.account)
    }

    /// Writes what has changed but the account.
    fn write(&self, tables: &mut impl Tables) -> Result<(), Stop> {
        for grant in &self.new_grants {
            tables.insert_grant(grant)?;
        }
        for (grant, _) in self.grants.values().filter(|(_, is_changed)| *is_changed) {
            tables.update_grant(grant)?;
        }
        for entry in &self.entries {
            tables.append(entry)?;
        }
        Ok(())
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
        let new = GrantRow::new(self.account.key, amount, self.now);
        self.new_grant(GrantRow { seq, id: id.clone(), bucket, expires_at, ..new });
        *self.available(bucket) = add(*self.available(bucket), amount)?;
        self.append(self.now, Cause::Grant, &id, [(seq, line)].into(), Orbs::ZERO)
    }

    fn new_grant(&mut self, grant: GrantRow) {
        self.due_by(grant.expires_at);
        self.new_grants.push(grant);
    }

    /// Takes back what is available of a grant, or a part of it.
    pub(crate) fn revoke(
        &mut self,
        tables: &mut impl Tables,
        id: &Id,
        seq: u64,
        part: Option<Orbs>,
    ) -> Result<Orbs, Stop> {
        let mut lines = Lines::new();
        let grant = self.open(tables, seq)?;
        let (amount, bucket) = (part.unwrap_or(grant.available), grant.bucket);
        if amount > grant.available {
            return Err(Error::TooMuch(grant.available).into());
        }
        if amount > Orbs::ZERO {
            grant.available = sub(grant.available, amount)?;
            grant.revoked = add(grant.revoked, amount)?;
            lines.entry(seq).or_default().available = minus(amount)?;
            *self.available(bucket) = sub(*self.available(bucket), amount)?;
        }
        self.append(self.now, Cause::Revoke, id, lines, Orbs::ZERO)?;
        Ok(amount)
    }

    /// The available orbs that a hold may use.
    pub(crate) fn eligible(&self, bonus: bool) -> Result<Orbs, Stop> {
        let AccountRow { paid, bonus: free, .. } = self.account;
        // INVARIANT: what has expired isn't available, because its expiry is written when the account is opened.
        add(paid, if bonus { free } else { Orbs::ZERO })
    }

    /// The held orbs that a hold may use if other holds are voided.
    pub(crate) fn returning(&self, tables: &mut impl Tables, bonus: bool) -> Result<Orbs, Stop> {
        if self.account.held == Orbs::ZERO {
            return Ok(Orbs::ZERO);
        }
        let grants = tables.held_grants(self.account.key)?.into_iter();
        let grants = grants.filter(|grant| (bonus || grant.bucket == Bucket::Paid) && !grant.has_expired(self.now));
        grants.map(|grant| grant.held).try_fold(Orbs::ZERO, add)
    }

    /// Chooses the grants that give an amount, in order, as far as they have it. INVARIANT: nothing has changed yet, so that the
    /// store knows what is available.
    pub(crate) fn draw(
        &mut self,
        tables: &mut impl Tables,
        order: Order,
        bonus: bool,
        amount: Orbs,
    ) -> Result<Vec<(u64, Orbs)>, Stop> {
        let mut lines = Vec::new();
        if amount == Orbs::ZERO {
            return Ok(lines);
        }
        // Those of each bucket that suffice by themselves.
        let mut eligible = tables.spendable(self.account.key, Bucket::Paid, amount)?;
        if bonus {
            eligible.extend(tables.spendable(self.account.key, Bucket::Bonus, amount)?);
        }
        eligible.sort_by_key(|grant| grant.turn(order));
        let mut rest = amount;
        for grant in eligible {
            let taken = grant.available.min(rest);
            rest = rest.minus(taken).unwrap_or_default();
            if taken > Orbs::ZERO {
                lines.push((grant.seq, taken));
                self.grants.entry(grant.seq).or_insert((grant, false));
            }
        }
        Ok(lines)
    }

    /// The bonus orbs among these lines.
    pub(crate) fn bonus_of(&mut self, tables: &mut impl Tables, lines: &[(u64, Orbs)]) -> Result<Orbs, Stop> {
        let mut sum = Orbs::ZERO;
        for (seq, amount) in lines {
            if self.needed(tables, *seq)?.0.bucket == Bucket::Bonus {
                sum = add(sum, *amount)?;
            }
        }
        Ok(sum)
    }

    pub(crate) fn hold(
        &mut self,
        tables: &mut impl Tables,
        id: &Id,
        lines: &[(u64, Orbs)],
        expires_at: Millis,
    ) -> Result<(), Stop> {
        let mut changes = Lines::new();
        for (seq, amount) in lines {
            let line = changes.entry(*seq).or_default();
            let grant = self.open(tables, *seq)?;
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
        tables: &mut impl Tables,
        id: &Id,
        cause: Cause,
        (held, captured): (&[(u64, Orbs)], Orbs),
        more: &[(u64, Orbs)],
        shortfall: Orbs,
    ) -> Result<(), Stop> {
        let mut changes = Lines::new();
        self.end(tables, &mut changes, (held, captured), self.now)?;
        for (seq, amount) in more {
            let line = changes.entry(*seq).or_default();
            let grant = self.open(tables, *seq)?;
            grant.available = sub(grant.available, *amount)?;
            grant.captured = add(grant.captured, *amount)?;
            line.available = line.available.checked_sub(signed(*amount)?).ok_or_else(overflow)?;
            line.captured = line.captured.checked_add(signed(*amount)?).ok_or_else(overflow)?;
            let bucket = grant.bucket;
            *self.available(bucket) = sub(*self.available(bucket), *amount)?;
        }
        self.append(self.now, cause, id, changes, shortfall)
    }

    /// Chooses the grants to which an amount comes back, after so much that came back before: what would be taken first comes back last.
    fn back(
        &mut self,
        tables: &mut impl Tables,
        order: Order,
        captured: &[(u64, Orbs)],
        (before, amount): (Orbs, Orbs),
    ) -> Result<Vec<(GrantRow, Orbs)>, Stop> {
        let mut grants = Vec::new();
        for (seq, part) in captured {
            grants.push((self.needed(tables, *seq)?.0.clone(), *part));
        }
        grants.sort_by_key(|(grant, _)| grant.turn(order));
        let (mut before, mut rest) = (before, amount);
        for (_, part) in grants.iter_mut().rev() {
            let known = before.min(*part);
            before = sub(before, known)?;
            *part = sub(*part, known)?.min(rest);
            rest = sub(rest, *part)?;
        }
        if rest > Orbs::ZERO {
            return Err(broken("a hold has captured less than its grants say"));
        }
        grants.retain(|(_, part)| *part > Orbs::ZERO);
        Ok(grants)
    }

    /// Gives captured orbs back to their grants, by an entry for each bucket. Those of grants that have expired come back as a new grant.
    /// Returns how many are bonus orbs. INVARIANT: nothing has changed yet.
    pub(crate) fn refund(
        &mut self,
        tables: &mut impl Tables,
        order: Order,
        command: &Refund,
        captured: &[(u64, Orbs)],
        amounts: (Orbs, Orbs),
    ) -> Result<Orbs, Stop> {
        let back = self.back(tables, order, captured, amounts)?;
        let mut all = Vec::new();
        for bucket in [Bucket::Paid, Bucket::Bonus] {
            let back: Vec<_> = back.iter().filter(|(grant, _)| grant.bucket == bucket).collect();
            if back.is_empty() {
                continue;
            }
            let mut new = None;
            if back.iter().any(|(grant, _)| grant.has_expired(self.now)) {
                let expires_at = command.expires_at.ok_or(Error::ExpiryNeeded)?;
                let id = command.grant(bucket).ok_or(Error::LongId)?;
                if tables.grant(&id)?.is_some() {
                    return Err(Error::Conflict.into());
                }
                new = Some((id, expires_at));
            }
            all.push((bucket, back, new));
        }
        let mut bonus = Orbs::ZERO;
        for (bucket, back, new) in all {
            let sum = self.come_back(tables, &command.id, bucket, &back, new)?;
            bonus = add(bonus, if bucket == Bucket::Bonus { sum } else { Orbs::ZERO })?;
        }
        Ok(bonus)
    }

    /// Gives orbs of one bucket back, and returns how many they are.
    fn come_back(
        &mut self,
        tables: &mut impl Tables,
        id: &Id,
        bucket: Bucket,
        back: &[&(GrantRow, Orbs)],
        new: Option<(Id, Millis)>,
    ) -> Result<Orbs, Stop> {
        let (mut lines, mut sum, mut renewed) = (Lines::new(), Orbs::ZERO, Orbs::ZERO);
        for (GrantRow { seq, .. }, part) in back.iter().copied() {
            let now = self.now;
            let line = lines.entry(*seq).or_default();
            line.captured = minus(*part)?;
            let grant = self.open(tables, *seq)?;
            grant.captured = sub(grant.captured, *part)?;
            if grant.has_expired(now) {
                grant.refunded = add(grant.refunded, *part)?;
                renewed = add(renewed, *part)?;
            } else {
                grant.available = add(grant.available, *part)?;
                line.available = signed(*part)?;
                let expiry = grant.expires_at;
                self.due_by(expiry);
            }
            sum = add(sum, *part)?;
        }
        if let Some((grant, expires_at)) = new {
            let seq = self.next_seq()?;
            lines.insert(seq, LineRow { grant: seq, available: signed(renewed)?, ..LineRow::default() });
            self.new_grant(GrantRow {
                seq,
                id: grant,
                bucket,
                expires_at: Some(expires_at),
                ..GrantRow::new(self.account.key, renewed, self.now)
            });
        }
        *self.available(bucket) = add(*self.available(bucket), sum)?;
        self.append(self.now, Cause::Refund, id, lines, Orbs::ZERO)?;
        Ok(sum)
    }

    /// Denies all new holds, or no longer.
    pub(crate) fn freeze(&mut self, id: &Id, frozen: bool) -> Result<(), Stop> {
        self.account.frozen = frozen;
        let cause = if frozen { Cause::Freeze } else { Cause::Unfreeze };
        self.append(self.now, cause, id, Lines::new(), Orbs::ZERO)
    }

    /// Ends the lines of a hold: the first orbs of them are captured, and the others released.
    fn end(
        &mut self,
        tables: &mut impl Tables,
        changes: &mut Lines,
        (lines, captured): (&[(u64, Orbs)], Orbs),
        at: Millis,
    ) -> Result<(), Stop> {
        let mut rest = captured;
        for (seq, amount) in lines {
            let taken = rest.min(*amount);
            rest = sub(rest, taken)?;
            let released = sub(*amount, taken)?;
            let line = changes.entry(*seq).or_default();
            let grant = self.open(tables, *seq)?;
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

    /// Ends what has expired, in the order of its time: at most so many holds and grants. At one time, grants come before holds.
    /// Returns the holds.
    fn end_due(&mut self, tables: &mut impl Tables, most: usize) -> Result<Vec<HoldRow>, Stop> {
        let (account, now) = (self.account.key, self.now);
        let mut holds = tables.pending(account, now, most)?.into_iter().peekable();
        let mut due = BTreeSet::new();
        for grant in tables.due_grants(account, now, most)? {
            due.insert(grant.rank());
            self.grants.insert(grant.seq, (grant, false));
        }
        let mut ended = Vec::new();
        while self.entries.len() < most {
            let hold = holds.peek().map(|hold| hold.expires_at);
            match due.first().copied() {
                Some((time, seq)) if hold.is_none_or(|hold| time <= hold.get()) => {
                    due.remove(&(time, seq));
                    self.expire_grant(tables, seq)?;
                }
                _ => {
                    let Some(hold) = holds.next() else { break };
                    self.expire_hold(tables, &hold)?;
                    // What it releases might expire next.
                    for (seq, _) in &hold.lines {
                        let grant = &self.needed(tables, *seq)?.0;
                        if grant.available > Orbs::ZERO && grant.has_expired(now) {
                            due.insert(grant.rank());
                        }
                    }
                    ended.push(HoldRow { state: State::Expired, ..hold });
                }
            }
        }
        Ok(ended)
    }

    fn expire_grant(&mut self, tables: &mut impl Tables, seq: u64) -> Result<(), Stop> {
        let grant = self.open(tables, seq)?;
        let (id, bucket, amount, time) = (grant.id.clone(), grant.bucket, grant.available, grant.expires_at);
        grant.available = Orbs::ZERO;
        grant.expired = add(grant.expired, amount)?;
        *self.available(bucket) = sub(*self.available(bucket), amount)?;
        let line = LineRow { grant: seq, available: minus(amount)?, ..LineRow::default() };
        let time = time.ok_or_else(|| broken("a grant expires that never does"))?;
        self.append(time, Cause::GrantExpired, &id, [(seq, line)].into(), Orbs::ZERO)
    }

    fn expire_hold(&mut self, tables: &mut impl Tables, hold: &HoldRow) -> Result<(), Stop> {
        let mut changes = Lines::new();
        self.end(tables, &mut changes, (&hold.lines, Orbs::ZERO), hold.expires_at)?;
        self.append(hold.expires_at, Cause::HoldExpired, &hold.id, changes, Orbs::ZERO)
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

    /// A grant that is about to change.
    fn open(&mut self, tables: &mut impl Tables, seq: u64) -> Result<&mut GrantRow, Stop> {
        let (grant, is_changed) = self.needed(tables, seq)?;
        *is_changed = true;
        Ok(grant)
    }

    fn needed(&mut self, tables: &mut impl Tables, seq: u64) -> Result<&mut (GrantRow, bool), Stop> {
        Ok(match self.grants.entry(seq) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(missing) => missing.insert((tables.grant_of(self.account.key, seq)?, false)),
        })
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

/// What has expired in an account by this time and isn't written: the account as it will be, its entries, and the grants that change.
/// Writes nothing. However much it is, it is read at once, as for a balance.
#[allow(clippy::type_complexity, reason = "it is put together where it is read")]
pub(crate) fn due(
    tables: &mut impl Tables,
    account: AccountRow,
    until: Millis,
) -> Result<(AccountRow, Vec<EntryRow>, BTreeMap<u64, GrantRow>), Stop> {
    let mut open = Open::unwritten(account, until);
    if open.account.is_due(until) {
        open.end_due(tables, usize::MAX)?;
    }
    let changed = open.grants.into_iter().filter(|(_, (_, is_changed))| *is_changed);
    Ok((open.account, open.entries, changed.map(|(seq, (grant, _))| (seq, grant)).collect()))
}

/// A command can't come before an earlier one of its account that waits.
pub(crate) fn keeps_order(tables: &mut impl Tables, account: &AccountRow) -> Result<(), Stop> {
    if tables.is_behind(account.key) { Err(Stop::Later(account.key)) } else { Ok(()) }
}

/// Writes at most so much of what has expired, and returns the account and how many entries that were.
pub(crate) fn expire(
    tables: &mut impl Tables,
    account: AccountRow,
    now: Millis,
    most: usize,
) -> Result<(AccountRow, usize), Stop> {
    let mut open = Open::unwritten(account, now);
    if most == 0 {
        return Ok((open.account, 0));
    }
    for hold in open.end_due(tables, most)? {
        tables.update_hold(&hold, State::Pending)?;
    }
    open.write(tables)?;
    let key = open.account.key;
    open.account.next_due = [tables.next_hold_expiry(key)?, tables.next_grant_expiry(key)?].into_iter().flatten().min();
    // If nothing had expired, the account's time stays, as in a store that doesn't keep a next due time.
    if open.is_changed {
        open.account.clock = open.now;
    }
    tables.update_account(&open.account)?;
    Ok((open.account, open.entries.len()))
}

/// Brings an account whose time is ahead back to this one, by an entry of its own, and returns how many pending holds are shortened:
/// none lasts longer from now than from the account's time, or than its own time to live. None if the account isn't ahead.
pub(crate) fn reset(tables: &mut impl Tables, account: AccountRow, now: Millis) -> Result<Option<u64>, Stop> {
    let (key, before) = (account.key, account.clock);
    if before <= now {
        return Ok(None);
    }
    let mut open = Open::unwritten(account, now);
    let mut shortened = 0_u64;
    for hold in tables.pending(key, Millis::MAX, usize::MAX)? {
        let left = hold.expires_at.minus(before).unwrap_or_default().max(hold.ttl);
        let expires_at = now.plus(left).unwrap_or(Millis::MAX);
        if expires_at < hold.expires_at {
            tables.update_hold(&HoldRow { expires_at, ..hold }, State::Pending)?;
            shortened = shortened.saturating_add(1);
        }
    }
    // No other entry has this id.
    let id = Id::valid(format!("{key}-{}", open.next_seq()?));
    open.append(now, Cause::ClockReset, &id, Lines::new(), Orbs::ZERO)?;
    open.write(tables)?;
    open.account.next_due = [tables.next_hold_expiry(key)?, tables.next_grant_expiry(key)?].into_iter().flatten().min();
    open.account.clock = now;
    tables.update_account(&open.account)?;
    Ok(Some(shortened))
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
