//! The rows of a store, and what a store has to do with them.

use crate::answer::{Extended, Frozen, Refunded, Revoked};
use crate::cause::{Cause, State};
use crate::plan::stop::{Stop, broken};
use crate::value::{AccountId, Bucket, Id, Millis, Note, Orbs, Order};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccountRow {
    /// The store's own name of it.
    pub(crate) key: i64,
    pub(crate) id: AccountId,
    /// The latest time of its commands: its time never goes back.
    pub(crate) clock: Millis,
    /// The number of its last entry.
    pub(crate) seq: u64,
    pub(crate) paid: Orbs,
    pub(crate) bonus: Orbs,
    pub(crate) held: Orbs,
    /// Nothing expires before this time.
    pub(crate) next_due: Option<Millis>,
    /// Whether new holds are denied.
    pub(crate) frozen: bool,
}

impl AccountRow {
    /// An account before its first grant.
    pub(crate) const fn new(id: AccountId) -> Self {
        let (paid, bonus, held) = (Orbs::ZERO, Orbs::ZERO, Orbs::ZERO);
        Self { key: 0, id, clock: Millis::ZERO, seq: 0, paid, bonus, held, next_due: None, frozen: false }
    }

    /// Whether something might have expired by now.
    pub(crate) fn is_due(&self, now: Millis) -> bool {
        self.next_due.is_some_and(|due| due <= now.max(self.clock))
    }
}

/// A grant. INVARIANT: `amount` is the sum of `available`, `held`, `captured`, `expired`, `revoked` and `refunded`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GrantRow {
    pub(crate) account: i64,
    /// The number of its entry, which identifies it within the account.
    pub(crate) seq: u64,
    pub(crate) id: Id,
    pub(crate) bucket: Bucket,
    pub(crate) amount: Orbs,
    pub(crate) expires_at: Option<Millis>,
    pub(crate) at: Millis,
    pub(crate) available: Orbs,
    pub(crate) held: Orbs,
    pub(crate) captured: Orbs,
    pub(crate) expired: Orbs,
    pub(crate) revoked: Orbs,
    /// What was captured, and came back as another grant because this one had expired.
    pub(crate) refunded: Orbs,
}

impl GrantRow {
    /// Available orbs of a new grant, whose name is missing.
    pub(crate) const fn new(account: i64, amount: Orbs, at: Millis) -> Self {
        Self {
            account,
            seq: 0,
            id: Id::valid(String::new()),
            bucket: Bucket::Paid,
            amount,
            expires_at: None,
            at,
            available: amount,
            held: Orbs::ZERO,
            captured: Orbs::ZERO,
            expired: Orbs::ZERO,
            revoked: Orbs::ZERO,
            refunded: Orbs::ZERO,
        }
    }

    /// Within a bucket, the orbs of the lowest are taken first: those that expire soonest.
    pub(crate) fn rank(&self) -> (u64, u64) {
        (self.expires_at.map_or(u64::MAX, Millis::get), self.seq)
    }

    /// Of all grants, the orbs of the lowest are taken first.
    pub(crate) fn turn(&self, order: Order) -> (u64, u64, u64) {
        let (expiry, seq) = self.rank();
        let is = |bucket| u64::from(self.bucket == bucket);
        match order {
            Order::BonusFirst => (is(Bucket::Paid), expiry, seq),
            Order::PaidFirst => (is(Bucket::Bonus), expiry, seq),
            Order::SoonestFirst => (expiry, is(Bucket::Paid), seq),
        }
    }

    pub(crate) fn has_expired(&self, time: Millis) -> bool {
        self.expires_at.is_some_and(|expiry| expiry <= time)
    }
}

/// A hold, or the void of a hold that hasn't come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HoldRow {
    pub(crate) id: Id,
    /// None if it was voided before it came.
    pub(crate) account: Option<i64>,
    pub(crate) amount: Orbs,
    pub(crate) bonus_allowed: bool,
    pub(crate) ttl: Millis,
    pub(crate) note: Note,
    pub(crate) at: Millis,
    /// The grants that it took orbs from, in this order: their numbers and the orbs.
    pub(crate) lines: Vec<(u64, Orbs)>,
    /// How many of its orbs are bonus orbs.
    pub(crate) bonus: Orbs,
    pub(crate) expires_at: Millis,
    pub(crate) state: State,
    /// Of a hold that was captured or voided.
    pub(crate) settlement: Option<Settlement>,
}

impl HoldRow {
    /// Whether a capture might have taken other orbs than the first ones that were held.
    pub(crate) fn has_captured_beyond(&self) -> bool {
        self.settlement.as_ref().is_some_and(|settlement| settlement.late || settlement.requested > self.amount)
    }
}

/// How a hold ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settlement {
    pub(crate) requested: Orbs,
    pub(crate) captured: Orbs,
    pub(crate) bonus: Orbs,
    pub(crate) shortfall: Orbs,
    pub(crate) late: bool,
    pub(crate) at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryRow {
    pub(crate) account: i64,
    pub(crate) seq: u64,
    pub(crate) at: Millis,
    pub(crate) cause: Cause,
    pub(crate) id: Id,
    /// In the order of the grants' numbers.
    pub(crate) lines: Vec<LineRow>,
    pub(crate) paid: Orbs,
    pub(crate) bonus: Orbs,
    pub(crate) held: Orbs,
    pub(crate) shortfall: Orbs,
}

impl EntryRow {
    /// What it captures of each grant.
    pub(crate) fn captured(&self) -> Result<Vec<(u64, Orbs)>, Stop> {
        let lines = self.lines.iter().filter(|line| line.captured > 0);
        let orbs = |line: &LineRow| u64::try_from(line.captured).ok().and_then(|captured| Orbs::new(captured).ok());
        lines.map(|line| Ok((line.grant, orbs(line).ok_or_else(|| broken("a capture is too large"))?))).collect()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineRow {
    /// The number of the grant.
    pub(crate) grant: u64,
    pub(crate) available: i64,
    pub(crate) held: i64,
    pub(crate) captured: i64,
}

/// The receipt of a command, with the key of its account, and the amount that it stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receipt<R> {
    pub(crate) account: i64,
    pub(crate) stated: Option<Orbs>,
    pub(crate) receipt: R,
}

/// What a command says in addition to its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Remark {
    pub(crate) note: Note,
    pub(crate) author: Note,
}

/// What a store has to do with rows. All of a command's calls are one transaction.
pub(crate) trait Tables {
    fn account(&mut self, id: &AccountId) -> Result<Option<AccountRow>, Stop>;
    fn account_of(&mut self, key: i64) -> Result<AccountRow, Stop>;
    /// Writes a new account, and returns its key.
    fn create_account(&mut self, account: &AccountRow) -> Result<i64, Stop>;
    fn update_account(&mut self, account: &AccountRow) -> Result<(), Stop>;

    fn grant(&mut self, id: &Id) -> Result<Option<GrantRow>, Stop>;
    fn grant_of(&mut self, account: i64, seq: u64) -> Result<GrantRow, Stop>;
    /// The grants of an account that have held orbs.
    fn held_grants(&mut self, account: i64) -> Result<Vec<GrantRow>, Stop>;
    /// The first of a bucket's available grants, in the order of their ranks: so many that they have this amount together.
    fn spendable(&mut self, account: i64, bucket: Bucket, amount: Orbs) -> Result<Vec<GrantRow>, Stop>;
    /// The first of the available grants that expire at this time or before, in the order of their ranks.
    fn due_grants(&mut self, account: i64, until: Millis, most: usize) -> Result<Vec<GrantRow>, Stop>;
    /// The soonest expiry of an available grant of an account.
    fn next_grant_expiry(&mut self, account: i64) -> Result<Option<Millis>, Stop>;
    fn insert_grant(&mut self, grant: &GrantRow) -> Result<(), Stop>;
    fn update_grant(&mut self, grant: &GrantRow) -> Result<(), Stop>;

    fn hold(&mut self, id: &Id) -> Result<Option<HoldRow>, Stop>;
    /// The first of the pending holds of an account that expire at this time or before, in the order of their expiries and ids.
    fn pending(&mut self, account: i64, until: Millis, most: usize) -> Result<Vec<HoldRow>, Stop>;
    /// The soonest expiry of a pending hold of an account.
    fn next_hold_expiry(&mut self, account: i64) -> Result<Option<Millis>, Stop>;
    /// Writes a hold. False if there is one with this id.
    fn insert_hold(&mut self, hold: &HoldRow) -> Result<bool, Stop>;
    /// Writes the state, the expiry and the settlement of a hold that had this state.
    fn update_hold(&mut self, hold: &HoldRow, was: State) -> Result<(), Stop>;

    fn revocation(&mut self, id: &Id) -> Result<Option<Receipt<Revoked>>, Stop>;
    fn insert_revocation(&mut self, row: &Receipt<Revoked>) -> Result<(), Stop>;
    fn refund(&mut self, id: &Id) -> Result<Option<Receipt<Refunded>>, Stop>;
    fn insert_refund(&mut self, row: &Receipt<Refunded>) -> Result<(), Stop>;
    /// What was refunded of a hold.
    fn refunded(&mut self, hold: &Id) -> Result<Orbs, Stop>;
    /// What the capture of a hold took of each grant.
    fn captured(&mut self, account: i64, hold: &Id) -> Result<Vec<(u64, Orbs)>, Stop>;
    fn freeze(&mut self, id: &Id) -> Result<Option<Receipt<Frozen>>, Stop>;
    fn insert_freeze(&mut self, row: &Receipt<Frozen>) -> Result<(), Stop>;
    /// Writes what a command with an entry of this cause says in addition to its content.
    fn insert_remark(&mut self, cause: Cause, id: &Id, remark: &Remark) -> Result<(), Stop>;
    /// The time to live and the receipt of an extension.
    fn extension(&mut self, id: &Id) -> Result<Option<(Millis, Extended)>, Stop>;
    fn insert_extension(&mut self, ttl: Millis, receipt: &Extended) -> Result<(), Stop>;

    fn append(&mut self, entry: &EntryRow) -> Result<(), Stop>;

    /// Whether the commands of this account have to wait for another one.
    fn is_behind(&mut self, account: i64) -> bool;
    /// How much that has expired a command may write in its account. If there is more, the command has to wait.
    fn most_expiries(&mut self, account: i64) -> usize;
}

/// The first of these grants that have an amount together.
pub(crate) fn first(grants: impl Iterator<Item = GrantRow>, amount: Orbs) -> Vec<GrantRow> {
    let mut grants: Vec<_> = grants.collect();
    grants.sort_by_key(GrantRow::rank);
    let mut rest = amount;
    grants
        .into_iter()
        .take_while(|grant| {
            let is_needed = rest > Orbs::ZERO;
            rest = rest.minus(grant.available).unwrap_or_default();
            is_needed
        })
        .collect()
}

/// Writes what a command says in addition to its content, if it says something.
pub(crate) fn remark(
    tables: &mut impl Tables,
    cause: Cause,
    id: &Id,
    (note, author): (&Note, &Note),
) -> Result<(), Stop> {
    let remark = Remark { note: note.clone(), author: author.clone() };
    if remark == Remark::default() { Ok(()) } else { tables.insert_remark(cause, id, &remark) }
}
