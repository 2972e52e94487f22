//! Refunds: captured orbs come back.

use crate::answer::{Answer, Done, Refunded};
use crate::cause::{Cause, State};
use crate::command::Refund;
use crate::error::Error;
use crate::plan::account::Open;
use crate::plan::rows::{HoldRow, Receipt, Settlement, Tables, remark};
use crate::plan::stop::{Stop, broken};
use crate::value::{Bucket, Millis, Orbs, Order};

pub(crate) fn refund<T: Tables>(tables: &mut T, order: Order, command: &Refund, now: Millis) -> Result<Answer, Stop> {
    if command.amount == Some(Orbs::ZERO) {
        return Err(Error::Zero.into());
    }
    if [Bucket::Paid, Bucket::Bonus].into_iter().any(|bucket| command.grant(bucket).is_none()) {
        return Err(Error::LongId.into());
    }
    let before = tables.refund(&command.id)?;
    if let Some(Receipt { stated, receipt, .. }) = &before
        && (*stated, &receipt.hold, receipt.expires_at) != (command.amount, &command.hold, command.expires_at)
    {
        return Err(Error::Conflict.into());
    }
    let row = tables.hold(&command.hold)?.ok_or(Error::UnknownHold)?;
    let Some(account) = row.account else {
        return Err(Error::NotCaptured(row.state).into());
    };
    let account = tables.account_of(account)?;
    Open::with(tables, account, now, |tables, open| {
        if let Some(Receipt { receipt, .. }) = before {
            return Ok(Answer::Refunded(Done { receipt, repeated: true }));
        }
        // Opening the account might have let it expire.
        let row = tables.hold(&command.hold)?.ok_or(Error::UnknownHold)?;
        let (State::Captured, Some(settlement)) = (row.state, &row.settlement) else {
            return Err(Error::NotCaptured(row.state).into());
        };
        let before = tables.refunded(&row.id)?;
        let left = settlement.captured.minus(before).ok_or_else(|| broken("more was refunded than captured"))?;
        let amount = command.amount.unwrap_or(left);
        if amount == Orbs::ZERO || amount > left {
            return Err(Error::TooMuch(left).into());
        }
        if command.expires_at.is_some_and(|time| time <= open.now) {
            return Err(Error::Expired.into());
        }
        if open.posted().and_then(|posted| posted.plus(amount)).is_none() {
            return Err(Error::TooLarge.into());
        }
        let captured = captured(tables, open.account.key, &row, settlement)?;
        let bonus = open.refund(tables, order, command, &captured, (before, amount))?;
        let Refund { id, hold, amount: stated, expires_at, note, author } = command.clone();
        remark(tables, Cause::Refund, &id, (&note, &author))?;
        let (account, at) = (open.account.id.clone(), open.now);
        let receipt = Refunded { id, hold, account, amount, bonus, expires_at, at };
        let row = Receipt { account: open.account.key, stated, receipt };
        tables.insert_refund(&row)?;
        Ok(Answer::Refunded(Done { receipt: row.receipt, repeated: false }))
    })
}

/// What the capture of a hold took of each grant.
fn captured(
    tables: &mut impl Tables,
    account: i64,
    row: &HoldRow,
    settlement: &Settlement,
) -> Result<Vec<(u64, Orbs)>, Stop> {
    if row.has_captured_beyond() {
        return tables.captured(account, &row.id);
    }
    let mut rest = settlement.captured;
    let lines = row.lines.iter().map(|(seq, held)| {
        let taken = rest.min(*held);
        rest = rest.minus(taken).unwrap_or_default();
        (*seq, taken)
    });
    Ok(lines.filter(|(_, taken)| *taken > Orbs::ZERO).collect())
}
