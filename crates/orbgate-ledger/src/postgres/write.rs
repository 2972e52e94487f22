//! What a batch writes, as SQL statements.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::types::Type;

use crate::answer::{Extended, Frozen, Refunded, Revoked};
use crate::cause::State;
use crate::model::Rows;
use crate::plan::{EntryRow, HoldRow, Receipt, Remark, Settlement};
use crate::postgres::client::Statement;
use crate::postgres::named::Named;
use crate::postgres::rows::{number, texts};
use crate::value::{Id, Millis};

/// A statement with the columns of rows as arrays.
macro_rules! rows {
    ($sql:expr, $rows:expr, |$row:ident| $($value:expr => $type:ident),+ $(,)?) => {
        Statement::new($sql)$(.with($rows.iter().map(|$row| $value).collect::<Vec<_>>(), Type::$type))+
    };
}

/// Writes what has changed, each row once: first new ids, table by table and in order, so that two batches with the same new ids
/// wait in the same order. A statement fails if another transaction has used one meanwhile.
pub(crate) fn write<'r>(before: &'r Rows, after: &'r Rows) -> Vec<Statement<'r>> {
    let holds = after.holds.iter().filter(|(id, hold)| before.holds.get(*id) != Some(*hold)).map(|(_, hold)| hold);
    let holds: Vec<&HoldRow> = holds.collect();
    let is_new = |hold: &&HoldRow| !before.holds.contains_key(&hold.id);
    let new_holds: Vec<&HoldRow> = holds.iter().copied().filter(is_new).collect();
    // One that ended in the same batch is inserted before.
    let changed: Vec<&HoldRow> =
        holds.into_iter().filter(|hold| !is_new(hold) || hold.state != State::Pending).collect();
    let mut all = Vec::new();
    insert(before, after, &new_holds, &mut all);
    insert_of_people(before, after, &mut all);
    update(before, after, &changed, &mut all);
    if all.is_empty() { all } else { vec![Statement::calls(all)] }
}

fn insert<'r>(before: &'r Rows, after: &'r Rows, holds: &[&'r HoldRow], all: &mut Vec<Statement<'r>>) {
    let mut grants: Vec<_> =
        after.grants.iter().filter(|(key, _)| !before.grants.contains_key(*key)).map(|(_, grant)| grant).collect();
    grants.sort_by_key(|grant| &grant.id);
    let revocations: Vec<&Receipt<Revoked>> =
        after.revocations.values().filter(|row| !before.revocations.contains_key(&row.receipt.id)).collect();
    let extensions: Vec<&(Millis, Extended)> =
        after.extensions.values().filter(|(_, extended)| !before.extensions.contains_key(&extended.id)).collect();
    if !holds.is_empty() {
        all.push(new_holds(holds));
    }
    if !grants.is_empty() {
        all.push(rows!("orbs.insert_grants", grants, |grant|
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
            number(grant.refunded.get()) => INT8_ARRAY,
        ));
    }
    if !revocations.is_empty() {
        all.push(rows!("orbs.insert_revocations", revocations, |row|
            row.receipt.id.as_str() => TEXT_ARRAY,
            row.account => INT8_ARRAY,
            row.receipt.grant.as_str() => TEXT_ARRAY,
            number(row.receipt.amount.get()) => INT8_ARRAY,
            number(row.receipt.at.get()) => INT8_ARRAY,
            stated(row) => INT8_ARRAY,
        ));
    }
    if !extensions.is_empty() {
        all.push(rows!("orbs.insert_extensions", extensions, |row|
            row.1.id.as_str() => TEXT_ARRAY,
            row.1.hold.as_str() => TEXT_ARRAY,
            number(row.0.get()) => INT8_ARRAY,
            number(row.1.expires_at.get()) => INT8_ARRAY,
            number(row.1.at.get()) => INT8_ARRAY,
        ));
    }
}

/// New rows of what people do: refunds and freezes, and what their commands say.
fn insert_of_people<'r>(before: &'r Rows, after: &'r Rows, all: &mut Vec<Statement<'r>>) {
    let refunds: Vec<&Receipt<Refunded>> =
        after.refunds.values().filter(|row| !before.refunds.contains_key(&row.receipt.id)).collect();
    let freezes: Vec<&Receipt<Frozen>> =
        after.freezes.values().filter(|row| !before.freezes.contains_key(&row.receipt.id)).collect();
    let remarks: Vec<(&(&str, Id), &Remark)> =
        after.remarks.iter().filter(|(key, _)| !before.remarks.contains_key(*key)).collect();
    if !refunds.is_empty() {
        all.push(rows!("orbs.insert_refunds", refunds, |row|
            row.receipt.id.as_str() => TEXT_ARRAY,
            row.account => INT8_ARRAY,
            row.receipt.hold.as_str() => TEXT_ARRAY,
            number(row.receipt.amount.get()) => INT8_ARRAY,
            number(row.receipt.bonus.get()) => INT8_ARRAY,
            row.receipt.expires_at.map(|time| number(time.get())) => INT8_ARRAY,
            number(row.receipt.at.get()) => INT8_ARRAY,
            stated(row) => INT8_ARRAY,
        ));
    }
    if !freezes.is_empty() {
        all.push(rows!("orbs.insert_freezes", freezes, |row|
            row.receipt.id.as_str() => TEXT_ARRAY,
            row.account => INT8_ARRAY,
            row.receipt.frozen => BOOL_ARRAY,
            number(row.receipt.at.get()) => INT8_ARRAY,
        ));
    }
    if !remarks.is_empty() {
        all.push(rows!("orbs.insert_remarks", remarks, |row|
            row.0.0 => TEXT_ARRAY,
            row.0.1.as_str() => TEXT_ARRAY,
            row.1.note.as_str() => TEXT_ARRAY,
            row.1.author.as_str() => TEXT_ARRAY,
        ));
    }
}

/// The amount that a command stated.
fn stated<R>(row: &Receipt<R>) -> Option<i64> {
    row.stated.map(|amount| number(amount.get()))
}

fn new_holds<'r>(holds: &[&'r HoldRow]) -> Statement<'r> {
    let lines_of = |hold: &HoldRow| lines(hold.lines.iter().map(|(grant, amount)| (grant, amount.get())));
    let new = rows!("orbs.insert_holds", holds, |hold|
        hold.id.as_str() => TEXT_ARRAY,
        hold.account => INT8_ARRAY,
        number(hold.amount.get()) => INT8_ARRAY,
        hold.bonus_allowed => BOOL_ARRAY,
        number(hold.ttl.get()) => INT8_ARRAY,
        hold.note.as_str() => TEXT_ARRAY,
        number(hold.at.get()) => INT8_ARRAY,
        number(hold.bonus.get()) => INT8_ARRAY,
        number(hold.expires_at.get()) => INT8_ARRAY,
    );
    with_lines(new, holds.iter().map(|hold| lines_of(hold)))
}

/// The lines of each row. Equal ones are sent once, and each row has the number of its own.
fn with_lines<'r>(statement: Statement<'r>, lines: impl Iterator<Item = String>) -> Statement<'r> {
    let (mut numbers, mut all) = (BTreeMap::new(), Vec::new());
    let number = |text: String| {
        *numbers.entry(text).or_insert_with_key(|text| {
            all.push(text.clone());
            i32::try_from(all.len()).unwrap_or(i32::MAX)
        })
    };
    let of: Vec<i32> = lines.map(number).collect();
    statement.with(all, Type::TEXT_ARRAY).with(of, Type::INT4_ARRAY)
}

/// No order matters: the accounts of these rows are locked.
fn update<'r>(before: &'r Rows, after: &'r Rows, holds: &[&'r HoldRow], all: &mut Vec<Statement<'r>>) {
    // `was` is a compare-and-set, under the account's lock.
    let was = |hold: &HoldRow| before.holds.get(&hold.id).map_or(State::Pending, |before| before.state).name();
    let grants = after.grants.iter().filter(|(key, grant)| before.grants.get(*key).is_some_and(|old| old != *grant));
    let grants: Vec<_> = grants.map(|(_, grant)| grant).collect();
    let accounts = after.accounts.values().filter(|account| before.accounts.get(&account.key) != Some(*account));
    let accounts: Vec<_> = accounts.collect();
    if !holds.is_empty() {
        all.push(rows!("orbs.update_holds", holds, |hold|
            hold.id.as_str() => TEXT_ARRAY,
            was(hold) => TEXT_ARRAY,
            number(hold.expires_at.get()) => INT8_ARRAY,
            hold.state.name() => TEXT_ARRAY,
            settled(hold, |settlement| settlement.requested.get()) => INT8_ARRAY,
            settled(hold, |settlement| settlement.captured.get()) => INT8_ARRAY,
            settled(hold, |settlement| settlement.bonus.get()) => INT8_ARRAY,
            settled(hold, |settlement| settlement.shortfall.get()) => INT8_ARRAY,
            hold.settlement.as_ref().map(|settlement| settlement.late) => BOOL_ARRAY,
            settled(hold, |settlement| settlement.at.get()) => INT8_ARRAY,
        ));
    }
    if !grants.is_empty() {
        all.push(rows!("orbs.update_grants", grants, |grant|
            grant.account => INT8_ARRAY,
            number(grant.seq) => INT8_ARRAY,
            number(grant.available.get()) => INT8_ARRAY,
            number(grant.held.get()) => INT8_ARRAY,
            number(grant.captured.get()) => INT8_ARRAY,
            number(grant.expired.get()) => INT8_ARRAY,
            number(grant.revoked.get()) => INT8_ARRAY,
            number(grant.refunded.get()) => INT8_ARRAY,
        ));
    }
    if !accounts.is_empty() {
        all.push(rows!("orbs.update_accounts", accounts, |account|
            account.key => INT8_ARRAY,
            number(account.clock.get()) => INT8_ARRAY,
            number(account.seq) => INT8_ARRAY,
            number(account.paid.get()) => INT8_ARRAY,
            number(account.bonus.get()) => INT8_ARRAY,
            number(account.held.get()) => INT8_ARRAY,
            account.next_due.map(|due| number(due.get())) => INT8_ARRAY,
            account.frozen => BOOL_ARRAY,
        ));
    }
    if !after.entries.is_empty() {
        let lines_of = |entry: &EntryRow| {
            lines(entry.lines.iter().map(|line| (line.grant, line.available, line.held, line.captured)))
        };
        let entries = rows!("orbs.insert_entries", after.entries, |entry|
            entry.account => INT8_ARRAY,
            number(entry.seq) => INT8_ARRAY,
            number(entry.at.get()) => INT8_ARRAY,
            entry.cause.name() => TEXT_ARRAY,
            entry.id.as_str() => TEXT_ARRAY,
            number(entry.paid.get()) => INT8_ARRAY,
            number(entry.bonus.get()) => INT8_ARRAY,
            number(entry.held.get()) => INT8_ARRAY,
            number(entry.shortfall.get()) => INT8_ARRAY,
        );
        all.push(with_lines(entries, after.entries.iter().map(lines_of)));
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
