//! Every store beside the second reference.

use std::collections::{BTreeMap, BTreeSet};

use orbgate_ledger::{
    Answer, Bucket, Command, Cursor, Denial, Entry, Error, Grant, Hold, HoldAnswer, Ledger, Millis, Model, Order,
    State, suite,
};
use orbgate_testing::random::Random;
use proptest::prelude::*;
use suite::{Step, Subject};

use crate::reference::Reference;
use crate::support::{grant, hold};

/// Random steps in accounts that begin with more grants than a store keeps in memory, and with more holds than it lets expire at once.
pub(crate) fn crowded(seed: u64, count: usize) -> Vec<Step> {
    let steps = suite::random(seed, count);
    let now = Millis::new(900_000).unwrap();
    let (mut crowd, mut random) = (Vec::new(), Random::new(seed));
    for index in 0..300 {
        let expires_at = (random.below(3) > 0).then(|| Millis::new(1_000_000 + 50 * random.below(200)).unwrap());
        let bucket = if random.below(2) == 0 { Bucket::Paid } else { Bucket::Bonus };
        let of = format!("account {}", index % 3);
        // So small that a hold takes from many of them.
        let amount = 1 + random.below(if index % 3 == 1 { 9 } else { 2 });
        crowd.push(Command::Grant(Grant { bucket, expires_at, ..grant(&format!("crowd{index}"), &of, amount) }));
    }
    for index in 0..450 {
        let ttl = Millis::new(100_000 + 50 * random.below(40)).unwrap();
        let of = if index % 3 == 0 { "account 2" } else { "account 1" };
        crowd.push(Command::Hold(Hold { ttl, bonus: true, ..hold(format!("crowd{index}"), of, 1) }));
    }
    crowd.into_iter().map(|command| Step { now, command }).chain(steps).collect()
}

/// Does as many histories as a test has time for, in each order, with stores that are empty at first.
#[track_caller]
pub(crate) fn compare_histories<S: Subject>(
    histories: u64,
    steps: impl Fn(u64) -> Vec<Step>,
    mut store: impl FnMut(Order) -> S,
) {
    for seed in 0..histories {
        let order = [Order::BonusFirst, Order::PaidFirst, Order::SoonestFirst][(seed % 3) as usize];
        let steps = steps(seed);
        let compared = suite::compare_with(&mut Reference::new(order), &mut store(order), &steps);
        if let Err(difference) = compared {
            panic!("seed {seed}: {difference}");
        }
    }
}

/// The same with several commands at a time, which a store may do in one commit.
#[track_caller]
pub(crate) fn compare_batches<L: Ledger>(
    histories: u64,
    steps: impl Fn(u64) -> Vec<Step>,
    most: usize,
    mut store: impl FnMut(Order) -> crate::support::Clocked<L>,
) {
    for seed in 0..histories {
        let order = [Order::BonusFirst, Order::PaidFirst, Order::SoonestFirst][(seed % 3) as usize];
        let (mut reference, mut store) = (Reference::new(order), store(order));
        for steps in steps(seed).chunks(most) {
            let now = steps[0].now;
            store.clock.0.store(now.get(), core::sync::atomic::Ordering::SeqCst);
            let answers = steps.iter().map(|step| {
                let (send, answer) = std::sync::mpsc::channel();
                store.ledger.submit(step.command.clone(), Box::new(move |answer| drop(send.send(answer))));
                answer
            });
            let answers: Vec<_> = answers.collect();
            for (step, answer) in steps.iter().zip(answers) {
                let (expected, actual) = (reference.run(&step.command, now), answer.recv().unwrap());
                assert_eq!(actual, expected, "seed {seed}: {step:?}");
            }
        }
        let all = |subject: &mut dyn FnMut() -> Vec<(Cursor, Entry)>| {
            let mut entries: Vec<_> = subject().into_iter().map(|(_, entry)| entry).collect();
            entries.sort_by(|a, b| (&a.account, a.seq).cmp(&(&b.account, b.seq)));
            entries
        };
        let now = Millis::MAX;
        reference.expire(now).unwrap();
        store.expire(now).unwrap();
        let expected = all(&mut || reference.entries(&Cursor::default(), usize::MAX, now).unwrap().entries);
        let actual = all(&mut || store.entries(&Cursor::default(), usize::MAX, now).unwrap().entries);
        for (actual, expected) in actual.iter().zip(&expected) {
            assert_eq!(actual, expected, "seed {seed}");
        }
        assert_eq!(actual.len(), expected.len(), "seed {seed}");
        assert_eq!(store.verify().unwrap().found, Vec::<String>::new(), "seed {seed}");
    }
}

#[test]
fn the_reference_answers_every_case() {
    for case in suite::cases() {
        case.check(&mut Reference::new(Order::default())).unwrap();
    }
}

#[test]
fn the_model_is_equal_to_the_reference() {
    let histories = crate::support::rounds("ORBGATE_LEDGER_HISTORIES", 100);
    compare_histories(histories, |seed| suite::random(seed, 160), Model::new);
    println!("{histories} random histories, each equal to the second reference");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Short histories, because a difference is shown as the shortest one.
    #[test]
    fn short_histories_of_the_model_are_equal_to_the_reference(bytes in prop::collection::vec(any::<[u8; 8]>(), 0..80)) {
        let (mut reference, mut model) = (Reference::default(), Model::default());
        suite::compare_with(&mut reference, &mut model, &suite::steps(&bytes)).unwrap();
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_is_equal_to_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    let mut new = |order| {
        count += 1;
        let clock = std::sync::Arc::new(crate::support::TestClock::default());
        let path = folder.path().join(format!("{count}.db"));
        let ledger = orbgate_ledger::Sqlite::open_with(&path, Some(order), std::sync::Arc::clone(&clock) as _);
        crate::support::Clocked { ledger: ledger.unwrap(), clock }
    };
    let histories = crate::support::rounds("ORBGATE_LEDGER_SUITES", 6);
    compare_histories(histories, |seed| suite::random(seed, 200), &mut new);
    compare_batches(histories, |seed| suite::random(seed, 400), 40, &mut new);
    compare_histories(histories.div_ceil(3), |seed| crowded(seed, 60), &mut new);
    compare_batches(histories.div_ceil(3), |seed| crowded(seed, 120), 40, &mut new);
}

/// A history that doesn't reach what a fault changes can't find it.
#[test]
fn histories_reach_what_was_missed_before() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..240 {
        let mut reference = Reference::new(Order::default());
        let mut holds: BTreeMap<_, Hold> = BTreeMap::new();
        let mut see = |what| *seen.entry(what).or_default() += 1;
        for Step { now, command } in suite::random(seed, 160) {
            let answer = reference.run(&command, now);
            match &answer {
                Err(Error::ExpiryNeeded) => see("a refund without a new expiry"),
                Err(Error::TooMuch(_)) => see("too much"),
                Ok(Answer::Hold(HoldAnswer::Denied(denied))) if denied.reason == Denial::Frozen => {
                    see("a hold of a frozen account");
                }
                _ => {}
            }
            let Command::Hold(hold) = command else { continue };
            match (&answer, holds.get(&hold.id)) {
                (Ok(Answer::Hold(HoldAnswer::Held { repeated: false, .. })), _) => {
                    holds.insert(hold.id.clone(), hold);
                }
                (Err(Error::Conflict), Some(first)) => {
                    let but = |other: Hold| hold == other;
                    if but(Hold { account: hold.account.clone(), ..first.clone() }) {
                        see("a hold's id in another account");
                    }
                    if but(Hold { note: hold.note.clone(), ..first.clone() }) {
                        see("a hold with another note");
                    }
                }
                (Ok(Answer::Hold(HoldAnswer::Held { repeated: true, state, .. })), _) => see(match state {
                    State::Pending => "a pending hold again",
                    _ => "an ended hold again",
                }),
                _ => {}
            }
        }
        let expires: BTreeMap<_, Option<Millis>> =
            reference.grants.iter().map(|(_, grant)| (grant.id.clone(), grant.expires_at)).collect();
        for entry in &reference.log {
            if entry.cause == orbgate_ledger::Cause::Refund {
                let renews = entry.lines.iter().any(|line| line.captured < 0 && line.available == 0);
                see(if renews { "a refund as a new grant" } else { "a refund" });
            }
            let late = |entry: &Entry| {
                let mut lines = entry.lines.iter().filter(|line| line.held < 0 && -line.held > line.captured);
                lines.any(|line| expires[&line.grant].is_some_and(|ends| ends <= entry.at))
            };
            if late(entry) {
                see(match entry.cause {
                    orbgate_ledger::Cause::Void => "a void after the grant expired",
                    orbgate_ledger::Cause::Capture => "a capture after the grant expired",
                    _ => "an expiry after the grant expired",
                });
            }
        }
        let ids: BTreeSet<_> = reference.holds.iter().map(|(hold, _)| &hold.id).collect();
        assert_eq!(ids.len(), reference.holds.len());
    }
    assert!(seen.len() == 12 && seen.values().all(|count| *count > 5), "{seen:?}");
}
