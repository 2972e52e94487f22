//! Reads rows from columns, which every store selects in the same order.

use serde::de::DeserializeOwned;

use crate::answer::{Extended, Frozen, Refunded, Revoked};
use crate::cause::{Cause, State};
use crate::plan::{AccountRow, EntryRow, GrantRow, HoldRow, LineRow, Receipt, Settlement};
use crate::value::{AccountId, Bucket, Id, MAX, Millis, Note, Orbs};

/// The columns of a row.
pub(crate) trait Columns {
    type Error;

    fn integer(&self, index: usize) -> Result<Option<i64>, Self::Error>;
    fn text(&self, index: usize) -> Result<&str, Self::Error>;
    fn flag(&self, index: usize) -> Result<bool, Self::Error>;

    /// The error of a value that this version can't have written.
    fn wrong(index: usize) -> Self::Error;

    fn key(&self, index: usize) -> Result<i64, Self::Error> {
        self.integer(index)?.ok_or_else(|| Self::wrong(index))
    }

    fn number(&self, index: usize) -> Result<u64, Self::Error> {
        let number = u64::try_from(self.key(index)?).ok();
        number.filter(|number| *number <= MAX).ok_or_else(|| Self::wrong(index))
    }

    fn orbs(&self, index: usize) -> Result<Orbs, Self::Error> {
        Orbs::new(self.number(index)?).map_err(|_| Self::wrong(index))
    }

    fn optional_orbs(&self, index: usize) -> Result<Option<Orbs>, Self::Error> {
        self.integer(index)?.map(|_| self.orbs(index)).transpose()
    }

    fn time(&self, index: usize) -> Result<Millis, Self::Error> {
        Millis::new(self.number(index)?).map_err(|_| Self::wrong(index))
    }

    fn optional_time(&self, index: usize) -> Result<Option<Millis>, Self::Error> {
        self.integer(index)?.map(|_| self.time(index)).transpose()
    }

    fn name<T, E>(&self, index: usize, new: impl FnOnce(String) -> Result<T, E>) -> Result<T, Self::Error> {
        new(self.text(index)?.to_owned()).map_err(|_| Self::wrong(index))
    }

    fn word<T>(&self, index: usize, of: fn(&str) -> Option<T>) -> Result<T, Self::Error> {
        of(self.text(index)?).ok_or_else(|| Self::wrong(index))
    }

    fn json<T: DeserializeOwned>(&self, index: usize) -> Result<T, Self::Error> {
        serde_json::from_str(self.text(index)?).map_err(|_| Self::wrong(index))
    }
}

pub(crate) fn account<C: Columns>(row: &C) -> Result<AccountRow, C::Error> {
    Ok(AccountRow {
        key: row.key(0)?,
        id: row.name(1, AccountId::new)?,
        clock: row.time(2)?,
        seq: row.number(3)?,
        paid: row.orbs(4)?,
        bonus: row.orbs(5)?,
        held: row.orbs(6)?,
        next_due: row.optional_time(7)?,
        frozen: row.flag(8)?,
    })
}

pub(crate) fn grant<C: Columns>(row: &C) -> Result<GrantRow, C::Error> {
    Ok(GrantRow {
        account: row.key(0)?,
        seq: row.number(1)?,
        id: row.name(2, Id::new)?,
        bucket: row.word(3, Bucket::from_name)?,
        amount: row.orbs(4)?,
        expires_at: row.optional_time(5)?,
        at: row.time(6)?,
        available: row.orbs(7)?,
        held: row.orbs(8)?,
        captured: row.orbs(9)?,
        expired: row.orbs(10)?,
        revoked: row.orbs(11)?,
        refunded: row.orbs(12)?,
    })
}

pub(crate) fn hold<C: Columns>(row: &C) -> Result<HoldRow, C::Error> {
    let state = row.word(10, State::from_name)?;
    let settlement = match state {
        State::Pending | State::Expired => None,
        State::Captured | State::Voided => Some(Settlement {
            requested: row.orbs(11)?,
            captured: row.orbs(12)?,
            bonus: row.orbs(13)?,
            shortfall: row.orbs(14)?,
            late: row.flag(15)?,
            at: row.time(16)?,
        }),
    };
    Ok(HoldRow {
        id: row.name(0, Id::new)?,
        account: row.integer(1)?,
        amount: row.orbs(2)?,
        bonus_allowed: row.flag(3)?,
        ttl: row.time(4)?,
        note: row.name(5, Note::new)?,
        at: row.time(6)?,
        lines: row.json(7)?,
        bonus: row.orbs(8)?,
        expires_at: row.time(9)?,
        state,
        settlement,
    })
}

pub(crate) fn revocation<C: Columns>(row: &C) -> Result<Receipt<Revoked>, C::Error> {
    let (account, grant, amount) = (row.name(6, AccountId::new)?, row.name(2, Id::new)?, row.orbs(3)?);
    let receipt = Revoked { id: row.name(0, Id::new)?, account, grant, amount, at: row.time(4)? };
    Ok(Receipt { account: row.key(1)?, stated: row.optional_orbs(5)?, receipt })
}

pub(crate) fn refund<C: Columns>(row: &C) -> Result<Receipt<Refunded>, C::Error> {
    let receipt = Refunded {
        id: row.name(0, Id::new)?,
        hold: row.name(2, Id::new)?,
        account: row.name(8, AccountId::new)?,
        amount: row.orbs(3)?,
        bonus: row.orbs(4)?,
        expires_at: row.optional_time(5)?,
        at: row.time(6)?,
    };
    Ok(Receipt { account: row.key(1)?, stated: row.optional_orbs(7)?, receipt })
}

pub(crate) fn freeze<C: Columns>(row: &C) -> Result<Receipt<Frozen>, C::Error> {
    let (id, account) = (row.name(0, Id::new)?, row.name(4, AccountId::new)?);
    let receipt = Frozen { id, account, frozen: row.flag(2)?, at: row.time(3)? };
    Ok(Receipt { account: row.key(1)?, stated: None, receipt })
}

/// The time to live and the receipt of an extension.
pub(crate) fn extension<C: Columns>(row: &C) -> Result<(Millis, Extended), C::Error> {
    let (id, hold) = (row.name(0, Id::new)?, row.name(1, Id::new)?);
    Ok((row.time(2)?, Extended { id, hold, expires_at: row.time(3)?, at: row.time(4)? }))
}

pub(crate) fn entry<C: Columns>(row: &C) -> Result<EntryRow, C::Error> {
    let lines: Vec<(u64, i64, i64, i64)> = row.json(5)?;
    let lines = lines.into_iter();
    let lines = lines.map(|(grant, available, held, captured)| LineRow { grant, available, held, captured }).collect();
    Ok(EntryRow {
        account: row.key(0)?,
        seq: row.number(1)?,
        at: row.time(2)?,
        cause: row.word(3, Cause::from_name)?,
        id: row.name(4, Id::new)?,
        lines,
        paid: row.orbs(6)?,
        bonus: row.orbs(7)?,
        held: row.orbs(8)?,
        shortfall: row.orbs(9)?,
    })
}
