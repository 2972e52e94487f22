//! A second reference. It keeps only what was done, in order: commands, receipts and entries. Whatever it is asked, it adds up from
//! them again. So it has neither balances nor states that could be wrong, no time at which something is due next, and no
//! code of the rules that it checks.
//!
//! `plant.sh` plants errors in those rules, one at a time, and requires that a comparison with this finds each.

use std::collections::BTreeMap;

use orbgate_ledger::{
    AccountId, Answer, Balance, Bucket, Cause, Command, Cursor, Denial, Denied, Done, Entry, Error, Extend, Extended,
    Faults, Freeze, Frozen, Grant, Granted, Held, Hold, HoldAnswer, Id, Line, Millis, Note, Order, Page, Pending,
    Refund, Refunded, Revoke, Revoked, Settle, Settled, Settlement, State, suite,
};

use crate::support::{id, millis, orbs};

pub(crate) mod compared;
#[cfg(target_os = "linux")]
mod planted;

/// 2^53 − 1.
const MOST: u64 = 9_007_199_254_740_991;

#[derive(Clone, Debug, Default)]
pub(crate) struct Reference {
    order: Order,
    log: Vec<Entry>,
    /// The grants, each with the number of its entry.
    grants: Vec<(u64, Granted)>,
    revocations: Vec<(Revoke, Revoked)>,
    refunds: Vec<(Refund, Refunded)>,
    freezes: Vec<Frozen>,
    /// The holds, each with its time.
    holds: Vec<(Hold, u64)>,
    extensions: Vec<(Extend, Extended)>,
    settlements: Vec<Settled>,
    /// The holds that a reset has shortened, each with its new end, and how many extensions there were.
    shortened: Vec<(Id, u64, usize)>,
    /// The latest time at which something was done in an account.
    clocks: BTreeMap<AccountId, u64>,
}

impl Reference {
    pub(crate) fn new(order: Order) -> Self {
        Self { order, ..Self::default() }
    }

    fn granted(&self, id: &Id) -> Option<&(u64, Granted)> {
        self.grants.iter().find(|(_, grant)| grant.id == *id)
    }

    fn held(&self, id: &Id) -> Option<&(Hold, u64)> {
        self.holds.iter().find(|(hold, _)| hold.id == *id)
    }

    fn settled(&self, id: &Id) -> Option<&Settled> {
        self.settlements.iter().find(|settled| settled.hold == *id)
    }

    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.log.iter().flat_map(|entry| &entry.lines)
    }

    /// The available orbs of a grant.
    fn left(&self, grant: &Id) -> u64 {
        let sum: i64 = self.lines().filter(|line| line.grant == *grant).map(|line| line.available).sum();
        sum.try_into().unwrap()
    }

    /// The orbs of a grant that calls hold.
    fn reserved(&self, grant: &Id) -> u64 {
        let sum: i64 = self.lines().filter(|line| line.grant == *grant).map(|line| line.held).sum();
        sum.try_into().unwrap()
    }

    fn state(&self, hold: &Id) -> State {
        let has_expired = |entry: &Entry| entry.cause == Cause::HoldExpired && entry.id == *hold;
        match self.settled(hold) {
            Some(settled) => settled.state,
            None if self.log.iter().any(has_expired) => State::Expired,
            None => State::Pending,
        }
    }

    /// The time at which a hold expires, with its extensions.
    fn until(&self, hold: &Hold, at: u64) -> u64 {
        let shortened = self.shortened.iter().rev().find(|(id, ..)| *id == hold.id);
        let (ends, before) = shortened.map_or((at + hold.ttl.get(), 0), |(_, ends, before)| (*ends, *before));
        let extended = self.extensions[before..].iter().filter(|(extend, _)| extend.hold == hold.id);
        extended.map(|(_, receipt)| receipt.expires_at.get()).max().unwrap_or(0).max(ends)
    }

    /// The pending holds of an account, each with its expiry.
    fn pending(&self, account: &AccountId) -> Vec<(u64, &Hold, u64)> {
        let holds = self.holds.iter().filter(|(hold, _)| hold.account == *account);
        let holds = holds.filter(|(hold, _)| self.state(&hold.id) == State::Pending);
        holds.map(|(hold, at)| (self.until(hold, *at), hold, *at)).collect()
    }

    /// The sum over the grants of an account, or of those that a hold may use.
    fn sum(&self, account: &AccountId, is: impl Fn(&Granted) -> bool, of: impl Fn(&Id) -> u64) -> u64 {
        let grants = self.grants.iter().map(|(_, grant)| grant);
        grants.filter(|grant| grant.account == *account && is(grant)).map(|grant| of(&grant.id)).sum()
    }

    /// Whether a grant's orbs are taken before those of another one.
    fn comes_first(&self, one: &(u64, Granted), other: &(u64, Granted)) -> bool {
        let ends = |grant: &Granted| grant.expires_at.map_or(u64::MAX, Millis::get);
        let (one_ends, other_ends) = (ends(&one.1), ends(&other.1));
        let is_first = |bucket| one.1.bucket == bucket;
        let first = if self.order == Order::PaidFirst { Bucket::Paid } else { Bucket::Bonus };
        let differ = one.1.bucket != other.1.bucket;
        match self.order {
            Order::BonusFirst | Order::PaidFirst if differ => is_first(first),
            _ if one_ends != other_ends => one_ends < other_ends,
            _ if differ => is_first(first),
            _ => one.0 < other.0,
        }
    }

    /// These grants in the order in which their orbs are taken.
    fn in_order(&self, mut grants: Vec<Id>) -> Vec<Id> {
        let mut ordered: Vec<Id> = Vec::new();
        while !grants.is_empty() {
            let of = |id: &Id| self.granted(id).unwrap();
            let first = (0..grants.len()).find(|at| {
                grants.iter().all(|other| *other == grants[*at] || self.comes_first(of(&grants[*at]), of(other)))
            });
            ordered.push(grants.remove(first.unwrap()));
        }
        ordered
    }

    /// The grants that give an amount, as far as they have it.
    fn take(&self, account: &AccountId, bonus: bool, amount: u64) -> Vec<(Id, u64)> {
        let usable = self.grants.iter().map(|(_, grant)| grant).filter(|grant| grant.account == *account);
        let usable = usable.filter(|grant| (bonus || grant.bucket == Bucket::Paid) && self.left(&grant.id) > 0);
        let mut missing = amount;
        let mut taken = Vec::new();
        for id in self.in_order(usable.map(|grant| grant.id.clone()).collect()) {
            let part = missing.min(self.left(&id));
            missing -= part;
            taken.extend((part > 0).then_some((id, part)));
        }
        taken
    }

    /// What a hold holds of each grant, in the order in which it was taken.
    fn reserved_by(&self, hold: &Id) -> Vec<(Id, u64)> {
        let entry = self.log.iter().find(|entry| entry.cause == Cause::Hold && entry.id == *hold).unwrap();
        let of = |grant: &Id| entry.lines.iter().find(|line| line.grant == *grant).unwrap().held;
        let grants = self.in_order(entry.lines.iter().map(|line| line.grant.clone()).collect());
        grants.into_iter().map(|grant| (grant.clone(), of(&grant).try_into().unwrap())).collect()
    }

    fn has_ended(&self, grant: &Id, at: u64) -> bool {
        self.granted(grant).unwrap().1.expires_at.is_some_and(|time| time.get() <= at)
    }

    /// What moves when a hold ends: the first orbs of it are captured, the others come back unless they have expired.
    fn released(&self, hold: &Id, captured: u64, at: u64) -> Vec<Line> {
        let mut rest = captured;
        let lines = self.reserved_by(hold).into_iter().map(|(grant, amount)| {
            let spent = rest.min(amount);
            rest -= spent;
            let back = if self.has_ended(&grant, at) { 0 } else { amount - spent };
            self.line(&grant, signed(back), -signed(amount), signed(spent))
        });
        lines.collect()
    }

    fn line(&self, grant: &Id, available: i64, held: i64, captured: i64) -> Line {
        let bucket = self.granted(grant).unwrap().1.bucket;
        Line { grant: grant.clone(), bucket, available, held, captured }
    }

    fn write(&mut self, account: &AccountId, at: u64, cause: Cause, id: &Id, lines: Vec<Line>, shortfall: u64) {
        let is_of_a_hold = matches!(cause, Cause::Hold | Cause::Capture | Cause::Void | Cause::HoldExpired);
        let note = self.held(id).filter(|_| is_of_a_hold).map_or_else(Note::default, |(hold, _)| hold.note.clone());
        let mut merged: BTreeMap<u64, Line> = BTreeMap::new();
        for line in lines {
            let seq = self.granted(&line.grant).unwrap().0;
            match merged.get_mut(&seq) {
                Some(known) => {
                    known.available += line.available;
                    known.held += line.held;
                    known.captured += line.captured;
                }
                None => drop(merged.insert(seq, line)),
            }
        }
        let (id, zero) = (id.clone(), orbs(0));
        let seq = self.seq(account) + 1;
        let entry = Entry {
            account: account.clone(),
            seq,
            at: millis(at),
            cause,
            id,
            lines: merged.into_values().collect(),
            note,
            author: Note::default(),
            hold: None,
            paid: zero,
            bonus: zero,
            held: zero,
            shortfall: orbs(shortfall),
        };
        self.log.push(entry);
        let balance = self.balance(account);
        let entry = self.log.last_mut().unwrap();
        (entry.paid, entry.bonus, entry.held) = (balance.paid, balance.bonus, balance.held);
    }

    /// What the last entry's command says beside its content.
    fn remark(&mut self, note: &Note, author: &Note) {
        let entry = self.log.last_mut().unwrap();
        (entry.note, entry.author) = (note.clone(), author.clone());
    }

    fn is_frozen(&self, account: &AccountId) -> bool {
        self.freezes.iter().rev().find(|freeze| freeze.account == *account).is_some_and(|freeze| freeze.frozen)
    }

    fn seq(&self, account: &AccountId) -> u64 {
        self.log.iter().filter(|entry| entry.account == *account).count() as u64
    }

    fn balance(&self, account: &AccountId) -> Balance {
        let of = |bucket| self.sum(account, |grant| grant.bucket == bucket, |id| self.left(id));
        let (paid, bonus) = (of(Bucket::Paid), of(Bucket::Bonus));
        let held = self.sum(account, |_| true, |id| self.reserved(id));
        let [posted, held, available, paid, bonus] = [paid + bonus + held, held, paid + bonus, paid, bonus].map(orbs);
        Balance { account: account.clone(), posted, held, available, paid, bonus, frozen: self.is_frozen(account) }
    }

    /// A command comes to an account: its time never goes back, and what has ended by then is written first.
    fn comes(&mut self, account: &AccountId, now: u64) -> u64 {
        let now = now.max(self.clocks.get(account).copied().unwrap_or(0));
        loop {
            let grants = self.grants.iter().filter(|(_, grant)| grant.account == *account && self.left(&grant.id) > 0);
            let grants = grants.filter_map(|(seq, grant)| Some((grant.expires_at?.get(), *seq, grant.id.clone())));
            let grant = grants.filter(|(ends, ..)| *ends <= now).min();
            let holds = self.pending(account).into_iter().map(|(ends, hold, _)| (ends, hold.id.clone()));
            let hold = holds.filter(|(ends, _)| *ends <= now).min();
            match (grant, hold) {
                (None, None) => return now,
                // At one time, grants end before holds.
                (Some((ends, _, id)), hold) if hold.as_ref().is_none_or(|(other, _)| ends <= *other) => {
                    let gone = self.line(&id, -signed(self.left(&id)), 0, 0);
                    self.write(account, ends, Cause::GrantExpired, &id, vec![gone], 0);
                }
                (_, Some((ends, id))) => {
                    let lines = self.released(&id, 0, ends);
                    self.write(account, ends, Cause::HoldExpired, &id, lines, 0);
                }
                (Some(_), None) => panic!("a grant without a hold beside it comes first"),
            }
            self.clocks.insert(account.clone(), now);
        }
    }

    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn log(&self) -> Vec<Entry> {
        self.log.clone()
    }

    /// The grants that have expired although their time hasn't come, by account, with what has expired.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn early(&self, now: u64) -> Vec<(Id, orbgate_ledger::Orbs)> {
        let mut grants: Vec<_> =
            self.grants.iter().filter(|(_, grant)| grant.expires_at.is_some_and(|ends| ends.get() > now)).collect();
        grants.sort_by_key(|(seq, grant)| (&grant.account, *seq));
        let gone = |grant: &Id| {
            let lines = self.log.iter().filter(|entry| entry.cause != Cause::Revoke);
            let lines = lines.flat_map(|entry| entry.lines.iter().map(move |line| (entry.cause, line)));
            // Nor has what a refund took to another grant.
            let lines = lines.filter(|(cause, line)| *cause != Cause::Refund || line.available > 0);
            let kept: i64 = lines
                .map(|(_, line)| line)
                .filter(|line| line.grant == *grant)
                .map(|line| line.available + line.held + line.captured)
                .sum();
            // What was revoked hasn't expired.
            self.granted(grant).unwrap().1.amount.get() - u64::try_from(kept).unwrap()
        };
        let gone = grants.into_iter().map(|(_, grant)| (grant.id.clone(), orbs(gone(&grant.id))));
        gone.filter(|(_, gone)| gone.get() > 0).collect()
    }

    /// The clock has been wrong, and is right again.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn reset(&mut self, now: u64) {
        let ahead: Vec<_> =
            self.clocks.iter().filter(|(_, time)| **time > now).map(|(id, time)| (id.clone(), *time)).collect();
        for (account, before) in ahead {
            let pending = self.pending(&account).into_iter();
            let left = |ends: u64, hold: &Hold| (ends - before).max(hold.ttl.get());
            let ends = pending.map(|(ends, hold, _)| (hold.id.clone(), ends, now + left(ends, hold)));
            let sooner: Vec<_> = ends.filter(|(_, ends, sooner)| sooner < ends).collect();
            let before = self.extensions.len();
            self.shortened.extend(sooner.into_iter().map(|(id, _, sooner)| (id, sooner, before)));
            self.write(&account, now, Cause::ClockReset, &id("reset"), Vec::new(), 0);
            self.clocks.insert(account, now);
        }
    }

    fn grant(&mut self, command: &Grant, now: u64) -> Result<Answer, Error> {
        let Grant { id, account, amount, bucket, expires_at, existing, note, author } = command.clone();
        if amount.get() == 0 {
            return Err(Error::Zero);
        }
        let now = self.comes(&account, now);
        let new_account = self.seq(&account) == 0;
        let at = millis(now);
        let receipt = Granted { id: id.clone(), account: account.clone(), amount, bucket, expires_at, new_account, at };
        if let Some((_, before)) = self.granted(&id) {
            let receipt = Granted { at: before.at, new_account: before.new_account, ..receipt };
            return same(receipt == *before, Answer::Granted(Done { receipt, repeated: true }));
        }
        if existing && new_account {
            return Err(Error::UnknownAccount);
        }
        if expires_at.is_some_and(|ends| ends.get() <= now) {
            return Err(Error::Expired);
        }
        if self.balance(&account).posted.get() + amount.get() > MOST {
            return Err(Error::TooLarge);
        }
        self.grants.push((self.seq(&account) + 1, receipt.clone()));
        let line = self.line(&id, signed(amount.get()), 0, 0);
        self.write(&account, now, Cause::Grant, &id, vec![line], 0);
        self.remark(&note, &author);
        self.clocks.insert(account, now);
        Ok(Answer::Granted(Done { receipt, repeated: false }))
    }

    fn revoke(&mut self, command: &Revoke, now: u64) -> Result<Answer, Error> {
        let Revoke { id, account, grant, amount, note, author } = command.clone();
        if amount == Some(orbs(0)) {
            return Err(Error::Zero);
        }
        let now = self.comes(&account, now);
        if let Some((before, receipt)) = self.revocations.iter().find(|(revoke, _)| revoke.id == id) {
            let answer = Answer::Revoked(Done { receipt: receipt.clone(), repeated: true });
            return same((&before.account, &before.grant, before.amount) == (&account, &grant, amount), answer);
        }
        if self.granted(&grant).is_none_or(|(_, grant)| grant.account != account) {
            return Err(Error::UnknownGrant);
        }
        let left = self.left(&grant);
        let amount = amount.map_or(left, orbgate_ledger::Orbs::get);
        if amount > left {
            return Err(Error::TooMuch(orbs(left)));
        }
        let lines = if amount == 0 { Vec::new() } else { vec![self.line(&grant, -signed(amount), 0, 0)] };
        self.write(&account, now, Cause::Revoke, &id, lines, 0);
        self.remark(&note, &author);
        self.clocks.insert(account.clone(), now);
        let receipt = Revoked { id, account, grant, amount: orbs(amount), at: millis(now) };
        self.revocations.push((command.clone(), receipt.clone()));
        Ok(Answer::Revoked(Done { receipt, repeated: false }))
    }

    /// What the capture of a hold took of each grant and no refund has given back, the grants that give first at the end.
    fn spent(&self, hold: &Id) -> Vec<(Id, u64)> {
        let entry = self.log.iter().find(|entry| entry.cause == Cause::Capture && entry.id == *hold).unwrap();
        let of_hold = |entry: &&Entry| entry.hold.as_ref() == Some(hold);
        let of = |grant: &Id| {
            let lines = self.log.iter().filter(of_hold).chain([entry]).flat_map(|entry| &entry.lines);
            lines.filter(|line| line.grant == *grant).map(|line| line.captured).sum::<i64>()
        };
        let grants = entry.lines.iter().filter(|line| line.captured > 0).map(|line| line.grant.clone()).collect();
        self.in_order(grants).into_iter().map(|grant| (grant.clone(), of(&grant).try_into().unwrap())).collect()
    }

    fn refund(&mut self, command: &Refund, now: u64) -> Result<Answer, Error> {
        let Refund { id, hold, amount, expires_at, note, author } = command.clone();
        if amount == Some(orbs(0)) {
            return Err(Error::Zero);
        }
        if id.as_str().len() > 122 {
            return Err(Error::LongId);
        }
        let before = self.refunds.iter().find(|(refund, _)| refund.id == id).cloned();
        if let Some((refund, _)) = &before
            && (&refund.hold, refund.amount, refund.expires_at) != (&hold, amount, expires_at)
        {
            return Err(Error::Conflict);
        }
        let Some((of, _)) = self.held(&hold).cloned() else {
            let voided = self.settled(&hold).map(|settled| Error::NotCaptured(settled.state));
            return Err(voided.unwrap_or(Error::UnknownHold));
        };
        let now = self.comes(&of.account, now);
        if let Some((_, receipt)) = before {
            return Ok(Answer::Refunded(Done { receipt, repeated: true }));
        }
        match self.state(&hold) {
            State::Captured => {}
            state => return Err(Error::NotCaptured(state)),
        }
        let spent = self.spent(&hold);
        let left: u64 = spent.iter().map(|(_, part)| part).sum();
        let amount = amount.map_or(left, orbgate_ledger::Orbs::get);
        if amount == 0 || amount > left {
            return Err(Error::TooMuch(orbs(left)));
        }
        if expires_at.is_some_and(|ends| ends.get() <= now) {
            return Err(Error::Expired);
        }
        if self.balance(&of.account).posted.get() + amount > MOST {
            return Err(Error::TooLarge);
        }
        let mut rest = amount;
        let mut back = Vec::new();
        for (grant, part) in spent.into_iter().rev() {
            let part = part.min(rest);
            rest -= part;
            back.extend((part > 0).then_some((grant, part)));
        }
        let ended = |grant: &Id| self.has_ended(grant, now);
        if back.iter().any(|(grant, _)| ended(grant)) && expires_at.is_none() {
            return Err(Error::ExpiryNeeded);
        }
        let new = |bonus: bool| crate::support::id(format!("{id}/{}", if bonus { "bonus" } else { "paid" }));
        let takes_id = |(grant, _): &(Id, u64)| ended(grant) && self.granted(&new(self.is_bonus(grant))).is_some();
        if back.iter().any(takes_id) {
            return Err(Error::Conflict);
        }
        for bonus in [false, true] {
            let back: Vec<_> = back.iter().filter(|(grant, _)| self.is_bonus(grant) == bonus).collect();
            if back.is_empty() {
                continue;
            }
            let mut lines = Vec::new();
            let mut renewed = 0;
            for (grant, part) in back {
                let has_ended = self.has_ended(grant, now);
                renewed += if has_ended { *part } else { 0 };
                let available = if has_ended { 0 } else { signed(*part) };
                lines.push(self.line(grant, available, 0, -signed(*part)));
            }
            if renewed > 0 {
                let bucket = if bonus { Bucket::Bonus } else { Bucket::Paid };
                let (grant, account) = (new(bonus), of.account.clone());
                let (amount, at, new_account) = (orbs(renewed), millis(now), false);
                let granted = Granted { id: grant.clone(), account, amount, bucket, expires_at, new_account, at };
                self.grants.push((self.seq(&of.account) + 1, granted));
                lines.push(self.line(&grant, signed(renewed), 0, 0));
            }
            self.write(&of.account, now, Cause::Refund, &id, lines, 0);
            self.remark(&note, &author);
            self.log.last_mut().unwrap().hold = Some(hold.clone());
        }
        self.clocks.insert(of.account.clone(), now);
        let bonus = back.iter().filter(|(grant, _)| self.is_bonus(grant)).map(|(_, part)| part).sum();
        let (amount, bonus, at) = (orbs(amount), orbs(bonus), millis(now));
        let receipt = Refunded { id, hold, account: of.account, amount, bonus, expires_at, at };
        self.refunds.push((command.clone(), receipt.clone()));
        Ok(Answer::Refunded(Done { receipt, repeated: false }))
    }

    fn freeze(&mut self, command: &Freeze, now: u64) -> Result<Answer, Error> {
        let Freeze { id, account, frozen, note, author } = command.clone();
        let before = self.freezes.iter().find(|freeze| freeze.id == id).cloned();
        if self.seq(&account) == 0 {
            return Err(if before.is_some() { Error::Conflict } else { Error::UnknownAccount });
        }
        let now = self.comes(&account, now);
        if let Some(receipt) = before {
            let is = (&receipt.account, receipt.frozen) == (&account, frozen);
            return same(is, Answer::Frozen(Done { receipt, repeated: true }));
        }
        let cause = if frozen { Cause::Freeze } else { Cause::Unfreeze };
        self.write(&account, now, cause, &id, Vec::new(), 0);
        self.remark(&note, &author);
        self.clocks.insert(account.clone(), now);
        let receipt = Frozen { id, account, frozen, at: millis(now) };
        self.freezes.push(receipt.clone());
        Ok(Answer::Frozen(Done { receipt, repeated: false }))
    }

    fn hold(&mut self, command: &Hold, now: u64) -> Result<Answer, Error> {
        let Hold { id, account, amount, bonus, ttl, .. } = command.clone();
        if amount.get() == 0 || ttl.get() == 0 {
            return Err(Error::Zero);
        }
        let now = self.comes(&account, now);
        if let Some((before, at)) = self.held(&id) {
            let (receipt, state) = (self.held_receipt(before, *at), self.state(&id));
            return same(before == command, Answer::Hold(HoldAnswer::Held { receipt, repeated: true, state }));
        }
        if let Some(settled) = self.settled(&id) {
            return Err(Error::Settled(settled.clone()));
        }
        if now + ttl.get() > MOST {
            return Err(Error::TooLarge);
        }
        let usable = |bonus: bool, of: &dyn Fn(&Id) -> u64| {
            let may = |grant: &Granted| (bonus || grant.bucket == Bucket::Paid) && !self.has_ended(&grant.id, now);
            self.sum(&account, may, of)
        };
        let left = |id: &Id| self.left(id);
        let available = usable(bonus, &left);
        if self.is_frozen(&account) {
            let (reason, available) = (Denial::Frozen, orbs(available));
            let denied = Denied { needed: amount, available, reason, retry_at: None };
            return Ok(Answer::Hold(HoldAnswer::Denied(denied)));
        }
        if available < amount.get() {
            let with_held = available + usable(bonus, &|id| self.reserved(id));
            let (reason, retry_at) = if with_held >= amount.get() {
                (Denial::TemporarilyHeld, self.pending(&account).iter().map(|(ends, ..)| millis(*ends)).min())
            } else if usable(true, &left) >= amount.get() {
                (Denial::BonusNotAllowed, None)
            } else {
                (Denial::Insufficient, None)
            };
            let denied = Denied { needed: amount, available: orbs(available), reason, retry_at };
            return Ok(Answer::Hold(HoldAnswer::Denied(denied)));
        }
        let taken = self.take(&account, bonus, amount.get());
        let lines = taken.iter().map(|(grant, part)| self.line(grant, -signed(*part), signed(*part), 0)).collect();
        self.holds.push((command.clone(), now));
        self.write(&account, now, Cause::Hold, &id, lines, 0);
        self.clocks.insert(account, now);
        let receipt = self.held_receipt(command, now);
        Ok(Answer::Hold(HoldAnswer::Held { receipt, repeated: false, state: State::Pending }))
    }

    fn held_receipt(&self, hold: &Hold, at: u64) -> Held {
        let bonus =
            self.reserved_by(&hold.id).iter().filter(|(grant, _)| self.is_bonus(grant)).map(|(_, part)| part).sum();
        let Hold { id, account, amount, ttl, .. } = hold.clone();
        Held { id, account, amount, bonus: orbs(bonus), expires_at: millis(at + ttl.get()), at: millis(at) }
    }

    fn is_bonus(&self, grant: &Id) -> bool {
        self.granted(grant).unwrap().1.bucket == Bucket::Bonus
    }

    fn extend(&mut self, command: &Extend, now: u64) -> Result<Answer, Error> {
        if command.ttl.get() == 0 {
            return Err(Error::Zero);
        }
        let before = self.extensions.iter().find(|(extend, _)| extend.id == command.id).cloned();
        if before.as_ref().is_some_and(|(extend, _)| extend != command) {
            return Err(Error::Conflict);
        }
        let Some((hold, at)) = self.held(&command.hold).cloned() else {
            let voided = self.settled(&command.hold).map(|settled| Error::NotPending(settled.state));
            return Err(voided.unwrap_or(Error::UnknownHold));
        };
        let now = self.comes(&hold.account, now);
        if let Some((_, receipt)) = before {
            return Ok(Answer::Extended(Done { receipt, repeated: true }));
        }
        match self.state(&hold.id) {
            State::Pending => {}
            state => return Err(Error::NotPending(state)),
        }
        let until = now + command.ttl.get();
        if until > MOST {
            return Err(Error::TooLarge);
        }
        let expires_at = millis(until.max(self.until(&hold, at)));
        let receipt = Extended { id: command.id.clone(), hold: hold.id, expires_at, at: millis(now) };
        self.extensions.push((command.clone(), receipt.clone()));
        self.clocks.insert(hold.account, now);
        Ok(Answer::Extended(Done { receipt, repeated: false }))
    }

    fn settle(&mut self, command: &Settle, now: u64) -> Result<Answer, Error> {
        let Settle { hold: id, settlement } = command.clone();
        let hold = self.held(&id).map(|(hold, _)| hold.clone());
        let now = hold.as_ref().map_or(now, |hold| self.comes(&hold.account, now));
        let (state, requested) = match settlement {
            Settlement::Capture(amount) => (State::Captured, amount.get()),
            Settlement::Void => (State::Voided, 0),
        };
        if let Some(before) = self.settled(&id) {
            let receipt = before.clone();
            return match (before.state, before.requested.get()) == (state, requested) {
                true => Ok(Answer::Settled(Done { receipt, repeated: true })),
                false => Err(Error::Settled(receipt)),
            };
        }
        let (mut spent, mut bonus, mut late) = (0, 0, false);
        if let Some(hold) = &hold {
            late = self.state(&id) == State::Expired;
            let of_hold = if late { 0 } else { requested.min(hold.amount.get()) };
            let mut lines = if late { Vec::new() } else { self.released(&id, of_hold, now) };
            let more = self.take(&hold.account, hold.bonus, requested - of_hold);
            lines.extend(more.iter().map(|(grant, part)| self.line(grant, -signed(*part), 0, signed(*part))));
            let of = |bonus: bool| {
                let lines = lines.iter().filter(|line| (line.bucket == Bucket::Bonus) == bonus);
                lines.map(|line| line.captured).sum::<i64>() as u64
            };
            (spent, bonus) = (of(false) + of(true), of(true));
            let cause = if state == State::Captured { Cause::Capture } else { Cause::Void };
            self.write(&hold.account, now, cause, &id, lines, requested - spent);
            self.clocks.insert(hold.account.clone(), now);
        } else if state == State::Captured {
            return Err(Error::UnknownHold);
        }
        let [requested, captured, bonus, shortfall] = [requested, spent, bonus, requested - spent].map(orbs);
        let account = hold.map(|hold| hold.account);
        let receipt =
            Settled { hold: id, account, state, requested, captured, bonus, shortfall, late, at: millis(now) };
        self.settlements.push(receipt.clone());
        Ok(Answer::Settled(Done { receipt, repeated: false }))
    }

    fn holds(&self, account: &AccountId, now: u64) -> Vec<Pending> {
        let now = now.max(self.clocks.get(account).copied().unwrap_or(0));
        let pending = self.pending(account).into_iter().filter(|(ends, ..)| *ends > now);
        let pending = pending.map(|(ends, hold, at)| {
            let bonus = self.held_receipt(hold, at).bonus;
            let (id, amount, note) = (hold.id.clone(), hold.amount, hold.note.clone());
            Pending { id, amount, bonus, at: millis(at), expires_at: millis(ends), note }
        });
        let mut pending: Vec<_> = pending.collect();
        pending.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        pending
    }
}

impl suite::Subject for Reference {
    fn run(&mut self, command: &Command, now: Millis) -> Result<Answer, Error> {
        let now = now.get();
        match command {
            Command::Grant(command) => self.grant(command, now),
            Command::Revoke(command) => self.revoke(command, now),
            Command::Hold(command) => self.hold(command, now),
            Command::Extend(command) => self.extend(command, now),
            Command::Settle(command) => self.settle(command, now),
            Command::Refund(command) => self.refund(command, now),
            Command::Freeze(command) => self.freeze(command, now),
            Command::Balance(account) => {
                // Reading writes nothing.
                let mut copy = self.clone();
                copy.comes(account, now);
                Ok(Answer::Balance(copy.balance(account)))
            }
            Command::Holds(account) => Ok(Answer::Holds(self.holds(account, now))),
        }
    }

    fn expire(&mut self, now: Millis) -> Result<(), Error> {
        let accounts: Vec<_> = self.clocks.keys().cloned().collect();
        for account in accounts {
            self.comes(&account, now.get());
        }
        Ok(())
    }

    fn entries(&mut self, after: &Cursor, limit: usize, now: Millis) -> Result<Page, Error> {
        let after = if after.as_str().is_empty() { 0 } else { after.as_str().parse().unwrap() };
        let entries = self.log.iter().enumerate().skip(after).take(limit);
        let entries = entries.map(|(index, entry)| (Cursor::new((index + 1).to_string()), entry.clone())).collect();
        let holds = self.clocks.keys().flat_map(|account| self.pending(account)).map(|(ends, ..)| ends);
        let grants = self.grants.iter().filter(|(_, grant)| self.left(&grant.id) > 0);
        let ends = holds.chain(grants.filter_map(|(_, grant)| grant.expires_at.map(Millis::get)));
        Ok(Page { entries, complete_until: millis(ends.min().unwrap_or(u64::MAX).min(now.get())) })
    }

    /// There is nothing that could contradict the log.
    fn verify(&mut self) -> Result<Faults, Error> {
        Ok(Faults::default())
    }
}

fn same(is: bool, answer: Answer) -> Result<Answer, Error> {
    if is { Ok(answer) } else { Err(Error::Conflict) }
}

fn signed(amount: u64) -> i64 {
    amount.try_into().unwrap()
}
