//! Many grants: as many at once as a store takes into one commit.

use core::time::Duration;
use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use orbgate_ledger::{AccountId, Answer, Command, Done, Error, Granted, Ledger};

use super::file::Row;

/// So many commands wait for a store at once, which is fewer than it takes.
const MOST: usize = 1000;

/// How long a busy store may stay busy.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

type Result = core::result::Result<Done<Granted>, Error>;

/// Does the grants, and passes on each answer with its row, in any order. Two of one account are done in the order of the file. After
/// an error of the store itself, those that haven't begun aren't done.
pub(super) fn all<'r>(ledger: &dyn Ledger, rows: &'r [Row], mut done: impl FnMut(&'r Row, Result)) {
    let (send, answers) = channel();
    let mut running = Running { ledger, rows, send, answers, accounts: BTreeSet::new(), patience: PATIENCE };
    let mut waiting: VecDeque<usize> = (0..rows.len()).collect();
    let mut count: usize = 0;
    loop {
        while let Some(number) = waiting.front().copied().filter(|number| count < MOST && running.may_begin(*number)) {
            waiting.pop_front();
            running.begin(number);
            count = count.saturating_add(1);
        }
        if count == 0 {
            return;
        }
        let Some((number, answer)) = running.next() else { return };
        count = count.saturating_sub(1);
        match (rows.get(number), answer) {
            (Some(_), Err(Error::Busy)) if running.patience > PAUSE => {
                thread::sleep(PAUSE);
                running.patience = running.patience.saturating_sub(PAUSE);
                waiting.push_front(number);
            }
            (Some(row), answer) => {
                if matches!(answer, Err(Error::Busy | Error::Clock(_) | Error::Unknown(_))) {
                    waiting.clear();
                } else {
                    running.patience = PATIENCE;
                }
                done(row, answer);
            }
            (None, _) => {}
        }
    }
}

struct Running<'l> {
    ledger: &'l dyn Ledger,
    rows: &'l [Row],
    send: Sender<(usize, Result)>,
    answers: Receiver<(usize, Result)>,
    /// Those with a grant that isn't answered.
    accounts: BTreeSet<&'l AccountId>,
    patience: Duration,
}

impl Running<'_> {
    fn may_begin(&self, number: usize) -> bool {
        let row = self.rows.get(number);
        self.ledger.keeps_order() || row.is_some_and(|row| !self.accounts.contains(&row.grant.account))
    }

    fn begin(&mut self, number: usize) {
        if let Some(row) = self.rows.get(number) {
            self.accounts.insert(&row.grant.account);
            let report = Report { number, send: self.send.clone(), is_answered: false };
            self.ledger.submit(Command::Grant(row.grant.clone()), Box::new(move |answer| report.answered(answer)));
        }
    }

    fn next(&mut self) -> Option<(usize, Result)> {
        let (number, answer) = self.answers.recv().ok()?;
        if let Some(row) = self.rows.get(number) {
            self.accounts.remove(&row.grant.account);
        }
        Some((number, answer))
    }
}

/// Passes an answer on. If it is dropped, none has come.
struct Report {
    number: usize,
    send: Sender<(usize, Result)>,
    is_answered: bool,
}

impl Report {
    fn answered(mut self, answer: core::result::Result<Answer, Error>) {
        self.is_answered = true;
        let unasked = || Error::Unknown("the ledger gave an answer to another command".to_owned());
        let answer = answer.and_then(|answer| match answer {
            Answer::Granted(done) => Ok(done),
            _ => Err(unasked()),
        });
        // It is there as long as an answer is missing.
        let _ = self.send.send((self.number, answer));
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        if !self.is_answered {
            let error = Error::Unknown("the ledger has stopped".to_owned());
            let _ = self.send.send((self.number, Err(error)));
        }
    }
}
