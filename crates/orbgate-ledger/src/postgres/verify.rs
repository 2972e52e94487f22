//! Checks a ledger, in short reads.

use ::postgres::{Client, IsolationLevel, Row};

use crate::answer::{Cause, State};
use crate::error::Error;
use crate::plan::{AccountRow, EntryRow, GrantRow, HoldRow, LineRow, Settlement};
use crate::postgres::connection::Connection;
use crate::value::{AccountId, Bucket, Id, Millis, Note, Orbs};
use crate::verify::{Faults, Fold};

/// The rows of a read.
const PAGE: i64 = 1000;

/// A row that the ledger can't have written.
#[derive(Debug)]
struct Strange;

pub(crate) fn verify(connection: &mut Connection) -> Result<Faults, Error> {
    let mut faults = Faults::default();
    let mut after = 0_i64;
    loop {
        let sql = "SELECT key, id FROM orbs.account WHERE key > $1 ORDER BY key LIMIT $2";
        let accounts = connection.read(|client| client.query(sql, &[&after, &PAGE]))?;
        if accounts.is_empty() {
            return Ok(faults);
        }
        for row in accounts {
            after = row.get(0);
            verify_account(connection, after, row.get(1), &mut faults)?;
        }
    }
}

/// What a page has: entries, and the rows that they are compared with.
struct Read {
    entries: Vec<EntryRow>,
    holds: Vec<HoldRow>,
    account: Vec<AccountRow>,
    grants: Vec<GrantRow>,
}

fn verify_account(connection: &mut Connection, key: i64, id: String, faults: &mut Faults) -> Result<(), Error> {
    let strange = |_| Error::Unknown("postgres: a row that the ledger doesn't write".to_owned());
    let mut fold = Fold::new(AccountId::new(id).map_err(|error| Error::Unknown(error.to_string()))?);
    loop {
        let (seq, open) = (i64::try_from(fold.seq()).unwrap_or(i64::MAX), fold.holds());
        let read = connection.read(|client| read(client, key, seq, &open))?.map_err(strange)?;
        for entry in &read.entries {
            fold.entry(entry, faults);
        }
        let is_last = i64::try_from(read.entries.len()).is_ok_and(|length| length < PAGE);
        let settled = fold.settled();
        for hold in read.holds.iter().filter(|hold| is_last || settled.contains(&hold.id)) {
            fold.hold(hold, faults);
        }
        if let (true, Some(account)) = (is_last, read.account.first()) {
            fold.finish(account, &read.grants, faults);
            return Ok(());
        }
    }
}

/// Reads a page in one snapshot.
fn read(client: &mut Client, key: i64, seq: i64, open: &[Id]) -> Result<Result<Read, Strange>, ::postgres::Error> {
    let transaction = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let mut transaction = transaction.start()?;
    let sql = "SELECT seq, at, cause, id, lines::text, paid, bonus, held, shortfall FROM orbs.entry \
               WHERE account = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    let entries = transaction.query(sql, &[&key, &seq, &PAGE])?;
    let mut ids: Vec<String> = open.iter().map(|id| id.as_str().to_owned()).collect();
    ids.extend(entries.iter().map(|row| row.get::<_, String>(3)));
    let sql = "SELECT id, amount, bonus_allowed, ttl, note, at, lines::text, bonus, expires_at, state, requested, captured, \
               captured_bonus, shortfall, late, settled_at FROM orbs.hold \
               WHERE account = $1 AND (id = ANY ($2) OR state = 'pending')";
    let holds = transaction.query(sql, &[&key, &ids])?;
    let account =
        transaction.query("SELECT id, clock, seq, paid, bonus, held FROM orbs.account WHERE key = $1", &[&key])?;
    let sql = "SELECT seq, id, bucket, amount, expires_at, at, available, held, captured, expired, revoked \
               FROM orbs.grants WHERE account = $1";
    let grants = transaction.query(sql, &[&key])?;
    let read = || {
        Ok(Read {
            entries: entries.iter().map(|row| entry_row(row, key)).collect::<Result<_, Strange>>()?,
            holds: holds.iter().map(|row| hold_row(row, key)).collect::<Result<_, Strange>>()?,
            account: account.iter().map(|row| account_row(row, key)).collect::<Result<_, Strange>>()?,
            grants: grants.iter().map(|row| grant_row(row, key)).collect::<Result<_, Strange>>()?,
        })
    };
    Ok(read())
}

fn number(row: &Row, index: usize) -> Result<u64, Strange> {
    u64::try_from(row.get::<_, i64>(index)).map_err(|_| Strange)
}

fn orbs(row: &Row, index: usize) -> Result<Orbs, Strange> {
    Orbs::new(number(row, index)?).map_err(|_| Strange)
}

fn time(row: &Row, index: usize) -> Result<Millis, Strange> {
    Millis::new(number(row, index)?).map_err(|_| Strange)
}

fn id(row: &Row, index: usize) -> Result<Id, Strange> {
    Id::new(row.get::<_, String>(index)).map_err(|_| Strange)
}

fn json<T: serde::de::DeserializeOwned>(row: &Row, index: usize) -> Result<T, Strange> {
    serde_json::from_str(row.get(index)).map_err(|_| Strange)
}

fn entry_row(row: &Row, account: i64) -> Result<EntryRow, Strange> {
    let lines: Vec<(u64, i64, i64, i64)> = json(row, 4)?;
    let lines = lines.into_iter();
    Ok(EntryRow {
        account,
        seq: number(row, 0)?,
        at: time(row, 1)?,
        cause: Cause::from_name(row.get(2)).ok_or(Strange)?,
        id: id(row, 3)?,
        lines: lines.map(|(grant, available, held, captured)| LineRow { grant, available, held, captured }).collect(),
        paid: orbs(row, 5)?,
        bonus: orbs(row, 6)?,
        held: orbs(row, 7)?,
        shortfall: orbs(row, 8)?,
    })
}

fn hold_row(row: &Row, account: i64) -> Result<HoldRow, Strange> {
    let state = State::from_name(row.get(9)).ok_or(Strange)?;
    let settlement = match state {
        State::Pending | State::Expired => None,
        State::Captured | State::Voided => Some(Settlement {
            requested: orbs(row, 10)?,
            captured: orbs(row, 11)?,
            bonus: orbs(row, 12)?,
            shortfall: orbs(row, 13)?,
            late: row.get(14),
            at: time(row, 15)?,
        }),
    };
    Ok(HoldRow {
        id: id(row, 0)?,
        account: Some(account),
        amount: orbs(row, 1)?,
        bonus_allowed: row.get(2),
        ttl: time(row, 3)?,
        note: Note::new(row.get::<_, String>(4)).map_err(|_| Strange)?,
        at: time(row, 5)?,
        lines: json(row, 6)?,
        bonus: orbs(row, 7)?,
        expires_at: time(row, 8)?,
        state,
        settlement,
    })
}

fn account_row(row: &Row, key: i64) -> Result<AccountRow, Strange> {
    let id = AccountId::new(row.get::<_, String>(0)).map_err(|_| Strange)?;
    let (clock, seq, next_due) = (time(row, 1)?, number(row, 2)?, None);
    Ok(AccountRow { key, id, clock, seq, paid: orbs(row, 3)?, bonus: orbs(row, 4)?, held: orbs(row, 5)?, next_due })
}

fn grant_row(row: &Row, account: i64) -> Result<GrantRow, Strange> {
    let bucket = match row.get(2) {
        "paid" => Bucket::Paid,
        "bonus" => Bucket::Bonus,
        _ => return Err(Strange),
    };
    let expires_at = row.get::<_, Option<i64>>(4).map(|_| time(row, 4)).transpose()?;
    Ok(GrantRow {
        account,
        seq: number(row, 0)?,
        id: id(row, 1)?,
        bucket,
        amount: orbs(row, 3)?,
        expires_at,
        at: time(row, 5)?,
        available: orbs(row, 6)?,
        held: orbs(row, 7)?,
        captured: orbs(row, 8)?,
        expired: orbs(row, 9)?,
        revoked: orbs(row, 10)?,
    })
}
