//! Cases that are written by hand: commands and the answers that they must have.

use crate::answer::{Answer, HoldAnswer};
use crate::command::{Command, Extend, Freeze, Grant, Hold, Refund, Revoke, Settle, Settlement};
use crate::error::Error;
use crate::suite::subject::{Step, Subject};
use crate::value::{AccountId, Bucket, Id, Millis, Note, Orbs};

/// A rule of the ledger, and the steps that show it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// The rule.
    pub name: &'static str,
    /// The steps, each with its answer in short.
    pub steps: Vec<(Step, &'static str)>,
}

impl Case {
    /// Does the steps with an empty store.
    ///
    /// # Errors
    ///
    /// The first answer that is wrong.
    pub fn check(&self, subject: &mut impl Subject) -> Result<(), String> {
        for (Step { now, command }, expected) in &self.steps {
            let actual = short(&subject.run(command, *now));
            if actual != *expected {
                return Err(format!("{}: {command:?}: expected `{expected}`, found `{actual}`", self.name));
            }
        }
        Ok(())
    }
}

/// The cases of `cases.txt`, which says how they are written.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in include_str!("cases.txt").lines().filter(|line| !line.starts_with('#')) {
        match (line.split_once(" -> "), cases.last_mut()) {
            (Some((step, expected)), Some(case)) => case.steps.extend(parse(step).map(|step| (step, expected.trim()))),
            _ if line.is_empty() => {}
            _ => cases.push(Case { name: line, steps: Vec::new() }),
        }
    }
    cases
}

/// A line such as `1000 hold h1 alice 10 500`.
fn parse(line: &str) -> Option<Step> {
    let mut words = line.split_whitespace();
    let now = Millis::new(words.next()?.parse().ok()?).ok()?;
    let verb = words.next()?;
    let words: Vec<_> = words.collect();
    let has = |word: &str| words.contains(&word);
    let word = |index: usize| words.get(index).copied();
    let id = |index| Id::new(word(index)?).ok();
    let account = |index| AccountId::new(word(index)?).ok();
    let number = |index| word(index)?.parse::<u64>().ok();
    let orbs = |index| Orbs::new(number(index)?).ok();
    let millis = |index| Millis::new(number(index)?).ok();
    let until = words.iter().position(|word| *word == "until");
    let until = until.and_then(|until| millis(until.saturating_add(1)));
    let command = match verb {
        "grant" => Command::Grant(Grant {
            bucket: if has("bonus") { Bucket::Bonus } else { Bucket::Paid },
            expires_at: until,
            existing: has("existing"),
            ..Grant::new(id(0)?, account(1)?, orbs(2)?)
        }),
        "revoke" => Command::Revoke(Revoke { amount: orbs(3), ..Revoke::new(id(0)?, account(1)?, id(2)?) }),
        "refund" => Command::Refund(Refund { amount: orbs(2), expires_at: until, ..Refund::new(id(0)?, id(1)?) }),
        "freeze" => Command::Freeze(Freeze::new(id(0)?, account(1)?, true)),
        "unfreeze" => Command::Freeze(Freeze::new(id(0)?, account(1)?, false)),
        "hold" => Command::Hold(Hold {
            id: id(0)?,
            account: account(1)?,
            amount: orbs(2)?,
            ttl: millis(3)?,
            bonus: has("bonus"),
            note: Note::default(),
        }),
        "extend" => Command::Extend(Extend { id: id(0)?, hold: id(1)?, ttl: millis(2)? }),
        "capture" => Command::Settle(Settle { hold: id(0)?, settlement: Settlement::Capture(orbs(1)?) }),
        "void" => Command::Settle(Settle { hold: id(0)?, settlement: Settlement::Void }),
        "balance" => Command::Balance(account(0)?),
        "holds" => Command::Holds(account(0)?),
        _ => return None,
    };
    Some(Step { now, command })
}

/// An answer in some words.
fn short(answer: &Result<Answer, Error>) -> String {
    let again = |repeated: bool| if repeated { " again" } else { "" };
    match answer {
        Ok(Answer::Granted(done)) => format!("granted {}{}", done.receipt.amount, again(done.repeated)),
        Ok(Answer::Revoked(done)) => format!("revoked {}{}", done.receipt.amount, again(done.repeated)),
        Ok(Answer::Hold(HoldAnswer::Held { receipt, repeated, state })) => {
            let (amount, bonus, until) = (receipt.amount, receipt.bonus, receipt.expires_at.get());
            let now = if *repeated { format!(" again, {}", state.name()) } else { String::new() };
            format!("held {amount}, {bonus} bonus, until {until}{now}")
        }
        Ok(Answer::Hold(HoldAnswer::Denied(denied))) => {
            let retry = denied.retry_at.map(|at| format!(", retry at {}", at.get())).unwrap_or_default();
            format!("denied: {}, {} of {}{retry}", denied.reason.name(), denied.available, denied.needed)
        }
        Ok(Answer::Extended(done)) => format!("until {}{}", done.receipt.expires_at.get(), again(done.repeated)),
        Ok(Answer::Settled(done)) => {
            let receipt = &done.receipt;
            let late = if receipt.late { ", late" } else { "" };
            let (state, captured, bonus, shortfall) =
                (receipt.state.name(), receipt.captured, receipt.bonus, receipt.shortfall);
            format!("{state} {captured}, {bonus} bonus, {shortfall} short{late}{}", again(done.repeated))
        }
        Ok(Answer::Refunded(done)) => {
            let receipt = &done.receipt;
            format!("refunded {}, {} bonus{}", receipt.amount, receipt.bonus, again(done.repeated))
        }
        Ok(Answer::Frozen(done)) => {
            let did = if done.receipt.frozen { "frozen" } else { "unfrozen" };
            format!("{did}{}", again(done.repeated))
        }
        Ok(Answer::Balance(balance)) => {
            let frozen = if balance.frozen { ", frozen" } else { "" };
            format!("held {}, paid {}, bonus {}{frozen}", balance.held, balance.paid, balance.bonus)
        }
        Ok(Answer::Holds(holds)) => {
            let holds: Vec<_> = holds.iter().map(|hold| format!("{} {}", hold.id, hold.amount)).collect();
            ["holds", &holds.join(", ")].join(" ").trim_end().to_owned()
        }
        Err(error) => error.to_string(),
    }
}
