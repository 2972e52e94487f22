//! What the commands of a batch name, and so what is read for them.

use std::collections::{BTreeMap, BTreeSet};

use crate::command::{Command, Settlement};
use crate::model::{Bounds, Rows};
use crate::plan::AccountRow;
use crate::value::{AccountId, Bucket, Id, Millis, Orbs};

/// The most commands of a batch, and the most that one writes of what has expired.
pub(crate) const BATCH: usize = 200;

/// How much of what has expired is read of an account at least, although a batch has many accounts.
const LEAST_DUE: usize = 8;

/// How many grants of a bucket are read at least. A command that takes from more comes again, and then all are read.
const LEAST_GRANTS: i64 = 16;

/// The accounts and the ids that commands name.
#[derive(Debug, Default)]
pub(crate) struct Named<'c> {
    pub(crate) accounts: BTreeSet<&'c AccountId>,
    /// Those that a grant may create.
    pub(crate) new_accounts: BTreeSet<&'c AccountId>,
    pub(crate) grants: BTreeSet<&'c Id>,
    pub(crate) holds: BTreeSet<&'c Id>,
    /// Those that name no account, so that their rows say which it is.
    pub(crate) resolved: BTreeSet<&'c Id>,
    pub(crate) revocations: BTreeSet<&'c Id>,
    pub(crate) extensions: BTreeSet<&'c Id>,
    pub(crate) refunds: BTreeSet<&'c Id>,
    /// The holds that are refunded, and the grants that might take what their grants can't.
    pub(crate) refunded: BTreeSet<&'c Id>,
    pub(crate) renewed: BTreeSet<Id>,
    pub(crate) freezes: BTreeSet<&'c Id>,
    /// How much the holds of an account take, and how much of that might be bonus orbs.
    pub(crate) taken: BTreeMap<&'c AccountId, (Orbs, Orbs)>,
    /// What is captured.
    pub(crate) captures: Vec<(&'c Id, Orbs)>,
    /// Those of which every pending hold is listed.
    pub(crate) listed: BTreeSet<&'c AccountId>,
    /// Those whose balance is read, as it will be once everything that has expired is written.
    pub(crate) seen: BTreeSet<&'c AccountId>,
    pub(crate) count: i64,
    /// How many of the commands might end or extend a pending hold.
    pub(crate) ends: i64,
    /// The accounts whose backlog the last batch didn't finish, and those of which all open grants are read.
    pub(crate) behind: BTreeSet<i64>,
    pub(crate) whole: BTreeSet<i64>,
    /// So much of what has expired is written, and nothing else is done.
    only_expires: Option<usize>,
}

impl<'c> Named<'c> {
    pub(crate) fn new(commands: &[&'c Command]) -> Self {
        let mut named = Self { count: i64::try_from(commands.len().min(BATCH)).unwrap_or(i64::MAX), ..Self::default() };
        for command in commands {
            named.accounts.extend(command.account());
            match command {
                Command::Grant(grant) => {
                    named.grants.insert(&grant.id);
                    let opens = grant.amount > Orbs::ZERO && !grant.existing;
                    named.new_accounts.extend(opens.then_some(&grant.account));
                }
                Command::Revoke(revoke) => {
                    named.grants.insert(&revoke.grant);
                    named.revocations.insert(&revoke.id);
                }
                Command::Hold(hold) => {
                    named.holds.insert(&hold.id);
                    let (all, bonus) = named.taken.entry(&hold.account).or_default();
                    *all = all.plus(hold.amount).unwrap_or(Orbs::MAX);
                    *bonus = bonus.plus(if hold.bonus { hold.amount } else { Orbs::ZERO }).unwrap_or(Orbs::MAX);
                }
                Command::Extend(extend) => {
                    named.ends = named.ends.saturating_add(1);
                    named.holds.insert(&extend.hold);
                    named.resolved.insert(&extend.hold);
                    named.extensions.insert(&extend.id);
                }
                Command::Settle(settle) => {
                    named.ends = named.ends.saturating_add(1);
                    named.holds.insert(&settle.hold);
                    named.resolved.insert(&settle.hold);
                    if let Settlement::Capture(amount) = settle.settlement {
                        named.captures.push((&settle.hold, amount));
                    }
                }
                Command::Refund(refund) => {
                    named.holds.insert(&refund.hold);
                    named.resolved.insert(&refund.hold);
                    named.refunds.insert(&refund.id);
                    named.refunded.insert(&refund.hold);
                    named.renewed.extend([Bucket::Paid, Bucket::Bonus].into_iter().filter_map(|of| refund.grant(of)));
                }
                Command::Freeze(freeze) => drop(named.freezes.insert(&freeze.id)),
                Command::Balance(account) => drop(named.seen.insert(account)),
                Command::Holds(account) => drop(named.listed.insert(account)),
            }
        }
        named
    }

    /// The same with what the last batch knows of its accounts.
    pub(crate) fn after(self, behind: &BTreeSet<i64>, whole: &BTreeSet<i64>) -> Self {
        Self { behind: behind.clone(), whole: whole.clone(), ..self }
    }

    /// Accounts in which a batch of what has expired is written.
    pub(crate) fn due(accounts: &'c [AccountId], most: usize) -> Self {
        Self { accounts: accounts.iter().collect(), only_expires: Some(most), ..Self::default() }
    }

    /// Accounts of which every pending hold is read.
    pub(crate) fn whole(accounts: &'c [AccountId]) -> Self {
        let all: BTreeSet<_> = accounts.iter().collect();
        Self { listed: all.clone(), seen: all, ..Self::due(accounts, BATCH) }
    }

    /// How many grants of a bucket are read.
    pub(crate) fn most_grants(&self) -> i64 {
        self.count.max(LEAST_GRANTS)
    }

    /// The buckets from which holds take.
    pub(crate) fn buckets(&self) -> Vec<Bucket> {
        let bonus = self.taken.values().any(|(_, bonus)| *bonus > Orbs::ZERO);
        if bonus { vec![Bucket::Paid, Bucket::Bonus] } else { vec![Bucket::Paid] }
    }

    /// How much of what has expired is read of each account, and may be written: more of those that wait for it.
    pub(crate) fn bounds(&self, rows: &Rows) -> Bounds {
        let waiting = rows.accounts.keys().filter(|key| self.behind.contains(key)).count();
        let most = self.only_expires.unwrap_or(BATCH);
        let each = |accounts: usize| most.checked_div(accounts).unwrap_or(most).max(LEAST_DUE);
        let (waiting, other) = (each(waiting), each(rows.accounts.len()));
        let due = rows.accounts.keys().map(|key| (*key, if self.behind.contains(key) { waiting } else { other }));
        // The first account with a backlog leaves something to the others.
        let share = if self.count > 1 { 2 } else { 1 };
        Bounds { left: Some((most, share)), due: due.collect(), ..Bounds::default() }
    }

    /// Whether a command might need more of an account than itself, the grants that holds take from first, and what it names: what has
    /// expired, all pending holds, or what is held, if a hold is denied.
    pub(crate) fn needs_more(&self, account: &AccountRow, now: Millis) -> bool {
        let is_denied = self.taken.get(&account.id).is_some_and(|(all, bonus)| {
            let paid = all.minus(*bonus).unwrap_or_default();
            paid > account.paid || account.paid.plus(account.bonus).is_none_or(|available| *all > available)
        });
        self.only_expires.is_some()
            || account.is_due(now)
            || self.behind.contains(&account.key)
            || self.whole.contains(&account.key)
            || self.listed.contains(&account.id)
            || is_denied && account.held > Orbs::ZERO
    }
}
