//! An account in which more has expired than a store writes at once.

use core::sync::atomic::Ordering;
use std::sync::mpsc;

use orbgate_ledger::{Answer, Command, Cursor, Hold, HoldAnswer, Ledger};

use crate::support::{Clocked, account, capture, grant, hold, millis, numbered, orbs};

/// Its commands wait, in their order, and those of other accounts don't.
pub(crate) fn others_go_first(Clocked { ledger, clock }: &Clocked<impl Ledger>) {
    const DUE: u64 = 1_000;
    clock.0.store(1_000, Ordering::SeqCst);
    ledger.grant(grant("ga", "a", DUE + 50)).unwrap();
    ledger.grant(grant("gb", "b", 10)).unwrap();
    let (send, answers) = mpsc::channel();
    let submit = |name: &'static str, command: Command| {
        let send = send.clone();
        ledger.submit(command, Box::new(move |answer| send.send((name, answer.unwrap())).unwrap()));
    };
    for index in 0..DUE {
        submit("due", Command::Hold(Hold { ttl: millis(1 + index % 7), ..hold(format!("due{index}"), "a", 1) }));
    }
    (0..DUE).for_each(|_| drop(answers.recv().unwrap()));
    clock.0.store(2_000, Ordering::SeqCst);
    // The first ends a hold that has expired, by its id only.
    submit("late", Command::Settle(capture("due0", 1)));
    submit("hold", Command::Hold(hold("a1", "a", 3)));
    submit("settle", Command::Settle(capture("a1", 2)));
    submit("other", Command::Hold(hold("b1", "b", 4)));
    submit("rest", Command::Balance(account("a")));
    submit("settle of another", Command::Settle(capture("b1", 4)));
    let answered: Vec<_> = (0..6).map(|_| answers.recv().unwrap()).collect();
    let order: Vec<_> = answered.iter().map(|(name, _)| *name).collect();
    assert_eq!(order, ["other", "settle of another", "late", "hold", "settle", "rest"]);
    assert!(matches!(&answered[0].1, Answer::Hold(HoldAnswer::Held { .. })), "{answered:?}");
    let Answer::Settled(late) = &answered[2].1 else { panic!("{answered:?}") };
    assert_eq!((late.receipt.late, late.receipt.captured), (true, orbs(1)));
    let Answer::Balance(rest) = &answered[5].1 else { panic!("{answered:?}") };
    assert_eq!((rest.held, rest.available), (orbs(0), orbs(DUE + 50 - 3)));
    // A balance is as it will be, although it writes nothing.
    for index in 0..DUE {
        submit("again", Command::Hold(Hold { ttl: millis(1 + index % 7), ..hold(format!("again{index}"), "a", 1) }));
    }
    (0..DUE).for_each(|_| drop(answers.recv().unwrap()));
    let count = || {
        numbered(ledger);
        ledger.entries(&Cursor::default(), usize::MAX).unwrap().entries.len()
    };
    let before = count();
    clock.0.store(3_000, Ordering::SeqCst);
    let balance = ledger.balance(account("a")).unwrap();
    assert_eq!(
        (balance.held, balance.available, ledger.holds(account("a")).unwrap()),
        (orbs(0), orbs(DUE + 47), vec![])
    );
    assert_eq!((count(), ledger.backlog().unwrap().accounts), (before, 1));
    ledger.expire().unwrap();
    assert_eq!((count(), ledger.backlog().unwrap().accounts), (before + DUE as usize, 0));
    assert_eq!(ledger.balance(account("a")).unwrap(), balance);
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
}
