//! Plans a command: reads rows, decides, and writes rows. Every store runs this code.

mod account;
mod hold;
mod refund;
mod rows;
mod stop;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod waits;

use crate::answer::{Answer, Balance, Done, Frozen, Granted, Pending, Revoked};
use crate::cause::Cause;
use crate::command::{Command, Freeze, Grant, Revoke};
use crate::error::Error;
use crate::value::{AccountId, Millis, Orbs, Order};

use account::keeps_order;
pub(crate) use account::{Open, due, expire, reset};
use rows::remark;
pub(crate) use rows::{AccountRow, EntryRow, GrantRow, HoldRow, LineRow, Receipt, Remark, Settlement, Tables, first};
pub(crate) use stop::{Stop, broken};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) use waits::Waits;

/// Does a command at this time, or says why not.
pub(crate) fn run<T: Tables>(tables: &mut T, order: Order, command: &Command, now: Millis) -> Result<Answer, Stop> {
    match command {
        Command::Grant(command) => grant(tables, command, now),
        Command::Revoke(command) => revoke(tables, command, now),
        Command::Hold(command) => hold::hold(tables, order, command, now),
        Command::Extend(command) => hold::extend(tables, command, now),
        Command::Settle(command) => hold::settle(tables, order, command, now),
        Command::Refund(command) => refund::refund(tables, order, command, now),
        Command::Freeze(command) => freeze(tables, command, now),
        Command::Balance(account) => balance(tables, account, now),
        Command::Holds(account) => holds(tables, account, now),
    }
}

fn grant<T: Tables>(tables: &mut T, command: &Grant, now: Millis) -> Result<Answer, Stop> {
    if command.amount == Orbs::ZERO {
        return Err(Error::Zero.into());
    }
    let account = tables.account(&command.account)?;
    let is_new = account.is_none();
    let account = account.unwrap_or_else(|| AccountRow::new(command.account.clone()));
    Open::with(tables, account, now, |tables, open| {
        if let Some(row) = tables.grant(&command.id)? {
            let same = (row.amount, row.bucket, row.expires_at) == (command.amount, command.bucket, command.expires_at);
            let same = same && !is_new && row.account == open.account.key;
            // The first grant of an account opens it.
            let receipt = granted(command, row.seq == 1, row.at);
            return if same {
                Ok(Answer::Granted(Done { receipt, repeated: true }))
            } else {
                Err(Error::Conflict.into())
            };
        }
        if is_new && command.existing {
            return Err(Error::UnknownAccount.into());
        }
        if command.expires_at.is_some_and(|time| time <= open.now) {
            return Err(Error::Expired.into());
        }
        if open.posted().and_then(|posted| posted.plus(command.amount)).is_none() {
            return Err(Error::TooLarge.into());
        }
        if is_new {
            open.account.key = tables.create_account(&open.account)?;
        }
        open.grant(command)?;
        remark(tables, Cause::Grant, &command.id, (&command.note, &command.author))?;
        Ok(Answer::Granted(Done { receipt: granted(command, is_new, open.now), repeated: false }))
    })
}

fn granted(command: &Grant, new_account: bool, at: Millis) -> Granted {
    let Grant { id, account, amount, bucket, expires_at, .. } = command.clone();
    Granted { id, account, amount, bucket, expires_at, new_account, at }
}

fn revoke<T: Tables>(tables: &mut T, command: &Revoke, now: Millis) -> Result<Answer, Stop> {
    if command.amount == Some(Orbs::ZERO) {
        return Err(Error::Zero.into());
    }
    let Some(account) = tables.account(&command.account)? else {
        let known = tables.revocation(&command.id)?;
        return Err(if known.is_some() { Error::Conflict } else { Error::UnknownGrant }.into());
    };
    Open::with(tables, account, now, |tables, open| {
        if let Some(Receipt { account, stated, receipt }) = tables.revocation(&command.id)? {
            let same = (account, &receipt.grant, stated) == (open.account.key, &command.grant, command.amount);
            return if same {
                Ok(Answer::Revoked(Done { receipt, repeated: true }))
            } else {
                Err(Error::Conflict.into())
            };
        }
        let grant = tables.grant(&command.grant)?.filter(|grant| grant.account == open.account.key);
        let grant = grant.ok_or(Error::UnknownGrant)?;
        let amount = open.revoke(tables, &command.id, grant.seq, command.amount)?;
        let Revoke { id, account, grant, amount: stated, note, author } = command.clone();
        remark(tables, Cause::Revoke, &id, (&note, &author))?;
        let row = Receipt {
            account: open.account.key,
            stated,
            receipt: Revoked { id, account, grant, amount, at: open.now },
        };
        tables.insert_revocation(&row)?;
        Ok(Answer::Revoked(Done { receipt: row.receipt, repeated: false }))
    })
}

fn freeze<T: Tables>(tables: &mut T, command: &Freeze, now: Millis) -> Result<Answer, Stop> {
    let Some(account) = tables.account(&command.account)? else {
        let known = tables.freeze(&command.id)?;
        return Err(if known.is_some() { Error::Conflict } else { Error::UnknownAccount }.into());
    };
    Open::with(tables, account, now, |tables, open| {
        if let Some(Receipt { account, receipt, .. }) = tables.freeze(&command.id)? {
            return if (account, receipt.frozen) == (open.account.key, command.frozen) {
                Ok(Answer::Frozen(Done { receipt, repeated: true }))
            } else {
                Err(Error::Conflict.into())
            };
        }
        open.freeze(&command.id, command.frozen)?;
        let Freeze { id, account, frozen, note, author } = command.clone();
        let cause = if frozen { Cause::Freeze } else { Cause::Unfreeze };
        remark(tables, cause, &id, (&note, &author))?;
        let row =
            Receipt { account: open.account.key, stated: None, receipt: Frozen { id, account, frozen, at: open.now } };
        tables.insert_freeze(&row)?;
        Ok(Answer::Frozen(Done { receipt: row.receipt, repeated: false }))
    })
}

fn balance<T: Tables>(tables: &mut T, id: &AccountId, now: Millis) -> Result<Answer, Stop> {
    let account = match tables.account(id)? {
        None => AccountRow::new(id.clone()),
        Some(account) => Open::seen(tables, account, now)?.account,
    };
    Ok(Answer::Balance(balance_of(&account)?))
}

/// The balance of an account whose expiries are written.
pub(crate) fn balance_of(account: &AccountRow) -> Result<Balance, Stop> {
    let (AccountRow { paid, bonus, held, frozen, .. }, account) = (account, account.id.clone());
    let available = paid.plus(*bonus).ok_or_else(too_many)?;
    let posted = available.plus(*held).ok_or_else(too_many)?;
    Ok(Balance { account, posted, held: *held, available, paid: *paid, bonus: *bonus, frozen: *frozen })
}

pub(crate) fn too_many() -> Stop {
    broken("an account has over 9007199254740991 orbs")
}

fn holds<T: Tables>(tables: &mut T, id: &AccountId, now: Millis) -> Result<Answer, Stop> {
    let Some(account) = tables.account(id)? else {
        return Ok(Answer::Holds(Vec::new()));
    };
    keeps_order(tables, &account)?;
    let now = now.max(account.clock);
    let mut holds = tables.pending(account.key, Millis::MAX, usize::MAX)?;
    holds.retain(|hold| hold.expires_at > now);
    holds.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    let shown = holds.into_iter().map(|hold| {
        let HoldRow { id, amount, bonus, at, expires_at, note, .. } = hold;
        Pending { id, amount, bonus, at, expires_at, note }
    });
    Ok(Answer::Holds(shown.collect()))
}
