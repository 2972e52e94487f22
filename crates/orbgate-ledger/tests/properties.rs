//! The invariants of a ledger, over random steps of the model. Stores have them because they are equal to it.

use std::collections::{BTreeMap, BTreeSet};

use orbgate_ledger::{
    AccountId, Answer, Balance, Bucket, Cause, Command, Cursor, Denial, Entry, Error, Grant, Hold, HoldAnswer, Id,
    Millis, Model, Orbs, Order, Settle, Settlement, State, suite,
};
use proptest::prelude::*;
use suite::Step;

use crate::support::{account, grant, hold, id, millis};

/// A grant, as the entries tell it.
#[derive(Clone, Debug, Default)]
struct Told {
    bucket: Option<Bucket>,
    amount: i64,
    available: i64,
    held: i64,
    captured: i64,
    gone: i64,
    expires_at: Option<Millis>,
}

/// The grants of all accounts, from the entries that have come.
#[derive(Clone, Debug, Default)]
struct Shadow {
    grants: BTreeMap<(AccountId, Id), Told>,
    last: BTreeMap<AccountId, (u64, Millis)>,
    cursor: Cursor,
}

impl Shadow {
    /// Reads what is new, and checks the invariants of each entry.
    fn read(&mut self, model: &Model, commands: &BTreeMap<Id, Grant>) -> Vec<Entry> {
        let page = model.entries(&self.cursor, usize::MAX, millis(0)).unwrap();
        let mut new = Vec::new();
        for (cursor, entry) in page.entries {
            self.cursor = cursor;
            self.add(&entry, commands);
            new.push(entry);
        }
        new
    }

    fn add(&mut self, entry: &Entry, commands: &BTreeMap<Id, Grant>) {
        let (seq, at) = self.last.get(&entry.account).copied().unwrap_or((0, millis(0)));
        assert_eq!(entry.seq, seq + 1, "numbers have no gaps");
        assert!(entry.at >= at, "time never goes back within an account");
        self.last.insert(entry.account.clone(), (entry.seq, entry.at));
        for line in &entry.lines {
            let told = self.grants.entry((entry.account.clone(), line.grant.clone())).or_default();
            told.bucket = Some(line.bucket);
            told.available += line.available;
            told.held += line.held;
            told.captured += line.captured;
            let rest = -(line.available + line.held + line.captured);
            match entry.cause {
                Cause::Grant => {
                    told.amount = line.available;
                    told.expires_at = commands[&entry.id].expires_at;
                }
                // What an expired grant can't take back is a new grant.
                Cause::Refund if told.amount == 0 => {
                    told.amount = line.available;
                    told.expires_at = commands[&line.grant].expires_at;
                }
                _ => told.gone += rest,
            }
            assert!(told.available >= 0 && told.held >= 0 && told.captured >= 0 && told.gone >= 0, "{told:?}");
            assert_eq!(told.amount, told.available + told.held + told.captured + told.gone, "orbs are conserved");
        }
        let sum = |of: fn(&Told) -> i64, bucket: Option<Bucket>| {
            let grants = self.grants.iter().filter(|((account, _), _)| *account == entry.account);
            grants.filter(|(_, told)| bucket.is_none() || told.bucket == bucket).map(|(_, told)| of(told)).sum::<i64>()
                as u64
        };
        assert_eq!(entry.paid.get(), sum(|told| told.available, Some(Bucket::Paid)));
        assert_eq!(entry.bonus.get(), sum(|told| told.available, Some(Bucket::Bonus)));
        assert_eq!(entry.held.get(), sum(|told| told.held, None));
    }

    /// The available orbs that a hold may use.
    fn eligible(&self, account: &AccountId, bonus: bool) -> u64 {
        let grants = self.grants.iter().filter(|((of, _), _)| of == account);
        let grants = grants.filter(|(_, told)| bonus || told.bucket == Some(Bucket::Paid));
        grants.map(|(_, told)| told.available).sum::<i64>() as u64
    }

    /// The grants that give an amount, chosen one orb after the other.
    fn draw(&self, account: &AccountId, bonus: bool, amount: u64) -> BTreeMap<Id, i64> {
        let grants = self.grants.iter().filter(|((of, _), told)| of == account && told.available > 0);
        let grants = grants.filter(|(_, told)| bonus || told.bucket == Some(Bucket::Paid));
        let mut rest: Vec<_> = grants.map(|((_, id), told)| (id.clone(), told.clone())).collect();
        let mut drawn = BTreeMap::new();
        for _ in 0..amount {
            // Bonus first, then the soonest expiry. The order of grants is that of their entries, which this doesn't know.
            let rank = |told: &Told| (told.bucket == Some(Bucket::Paid), told.expires_at.map_or(u64::MAX, Millis::get));
            let best = rest.iter_mut().filter(|(_, told)| told.available > 0).min_by_key(|(_, told)| rank(told));
            let (id, told) = best.unwrap();
            told.available -= 1;
            *drawn.entry(id.clone()).or_default() += 1;
        }
        drawn
    }
}

/// The grants of the steps. An id that appears twice is a conflict unless it is the same.
fn grants(steps: &[Step], model: &mut Model) -> BTreeMap<Id, Grant> {
    let mut grants = BTreeMap::new();
    for Step { now, command } in steps {
        let done = model.run(command, *now);
        if let (Command::Grant(grant), Ok(_)) = (command, &done) {
            grants.insert(grant.id.clone(), grant.clone());
        }
        if let (Command::Refund(refund), Ok(_)) = (command, &done) {
            for bucket in [Bucket::Paid, Bucket::Bonus] {
                let name = if bucket == Bucket::Paid { "paid" } else { "bonus" };
                let renewed = grant(&format!("{}/{name}", refund.id), "of the hold", 0);
                let expires_at = refund.expires_at;
                grants.insert(renewed.id.clone(), Grant { bucket, expires_at, ..renewed });
            }
        }
    }
    grants
}

fn bytes() -> impl Strategy<Value = Vec<[u8; 8]>> {
    prop::collection::vec(any::<[u8; 8]>(), 0..160)
}

fn balance(model: &Model, of: &AccountId, now: Millis) -> Balance {
    match model.clone().run(&Command::Balance(of.clone()), now) {
        Ok(Answer::Balance(balance)) => balance,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Conservation, gapless numbers, monotone time, balances: after every command. Also: what is paid only takes no bonus
    /// orbs, lines have the sum of the amount, and what has expired isn't held.
    #[test]
    fn every_entry_keeps_the_invariants(bytes in bytes()) {
        let steps = suite::steps(&bytes);
        let known = grants(&steps, &mut Model::default());
        let (mut model, mut shadow) = (Model::default(), Shadow::default());
        let mut paid_only = BTreeSet::new();
        for Step { now, command } in &steps {
            let answer = model.run(command, *now);
            if let (Command::Hold(hold), Ok(Answer::Hold(HoldAnswer::Held { repeated: false, .. }))) = (command, &answer)
                && !hold.bonus
            {
                paid_only.insert(hold.id.clone());
            }
            for entry in shadow.read(&model, &known) {
                let of_hold = matches!(entry.cause, Cause::Hold | Cause::Capture);
                let bonus = entry.lines.iter().any(|line| line.bucket == Bucket::Bonus);
                prop_assert!(!(of_hold && bonus && paid_only.contains(&entry.id)), "{entry:?}");
                if let (Cause::Hold, Command::Hold(hold)) = (entry.cause, command) {
                    let held: i64 = entry.lines.iter().map(|line| line.held).sum();
                    prop_assert_eq!(held as u64, hold.amount.get());
                    for line in &entry.lines {
                        let expiry = known[&line.grant].expires_at;
                        prop_assert!(expiry.is_none_or(|expiry| expiry > entry.at), "{entry:?}");
                    }
                }
            }
            prop_assert!(model.verify().found.is_empty(), "{:?}", model.verify());
        }
    }

    /// A hold is admitted if and only if the eligible orbs suffice, and a denial has the right reason and amount.
    #[test]
    fn a_hold_is_denied_only_if_too_little_is_there(bytes in bytes()) {
        let steps = suite::steps(&bytes);
        let known = grants(&steps, &mut Model::default());
        let (mut model, mut shadow) = (Model::default(), Shadow::default());
        for Step { now, command } in &steps {
            let Command::Hold(hold) = command else {
                let _ = model.run(command, *now);
                shadow.read(&model, &known);
                continue;
            };
            // As it is once what has expired is written.
            let (mut written, mut seen) = (model.clone(), shadow.clone());
            written.expire(*now).unwrap();
            seen.read(&written, &known);
            let eligible = seen.eligible(&hold.account, hold.bonus);
            match model.run(command, *now) {
                Ok(Answer::Hold(HoldAnswer::Held { repeated: false, .. })) => {
                    prop_assert!(eligible >= hold.amount.get());
                }
                Ok(Answer::Hold(HoldAnswer::Denied(denied))) => {
                    let frozen = balance(&model, &hold.account, *now).frozen;
                    prop_assert_eq!(denied.reason == Denial::Frozen, frozen);
                    prop_assert!(frozen || eligible < hold.amount.get());
                    prop_assert_eq!((denied.available.get(), denied.needed), (eligible, hold.amount));
                    let all = seen.eligible(&hold.account, true);
                    match denied.reason {
                        Denial::BonusNotAllowed => prop_assert!(!hold.bonus && all >= hold.amount.get()),
                        Denial::Insufficient => prop_assert!(hold.bonus || all < hold.amount.get()),
                        Denial::Frozen => {}
                        Denial::TemporarilyHeld => prop_assert!(denied.retry_at.is_some()),
                    }
                    // Not stored: the same again is the same again.
                    prop_assert_eq!(model.run(command, *now), Ok(Answer::Hold(HoldAnswer::Denied(denied))));
                }
                _ => {}
            }
            shadow.read(&model, &known);
        }
    }

    /// The grants are taken in the order of the setting, whatever the order in which they came.
    #[test]
    fn the_order_of_grants_does_not_matter(
        amounts in prop::collection::vec((1_u64..40, any::<bool>()), 1..8),
        shuffle in any::<u64>(),
        share in 1_u64..=100,
    ) {
        let grant = |index: usize| {
            let (amount, bonus) = amounts[index];
            let bucket = if bonus { Bucket::Bonus } else { Bucket::Paid };
            let expires_at = Some(millis(5_000 + 10 * index as u64));
            Grant { bucket, expires_at, ..grant(&format!("g{index}"), "a", amount) }
        };
        let mut order: Vec<_> = (0..amounts.len()).collect();
        let all: u64 = amounts.iter().map(|(amount, _)| amount).sum();
        let amount = (all * share / 100).max(1);
        let mut drawn = Vec::new();
        for _ in 0..2 {
            let mut model = Model::new(Order::BonusFirst);
            for index in &order {
                model.run(&Command::Grant(grant(*index)), millis(1)).unwrap();
            }
            let known = amounts.iter().enumerate().map(|(index, _)| (grant(index).id, grant(index))).collect();
            let mut shadow = Shadow::default();
            shadow.read(&model, &known);
            let expected = shadow.draw(&account("a"), true, amount);
            let hold = Hold { bonus: true, ..hold("h", "a", amount) };
            model.run(&Command::Hold(hold), millis(1)).unwrap();
            let entry = shadow.read(&model, &known).pop().unwrap();
            let taken: BTreeMap<_, _> = entry.lines.iter().map(|line| (line.grant.clone(), line.held)).collect();
            prop_assert_eq!(&taken, &expected);
            drawn.push(taken);
            let rotate = shuffle as usize % order.len();
            order.rotate_left(rotate);
            order.reverse();
        }
        prop_assert_eq!(&drawn[0], &drawn[1]);
    }

    /// A hold has at most one settlement, and what is captured and what is missing is what was requested.
    #[test]
    fn a_hold_is_settled_at_most_once(bytes in bytes()) {
        let mut model = Model::default();
        let mut settled = BTreeMap::new();
        for Step { now, command } in suite::steps(&bytes) {
            let answer = model.run(&command, now);
            let Command::Settle(Settle { hold, settlement }) = &command else {
                continue;
            };
            match answer {
                Ok(Answer::Settled(done)) => {
                    let receipt = done.receipt;
                    let sum = receipt.captured.get() + receipt.shortfall.get();
                    let requested = match settlement {
                        Settlement::Capture(amount) => amount.get(),
                        Settlement::Void => 0,
                    };
                    prop_assert_eq!((sum, receipt.requested.get()), (requested, requested));
                    prop_assert!(receipt.bonus <= receipt.captured);
                    match settled.get(hold) {
                        None => prop_assert!(!done.repeated),
                        Some(first) => prop_assert!(done.repeated && *first == receipt),
                    }
                    settled.insert(hold.clone(), receipt);
                }
                Err(Error::Settled(receipt)) => prop_assert_eq!(settled.get(hold), Some(&receipt)),
                _ => {}
            }
        }
    }

    /// Doing any of the earlier commands again changes nothing, and gives the first receipt.
    #[test]
    fn every_command_is_idempotent(bytes in bytes(), again in any::<prop::sample::Index>()) {
        let mut model = Model::default();
        let mut done: Vec<(Command, Answer)> = Vec::new();
        for Step { now, command } in suite::steps(&bytes) {
            let answer = model.run(&command, now);
            let stored = match &answer {
                Ok(Answer::Hold(HoldAnswer::Denied(_)) | Answer::Balance(_) | Answer::Holds(_)) | Err(_) => None,
                Ok(answer) => Some(answer.clone()),
            };
            done.extend(stored.map(|answer| (command, answer)));
            if done.is_empty() {
                continue;
            }
            let (command, first) = &done[again.index(done.len())];
            // The time of the account doesn't change anything either.
            let before = model.clone();
            let again = model.run(command, millis(0)).unwrap();
            prop_assert_eq!(&model, &before);
            match (again, first) {
                (Answer::Granted(again), Answer::Granted(first)) => prop_assert_eq!(&again.receipt, &first.receipt),
                (Answer::Revoked(again), Answer::Revoked(first)) => prop_assert_eq!(&again.receipt, &first.receipt),
                (Answer::Extended(again), Answer::Extended(first)) => prop_assert_eq!(&again.receipt, &first.receipt),
                (Answer::Settled(again), Answer::Settled(first)) => prop_assert_eq!(&again.receipt, &first.receipt),
                (Answer::Refunded(again), Answer::Refunded(first)) => prop_assert_eq!(&again.receipt, &first.receipt),
                (Answer::Frozen(again), Answer::Frozen(first)) => prop_assert_eq!(&again.receipt, &first.receipt),
                (
                    Answer::Hold(HoldAnswer::Held { receipt: again, repeated, .. }),
                    Answer::Hold(HoldAnswer::Held { receipt: first, .. }),
                ) => {
                    prop_assert_eq!(&again, first);
                    prop_assert!(repeated);
                }
                (again, first) => prop_assert!(false, "{again:?} {first:?}"),
            }
        }
    }

    /// Writing expiries at any time changes no answer, as long as the clock doesn't go back: the time of writing counts.
    #[test]
    fn sweeping_changes_no_answer(bytes in bytes()) {
        let (mut swept, mut lazy) = (Model::default(), Model::default());
        let mut last = millis(0);
        for Step { now, command } in suite::steps(&bytes) {
            last = last.max(now);
            let now = last;
            swept.expire(now).unwrap();
            prop_assert_eq!(swept.run(&command, now), lazy.run(&command, now));
        }
    }

    /// No entry comes later that is earlier than a page says, as long as the clock doesn't go back.
    #[test]
    fn what_is_complete_stays_as_it_is(bytes in bytes()) {
        let (mut model, mut last) = (Model::default(), millis(0));
        let mut promised = Vec::new();
        for Step { now, command } in suite::steps(&bytes) {
            last = last.max(now);
            let page = model.entries(&Cursor::default(), usize::MAX, last).unwrap();
            promised.push((page.entries.len(), page.complete_until));
            let _ = model.run(&command, last);
        }
        model.expire(last).unwrap();
        let page = model.entries(&Cursor::default(), usize::MAX, last).unwrap();
        prop_assert_eq!(page.complete_until, last);
        for (count, until) in promised {
            prop_assert!(page.entries.iter().skip(count).all(|(_, entry)| entry.at >= until));
        }
    }

    /// A void undoes a hold, unless orbs expired meanwhile.
    #[test]
    fn a_void_undoes_a_hold(bytes in bytes(), amount in 1_u64..80, bonus in any::<bool>()) {
        let mut model = Model::default();
        let mut last = millis(0);
        for Step { now, command } in suite::steps(&bytes) {
            let _ = model.run(&command, now);
            last = last.max(now);
        }
        let of = account("account 0");
        let before = balance(&model, &of, last);
        let hold = Hold { bonus, ..hold("new", "account 0", amount) };
        model.run(&Command::Hold(hold), last).unwrap();
        let void = Command::Settle(Settle { hold: id("new"), settlement: Settlement::Void });
        let _ = model.run(&void, last);
        prop_assert_eq!(balance(&model, &of, last), before);
    }

    /// More paid orbs, or permission to use bonus orbs, never turn an admitted hold into a denial.
    #[test]
    fn more_is_never_less(bytes in bytes()) {
        let mut model = Model::default();
        for Step { now, command } in suite::steps(&bytes) {
            if let Command::Hold(hold) = &command {
                let mut richer = model.clone();
                let more = Grant { id: id("more"), ..grant("more", hold.account.as_str(), 1) };
                let _ = richer.run(&Command::Grant(more), now);
                let allowed = Command::Hold(Hold { bonus: true, id: id("other"), ..hold.clone() });
                let same = Command::Hold(Hold { id: id("other"), ..hold.clone() });
                let admitted = |model: &Model, command: &Command| {
                    matches!(model.clone().run(command, now), Ok(Answer::Hold(HoldAnswer::Held { .. })))
                };
                if admitted(&model, &same) {
                    prop_assert!(admitted(&richer, &same));
                    prop_assert!(admitted(&model, &allowed));
                }
            }
            let _ = model.run(&command, now);
        }
    }

    /// Any interleaving of holds admits no more than is there.
    #[test]
    fn no_orb_is_held_twice(amounts in prop::collection::vec(1_u64..50, 1..60), funds in 1_u64..600) {
        let mut model = Model::default();
        model.run(&Command::Grant(grant("g", "a", funds)), millis(1)).unwrap();
        let mut admitted = 0;
        for (index, amount) in amounts.iter().enumerate() {
            let answer = model.run(&Command::Hold(hold(format!("h{index}"), "a", *amount)), millis(1)).unwrap();
            match answer {
                Answer::Hold(HoldAnswer::Held { state: State::Pending, .. }) => admitted += amount,
                _ => prop_assert!(admitted + amount > funds),
            }
        }
        prop_assert!(admitted <= funds);
    }

    /// Amounts and times at their bounds are errors, not other numbers.
    #[test]
    fn nothing_overflows(amounts in prop::collection::vec((0_u64..4, any::<bool>()), 1..6), ttl in 0_u64..3) {
        let mut model = Model::default();
        let mut sum = 0_u64;
        for (index, (less, near)) in amounts.iter().enumerate() {
            let amount = if *near { Orbs::MAX.get() - less } else { less + 1 };
            let answer = model.run(&Command::Grant(grant(&format!("g{index}"), "a", amount)), millis(1));
            match answer {
                Ok(_) => sum += amount,
                Err(error) => {
                    prop_assert_eq!(error, Error::TooLarge);
                    prop_assert!(sum + amount > Orbs::MAX.get());
                }
            }
            prop_assert_eq!(balance(&model, &account("a"), millis(1)).available.get(), sum);
        }
        let ttl = millis(Orbs::MAX.get() - ttl);
        let answer = model.run(&Command::Hold(Hold { ttl, ..hold("h", "a", 1) }), millis(1));
        prop_assert_eq!(answer.is_ok(), ttl.get() < Orbs::MAX.get());
    }
}
