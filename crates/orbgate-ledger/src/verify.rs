//! Recomputes accounts from their entries, and compares them with what is stored.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::answer::{Cause, State};
use crate::feed::Place;
use crate::plan::{AccountRow, EntryRow, GrantRow, HoldRow};
use crate::value::{AccountId, Bucket, Id, Millis, Orbs};

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Faults {
    /// How many accounts were checked.
    pub accounts: u64,
    /// How many entries were checked.
    pub entries: u64,
    /// Each contradiction, in words: at most 100. None if the ledger is consistent.
    pub found: Vec<String>,
}

impl Faults {
    /// Reports what isn't about one account.
    pub(crate) fn note(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds && self.found.len() < 100 {
            self.found.push(what());
        }
    }

    /// Checks entries in the order of their numbers, from a place on, and moves it.
    pub(crate) fn follow(&mut self, place: &mut Place, entries: &[(Place, EntryRow)]) {
        for (told, entry) in entries {
            let number = told.number;
            self.note(place.after(entry) == *told, || format!("entry {number} of the ledger has another digest"));
            *place = *told;
        }
    }

    fn check(&mut self, holds: bool, account: &AccountId, what: impl FnOnce() -> String) {
        self.note(holds, || format!("account `{account}`: {}", what()));
    }
}

/// The state of an account, as its entries tell it.
#[derive(Debug)]
pub(crate) struct Fold {
    account: AccountId,
    seq: u64,
    at: Millis,
    available: i128,
    held: i128,
    grants: BTreeMap<u64, Sums>,
    holds: BTreeMap<Id, Told>,
}

/// The orbs of a grant. They may be anything until they are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sums {
    amount: i128,
    available: i128,
    held: i128,
    captured: i128,
    revoked: i128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    state: State,
    held: i128,
    captured: i128,
    shortfall: Orbs,
}

impl Fold {
    pub(crate) fn new(account: AccountId) -> Self {
        let (grants, holds) = (BTreeMap::new(), BTreeMap::new());
        Self { account, seq: 0, at: Millis::ZERO, available: 0, held: 0, grants, holds }
    }

    pub(crate) const fn seq(&self) -> u64 {
        self.seq
    }

    pub(crate) fn entry(&mut self, row: &EntryRow, faults: &mut Faults) {
        let account = self.account.clone();
        let seq = row.seq;
        faults.entries = faults.entries.saturating_add(1);
        faults.check(self.seq.checked_add(1) == Some(seq), &account, || format!("entry {seq} follows {}", self.seq));
        faults.check(row.at >= self.at, &account, || format!("the time of entry {seq} goes back"));
        (self.seq, self.at) = (seq, row.at);
        let (mut released, mut captured) = (0_i128, 0_i128);
        for line in &row.lines {
            let sums = self.grants.entry(line.grant).or_default();
            let (available, held) = (i128::from(line.available), i128::from(line.held));
            sums.available = sums.available.saturating_add(available);
            sums.held = sums.held.saturating_add(held);
            sums.captured = sums.captured.saturating_add(line.captured.into());
            match row.cause {
                Cause::Grant => sums.amount = sums.amount.saturating_add(available),
                Cause::Revoke => sums.revoked = sums.revoked.saturating_sub(available),
                Cause::Hold => faults.check(available.saturating_add(held) == 0, &account, || {
                    format!("entry {seq} holds orbs that weren't available")
                }),
                _ => {}
            }
            released = released.saturating_add(held);
            captured = captured.saturating_add(line.captured.into());
            let is_sound = sums.available >= 0 && sums.held >= 0 && sums.captured >= 0 && sums.expired() >= 0;
            faults.check(is_sound, &account, || format!("entry {seq} leaves a grant with less than 0 orbs"));
            self.available = self.available.saturating_add(available);
            self.held = self.held.saturating_add(held);
        }
        let after = (i128::from(row.paid.get()).saturating_add(row.bonus.get().into()), i128::from(row.held.get()));
        faults.check((self.available, self.held) == after, &account, || format!("entry {seq} has another balance"));
        let state = match row.cause {
            Cause::Hold => State::Pending,
            Cause::Capture => State::Captured,
            Cause::Void => State::Voided,
            Cause::HoldExpired => State::Expired,
            Cause::Grant | Cause::Revoke | Cause::GrantExpired => return,
        };
        let before = self.holds.get(&row.id);
        let follows = matches!(
            (before.map(|told| told.state), state),
            (None, State::Pending)
                | (Some(State::Pending), State::Captured | State::Voided | State::Expired)
                | (Some(State::Expired), State::Captured | State::Voided)
        );
        faults.check(follows, &account, || format!("entry {seq} changes the hold `{}` against the rules", row.id));
        let held = before.map_or(0, |told| told.held).saturating_add(released);
        faults.check(state == State::Pending || held == 0, &account, || {
            format!("entry {seq} doesn't release what the hold `{}` held", row.id)
        });
        self.holds.insert(row.id.clone(), Told { state, held, captured, shortfall: row.shortfall });
    }

    /// The holds that can't change any more, and that aren't compared with their rows yet.
    pub(crate) fn settled(&self) -> Vec<Id> {
        let settled = self.holds.iter().filter(|(_, told)| matches!(told.state, State::Captured | State::Voided));
        settled.map(|(id, _)| id.clone()).collect()
    }

    /// All holds that aren't compared with their rows yet.
    pub(crate) fn holds(&self) -> Vec<Id> {
        self.holds.keys().cloned().collect()
    }

    /// Compares the row of a hold with its entries.
    pub(crate) fn hold(&mut self, hold: &HoldRow, faults: &mut Faults) {
        let told = self.holds.remove(&hold.id);
        let settlement = hold.settlement.clone().unwrap_or_default();
        let lines = hold.lines.iter().map(|(_, amount)| i128::from(amount.get())).fold(0_i128, i128::saturating_add);
        let is_sound = told.is_some_and(|told| {
            told.state == hold.state
                && (told.held == lines) == (hold.state == State::Pending)
                && lines == i128::from(hold.amount.get())
                && told.captured == i128::from(settlement.captured.get())
                && told.shortfall == settlement.shortfall
                && settlement.captured.plus(settlement.shortfall) == Some(settlement.requested)
                && hold.settlement.is_some() == matches!(hold.state, State::Captured | State::Voided)
        });
        faults.check(is_sound, &self.account, || format!("the hold `{}` isn't what its entries say", hold.id));
    }

    /// Compares the account's row and its grants with the entries. All holds must have been compared.
    pub(crate) fn finish(mut self, account: &AccountRow, grants: &[GrantRow], faults: &mut Faults) {
        faults.accounts = faults.accounts.saturating_add(1);
        let id = self.account.clone();
        faults.check(self.seq == account.seq, &id, || format!("{} entries, not {}", self.seq, account.seq));
        faults.check(self.at <= account.clock, &id, || "an entry is later than the account's time".to_owned());
        let (mut paid, mut bonus, mut held) = (0_i128, 0_i128, 0_i128);
        for grant in grants {
            let told = self.grants.remove(&grant.seq).unwrap_or_default();
            let orbs = |orbs: Orbs| i128::from(orbs.get());
            let row = Sums {
                amount: orbs(grant.amount),
                available: orbs(grant.available),
                held: orbs(grant.held),
                captured: orbs(grant.captured),
                revoked: orbs(grant.revoked),
            };
            faults.check(told == row && row.expired() == orbs(grant.expired), &id, || {
                format!("the grant `{}` isn't what its entries say", grant.id)
            });
            match grant.bucket {
                Bucket::Paid => paid = paid.saturating_add(row.available),
                Bucket::Bonus => bonus = bonus.saturating_add(row.available),
            }
            held = held.saturating_add(row.held);
        }
        faults.check(self.grants.is_empty(), &id, || "an entry has a grant that doesn't exist".to_owned());
        let sums = (i128::from(account.paid.get()), i128::from(account.bonus.get()), i128::from(account.held.get()));
        faults.check((paid, bonus, held) == sums, &id, || "the balance isn't the sum of the grants".to_owned());
        faults.check(self.holds.is_empty(), &id, || "an entry has a hold that doesn't exist".to_owned());
    }
}

impl Sums {
    /// INVARIANT: what is none of the others has expired.
    const fn expired(&self) -> i128 {
        let known = self.available.saturating_add(self.held).saturating_add(self.captured);
        self.amount.saturating_sub(known).saturating_sub(self.revoked)
    }
}
