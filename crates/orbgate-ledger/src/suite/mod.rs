//! The conformance suite: what every store of a ledger has to pass.
//!
//! [`compare`] does the same commands, one at a time, with a store and with the [`Model`], and requires the same receipts.
//! [`cases`] are written by hand, [`random`] makes as many as you like. The time of each command is given, so a store must be
//! able to run with a clock that a test sets.

mod cases;

use core::fmt::{self, Display};

use crate::answer::{Answer, Cursor, Entry, HoldAnswer};
use crate::command::{Command, Extend, Grant, Hold, Revoke, Settle, Settlement};
use crate::error::Error;
use crate::model::Model;
use crate::value::{AccountId, Bucket, Id, MAX, Millis, Note, Orbs, Order};
use crate::verify::Faults;

pub use cases::{Case, cases};

/// A store under test.
pub trait Subject {
    /// Does a command at this time.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn run(&mut self, command: &Command, now: Millis) -> Result<Answer, Error>;

    /// The entries after a cursor at this time.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn entries(&mut self, after: &Cursor, limit: usize, now: Millis) -> Result<Vec<(Cursor, Entry)>, Error>;

    /// Verifies the store.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn verify(&mut self) -> Result<Faults, Error>;
}

impl Subject for Model {
    fn run(&mut self, command: &Command, now: Millis) -> Result<Answer, Error> {
        Self::run(self, command, now)
    }

    fn entries(&mut self, after: &Cursor, limit: usize, now: Millis) -> Result<Vec<(Cursor, Entry)>, Error> {
        Ok(Self::entries(self, after, limit, now)?.entries)
    }

    fn verify(&mut self) -> Result<Faults, Error> {
        Ok(Self::verify(self))
    }
}

/// A command at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "tests make their own")]
pub struct Step {
    /// The time. It can go back.
    pub now: Millis,
    /// The command.
    pub command: Command,
}

/// How a store differs from the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The steps up to the difference.
    pub steps: Vec<Step>,
    /// What differs.
    pub what: String,
}

impl Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Step { now, command } in &self.steps {
            writeln!(formatter, "{}: {command:?}", now.get())?;
        }
        write!(formatter, "{}", self.what)
    }
}

/// Does these steps with an empty store and with the model. Then reads the entries of both, in pages, verifies the store, and
/// does all commands again: that changes nothing.
///
/// # Errors
///
/// The first difference.
pub fn compare(subject: &mut impl Subject, order: Order, steps: &[Step]) -> Result<(), Difference> {
    let mut model = Model::new(order);
    let mut last = Millis::ZERO;
    let mut stored = Vec::new();
    for (index, Step { now, command }) in steps.iter().enumerate() {
        let (expected, actual) = (model.run(command, *now), subject.run(command, *now));
        last = last.max(*now);
        if expected != actual {
            let steps = steps.iter().take(index.saturating_add(1)).cloned().collect();
            return Err(Difference { steps, what: format!("expected {expected:?}\nfound    {actual:?}") });
        }
        stored.extend(is_stored(&actual).then_some(command));
    }
    let different = |what| Difference { steps: steps.to_vec(), what };
    let mut logs = || -> Result<Vec<Entry>, Difference> {
        let (expected, actual) = (log(&mut model, last), log(subject, last));
        match (expected, actual) {
            (Ok(expected), Ok(actual)) if expected == actual => Ok(actual),
            (expected, actual) => Err(different(format!("the entries should be {expected:#?}\nthey are {actual:#?}"))),
        }
    };
    let before = logs()?;
    for command in stored {
        let (expected, actual) = (model.run(command, last), subject.run(command, last));
        if expected != actual {
            return Err(different(format!("again: {command:?}\nexpected {expected:?}\nfound    {actual:?}")));
        }
    }
    let after = log(&mut model, last).and_then(|expected| Ok((expected, log(subject, last)?)));
    match after {
        Ok((expected, actual)) if expected == actual && actual == before => {}
        other => return Err(different(format!("after all commands were done again: {other:#?}"))),
    }
    match subject.verify() {
        Ok(faults) if faults.found.is_empty() => Ok(()),
        other => Err(different(format!("verification: {other:?}"))),
    }
}

/// Whether a command with this answer was done. A denial isn't: the account might have enough when it is asked again.
const fn is_stored(answer: &Result<Answer, Error>) -> bool {
    matches!(
        answer,
        Ok(Answer::Granted(_)
            | Answer::Revoked(_)
            | Answer::Extended(_)
            | Answer::Settled(_)
            | Answer::Hold(HoldAnswer::Held { .. }))
    )
}

/// All entries, read in small pages, in the order of accounts: stores may mix those of two accounts in another way.
fn log(subject: &mut impl Subject, now: Millis) -> Result<Vec<Entry>, Error> {
    let (mut entries, mut after) = (Vec::new(), Cursor::default());
    loop {
        let page = subject.entries(&after, 7, now)?;
        let Some((cursor, _)) = page.last() else {
            break;
        };
        after = cursor.clone();
        entries.extend(page.into_iter().map(|(_, entry)| entry));
    }
    entries.sort_by(|a, b| (&a.account, a.seq).cmp(&(&b.account, b.seq)));
    Ok(entries)
}

/// Steps from random bytes, eight for each. Few accounts and ids, so that commands meet.
#[must_use]
pub fn steps(bytes: &[[u8; 8]]) -> Vec<Step> {
    let mut now = 1_000_000_u64;
    let mut steps = Vec::with_capacity(bytes.len());
    for (index, bytes) in bytes.iter().enumerate() {
        let [_, _, _, _, _, _, time, _] = *bytes;
        // Sometimes the clock goes back.
        now = match time {
            0..=100 => now,
            101..=220 => now.saturating_add(u64::from(time)),
            221..=240 => now.saturating_add(u64::from(time).saturating_mul(10)),
            241..=255 => now.saturating_sub(u64::from(time)),
        };
        // New ids from time to time, because settled holds only give the first receipt.
        let generation = index.checked_div(64).unwrap_or_default();
        steps.push(Step { now: Millis::new(now).unwrap_or_default(), command: command(bytes, now, generation) });
    }
    steps
}

fn command(bytes: &[u8; 8], now: u64, generation: usize) -> Command {
    let [verb, account, id, amount, ttl, flags, _, other] = *bytes;
    let name = |prefix: &str, number: u8, count: u8| {
        let number = number.checked_rem(count).unwrap_or_default();
        Id::valid(format!("{prefix}{generation}.{number}"))
    };
    let account_id = || {
        let number = account.checked_rem(3).unwrap_or_default();
        AccountId::valid(format!("account {number}"))
    };
    let orbs = |amount: u64| Orbs::new(amount.min(MAX)).unwrap_or_default();
    let duration = |milliseconds: u64| Millis::new(milliseconds.min(MAX)).unwrap_or_default();
    let ttl = duration(match ttl {
        255 => MAX,
        ttl => u64::from(ttl).saturating_mul(8),
    });
    match verb {
        0..=39 => Command::Grant(Grant {
            id: name("g", id, 12),
            account: account_id(),
            amount: orbs(match (amount, flags) {
                (250.., 128..) => MAX.saturating_sub(amount.into()),
                _ => amount.into(),
            }),
            bucket: if flags & 1 == 0 { Bucket::Paid } else { Bucket::Bonus },
            expires_at: (flags & 2 == 0).then(|| duration(now.saturating_add(u64::from(other).saturating_mul(32)))),
        }),
        40..=54 => Command::Revoke(Revoke { id: name("r", id, 6), account: account_id(), grant: name("g", other, 12) }),
        // The same content for each id, so that holds come again.
        55..=84 => Command::Hold(Hold {
            id: name("h", id, 24),
            account: AccountId::valid(format!("account {}", id.checked_rem(3).unwrap_or_default())),
            amount: orbs(u64::from(id.checked_rem(24).unwrap_or_default()).saturating_add(1)),
            bonus: id & 1 == 1,
            ttl: duration(700),
            note: Note::default(),
        }),
        85..=134 => Command::Hold(Hold {
            id: name("h", id, 24),
            account: account_id(),
            amount: orbs(amount.checked_rem(80).unwrap_or_default().into()),
            bonus: flags & 1 == 1,
            ttl,
            note: Note::new(if flags & 2 == 0 { "" } else { "GET /v1/items" }).unwrap_or_default(),
        }),
        135..=159 => Command::Extend(Extend { id: name("e", other, 12), hold: name("h", id, 24), ttl }),
        160..=199 => Command::Settle(Settle {
            hold: name("h", id, 24),
            settlement: Settlement::Capture(orbs(amount.checked_rem(100).unwrap_or_default().into())),
        }),
        200..=229 => Command::Settle(Settle { hold: name("h", id, 24), settlement: Settlement::Void }),
        230..=245 => Command::Balance(account_id()),
        246..=255 => Command::Holds(account_id()),
    }
}

/// A number of random steps, always the same for a seed.
#[must_use]
pub fn random(seed: u64, count: usize) -> Vec<Step> {
    let mut state = seed;
    let mut next = || {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).to_le_bytes()
    };
    let bytes: Vec<_> = (0..count).map(|_| next()).collect();
    steps(&bytes)
}
