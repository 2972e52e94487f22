//! Holds: admission, extension, settlement.

use crate::answer::{Answer, Denial, Denied, Done, Extended, Held, HoldAnswer, Settled};
use crate::cause::{Cause, State};
use crate::command::{self, Extend, Hold, Settle};
use crate::error::Error;
use crate::plan::account::Open;
use crate::plan::rows::{AccountRow, HoldRow, Settlement, Tables};
use crate::plan::stop::{Stop, broken};
use crate::value::{AccountId, Millis, Note, Orbs, Order};

pub(crate) fn hold<T: Tables>(tables: &mut T, order: Order, command: &Hold, now: Millis) -> Result<Answer, Stop> {
    if command.amount == Orbs::ZERO || command.ttl == Millis::ZERO {
        return Err(Error::Zero.into());
    }
    let account = tables.account(&command.account)?;
    let is_known = account.is_some();
    let account = account.unwrap_or_else(|| AccountRow::new(command.account.clone()));
    let answer = Open::with(tables, account, now, |tables, open| {
        // Most ids are new, so the row is written without looking for it first, unless the answer would be another one.
        let before = |tables: &mut T, open: &Open| match tables.hold(&command.id)? {
            Some(row) => again(command, &row, is_known.then_some(open.account.key)).map(Some),
            None => Ok(None),
        };
        let Some(expires_at) = open.now.plus(command.ttl) else {
            return before(tables, open)?.ok_or_else(|| Error::TooLarge.into());
        };
        if let Some(denied) = denied(tables, open, command)? {
            return Ok(before(tables, open)?.unwrap_or(HoldAnswer::Denied(denied)));
        }
        let lines = open.draw(tables, order, command.bonus, command.amount)?;
        let bonus = open.bonus_of(tables, &lines)?;
        let row = HoldRow {
            id: command.id.clone(),
            account: Some(open.account.key),
            amount: command.amount,
            bonus_allowed: command.bonus,
            ttl: command.ttl,
            note: command.note.clone(),
            at: open.now,
            lines,
            bonus,
            expires_at,
            state: State::Pending,
            settlement: None,
        };
        if !tables.insert_hold(&row)? {
            return before(tables, open)?.ok_or_else(|| broken("a hold is there, and isn't"));
        }
        open.hold(tables, &command.id, &row.lines, expires_at)?;
        Ok(HoldAnswer::Held { receipt: held(command, &row)?, repeated: false, state: State::Pending })
    });
    Ok(Answer::Hold(answer?))
}

/// The answer to a hold whose id is known.
fn again(command: &Hold, row: &HoldRow, account: Option<i64>) -> Result<HoldAnswer, Stop> {
    if row.account.is_none() {
        return Err(Error::Settled(settled(row, None)?).into());
    }
    let same = (row.amount, row.bonus_allowed, row.ttl) == (command.amount, command.bonus, command.ttl);
    if !same || row.account != account || row.note != command.note {
        return Err(Error::Conflict.into());
    }
    Ok(HoldAnswer::Held { receipt: held(command, row)?, repeated: true, state: row.state })
}

fn held(command: &Hold, row: &HoldRow) -> Result<Held, Stop> {
    let Hold { id, account, amount, .. } = command.clone();
    // Not the row's, which extensions change.
    let expires_at = row.at.plus(row.ttl).ok_or_else(|| broken("a hold expires too late"))?;
    Ok(Held { id, account, amount, bonus: row.bonus, expires_at, at: row.at })
}

/// Why a hold can't be admitted, if so.
fn denied(tables: &mut impl Tables, open: &Open, command: &Hold) -> Result<Option<Denied>, Stop> {
    let (available, needed) = (open.eligible(command.bonus)?, command.amount);
    if open.account.frozen {
        return Ok(Some(Denied { needed, available, reason: Denial::Frozen, retry_at: None }));
    }
    if available >= needed {
        return Ok(None);
    }
    let would_be = available.plus(open.returning(tables, command.bonus)?).unwrap_or(Orbs::MAX);
    let (reason, retry_at) = if would_be >= needed {
        (Denial::TemporarilyHeld, tables.next_hold_expiry(open.account.key)?)
    } else if open.eligible(true)? >= needed {
        (Denial::BonusNotAllowed, None)
    } else {
        (Denial::Insufficient, None)
    };
    Ok(Some(Denied { needed, available, reason, retry_at }))
}

pub(crate) fn extend<T: Tables>(tables: &mut T, command: &Extend, now: Millis) -> Result<Answer, Stop> {
    if command.ttl == Millis::ZERO {
        return Err(Error::Zero.into());
    }
    let before = tables.extension(&command.id)?;
    if before.as_ref().is_some_and(|(ttl, receipt)| (ttl, &receipt.hold) != (&command.ttl, &command.hold)) {
        return Err(Error::Conflict.into());
    }
    let row = tables.hold(&command.hold)?.ok_or(Error::UnknownHold)?;
    let Some(account) = row.account else {
        return Err(Error::NotPending(row.state).into());
    };
    let account = tables.account_of(account)?;
    Open::with(tables, account, now, |tables, open| {
        if let Some((_, receipt)) = before {
            return Ok(Answer::Extended(Done { receipt, repeated: true }));
        }
        // Opening the account might have let it expire.
        let mut row = tables.hold(&command.hold)?.ok_or(Error::UnknownHold)?;
        if row.state != State::Pending {
            return Err(Error::NotPending(row.state).into());
        }
        let until = open.now.plus(command.ttl).ok_or(Error::TooLarge)?;
        row.expires_at = row.expires_at.max(until);
        tables.update_hold(&row, State::Pending)?;
        open.touch();
        let Extend { id, hold, ttl } = command.clone();
        let receipt = Extended { id, hold, expires_at: row.expires_at, at: open.now };
        tables.insert_extension(ttl, &receipt)?;
        Ok(Answer::Extended(Done { receipt, repeated: false }))
    })
}

pub(crate) fn settle<T: Tables>(tables: &mut T, order: Order, command: &Settle, now: Millis) -> Result<Answer, Stop> {
    let Some(row) = tables.hold(&command.hold)? else {
        return match command.settlement {
            command::Settlement::Capture(_) => Err(Error::UnknownHold.into()),
            command::Settlement::Void => void_unknown(tables, command, now),
        };
    };
    let Some(account) = row.account else {
        return done(command, &row, None);
    };
    let account = tables.account_of(account)?;
    let id = account.id.clone();
    Open::with(tables, account, now, |tables, open| {
        // Opening the account might have let it expire.
        let mut row = tables.hold(&command.hold)?.ok_or(Error::UnknownHold)?;
        if row.settlement.is_some() {
            return done(command, &row, Some(&id));
        }
        let (was, late) = (row.state, row.state == State::Expired);
        let lines = if late { &[][..] } else { &row.lines };
        let held = if late { Orbs::ZERO } else { row.amount };
        let settlement = match command.settlement {
            command::Settlement::Void => {
                row.state = State::Voided;
                open.settle(tables, &row.id, Cause::Void, (lines, Orbs::ZERO), &[], Orbs::ZERO)?;
                Settlement { late, at: open.now, ..Settlement::default() }
            }
            command::Settlement::Capture(requested) => {
                row.state = State::Captured;
                let of_held = requested.min(held);
                let beyond = requested.minus(of_held).unwrap_or_default();
                let more = open.draw(tables, order, row.bonus_allowed, beyond)?;
                let taken = sum(&more)?;
                let shortfall = beyond.minus(taken).unwrap_or_default();
                let captured = of_held.plus(taken).ok_or_else(|| broken("a capture is too large"))?;
                let bonus = bonus(tables, open, lines, (of_held, &more))?;
                open.settle(tables, &row.id, Cause::Capture, (lines, of_held), &more, shortfall)?;
                Settlement { requested, captured, bonus, shortfall, late, at: open.now }
            }
        };
        row.settlement = Some(settlement);
        tables.update_hold(&row, was)?;
        Ok(Answer::Settled(Done { receipt: settled(&row, Some(&id))?, repeated: false }))
    })
}

fn bonus(
    tables: &mut impl Tables,
    open: &mut Open,
    lines: &[(u64, Orbs)],
    (captured, more): (Orbs, &[(u64, Orbs)]),
) -> Result<Orbs, Stop> {
    let mut rest = captured;
    let mut taken = more.to_vec();
    for (seq, amount) in lines {
        let part = rest.min(*amount);
        rest = rest.minus(part).unwrap_or_default();
        taken.push((*seq, part));
    }
    open.bonus_of(tables, &taken)
}

fn sum(lines: &[(u64, Orbs)]) -> Result<Orbs, Stop> {
    let sum = lines.iter().try_fold(Orbs::ZERO, |sum, (_, amount)| sum.plus(*amount));
    sum.ok_or_else(|| broken("a capture is too large"))
}

/// Stores the void of a hold that hasn't come.
fn void_unknown(tables: &mut impl Tables, command: &Settle, now: Millis) -> Result<Answer, Stop> {
    let row = HoldRow {
        id: command.hold.clone(),
        account: None,
        amount: Orbs::ZERO,
        bonus_allowed: false,
        ttl: Millis::ZERO,
        note: Note::default(),
        at: now,
        lines: Vec::new(),
        bonus: Orbs::ZERO,
        expires_at: now,
        state: State::Voided,
        settlement: Some(Settlement { at: now, ..Settlement::default() }),
    };
    if !tables.insert_hold(&row)? {
        return Err(broken("a hold appeared while it was voided"));
    }
    Ok(Answer::Settled(Done { receipt: settled(&row, None)?, repeated: false }))
}

/// The answer to the settlement of a settled hold.
fn done(command: &Settle, row: &HoldRow, account: Option<&AccountId>) -> Result<Answer, Stop> {
    let receipt = settled(row, account)?;
    let same = match command.settlement {
        command::Settlement::Void => receipt.state == State::Voided,
        command::Settlement::Capture(requested) => (receipt.state, receipt.requested) == (State::Captured, requested),
    };
    if same { Ok(Answer::Settled(Done { receipt, repeated: true })) } else { Err(Error::Settled(receipt).into()) }
}

fn settled(row: &HoldRow, account: Option<&AccountId>) -> Result<Settled, Stop> {
    let settlement = row.settlement.clone().ok_or_else(|| broken("a hold is settled without a settlement"))?;
    let Settlement { requested, captured, bonus, shortfall, late, at } = settlement;
    let (hold, account, state) = (row.id.clone(), account.cloned(), row.state);
    Ok(Settled { hold, account, state, requested, captured, bonus, shortfall, late, at })
}
