//! The conformance suite, with every store.

use orbgate_ledger::{Model, Order, suite};
use proptest::prelude::*;

#[test]
fn the_model_answers_every_case() {
    let cases = suite::cases();
    assert!(cases.len() > 20);
    for case in cases {
        assert!(!case.steps.is_empty(), "{}", case.name);
        case.check(&mut Model::new(Order::default())).unwrap();
    }
}

/// A line that can't be parsed would be left out.
#[test]
fn every_line_of_the_cases_is_a_step() {
    let text = include_str!("../src/suite/cases.txt");
    let lines = text.lines().filter(|line| line.contains(" -> ")).count();
    assert_eq!(suite::cases().iter().map(|case| case.steps.len()).sum::<usize>(), lines);
}

#[test]
fn a_store_that_differs_is_found() {
    let steps = suite::random(1, 300);
    let difference = suite::compare(&mut Model::new(Order::PaidFirst), Order::BonusFirst, &steps);
    assert!(difference.unwrap_err().to_string().contains("expected"));
}

/// Random steps reach every kind of answer: a suite that only gets errors shows nothing.
#[test]
fn random_steps_meet_every_answer() {
    let mut model = Model::new(Order::default());
    let mut seen = std::collections::BTreeSet::new();
    for suite::Step { now, command } in suite::random(7, 5000) {
        let answer = format!("{:?}", model.run(&command, now));
        for word in [
            "Granted",
            "Revoked",
            "Held",
            "Insufficient",
            "BonusNotAllowed",
            "TemporarilyHeld",
            "reason: Frozen",
            "Extended",
            "state: Captured",
            "state: Voided",
            "late: true",
            "repeated: true",
            "Conflict",
            "Settled(",
            "NotPending",
            "UnknownHold",
            "UnknownGrant",
            "UnknownAccount",
            "NotCaptured",
            "TooMuch",
            "ExpiryNeeded",
            "Refunded(",
            "Frozen(",
            "new_account: true",
            "Zero",
            "Expired",
            "TooLarge",
            "account: None",
            "Balance",
            "Holds",
            "state: Expired",
        ] {
            if answer.contains(word) {
                seen.insert(word);
            }
        }
    }
    assert_eq!(seen.len(), 31, "{seen:?}");
    assert!(model.verify().found.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_model_conforms_to_itself(bytes in prop::collection::vec(any::<[u8; 8]>(), 0..120)) {
        suite::compare(&mut Model::new(Order::SoonestFirst), Order::SoonestFirst, &suite::steps(&bytes)).unwrap();
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::sync::Arc;

    use orbgate_ledger::{Order, Sqlite, suite};
    use proptest::prelude::*;

    use crate::support::{Clocked, TestClock};

    fn new(order: Order) -> (tempfile::TempDir, Clocked<Sqlite>) {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock::default());
        let ledger = Sqlite::open_with(&folder.path().join("orbs.db"), Some(order), Arc::clone(&clock) as _).unwrap();
        (folder, Clocked { ledger, clock })
    }

    #[test]
    fn sqlite_answers_every_case() {
        for case in suite::cases() {
            let (_folder, mut ledger) = new(Order::default());
            case.check(&mut ledger).unwrap();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn sqlite_is_equal_to_the_model(bytes in prop::collection::vec(any::<[u8; 8]>(), 0..150)) {
            let (_folder, mut ledger) = new(Order::BonusFirst);
            suite::compare(&mut ledger, Order::BonusFirst, &suite::steps(&bytes)).unwrap();
        }
    }

    #[test]
    fn sqlite_is_equal_to_the_model_over_many_steps_and_orders() {
        for (seed, order) in [(11, Order::BonusFirst), (12, Order::PaidFirst), (13, Order::SoonestFirst)] {
            let (_folder, mut ledger) = new(order);
            let compared = suite::compare(&mut ledger, order, &suite::random(seed, 1500));
            if let Err(difference) = compared {
                panic!("seed {seed}: {}", difference.what);
            }
        }
    }
}
