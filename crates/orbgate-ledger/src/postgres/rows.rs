//! The rows of a batch as SQL statements: what it locks, what it reads under its locks, and what it writes at once.
//!
//! No statement has a name, so that a pool may give each transaction another connection.

use std::collections::{BTreeMap, BTreeSet};

use ::postgres::types::{ToSql, Type};
use ::postgres::{Client, Row};

use crate::answer::{Extended, Revoked, State};
use crate::columns::{self, Columns};
use crate::command::Command;
use crate::model::{Bounds, Rows};
use crate::plan::{AccountRow, HoldRow, Settlement};
use crate::postgres::failed::{Failed, failed, wrong};
use crate::value::{AccountId, Id, Millis, Orbs, Order};

/// The most commands of a batch, and the most that one writes of what has expired.
pub(crate) const BATCH: usize = 200;

/// How much of what has expired is read of an account at least, although a batch has many accounts.
const LEAST_DUE: usize = 8;

/// How many grants of a bucket are read at least. A command that takes from more comes again, and then all are read.
const LEAST_GRANTS: i64 = 16;

/// The accounts and the ids that commands name.
#[derive(Debug, Default)]
pub(crate) struct Named<'c> {
    accounts: BTreeSet<&'c AccountId>,
    /// Those that a grant may create.
    new_accounts: BTreeSet<&'c AccountId>,
    grants: BTreeSet<&'c Id>,
    pub(crate) holds: BTreeSet<&'c Id>,
    /// Those that name no account, so that their rows say which it is.
    resolved: BTreeSet<&'c Id>,
    revocations: BTreeSet<&'c Id>,
    extensions: BTreeSet<&'c Id>,
    /// Every pending hold is listed.
    lists: bool,
    /// Those whose balance is read, as it will be once everything that has expired is written.
    seen: BTreeSet<&'c AccountId>,
    count: i64,
    /// How many of the commands might end or extend a pending hold.
    ends: i64,
    /// The accounts whose backlog the last batch didn't finish, and those of which all open grants are read.
    behind: BTreeSet<i64>,
    whole: BTreeSet<i64>,
}

impl<'c> Named<'c> {
    pub(crate) fn new(commands: &[&'c Command]) -> Self {
        let mut named = Self { count: i64::try_from(commands.len().min(BATCH)).unwrap_or(i64::MAX), ..Self::default() };
        for command in commands {
            named.accounts.extend(command.account());
            match command {
                Command::Grant(grant) => {
                    named.grants.insert(&grant.id);
                    named.new_accounts.extend((grant.amount > Orbs::ZERO).then_some(&grant.account));
                }
                Command::Revoke(revoke) => {
                    named.grants.insert(&revoke.grant);
                    named.revocations.insert(&revoke.id);
                }
                Command::Hold(hold) => drop(named.holds.insert(&hold.id)),
                Command::Extend(extend) => {
                    named.ends = named.ends.saturating_add(1);
                    named.holds.insert(&extend.hold);
                    named.resolved.insert(&extend.hold);
                    named.extensions.insert(&extend.id);
                }
                Command::Settle(settle) => {
                    named.ends = named.ends.saturating_add(1);
                    named.holds.insert(&settle.hold);
                    named.resolved.insert(&settle.hold);
                }
                Command::Balance(account) => drop(named.seen.insert(account)),
                Command::Holds(_) => named.lists = true,
            }
        }
        named
    }

    /// The same with what the last batch knows of its accounts.
    pub(crate) fn after(self, behind: &BTreeSet<i64>, whole: &BTreeSet<i64>) -> Self {
        Self { behind: behind.clone(), whole: whole.clone(), ..self }
    }

    /// Accounts in which a batch of what has expired is written.
    pub(crate) fn due(accounts: &'c [AccountId]) -> Self {
        Self { accounts: accounts.iter().collect(), ..Self::default() }
    }

    /// How much of what has expired is read of each account, and may be written: more of those that wait for it.
    fn bounds(&self, rows: &Rows) -> Bounds {
        let waiting = rows.accounts.keys().filter(|key| self.behind.contains(key)).count();
        let each = |accounts: usize| BATCH.checked_div(accounts).unwrap_or(BATCH).max(LEAST_DUE);
        let (waiting, other) = (each(waiting), each(rows.accounts.len()));
        let due = rows.accounts.keys().map(|key| (*key, if self.behind.contains(key) { waiting } else { other }));
        // The first account with a backlog leaves something to the others.
        let share = if self.count > 1 { 2 } else { 1 };
        Bounds { left: Some((BATCH, share)), due: due.collect(), ..Bounds::default() }
    }
}

/// What a batch has read. Only accounts that it has locked are in `rows`.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) rows: Rows,
    pub(crate) now: Millis,
    pub(crate) order: Order,
    pub(crate) locked: BTreeSet<i64>,
    /// The accounts that exist, locked or not.
    pub(crate) keys: BTreeMap<AccountId, i64>,
}

pub(crate) type Parameters<'p> = &'p [(&'p (dyn ToSql + Sync), Type)];

fn query(client: &mut Client, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, Failed> {
    client.query_typed(sql, parameters).map_err(failed)
}

fn texts<'t>(values: impl IntoIterator<Item = &'t (impl AsRef<str> + ?Sized + 't)>) -> Vec<&'t str> {
    values.into_iter().map(AsRef::as_ref).collect()
}

pub(crate) fn strange<E>(_: E) -> Failed {
    wrong("postgres: a row that the ledger doesn't write".to_owned())
}

macro_rules! select {
    (account) => {
        "key, id, clock, seq, paid, bonus, held, NULL::bigint"
    };
    (account a) => {
        "a.key, a.id, a.clock, a.seq, a.paid, a.bonus, a.held, NULL::bigint"
    };
    (grants) => {
        "account, seq, id, bucket, amount, expires_at, at, available, held, captured, expired, revoked"
    };
    (grants g) => {
        "g.account, g.seq, g.id, g.bucket, g.amount, g.expires_at, g.at, g.available, g.held, g.captured, g.expired, g.revoked"
    };
    (hold) => {
        "id, account, amount, bonus_allowed, ttl, note, at, lines::text, bonus, expires_at, state, requested, captured, \
         captured_bonus, shortfall, late, settled_at"
    };
    (entry) => {
        "account, seq, at, cause, id, lines::text, paid, bonus, held, shortfall"
    };
    (entry e) => {
        "e.account, e.seq, e.at, e.cause, e.id, e.lines::text, e.paid, e.bonus, e.held, e.shortfall"
    };
}
pub(crate) use select;

/// How many columns of an account there are.
const ACCOUNT: usize = 8;

/// The time, the version and the order.
macro_rules! time {
    () => {
        "floor(extract(epoch FROM t.now) * 1000)::bigint, (SELECT value FROM orbs.setting WHERE name = 'version'), \
         (SELECT value FROM orbs.setting WHERE name = 'order') FROM (SELECT clock_timestamp() AS now) AS t"
    };
}

/// Creates and locks the accounts, in the order of their ids, so that two batches can't wait for each other: those that commands name, and
/// those of the holds that they name. An account that is locked elsewhere is left out if `skips`.
fn lock(client: &mut Client, named: &Named<'_>, skips: bool) -> Result<BTreeSet<i64>, Failed> {
    if !named.new_accounts.is_empty() {
        let ids = texts(named.new_accounts.iter().copied());
        let rows = query(client, "SELECT id FROM orbs.account WHERE id = ANY ($1)", &[(&ids, Type::TEXT_ARRAY)])?;
        let known: BTreeSet<&str> = rows.iter().map(|row| row.get(0)).collect();
        let missing: Vec<&str> = ids.into_iter().filter(|id| !known.contains(id)).collect();
        if !missing.is_empty() {
            let sql = "INSERT INTO orbs.account (id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING";
            query(client, sql, &[(&missing, Type::TEXT_ARRAY)])?;
        }
    }
    macro_rules! locks {
        ($skips:literal) => {
            concat!(
                "SELECT key FROM orbs.account WHERE id = ANY ($1) OR key = ANY (ARRAY(\
                 SELECT account FROM orbs.hold WHERE id = ANY ($2) AND account IS NOT NULL)) ORDER BY id FOR UPDATE",
                $skips
            )
        };
    }
    let (ids, holds) = (texts(named.accounts.iter().copied()), texts(named.resolved.iter().copied()));
    let sql = if skips { locks!(" SKIP LOCKED") } else { locks!("") };
    let rows = query(client, sql, &[(&ids, Type::TEXT_ARRAY), (&holds, Type::TEXT_ARRAY)])?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Locks, and then reads the time and the rows. A statement that locked and read at once would see grants as they were before it
/// waited.
pub(crate) fn read(client: &mut Client, named: &Named<'_>, skips: bool, given: Option<Millis>) -> Result<Read, Failed> {
    let locked = lock(client, named, skips)?;
    let all: Vec<i64> = locked.iter().copied().collect();
    let ids = texts(named.accounts.iter().copied());
    let sql = concat!(
        "SELECT ",
        select!(account a),
        ", ",
        time!(),
        " LEFT JOIN orbs.account AS a ON a.id = ANY ($1) OR a.key = ANY ($2)"
    );
    let found = query(client, sql, &[(&ids, Type::TEXT_ARRAY), (&all, Type::INT8_ARRAY)])?;
    let (now, order) = time_of(found.first().ok_or_else(|| strange(()))?, ACCOUNT, given)?;
    let mut read = Read { rows: Rows::default(), now, order, locked, keys: BTreeMap::new() };
    for row in &found {
        if row.integer(0).map_err(strange)?.is_none() {
            continue;
        }
        let account = columns::account(row).map_err(strange)?;
        read.keys.insert(account.id.clone(), account.key);
        if read.locked.contains(&account.key) {
            // One without entries was only created.
            match account.seq {
                0 => drop(read.rows.keys.insert(account.id, account.key)),
                _ => drop(read.rows.accounts.insert(account.key, account)),
            }
        }
    }
    read.rows.bounds = named.bounds(&read.rows);
    holds(client, named, now, &mut read.rows)?;
    grants(client, named, now, &mut read.rows)?;
    others(client, named, &mut read.rows)?;
    due(&mut read.rows);
    Ok(read)
}

/// The version of the schema that this program reads and writes.
pub(crate) const VERSION: &str = "4";

pub(crate) fn another_version(version: &str) -> Failed {
    wrong(format!("the version of the ledger is `{version}`; this program knows `{VERSION}`"))
}

/// The time, and the order in which orbs are taken. The schema must still be of this version.
pub(crate) fn time(client: &mut Client, given: Option<Millis>) -> Result<(Millis, Order), Failed> {
    time_of(&client.query_typed_one(concat!("SELECT ", time!()), &[]).map_err(failed)?, 0, given)
}

/// The same of a row that has them after other columns.
fn time_of(row: &Row, at: usize, given: Option<Millis>) -> Result<(Millis, Order), Failed> {
    let text = |after: usize| row.try_get::<_, Option<&str>>(at.saturating_add(after)).map_err(strange);
    let version = text(1)?;
    if version != Some(VERSION) {
        return Err(another_version(version.unwrap_or_default()));
    }
    let order = text(2)?.and_then(Order::from_name).ok_or_else(|| strange(()))?;
    Ok((given.map_or_else(|| row.time(at).map_err(strange), Ok)?, order))
}

/// One more than may be written of what has expired, so that a batch knows whether there is more. Everything for a balance.
fn most_due(named: &Named<'_>, rows: &Rows) -> Vec<Option<i64>> {
    let most = |account: &AccountRow| {
        let due = rows.bounds.due.get(&account.key).filter(|_| !named.seen.contains(&account.id))?;
        i64::try_from(due.saturating_add(1)).ok()
    };
    rows.accounts.values().map(most).collect()
}

/// The time of each account: its clock never goes back.
fn times(rows: &Rows, now: Millis) -> Vec<i64> {
    rows.accounts.values().map(|account| number(account.clock.max(now).get())).collect()
}

/// The holds with the ids that commands name, those that have expired by now, and of the other pending ones so many that the
/// soonest is known, whatever the commands do: some end or extend one.
fn holds(client: &mut Client, named: &Named<'_>, now: Millis, rows: &mut Rows) -> Result<(), Failed> {
    let (ids, keys) = (texts(named.holds.iter().copied()), accounts(rows));
    if ids.is_empty() && keys.is_empty() {
        return Ok(());
    }
    let sql = concat!(
        "SELECT ",
        select!(hold),
        " FROM orbs.hold WHERE id = ANY ($5) UNION ALL \
         SELECT h.* FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS a (key, now, due), LATERAL (\
         (SELECT ",
        select!(hold),
        " FROM orbs.hold WHERE account = a.key AND state = 'pending' AND expires_at <= a.now \
         ORDER BY expires_at, id LIMIT a.due) UNION ALL (SELECT ",
        select!(hold),
        " FROM orbs.hold WHERE account = a.key AND state = 'pending' AND expires_at > a.now \
         ORDER BY expires_at, id LIMIT $4)) AS h"
    );
    let limit = if named.lists { None } else { named.ends.checked_add(1) };
    let parameters: Parameters<'_> = &[
        (&keys, Type::INT8_ARRAY),
        (&times(rows, now), Type::INT8_ARRAY),
        (&most_due(named, rows), Type::INT8_ARRAY),
        (&limit, Type::INT8),
        (&ids, Type::TEXT_ARRAY),
    ];
    let found = query(client, sql, parameters)?;
    for row in &found {
        let hold = columns::hold(row).map_err(strange)?;
        rows.holds.insert(hold.id.clone(), hold);
    }
    Ok(())
}

/// Why a grant is read: commands or holds name it, or it is one of those of its account and bucket.
const OTHERS: i32 = 1;
const HELD: i32 = 2;

/// The available grants of a bucket in the order of their ranks, by the index that is for it. 2^53 is after every time.
macro_rules! ranked {
    ($is_due:literal, $limit:literal, $why:literal) => {
        concat!(
            "(SELECT ",
            select!(grants),
            ", ",
            $why,
            " FROM orbs.grants WHERE account = a.key AND bucket = b.name AND available > 0 \
             AND coalesce(expires_at, 9007199254740992) ",
            $is_due,
            " a.now ORDER BY coalesce(expires_at, 9007199254740992), seq LIMIT ",
            $limit,
            ")"
        )
    };
}

/// The grants with the ids that commands name, and those of the holds that they or the time might end. Of the other open grants of
/// each account those that are due, and the first ones of each bucket; or all of them, if a command has come again for that.
fn grants(client: &mut Client, named: &Named<'_>, now: Millis, rows: &mut Rows) -> Result<(), Failed> {
    let (keys, ids, times) = (accounts(rows), texts(named.grants.iter().copied()), times(rows, now));
    if keys.is_empty() && ids.is_empty() {
        return Ok(());
    }
    let ends = |hold: &&HoldRow| {
        let account = hold.account.and_then(|key| rows.accounts.get(&key));
        let is_due = |account: &AccountRow| hold.expires_at <= account.clock.max(now);
        hold.state == State::Pending && account.is_some_and(|account| named.holds.contains(&hold.id) || is_due(account))
    };
    let lines =
        rows.holds.values().filter(ends).flat_map(|hold| hold.lines.iter().map(|(seq, _)| (hold.account, *seq)));
    let lines: BTreeSet<(Option<i64>, u64)> = lines.collect();
    let (of, seqs): (Vec<Option<i64>>, Vec<i64>) = lines.into_iter().map(|(of, seq)| (of, number(seq))).unzip();
    let whole: Vec<i64> = keys.iter().copied().filter(|key| named.whole.contains(key)).collect();
    let most = named.count.max(LEAST_GRANTS);
    let sql = concat!(
        "SELECT ",
        select!(grants),
        ", 0 FROM orbs.grants WHERE id = ANY ($1) UNION ALL SELECT ",
        select!(grants g),
        ", 0 FROM unnest($2::bigint[], $3::bigint[]) AS l (of, line) JOIN orbs.grants AS g ON g.account = l.of AND g.seq = l.line \
         UNION ALL SELECT g.* FROM unnest($4::bigint[], $5::bigint[], $6::bigint[]) AS a (key, now, due), \
         (VALUES ('paid'), ('bonus')) AS b (name), LATERAL (",
        ranked!("<=", "a.due", "0"),
        " UNION ALL ",
        ranked!(">", "$7", "1"),
        ") AS g UNION ALL SELECT g.* FROM unnest($4::bigint[]) AS a (key), LATERAL (SELECT ",
        select!(grants),
        ", 2 FROM orbs.grants WHERE account = a.key AND held > 0 LIMIT $7) AS g UNION ALL SELECT ",
        select!(grants),
        ", 0 FROM orbs.grants WHERE account = ANY ($8) AND available > 0 UNION ALL SELECT ",
        select!(grants),
        ", 0 FROM orbs.grants WHERE account = ANY ($8) AND held > 0"
    );
    let parameters: Parameters<'_> = &[
        (&ids, Type::TEXT_ARRAY),
        (&of, Type::INT8_ARRAY),
        (&seqs, Type::INT8_ARRAY),
        (&keys, Type::INT8_ARRAY),
        (&times, Type::INT8_ARRAY),
        (&most_due(named, rows), Type::INT8_ARRAY),
        (&most, Type::INT8),
        (&whole, Type::INT8_ARRAY),
    ];
    let mut ranks = BTreeMap::new();
    for row in &query(client, sql, parameters)? {
        let grant = columns::grant(row).map_err(strange)?;
        let why: i32 = row.try_get(12).map_err(strange)?;
        if why == OTHERS || why == HELD {
            let bucket = (why == OTHERS).then_some(grant.bucket);
            ranks.entry((grant.account, bucket)).or_insert_with(Vec::new).push(grant.rank());
        }
        rows.grant_ids.insert(grant.id.clone(), (grant.account, grant.seq));
        rows.grants.insert((grant.account, grant.seq), grant);
    }
    for ((account, bucket), ranks) in ranks {
        if i64::try_from(ranks.len()).is_ok_and(|count| count < most) {
            continue;
        }
        // There might be more.
        match bucket {
            _ if named.whole.contains(&account) => {}
            Some(bucket) => {
                let last = ranks.into_iter().max().unwrap_or_default();
                rows.bounds.known_to.insert((account, bucket), last);
            }
            None => {
                rows.bounds.partly_held.insert(account);
            }
        }
    }
    Ok(())
}

/// The revocations and extensions that have been done before.
fn others(client: &mut Client, named: &Named<'_>, rows: &mut Rows) -> Result<(), Failed> {
    let ids = texts(named.revocations.iter().copied());
    if !ids.is_empty() {
        let sql = "SELECT r.id, r.account, r.grant_id, r.amount, r.at, a.id FROM orbs.revocation AS r \
                   JOIN orbs.account AS a ON a.key = r.account WHERE r.id = ANY ($1)";
        for row in &query(client, sql, &[(&ids, Type::TEXT_ARRAY)])? {
            let revoked = columns::revocation(row).map_err(strange)?;
            rows.revocations.insert(revoked.1.id.clone(), revoked);
        }
    }
    let ids = texts(named.extensions.iter().copied());
    if !ids.is_empty() {
        let sql = "SELECT id, hold, ttl, expires_at, at FROM orbs.extension WHERE id = ANY ($1)";
        for row in &query(client, sql, &[(&ids, Type::TEXT_ARRAY)])? {
            let extended = columns::extension(row).map_err(strange)?;
            rows.extensions.insert(extended.1.id.clone(), extended);
        }
    }
    Ok(())
}

/// The next due time of each account, which this store doesn't keep.
fn due(rows: &mut Rows) {
    let mut soonest: BTreeMap<i64, Millis> = BTreeMap::new();
    let grants = rows.grants.values().filter(|grant| grant.available > Orbs::ZERO);
    let grants = grants.filter_map(|grant| Some((grant.account, grant.expires_at?)));
    let holds = rows.holds.values().filter(|hold| hold.state == State::Pending);
    let holds = holds.filter_map(|hold| Some((hold.account?, hold.expires_at)));
    for (account, time) in grants.chain(holds) {
        let known = soonest.entry(account).or_insert(time);
        *known = time.min(*known);
    }
    for (key, account) in &mut rows.accounts {
        account.next_due = soonest.get(key).copied();
    }
}

fn accounts(rows: &Rows) -> Vec<i64> {
    rows.accounts.keys().copied().collect()
}

type Column<'r> = (Box<dyn ToSql + Sync + 'r>, Type);

/// Columns of rows that are written at once.
macro_rules! columns {
    ($rows:expr, |$row:ident| $($value:expr => $type:ident),+ $(,)?) => {{
        let rows = &$rows;
        vec![$(column(rows.iter().map(|$row| $value).collect(), Type::$type)),+]
    }};
}

/// Inserts rows, if there are any, and returns how many.
macro_rules! insert {
    ($client:expr, $sql:expr, $rows:expr, |$row:ident| $($columns:tt)+) => {
        match $rows.is_empty() {
            true => Ok(0),
            false => $client.execute_typed($sql, &borrowed(&columns!($rows, |$row| $($columns)+))).map_err(failed),
        }
    };
}

fn column<'r>(values: Vec<impl ToSql + Sync + 'r>, of: Type) -> Column<'r> {
    (Box::new(values), of)
}

fn borrowed<'c>(columns: &'c [Column<'_>]) -> Vec<(&'c (dyn ToSql + Sync), Type)> {
    let borrowed = columns.iter().map(|(column, of)| -> (&(dyn ToSql + Sync), Type) { (&**column, of.clone()) });
    borrowed.collect()
}

/// Writes what has changed, each row once: first new ids, table by table and in order, so that two batches with the same new ids
/// wait in the same order. False if another transaction has used one meanwhile.
pub(crate) fn write(client: &mut Client, before: &Rows, after: &Rows) -> Result<bool, Failed> {
    let holds = after.holds.iter().filter(|(id, hold)| before.holds.get(*id) != Some(*hold)).map(|(_, hold)| hold);
    let (old_holds, new_holds): (Vec<&HoldRow>, Vec<&HoldRow>) =
        holds.partition(|hold| before.holds.contains_key(&hold.id));
    let mut new_grants: Vec<_> =
        after.grants.iter().filter(|(key, _)| !before.grants.contains_key(*key)).map(|(_, grant)| grant).collect();
    new_grants.sort_by_key(|grant| &grant.id);
    let revocations: Vec<&(i64, Revoked)> =
        after.revocations.values().filter(|(_, revoked)| !before.revocations.contains_key(&revoked.id)).collect();
    let extensions: Vec<&(Millis, Extended)> =
        after.extensions.values().filter(|(_, extended)| !before.extensions.contains_key(&extended.id)).collect();
    let expected = [new_holds.len(), new_grants.len(), revocations.len(), extensions.len()];
    let written = [
        insert!(client,
            "INSERT INTO orbs.hold (id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, state, requested, \
             captured, captured_bonus, shortfall, late, settled_at) SELECT id, account, amount, bonus_allowed, ttl, note, at, \
             lines::jsonb, bonus, expires_at, state, requested, captured, captured_bonus, shortfall, late, settled_at \
             FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::boolean[], $5::bigint[], $6::text[], $7::bigint[], \
             $8::text[], $9::bigint[], $10::bigint[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], \
             $16::boolean[], $17::bigint[]) AS h (id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, \
             state, requested, captured, captured_bonus, shortfall, late, settled_at) ON CONFLICT DO NOTHING", new_holds, |hold|
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
            settled(hold, |settlement| settlement.requested.get()) => INT8_ARRAY,
            settled(hold, |settlement| settlement.captured.get()) => INT8_ARRAY,
            settled(hold, |settlement| settlement.bonus.get()) => INT8_ARRAY,
            settled(hold, |settlement| settlement.shortfall.get()) => INT8_ARRAY,
            hold.settlement.as_ref().map(|settlement| settlement.late) => BOOL_ARRAY,
            settled(hold, |settlement| settlement.at.get()) => INT8_ARRAY,
        )?,
        insert!(client, "INSERT INTO orbs.grants SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], \
             $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[]) \
             ON CONFLICT (id) DO NOTHING", new_grants, |grant|
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
        )?,
        insert!(client, "INSERT INTO orbs.revocation SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], \
             $5::bigint[]) ON CONFLICT DO NOTHING", revocations, |row|
            row.1.id.as_str() => TEXT_ARRAY,
            row.0 => INT8_ARRAY,
            row.1.grant.as_str() => TEXT_ARRAY,
            number(row.1.amount.get()) => INT8_ARRAY,
            number(row.1.at.get()) => INT8_ARRAY,
        )?,
        insert!(client, "INSERT INTO orbs.extension SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], \
             $5::bigint[]) ON CONFLICT DO NOTHING", extensions, |row|
            row.1.id.as_str() => TEXT_ARRAY,
            row.1.hold.as_str() => TEXT_ARRAY,
            number(row.0.get()) => INT8_ARRAY,
            number(row.1.expires_at.get()) => INT8_ARRAY,
            number(row.1.at.get()) => INT8_ARRAY,
        )?,
    ];
    if written != expected.map(|count| u64::try_from(count).unwrap_or(u64::MAX)) {
        return Ok(false);
    }
    update(client, before, after, &old_holds)?;
    Ok(true)
}

fn update(client: &mut Client, before: &Rows, after: &Rows, holds: &[&HoldRow]) -> Result<(), Failed> {
    // `was` is a compare-and-set, under the account's lock.
    let was = |hold: &HoldRow| before.holds.get(&hold.id).map_or("", |before| before.state.name());
    let grants = after.grants.iter().filter(|(key, grant)| before.grants.get(*key).is_some_and(|old| old != *grant));
    let grants: Vec<_> = grants.map(|(_, grant)| grant).collect();
    let accounts = after.accounts.values().filter(|account| before.accounts.get(&account.key) != Some(*account));
    let accounts: Vec<_> = accounts.collect();
    let expected = [holds.len(), grants.len(), accounts.len(), after.entries.len()];
    if expected == [0; 4] {
        return Ok(());
    }
    // No order matters: the accounts of these rows are locked.
    let sql = "WITH holds AS (UPDATE orbs.hold AS h SET expires_at = c.expires_at, state = c.state, requested = c.requested, \
         captured = c.captured, captured_bonus = c.captured_bonus, shortfall = c.shortfall, late = c.late, \
         settled_at = c.settled_at FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], \
         $7::bigint[], $8::bigint[], $9::boolean[], $10::bigint[]) AS c (id, was, expires_at, state, requested, captured, \
         captured_bonus, shortfall, late, settled_at) WHERE h.id = c.id AND h.state = c.was RETURNING 1), \
         grants AS (UPDATE orbs.grants AS g SET available = c.available, held = c.held, captured = c.captured, \
         expired = c.expired, revoked = c.revoked FROM unnest($11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], \
         $15::bigint[], $16::bigint[], $17::bigint[]) AS c (account, seq, available, held, captured, expired, revoked) \
         WHERE g.account = c.account AND g.seq = c.seq RETURNING 1), \
         accounts AS (UPDATE orbs.account AS a SET clock = c.clock, seq = c.seq, paid = c.paid, bonus = c.bonus, \
         held = c.held FROM unnest($18::bigint[], $19::bigint[], $20::bigint[], $21::bigint[], $22::bigint[], $23::bigint[]) \
         AS c (key, clock, seq, paid, bonus, held) WHERE a.key = c.key RETURNING 1), \
         entries AS (INSERT INTO orbs.entry (account, seq, at, cause, id, lines, paid, bonus, held, shortfall) \
         SELECT account, seq, at, cause, id, lines::jsonb, paid, bonus, held, shortfall FROM unnest($24::bigint[], $25::bigint[], \
         $26::bigint[], $27::text[], $28::text[], $29::text[], $30::bigint[], $31::bigint[], $32::bigint[], $33::bigint[]) \
         AS e (account, seq, at, cause, id, lines, paid, bonus, held, shortfall) RETURNING 1) \
         SELECT (SELECT count(*) FROM holds), (SELECT count(*) FROM grants), (SELECT count(*) FROM accounts), \
         (SELECT count(*) FROM entries)";
    let written = [
        columns!(holds, |hold|
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
        ),
        columns!(grants, |grant|
            grant.account => INT8_ARRAY,
            number(grant.seq) => INT8_ARRAY,
            number(grant.available.get()) => INT8_ARRAY,
            number(grant.held.get()) => INT8_ARRAY,
            number(grant.captured.get()) => INT8_ARRAY,
            number(grant.expired.get()) => INT8_ARRAY,
            number(grant.revoked.get()) => INT8_ARRAY,
        ),
        columns!(accounts, |account|
            account.key => INT8_ARRAY,
            number(account.clock.get()) => INT8_ARRAY,
            number(account.seq) => INT8_ARRAY,
            number(account.paid.get()) => INT8_ARRAY,
            number(account.bonus.get()) => INT8_ARRAY,
            number(account.held.get()) => INT8_ARRAY,
        ),
        columns!(after.entries, |entry|
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
        ),
    ];
    let written: Vec<Column<'_>> = written.into_iter().flatten().collect();
    let row = client.query_typed_one(sql, &borrowed(&written)).map_err(failed)?;
    for (index, expected) in expected.into_iter().enumerate() {
        // A row that isn't there contradicts what was read under the lock.
        if row.try_get::<_, i64>(index).ok() != i64::try_from(expected).ok() {
            return Err(wrong("the ledger contradicts itself: a row changed while a command ran".to_owned()));
        }
    }
    Ok(())
}

/// Writes something that changes nothing, so that the commit waits until what is answered again is durable, on standbys too.
pub(crate) fn touch(client: &mut Client, locked: &BTreeSet<i64>, named: &Named<'_>) -> Result<(), Failed> {
    let keys: Vec<i64> = locked.iter().copied().collect();
    let ids = texts(named.holds.iter().copied());
    query(client, "UPDATE orbs.account SET seq = seq WHERE key = ANY ($1)", &[(&keys, Type::INT8_ARRAY)])?;
    let sql = "UPDATE orbs.hold SET note = note WHERE id = ANY ($1) AND account IS NULL";
    query(client, sql, &[(&ids, Type::TEXT_ARRAY)])?;
    Ok(())
}

/// A column of a settlement.
fn settled(hold: &HoldRow, column: impl FnOnce(&Settlement) -> u64) -> Option<i64> {
    hold.settlement.as_ref().map(|settlement| number(column(settlement)))
}

/// Lines as a JSON array.
fn lines(lines: impl Iterator<Item = impl serde::Serialize>) -> String {
    serde_json::to_string(&lines.collect::<Vec<_>>()).unwrap_or_default()
}

/// Numbers have their bound already.
pub(crate) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Some of the accounts in which something has expired.
pub(crate) fn due_accounts(client: &mut Client, now: Millis) -> Result<Vec<AccountId>, Failed> {
    let sql = "SELECT id FROM orbs.account WHERE key IN (\
               (SELECT account FROM orbs.hold WHERE state = 'pending' AND expires_at <= $1 ORDER BY expires_at LIMIT $2) \
               UNION (SELECT account FROM orbs.grants WHERE available > 0 AND expires_at <= $1 ORDER BY expires_at LIMIT $2))";
    let most = i64::try_from(BATCH).unwrap_or(i64::MAX);
    let rows = query(client, sql, &[(&number(now.get()), Type::INT8), (&most, Type::INT8)])?;
    rows.iter().map(|row| row.name(0, AccountId::new).map_err(strange)).collect()
}

pub(crate) fn count_pending(client: &mut Client) -> Result<u64, Failed> {
    let rows = query(client, "SELECT count(*) FROM orbs.hold WHERE state = 'pending'", &[])?;
    rows.first().ok_or_else(|| strange(()))?.number(0).map_err(strange)
}

/// How many accounts something has expired in, and since when.
pub(crate) fn backlog(client: &mut Client, now: Millis) -> Result<(u64, Option<Millis>), Failed> {
    let sql = "SELECT count(DISTINCT account), min(expires_at)::bigint FROM (\
               SELECT account, expires_at FROM orbs.hold WHERE state = 'pending' AND expires_at <= $1 \
               UNION ALL SELECT account, expires_at FROM orbs.grants WHERE available > 0 AND expires_at <= $1) AS due";
    let rows = query(client, sql, &[(&number(now.get()), Type::INT8)])?;
    let row = rows.first().ok_or_else(|| strange(()))?;
    Ok((row.number(0).map_err(strange)?, row.optional_time(1).map_err(strange)?))
}
