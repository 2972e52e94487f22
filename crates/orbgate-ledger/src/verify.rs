//! Recomputes accounts from their entries, and compares them with what is stored.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::answer::Refunded;
use crate::cause::{Cause, State, Sum};
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
    /// What the entries of each refund give back.
    refunds: BTreeMap<Id, i128>,
    frozen: bool,
    /// When a pending hold expires first.
    due: Option<Millis>,
}

/// The orbs of a grant. They may be anything until they are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sums {
    amount: i128,
    available: i128,
    held: i128,
    captured: i128,
    revoked: i128,
    refunded: i128,
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
        let (grants, holds, refunds) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (at, due, frozen) = (Millis::ZERO, None, false);
        Self { account, seq: 0, at, available: 0, held: 0, grants, holds, refunds, frozen, due }
    }

    pub(crate) const fn seq(&self) -> u64 {
        self.seq
    }

    pub(crate) fn entry(&mut self, row: &EntryRow, faults: &mut Faults) {
        let account = self.account.clone();
        let seq = row.seq;
        faults.entries = faults.entries.saturating_add(1);
        faults.check(self.seq.checked_add(1) == Some(seq), &account, || format!("entry {seq} follows {}", self.seq));
        let of = row.cause.row();
        let resets = row.cause == Cause::ClockReset;
        faults.check(resets || row.at >= self.at, &account, || format!("the time of entry {seq} goes back"));
        faults.check(of.moved.is_some() || row.lines.is_empty(), &account, || {
            format!("entry {seq} is a {}, which moves no orbs", row.cause.name())
        });
        (self.seq, self.at) = (seq, row.at);
        let (mut released, mut captured) = (0_i128, 0_i128);
        for line in &row.lines {
            let sums = self.grants.entry(line.grant).or_default();
            let (available, held) = (i128::from(line.available), i128::from(line.held));
            sums.available = sums.available.saturating_add(available);
            sums.held = sums.held.saturating_add(held);
            sums.captured = sums.captured.saturating_add(line.captured.into());
            match of.sum {
                Some(Sum::Granted) => sums.amount = sums.amount.saturating_add(available),
                Some(Sum::Revoked) => sums.revoked = sums.revoked.saturating_sub(available),
                // The new grant of a refund has the number of its entry. Its orbs leave the others.
                Some(Sum::Refunded) if line.grant == seq => sums.amount = sums.amount.saturating_add(available),
                Some(Sum::Refunded) => {
                    let gone = available.saturating_add(line.captured.into());
                    sums.refunded = sums.refunded.saturating_sub(gone);
                }
                None => {}
            }
            let holds = of.hold == Some(State::Pending);
            faults.check(!holds || available.saturating_add(held) == 0, &account, || {
                format!("entry {seq} holds orbs that weren't available")
            });
            released = released.saturating_add(held);
            captured = captured.saturating_add(line.captured.into());
            let is_sound =
                [sums.available, sums.held, sums.captured, sums.refunded, sums.expired()].iter().all(|sum| *sum >= 0);
            faults.check(is_sound, &account, || format!("entry {seq} leaves a grant with less than 0 orbs"));
            self.available = self.available.saturating_add(available);
            self.held = self.held.saturating_add(held);
        }
        let after = (i128::from(row.paid.get()).saturating_add(row.bonus.get().into()), i128::from(row.held.get()));
        faults.check((self.available, self.held) == after, &account, || format!("entry {seq} has another balance"));
        if matches!(of.sum, Some(Sum::Refunded)) {
            let sum = self.refunds.entry(row.id.clone()).or_default();
            *sum = sum.saturating_sub(captured);
        }
        self.frozen = of.frozen.unwrap_or(self.frozen);
        let Some(state) = of.hold else {
            return;
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
        if hold.state == State::Pending {
            self.due = self.due.into_iter().chain([hold.expires_at]).min();
        }
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

    /// Compares the account's row, its grants and its refunds with the entries. Each refund has what its hold captured. All holds must
    /// have been compared.
    pub(crate) fn finish(
        mut self,
        account: &AccountRow,
        grants: &[GrantRow],
        refunds: &[(Refunded, Orbs)],
        faults: &mut Faults,
    ) {
        faults.accounts = faults.accounts.saturating_add(1);
        let id = self.account.clone();
        faults.check(self.seq == account.seq, &id, || format!("{} entries, not {}", self.seq, account.seq));
        faults.check(self.at <= account.clock, &id, || "an entry is later than the account's time".to_owned());
        let open = grants.iter().filter(|grant| grant.available > Orbs::ZERO);
        let due = open.filter_map(|grant| grant.expires_at).chain(self.due).min();
        let is_known = due.is_none_or(|due| account.next_due.is_some_and(|next| next <= due));
        faults.check(is_known, &id, || "something expires before the account is due".to_owned());
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
                refunded: orbs(grant.refunded),
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
        let mut of_holds: BTreeMap<&Id, i128> = BTreeMap::new();
        for (refund, captured) in refunds {
            let amount = i128::from(refund.amount.get());
            let told = self.refunds.remove(&refund.id);
            faults
                .check(told == Some(amount), &id, || format!("the refund `{}` isn't what its entries say", refund.id));
            let sum = of_holds.entry(&refund.hold).or_default();
            *sum = sum.saturating_add(amount);
            faults.check(*sum <= i128::from(captured.get()), &id, || {
                format!("more was refunded of the hold `{}` than it captured", refund.hold)
            });
        }
        faults.check(self.refunds.is_empty(), &id, || "an entry has a refund that doesn't exist".to_owned());
        faults.check(self.frozen == account.frozen, &id, || "it isn't as frozen as its entries say".to_owned());
    }
}

impl Sums {
    /// INVARIANT: what is none of the others has expired.
    const fn expired(&self) -> i128 {
        let known = self.available.saturating_add(self.held).saturating_add(self.captured);
        self.amount.saturating_sub(known).saturating_sub(self.revoked).saturating_sub(self.refunded)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "a test stops at its first surprise")]
mod tests {
    use crate::answer::{Answer, HoldAnswer, Refunded};
    use crate::cause::{Cause, State};
    use crate::command::{Command, Grant, Hold, Settle, Settlement};
    use crate::model::{Model, Rows};
    use crate::plan::{self, EntryRow, LineRow, Receipt, Settlement as Settled};
    use crate::value::{AccountId, Bucket, Id, Millis, Note, Orbs, Order};

    fn id(id: &str) -> Id {
        Id::valid(id.to_owned())
    }

    fn orbs(amount: u64) -> Orbs {
        Orbs::new(amount).unwrap_or_default()
    }

    /// Eight entries of an account: `g` and `b` are granted, the holds `h1` captured, `h2` voided and `h3` pending.
    fn model() -> Model {
        let account = || AccountId::valid("a".to_owned());
        let grant = |name: &str, amount, bucket| {
            Command::Grant(Grant { bucket, ..Grant::new(id(name), account(), orbs(amount)) })
        };
        let hold = |name: &str, amount, bonus| {
            let ttl = Millis::new(60_000).unwrap_or_default();
            Command::Hold(Hold {
                id: id(name),
                account: account(),
                amount: orbs(amount),
                bonus,
                ttl,
                note: Note::default(),
            })
        };
        let settle = |name: &str, settlement| Command::Settle(Settle { hold: id(name), settlement });
        let commands = [
            grant("g", 100, Bucket::Paid),
            grant("b", 20, Bucket::Bonus),
            hold("h1", 30, true),
            settle("h1", Settlement::Capture(orbs(25))),
            hold("h2", 10, false),
            settle("h2", Settlement::Void),
            grant("r", 5, Bucket::Paid),
            hold("h3", 10, false),
        ];
        let mut model = Model::new(Order::default());
        for (at, command) in (1..).zip(&commands) {
            let answer = model.run(command, Millis::new(at).unwrap_or_default());
            assert!(!matches!(answer, Err(_) | Ok(Answer::Hold(HoldAnswer::Denied(_)))), "{answer:?}");
        }
        model
    }

    /// Changes the entry with this number.
    fn entry(rows: &mut Rows, seq: u64, change: impl FnOnce(&mut EntryRow)) {
        rows.entries.iter_mut().find(|entry| entry.seq == seq).map(change).unwrap();
    }

    /// Adds an entry at the end with the balance of the last one.
    fn append(rows: &mut Rows, cause: Cause, of: &str, lines: Vec<LineRow>) {
        let last = rows.entries.last().cloned().unwrap();
        let seq = last.seq + 1;
        rows.entries.push(EntryRow { seq, cause, id: id(of), lines, ..last });
        rows.accounts.values_mut().for_each(|account| account.seq = seq);
    }

    /// Moves orbs from what is available to what is held, in the balance of these entries.
    fn balances(rows: &mut Rows, seqs: core::ops::RangeInclusive<u64>) {
        for seq in seqs {
            entry(rows, seq, |entry| {
                (entry.paid, entry.held) = (orbs(entry.paid.get() - 1), orbs(entry.held.get() + 1))
            });
        }
    }

    /// Brings the account back to the time of its first entry.
    fn reset(rows: &mut Rows) {
        let account = rows.accounts.values().next().cloned().unwrap();
        assert_eq!(plan::reset(rows, account, Millis::new(1).unwrap_or_default()).unwrap(), Some(1));
    }

    /// Adds the row of a refund.
    fn refund(rows: &mut Rows, hold: &str, amount: u64) {
        let account = AccountId::valid("a".to_owned());
        let (amount, bonus, expires_at, at) = (orbs(amount), Orbs::ZERO, None, Millis::ZERO);
        let receipt = Refunded { id: id("f"), hold: id(hold), account, amount, bonus, expires_at, at };
        rows.refunds.insert(id("f"), Receipt { account: 1, stated: None, receipt });
    }

    fn line(grant: u64, available: i64, held: i64, captured: i64) -> LineRow {
        LineRow { grant, available, held, captured }
    }

    macro_rules! of {
        ($rows:ident.$table:ident[$key:expr]) => {
            $rows.$table.get_mut(&$key).unwrap()
        };
    }

    type Tamper = fn(&mut Rows);

    /// Each is found by one check only, so without that check it would be found by none.
    #[test]
    fn each_check_finds_what_no_other_one_does() {
        let rows: [(&str, Tamper); 33] = [
            ("entry 9 follows 7", |rows| {
                entry(rows, 8, |entry| entry.seq = 9);
                of!(rows.accounts[1]).seq = 9;
            }),
            ("the time of entry 6 goes back", |rows| entry(rows, 6, |entry| entry.at = Millis::ZERO)),
            // Only a reset may do that, and nothing else.
            ("the time of entry 9 goes back", |rows| {
                reset(rows);
                entry(rows, 9, |entry| entry.cause = Cause::Revoke);
            }),
            ("entry 9 is a clock_reset, which moves no orbs", |rows| {
                reset(rows);
                entry(rows, 9, |entry| entry.lines = vec![line(1, 0, 0, 0)]);
            }),
            // One of them vanishes, as if it had expired.
            ("entry 8 holds orbs that weren't available", |rows| {
                entry(rows, 8, |entry| {
                    entry.lines.iter_mut().for_each(|line| line.available -= 1);
                    entry.paid = orbs(entry.paid.get() - 1);
                });
                let grant = of!(rows.grants[(1, 1)]);
                (grant.available, grant.expired) = (orbs(grant.available.get() - 1), orbs(1));
                let account = of!(rows.accounts[1]);
                account.paid = orbs(account.paid.get() - 1);
            }),
            // More than the grant has, until the next entry.
            ("entry 3 leaves a grant with less than 0 orbs", |rows| {
                entry(rows, 3, |entry| entry.lines = vec![line(2, -30, 30, 0)]);
                entry(rows, 4, |entry| entry.lines = vec![line(2, 10, -30, 20), line(1, -5, 0, 5)]);
            }),
            // More than was granted, until the hold that is voided.
            ("entry 4 leaves a grant with less than 0 orbs", |rows| {
                entry(rows, 4, |entry| entry.lines = vec![line(2, 0, -20, 21), line(1, 5, -10, 4)]);
                entry(rows, 6, |entry| entry.lines.extend([line(2, 0, 0, -1), line(1, 0, 0, 1)]));
            }),
            ("entry 2 has another balance", |rows| entry(rows, 2, |entry| entry.paid = orbs(101))),
            ("entry 2 has another balance", |rows| entry(rows, 2, |entry| entry.held = orbs(1))),
            ("entry 9 changes the hold `h2` against the rules", |rows| append(rows, Cause::Void, "h2", vec![])),
            ("entry 6 doesn't release what the hold `h2` held", |rows| {
                entry(rows, 6, |entry| entry.lines = vec![line(1, 9, -9, 0)]);
                balances(rows, 6..=8);
                append(rows, Cause::GrantExpired, "g", vec![line(1, 1, -1, 0)]);
                entry(rows, 9, |entry| {
                    (entry.paid, entry.held) = (orbs(entry.paid.get() + 1), orbs(entry.held.get() - 1))
                });
            }),
            ("the hold `h2` isn't what its entries say", |rows| of!(rows.holds[id("h2")]).state = State::Captured),
            ("the hold `h3` isn't what its entries say", |rows| {
                let hold = of!(rows.holds[id("h3")]);
                hold.lines.clear();
                hold.amount = Orbs::ZERO;
            }),
            ("the hold `h1` isn't what its entries say", |rows| of!(rows.holds[id("h1")]).amount = orbs(31)),
            ("the hold `h1` isn't what its entries say", |rows| {
                let settled = of!(rows.holds[id("h1")]).settlement.as_mut().unwrap();
                (settled.captured, settled.requested) = (orbs(24), orbs(24));
            }),
            ("the hold `h1` isn't what its entries say", |rows| {
                let settled = of!(rows.holds[id("h1")]).settlement.as_mut().unwrap();
                (settled.shortfall, settled.requested) = (orbs(1), orbs(26));
            }),
            ("the hold `h1` isn't what its entries say", |rows| {
                of!(rows.holds[id("h1")]).settlement.as_mut().unwrap().requested = orbs(26);
            }),
            ("the hold `h3` isn't what its entries say", |rows| {
                of!(rows.holds[id("h3")]).settlement = Some(Settled::default());
            }),
            ("8 entries, not 9", |rows| of!(rows.accounts[1]).seq = 9),
            ("an entry is later than the account's time", |rows| of!(rows.accounts[1]).clock = Millis::ZERO),
            ("something expires before the account is due", |rows| of!(rows.accounts[1]).next_due = None),
            ("something expires before the account is due", |rows| of!(rows.holds[id("h3")]).expires_at = Millis::ZERO),
            ("the grant `b` isn't what its entries say", |rows| {
                let grant = of!(rows.grants[(1, 2)]);
                (grant.captured, grant.expired) = (orbs(19), orbs(1));
            }),
            ("the grant `g` isn't what its entries say", |rows| of!(rows.grants[(1, 1)]).expired = orbs(1)),
            ("an entry has a grant that doesn't exist", |rows| drop(rows.grants.remove(&(1, 2)))),
            ("the balance isn't the sum of the grants", |rows| of!(rows.accounts[1]).paid = Orbs::ZERO),
            ("the balance isn't the sum of the grants", |rows| of!(rows.accounts[1]).bonus = orbs(1)),
            ("the balance isn't the sum of the grants", |rows| of!(rows.accounts[1]).held = Orbs::ZERO),
            ("an entry has a refund that doesn't exist", |rows| append(rows, Cause::Refund, "f", vec![])),
            ("the refund `f` isn't what its entries say", |rows| refund(rows, "h1", 1)),
            ("more was refunded of the hold `h2` than it captured", |rows| {
                append(rows, Cause::Refund, "f", vec![line(1, 5, 0, -5)]);
                refund(rows, "h2", 5);
                entry(rows, 9, |entry| entry.paid = orbs(entry.paid.get() + 5));
                let grant = of!(rows.grants[(1, 1)]);
                (grant.available, grant.captured) = (orbs(grant.available.get() + 5), orbs(grant.captured.get() - 5));
                let account = of!(rows.accounts[1]);
                account.paid = orbs(account.paid.get() + 5);
            }),
            ("it isn't as frozen as its entries say", |rows| of!(rows.accounts[1]).frozen = true),
            ("an entry has a hold that doesn't exist", |rows| drop(rows.holds.remove(&id("h2")))),
        ];
        assert_eq!(model().verify().found, Vec::<String>::new());
        let mut went_back = model();
        reset(&mut went_back.rows);
        assert_eq!(went_back.verify().found, Vec::<String>::new());
        for (what, tamper) in rows {
            let mut model = model();
            tamper(&mut model.rows);
            assert_eq!(model.verify().found, [format!("account `a`: {what}")]);
        }
    }
}
