//! What a batch writes, as SQL statements.

use std::collections::BTreeSet;

use tokio_postgres::types::Type;

use crate::answer::{Extended, Revoked};
use crate::model::Rows;
use crate::plan::{HoldRow, Settlement};
use crate::postgres::client::Statement;
use crate::postgres::named::Named;
use crate::postgres::rows::{number, texts};
use crate::value::Millis;

/// A statement with more columns of rows, as arrays.
macro_rules! columns {
    ($statement:expr, $rows:expr, |$row:ident| $($value:expr => $type:ident),+ $(,)?) => {
        $statement$(.with($rows.iter().map(|$row| $value).collect::<Vec<_>>(), Type::$type))+
    };
}

/// A statement with the columns of rows as arrays.
macro_rules! rows {
    ($sql:expr, $($columns:tt)+) => {
        columns!(Statement::new($sql), $($columns)+)
    };
}

/// A statement that changes rows, and then fails unless there are so many: the number comes after the columns. A row that isn't there
/// contradicts what was read under the lock.
macro_rules! changed {
    ($count:literal, $($sql:expr),+) => {
        concat!("WITH changed AS (", $($sql),+, " RETURNING 1) SELECT 1 / (count(*) = ", $count, ")::int FROM changed")
    };
}

/// Writes what has changed, each row once: first new ids, table by table and in order, so that two batches with the same new ids
/// wait in the same order. A statement fails if another transaction has used one meanwhile.
pub(crate) fn write<'r>(before: &'r Rows, after: &'r Rows) -> Vec<Statement<'r>> {
    let holds = after.holds.iter().filter(|(id, hold)| before.holds.get(*id) != Some(*hold)).map(|(_, hold)| hold);
    let (old_holds, new_holds): (Vec<&HoldRow>, Vec<&HoldRow>) =
        holds.partition(|hold| before.holds.contains_key(&hold.id));
    let mut all = Vec::new();
    insert(before, after, &new_holds, &mut all);
    update(before, after, &old_holds, &mut all);
    all
}

fn insert<'r>(before: &'r Rows, after: &'r Rows, holds: &[&'r HoldRow], all: &mut Vec<Statement<'r>>) {
    let mut grants: Vec<_> =
        after.grants.iter().filter(|(key, _)| !before.grants.contains_key(*key)).map(|(_, grant)| grant).collect();
    grants.sort_by_key(|grant| &grant.id);
    let revocations: Vec<&(i64, Revoked)> =
        after.revocations.values().filter(|(_, revoked)| !before.revocations.contains_key(&revoked.id)).collect();
    let extensions: Vec<&(Millis, Extended)> =
        after.extensions.values().filter(|(_, extended)| !before.extensions.contains_key(&extended.id)).collect();
    if !holds.is_empty() {
        all.push(new_holds(holds));
    }
    if !grants.is_empty() {
        all.push(rows!("INSERT INTO orbs.grants SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], \
             $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])",
            grants, |grant|
            grant.account => INT8_ARRAY,
            number(grant.seq) => INT8_ARRAY,
            grant.id.as_str() => TEXT_ARRAY,
            grant.bucket.name() => TEXT_ARRAY,
            number(grant.amount.get()) => INT8_ARRAY,
            grant.expires_at.map(|time| number(time.get())) => INT8_ARRAY,
            number(grant.at.get()) => INT8_ARRAY,
            number(grant.available.get()) => INT8_ARRAY,
            number(grant.held.get()) => INT8_ARRAY,
            number(grant.captured.get()) => INT8_ARRAY,
            number(grant.expired.get()) => INT8_ARRAY,
            number(grant.revoked.get()) => INT8_ARRAY,
        ));
    }
    if !revocations.is_empty() {
        let sql = "INSERT INTO orbs.revocation SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[])";
        all.push(rows!(sql, revocations, |row|
            row.1.id.as_str() => TEXT_ARRAY,
            row.0 => INT8_ARRAY,
            row.1.grant.as_str() => TEXT_ARRAY,
            number(row.1.amount.get()) => INT8_ARRAY,
            number(row.1.at.get()) => INT8_ARRAY,
        ));
    }
    if !extensions.is_empty() {
        let sql = "INSERT INTO orbs.extension SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])";
        all.push(rows!(sql, extensions, |row|
            row.1.id.as_str() => TEXT_ARRAY,
            row.1.hold.as_str() => TEXT_ARRAY,
            number(row.0.get()) => INT8_ARRAY,
            number(row.1.expires_at.get()) => INT8_ARRAY,
            number(row.1.at.get()) => INT8_ARRAY,
        ));
    }
}

/// Most new holds are pending, and have fewer columns. The others might have been voided before they came, or settled in this batch.
fn new_holds<'r>(holds: &[&'r HoldRow]) -> Statement<'r> {
    let is_pending = holds.iter().all(|hold| hold.settlement.is_none());
    let sql = match is_pending {
        true => {
            "INSERT INTO orbs.hold (id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, state) \
             SELECT id, account, amount, bonus_allowed, ttl, note, at, lines::jsonb, bonus, expires_at, state \
             FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::boolean[], $5::bigint[], $6::text[], $7::bigint[], \
             $8::text[], $9::bigint[], $10::bigint[], $11::text[]) \
             AS h (id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, state)"
        }
        false => {
            "INSERT INTO orbs.hold (id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, state, requested, \
             captured, captured_bonus, shortfall, late, settled_at) SELECT id, account, amount, bonus_allowed, ttl, note, at, \
             lines::jsonb, bonus, expires_at, state, requested, captured, captured_bonus, shortfall, late, settled_at \
             FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::boolean[], $5::bigint[], $6::text[], $7::bigint[], \
             $8::text[], $9::bigint[], $10::bigint[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], \
             $16::boolean[], $17::bigint[]) AS h (id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, \
             state, requested, captured, captured_bonus, shortfall, late, settled_at)"
        }
    };
    let new = rows!(sql, holds, |hold|
        hold.id.as_str() => TEXT_ARRAY,
        hold.account => INT8_ARRAY,
        number(hold.amount.get()) => INT8_ARRAY,
        hold.bonus_allowed => BOOL_ARRAY,
        number(hold.ttl.get()) => INT8_ARRAY,
        hold.note.as_str() => TEXT_ARRAY,
        number(hold.at.get()) => INT8_ARRAY,
        lines(hold.lines.iter().map(|(grant, amount)| (grant, amount.get()))) => TEXT_ARRAY,
        number(hold.bonus.get()) => INT8_ARRAY,
        number(hold.expires_at.get()) => INT8_ARRAY,
        hold.state.name() => TEXT_ARRAY,
    );
    if is_pending { new } else { with_settlements(new, holds) }
}

/// The columns of settlements, after the others.
fn with_settlements<'r>(statement: Statement<'r>, holds: &[&'r HoldRow]) -> Statement<'r> {
    columns!(statement, holds, |hold|
        settled(hold, |settlement| settlement.requested.get()) => INT8_ARRAY,
        settled(hold, |settlement| settlement.captured.get()) => INT8_ARRAY,
        settled(hold, |settlement| settlement.bonus.get()) => INT8_ARRAY,
        settled(hold, |settlement| settlement.shortfall.get()) => INT8_ARRAY,
        hold.settlement.as_ref().map(|settlement| settlement.late) => BOOL_ARRAY,
        settled(hold, |settlement| settlement.at.get()) => INT8_ARRAY,
    )
}

/// No order matters: the accounts of these rows are locked.
fn update<'r>(before: &'r Rows, after: &'r Rows, holds: &[&'r HoldRow], all: &mut Vec<Statement<'r>>) {
    // `was` is a compare-and-set, under the account's lock.
    let was = |hold: &HoldRow| before.holds.get(&hold.id).map_or("", |before| before.state.name());
    let grants = after.grants.iter().filter(|(key, grant)| before.grants.get(*key).is_some_and(|old| old != *grant));
    let grants: Vec<_> = grants.map(|(_, grant)| grant).collect();
    let accounts = after.accounts.values().filter(|account| before.accounts.get(&account.key) != Some(*account));
    let accounts: Vec<_> = accounts.collect();
    let count = |rows: usize| i64::try_from(rows).unwrap_or(i64::MAX);
    if !holds.is_empty() {
        let sql = changed!(
            "$11",
            "UPDATE orbs.hold AS h SET expires_at = c.expires_at, state = c.state, requested = c.requested, captured = c.captured, \
             captured_bonus = c.captured_bonus, shortfall = c.shortfall, late = c.late, settled_at = c.settled_at \
             FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], \
             $9::boolean[], $10::bigint[]) AS c (id, was, expires_at, state, requested, captured, captured_bonus, shortfall, late, \
             settled_at) WHERE h.id = c.id AND h.state = c.was"
        );
        let changes = rows!(sql, holds, |hold|
            hold.id.as_str() => TEXT_ARRAY,
            was(hold) => TEXT_ARRAY,
            number(hold.expires_at.get()) => INT8_ARRAY,
            hold.state.name() => TEXT_ARRAY,
        );
        all.push(with_settlements(changes, holds).with(count(holds.len()), Type::INT8));
    }
    if !grants.is_empty() {
        let sql = changed!(
            "$8",
            "UPDATE orbs.grants AS g SET available = c.available, held = c.held, captured = c.captured, expired = c.expired, \
             revoked = c.revoked FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], \
             $7::bigint[]) AS c (account, seq, available, held, captured, expired, revoked) \
             WHERE g.account = c.account AND g.seq = c.seq"
        );
        let changes = rows!(sql, grants, |grant|
            grant.account => INT8_ARRAY,
            number(grant.seq) => INT8_ARRAY,
            number(grant.available.get()) => INT8_ARRAY,
            number(grant.held.get()) => INT8_ARRAY,
            number(grant.captured.get()) => INT8_ARRAY,
            number(grant.expired.get()) => INT8_ARRAY,
            number(grant.revoked.get()) => INT8_ARRAY,
        );
        all.push(changes.with(count(grants.len()), Type::INT8));
    }
    if !accounts.is_empty() {
        let sql = changed!(
            "$8",
            "UPDATE orbs.account AS a SET clock = c.clock, seq = c.seq, paid = c.paid, bonus = c.bonus, held = c.held, \
             next_due = c.next_due FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], \
             $7::bigint[]) AS c (key, clock, seq, paid, bonus, held, next_due) WHERE a.key = c.key"
        );
        let changes = rows!(sql, accounts, |account|
            account.key => INT8_ARRAY,
            number(account.clock.get()) => INT8_ARRAY,
            number(account.seq) => INT8_ARRAY,
            number(account.paid.get()) => INT8_ARRAY,
            number(account.bonus.get()) => INT8_ARRAY,
            number(account.held.get()) => INT8_ARRAY,
            account.next_due.map(|due| number(due.get())) => INT8_ARRAY,
        );
        all.push(changes.with(count(accounts.len()), Type::INT8));
    }
    if !after.entries.is_empty() {
        all.push(rows!(
            "INSERT INTO orbs.entry (account, seq, at, cause, id, lines, paid, bonus, held, shortfall) \
             SELECT account, seq, at, cause, id, lines::jsonb, paid, bonus, held, shortfall FROM unnest($1::bigint[], $2::bigint[], \
             $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[]) \
             AS e (account, seq, at, cause, id, lines, paid, bonus, held, shortfall)", after.entries, |entry|
            entry.account => INT8_ARRAY,
            number(entry.seq) => INT8_ARRAY,
            number(entry.at.get()) => INT8_ARRAY,
            entry.cause.name() => TEXT_ARRAY,
            entry.id.as_str() => TEXT_ARRAY,
            lines(entry.lines.iter().map(|line| (line.grant, line.available, line.held, line.captured))) => TEXT_ARRAY,
            number(entry.paid.get()) => INT8_ARRAY,
            number(entry.bonus.get()) => INT8_ARRAY,
            number(entry.held.get()) => INT8_ARRAY,
            number(entry.shortfall.get()) => INT8_ARRAY,
        ));
    }
}

/// Writes something that changes nothing, so that the commit waits until what is answered again is durable, on standbys too.
pub(crate) fn touch<'n>(locked: &BTreeSet<i64>, named: &'n Named<'_>) -> Vec<Statement<'n>> {
    let keys: Vec<i64> = locked.iter().copied().collect();
    let ids = texts(named.holds.iter().copied());
    let accounts =
        Statement::new("UPDATE orbs.account SET seq = seq WHERE key = ANY ($1)").with(keys, Type::INT8_ARRAY);
    let holds = Statement::new("UPDATE orbs.hold SET note = note WHERE id = ANY ($1) AND account IS NULL");
    vec![accounts, holds.with(ids, Type::TEXT_ARRAY)]
}

/// A column of a settlement.
fn settled(hold: &HoldRow, column: impl FnOnce(&Settlement) -> u64) -> Option<i64> {
    hold.settlement.as_ref().map(|settlement| number(column(settlement)))
}

/// Lines as a JSON array.
fn lines(lines: impl Iterator<Item = impl serde::Serialize>) -> String {
    serde_json::to_string(&lines.collect::<Vec<_>>()).unwrap_or_default()
}
