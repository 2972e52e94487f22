//! The conformance suite: what every store of a ledger has to pass.
//!
//! [`compare`] does the same commands, one at a time, with a store and with the [`Model`], and requires the same receipts.
//! [`cases`] are written by hand, [`random`] makes as many as you like. The time of each command is given, so a store must be
//! able to run with a clock that a test sets.

mod cases;
mod people;
mod subject;

use core::fmt::{self, Display};

use crate::answer::{Answer, Cursor, Entry, HoldAnswer};
use crate::command::{Command, Extend, Freeze, Grant, Hold, Refund, Revoke, Settle, Settlement};
use crate::error::Error;
use crate::model::Model;
use crate::value::{AccountId, Bucket, Id, MAX, Millis, Note, Orbs, Order};

pub use cases::{Case, cases};
pub use people::compare_people;
pub use subject::{Step, Subject};

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
    compare_with(&mut Model::new(order), subject, steps)
}

/// The same with another reference than the model. Both are empty, and have the same order.
///
/// # Errors
///
/// The first difference.
pub fn compare_with(
    reference: &mut impl Subject,
    subject: &mut impl Subject,
    steps: &[Step],
) -> Result<(), Difference> {
    let mut last = Millis::ZERO;
    let mut stored = Vec::new();
    for (index, Step { now, command }) in steps.iter().enumerate() {
        let (expected, actual) = (reference.run(command, *now), subject.run(command, *now));
        last = last.max(*now);
        if expected != actual {
            let steps = steps.iter().take(index.saturating_add(1)).cloned().collect();
            return Err(Difference { steps, what: format!("expected {expected:?}\nfound    {actual:?}") });
        }
        stored.extend(is_stored(&actual).then_some(command));
    }
    let different = |what| Difference { steps: steps.to_vec(), what };
    let logs = |reference: &mut _, subject: &mut _| -> Result<Vec<Entry>, Difference> {
        let (expected, actual) = (log(reference, last), log(subject, last));
        match (expected, actual) {
            (Ok(expected), Ok(actual)) if expected == actual => Ok(actual),
            (expected, actual) => Err(different(format!("the entries should be {expected:#?}\nthey are {actual:#?}"))),
        }
    };
    // What has expired isn't written by reading.
    logs(reference, subject)?;
    for expired in [reference.expire(last), subject.expire(last)] {
        expired.map_err(|error| different(format!("what has expired can't be written: {error}")))?;
    }
    let before = logs(reference, subject)?;
    for command in stored {
        let (expected, actual) = (reference.run(command, last), subject.run(command, last));
        if expected != actual {
            return Err(different(format!("again: {command:?}\nexpected {expected:?}\nfound    {actual:?}")));
        }
    }
    let after = log(reference, last).and_then(|expected| Ok((expected, log(subject, last)?)));
    match after {
        Ok((expected, actual)) if expected == actual && actual == before => {}
        other => return Err(different(format!("after all commands were done again: {other:#?}"))),
    }
    match subject.entries(&Cursor::new("of another ledger"), 1, last) {
        Err(Error::Cursor) => {}
        other => return Err(different(format!("after a cursor that it hasn't given out: {other:?}"))),
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
            | Answer::Refunded(_)
            | Answer::Frozen(_)
            | Answer::Hold(HoldAnswer::Held { .. }))
    )
}

/// All entries, read in small pages, in the order of accounts: stores may mix those of two accounts in another way.
fn log(subject: &mut impl Subject, now: Millis) -> Result<Vec<Entry>, Error> {
    let (mut entries, mut after) = (Vec::new(), Cursor::default());
    loop {
        let page = subject.entries(&after, 7, now)?.entries;
        let Some((cursor, _)) = page.last() else {
            break;
        };
        after = cursor.clone();
        entries.extend(page.into_iter().map(|(_, entry)| entry));
    }
    entries.sort_by(|a, b| (&a.account, a.seq).cmp(&(&b.account, b.seq)));
    Ok(entries)
}

/// Steps from random bytes, eight for each. Few accounts, ids and times, so that commands meet.
#[must_use]
pub fn steps(bytes: &[[u8; 8]]) -> Vec<Step> {
    let mut now = 1_000_000_u64;
    let mut steps = Vec::with_capacity(bytes.len());
    for (index, bytes) in bytes.iter().enumerate() {
        let [_, _, _, _, _, _, time, _] = *bytes;
        let ticks = |count: u8| TICK.saturating_mul(count.into());
        // Sometimes the clock goes back.
        now = match time {
            0..=100 => now,
            101..=220 => now.saturating_add(ticks(time & 3)),
            221..=240 => now.saturating_add(ticks(time.saturating_sub(216))),
            241..=255 => now.saturating_sub(ticks(time & 15)),
        };
        // New ids from time to time, because settled holds only give the first receipt.
        let generation = index.checked_div(64).unwrap_or_default();
        steps.push(Step { now: Millis::new(now).unwrap_or_default(), command: command(bytes, now, generation) });
    }
    steps
}

/// Times and durations are multiples of this, so that commands often come exactly when something expires.
const TICK: u64 = 50;

/// The ids of each kind of command. Half of them have a usual content, so that a command comes again, or with one field
/// changed. The others have a random one.
const IDS: u8 = 12;

fn command(bytes: &[u8; 8], now: u64, generation: usize) -> Command {
    let [verb, account, id, amount, ttl, flags, _, other] = *bytes;
    let one_of = |number: u8, count: u8| number.checked_rem(count).unwrap_or_default();
    let name = |prefix: &str, number: u8| Id::valid(format!("{prefix}{generation}.{}", one_of(number, IDS)));
    let account_id = |number: u8| AccountId::valid(format!("account {}", one_of(number, 3)));
    let orbs = |amount: u64| Orbs::new(amount.min(MAX)).unwrap_or_default();
    let duration = |milliseconds: u64| Millis::new(milliseconds.min(MAX)).unwrap_or_default();
    let ticks = |count: u8| TICK.saturating_mul(count.into());
    // Some are settled long ago, and their grants have expired.
    let before = |number: u8| {
        let generation = generation.saturating_sub(usize::from(flags & 32 != 0));
        Id::valid(format!("h{generation}.{}", one_of(number, IDS)))
    };
    let remark = |text: &str| Note::new(if flags & 16 == 0 { "" } else { text }).unwrap_or_default();
    let usual = one_of(id, IDS / 2);
    let random = usual.saturating_add(IDS / 2);
    // Which field of a usual command is changed.
    let change = if flags & 4 == 0 { None } else { Some(one_of(flags / 8, 5)) };
    let changed = |field: u8| u8::from(change == Some(field));
    let random_ttl = duration(match ttl {
        255 => MAX,
        ttl => ticks(ttl / 8),
    });
    match verb {
        0..=19 => Command::Grant(Grant {
            bucket: if flags & 1 == 0 { Bucket::Paid } else { Bucket::Bonus },
            // Often before the holds of it end.
            expires_at: (flags & 2 == 0).then(|| duration(now.saturating_add(ticks(other / 16)))),
            existing: flags & 64 != 0,
            note: remark("an invoice"),
            author: remark("alice"),
            ..Grant::new(
                name("g", random),
                account_id(account),
                orbs(match (amount, flags) {
                    (240.., 128..) => MAX.saturating_sub(amount.into()),
                    _ => (amount / 4).into(),
                }),
            )
        }),
        20..=39 => Command::Grant(Grant {
            bucket: if (usual ^ changed(2)) & 4 == 0 { Bucket::Paid } else { Bucket::Bonus },
            expires_at: (usual & 1 == changed(3)).then(|| {
                let start =
                    u64::try_from(generation).unwrap_or(u64::MAX).saturating_mul(5_000).saturating_add(1_000_000);
                duration(
                    start
                        .saturating_add(ticks(usual.saturating_add(1).saturating_mul(20)))
                        .saturating_add(ticks(changed(4))),
                )
            }),
            note: remark("an invoice"),
            ..Grant::new(
                name("g", usual),
                account_id(usual.saturating_add(changed(0))),
                orbs(u64::from(usual.saturating_add(changed(1))).saturating_mul(3).saturating_add(5)),
            )
        }),
        40..=47 => Command::Revoke(Revoke {
            author: remark("bob"),
            ..Revoke::new(
                name("r", usual & 1),
                account_id((usual & 1).saturating_add(changed(0))),
                name("g", (usual & 1).saturating_add(changed(1).saturating_mul(3))),
            )
        }),
        48..=54 => Command::Revoke(Revoke {
            amount: (flags & 1 == 0).then(|| orbs((amount / 16).into())),
            ..Revoke::new(name("r", other), account_id(id), name("g", id))
        }),
        55..=94 => Command::Hold(Hold {
            id: name("h", usual),
            account: account_id(usual.saturating_add(changed(0))),
            amount: orbs(u64::from(usual.saturating_add(changed(1))).saturating_mul(5).saturating_add(1)),
            bonus: (usual ^ changed(2)) & 1 == 1,
            ttl: duration(ticks(usual.saturating_mul(4).saturating_add(changed(3)).saturating_add(4))),
            note: Note::new(if usual & 2 == changed(4).saturating_mul(2) { "" } else { "GET /v1/items" })
                .unwrap_or_default(),
        }),
        95..=134 => Command::Hold(Hold {
            id: name("h", random),
            account: account_id(account),
            amount: orbs(one_of(amount, 50).into()),
            bonus: flags & 1 == 1,
            ttl: random_ttl,
            note: Note::new(if flags & 2 == 0 { "" } else { "GET /v1/items" }).unwrap_or_default(),
        }),
        135..=147 => Command::Extend(Extend {
            id: name("e", usual),
            hold: name("h", usual.saturating_add(changed(0))),
            ttl: duration(ticks(usual.saturating_add(changed(1)).saturating_add(8))),
        }),
        148..=159 => Command::Extend(Extend { id: name("e", other), hold: name("h", id), ttl: random_ttl }),
        160..=184 => Command::Settle(Settle {
            hold: name("h", id),
            settlement: Settlement::Capture(orbs(one_of(amount, 40).into())),
        }),
        185..=200 => Command::Settle(Settle {
            hold: name("h", usual),
            settlement: Settlement::Capture(orbs(u64::from(usual / 2).saturating_add(changed(0).into()))),
        }),
        201..=217 => Command::Settle(Settle { hold: name("h", id), settlement: Settlement::Void }),
        218..=223 => Command::Refund(Refund {
            amount: (usual & 1 == changed(0)).then(|| orbs(u64::from(usual / 2).saturating_add(changed(1).into()))),
            expires_at: (usual & 2 == 0).then(|| duration(now.saturating_add(ticks(changed(2).saturating_add(200))))),
            ..Refund::new(name("f", usual), name("h", usual.saturating_add(changed(3))))
        }),
        224..=238 => Command::Refund(Refund {
            amount: (flags & 1 == 0).then(|| orbs((amount / 16).into())),
            expires_at: (flags & 2 == 0).then(|| duration(now.saturating_add(ticks(ttl / 8)))),
            note: remark("the answer was empty"),
            author: remark("alice"),
            ..Refund::new(name("f", other), before(usual))
        }),
        239..=244 => Command::Balance(account_id(account)),
        245..=248 => Command::Holds(account_id(account)),
        249..=255 => Command::Freeze(Freeze {
            note: remark("a stolen key"),
            ..Freeze::new(name("z", other), account_id(account), verb == 249 && flags & 1 == 0)
        }),
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
