//! Reads entries in the order of their numbers. It writes nothing, so that standbys and roles that only read can do it.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::answer::{Cursor, Entry};
use crate::cause::Cause;
use crate::columns::{self, Columns};
use crate::feed::{Place, first_after};
use crate::plan::EntryRow;
use crate::postgres::client::{Client, Parameters, Statement};
use crate::postgres::failed::Failed;
use crate::postgres::rows::{self, number, select, strange};
use crate::postgres::watched::Watched;
use crate::value::{AccountId, Millis};

/// The entries above `low` that have no number.
macro_rules! unnumbered {
    () => {
        " FROM orbs.entry AS e WHERE position > $1 AND (SELECT f.number FROM orbs.feed AS f WHERE f.position = e.position) IS NULL"
    };
}

/// What is known before something is read.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// Transactions that begin later have no earlier time.
    pub(crate) now: Millis,
    /// Entries of transactions that begin later have a higher position. One that is committed has it, so it is never given out again.
    pub(crate) position: i64,
    /// The transactions that might have an earlier time or a lower position.
    pub(crate) writers: Vec<String>,
}

/// The transactions of this ledger that run, prepared ones too. A writer has locked accounts before it reads the time and writes
/// entries. Other transactions, such as those of other databases, aren't asked for.
const WRITERS: &str = "SELECT DISTINCT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND granted \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND relation IN ('orbs.account'::regclass, 'orbs.entry'::regclass) AND mode IN ('RowShareLock', 'RowExclusiveLock')";

/// Reads a start, in this order: each statement sees what the one before it might have missed.
pub(crate) const START: [&str; 3] =
    [rows::TIME, "SELECT coalesce(max(position), 0), pg_is_in_recovery() FROM orbs.entry", WRITERS];

pub(crate) fn start(client: &mut Client, given: Option<Millis>, watched: &mut Watched) -> Result<Start, Failed> {
    let read = client.query_all(START.map(Statement::new).iter())?;
    let (start, is_standby) = started(&read, given)?;
    // At a time to which the clock has leapt, no transaction writes.
    let start = Start { now: watched.shown(client, start.now)?, ..start };
    // A standby doesn't know the transactions of its primary, but what a writer has known.
    if is_standby {
        return Ok(Start { now: last_until(client)?, writers: Vec::new(), ..start });
    }
    Ok(start)
}

/// The start that [`START`] has read, and whether it was of a standby.
pub(crate) fn started(read: &[Vec<Row>], given: Option<Millis>) -> Result<(Start, bool), Failed> {
    let [time, position, writers] = read else {
        return Err(strange(()));
    };
    let (Some(time), Some(row)) = (time.first(), position.first()) else {
        return Err(strange(()));
    };
    let (now, _) = rows::time_of(time, given)?;
    let writers = writers.iter().map(|row| row.get(0)).collect();
    Ok((Start { now, position: row.get(0), writers }, row.get(1)))
}

/// The time that was written with the newest `low`.
fn last_until(client: &mut Client) -> Result<Millis, Failed> {
    let sql = "SELECT until FROM orbs.feed WHERE low IS NOT NULL ORDER BY number DESC LIMIT 1";
    let until = client.query(sql, &[])?.first().map(|row| row.optional_time(0)).transpose().map_err(strange)?;
    Ok(until.flatten().unwrap_or_default())
}

/// The time that a standby has reached; none for a primary. What is committed later on the primary isn't earlier than both the time that
/// a writer has left and, but for commands that take long, the last commit.
pub(crate) fn reached(client: &mut Client) -> Result<Option<Millis>, Failed> {
    let sql = "SELECT pg_is_in_recovery(), floor(extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000)::bigint";
    let row = client.query_one(sql, &[])?;
    if !row.get::<_, bool>(0) {
        return Ok(None);
    }
    let replayed = row.optional_time(1).map_err(strange)?.unwrap_or_default();
    Ok(Some(last_until(client)?.max(replayed)))
}

/// Those of these writers that still run.
pub(crate) fn running(client: &mut Client, writers: &[String]) -> Result<Vec<String>, Failed> {
    let now = client.query(WRITERS, &[])?;
    Ok(now.iter().map(|row| row.get(0)).filter(|writer| writers.contains(writer)).collect())
}

/// The newest `low`, if there is one.
macro_rules! low {
    () => {
        "(SELECT low FROM orbs.feed WHERE low IS NOT NULL ORDER BY number DESC LIMIT 1)"
    };
}
pub(crate) use low;

/// Reads the place after the last entry that has a number, and the newest `low`. Without one, the random number of the ledger.
pub(crate) const END: &str = concat!(
    "SELECT number, digest, ",
    low!(),
    ", NULL FROM (SELECT number, digest FROM orbs.feed ORDER BY number DESC LIMIT 1) AS last \
     UNION ALL SELECT NULL, NULL, NULL, value FROM orbs.setting WHERE name = 'ledger' ORDER BY number NULLS LAST"
);

/// The place after the last entry that has a number, and the newest `low`.
pub(crate) fn end(client: &mut Client) -> Result<(Place, i64), Failed> {
    ended(&client.query(END, &[])?)
}

/// The same as [`END`] has read it.
pub(crate) fn ended(rows: &[Row]) -> Result<(Place, i64), Failed> {
    match rows.first() {
        Some(row) if row.integer(0).map_err(strange)?.is_some() => {
            Ok((place(row, 0)?, row.integer(2).map_err(strange)?.unwrap_or(0)))
        }
        Some(row) => Ok((Place::start(u64::from_str_radix(row.get(3), 16).map_err(strange)?), 0)),
        None => Err(strange(())),
    }
}

/// The place before the first entry.
pub(crate) fn first(client: &mut Client) -> Result<Place, Failed> {
    let rows = client.query("SELECT value FROM orbs.setting WHERE name = 'ledger'", &[])?;
    let ledger = rows.first().and_then(|row| u64::from_str_radix(row.get(0), 16).ok()).ok_or_else(|| strange(()))?;
    Ok(Place::start(ledger))
}

fn place(row: &Row, at: usize) -> Result<Place, Failed> {
    let digest: i64 = row.get(at.saturating_add(1));
    Ok(Place { number: row.number(at).map_err(strange)?, digest: digest.cast_unsigned() })
}

/// A page.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) entries: Vec<(Cursor, Entry)>,
    pub(crate) knows: Knows,
    /// The earliest time of what is due, and of entries that have no number yet.
    pub(crate) due: Option<Millis>,
}

/// Whether the ledger has a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knows {
    Cursor,
    NoCursor,
    /// In a restored backup, the entry before it might be one of these, which have no number yet.
    NotYet(u64),
}

/// Reads a page: of one account, or of all.
pub(crate) fn read(client: &mut Client, of: Option<&AccountId>, after: &Cursor, limit: usize) -> Result<Read, Failed> {
    let (end, low) = end(client)?;
    // What is written between these statements is no earlier than what is due, or not than the time that was read before.
    let sql = concat!(
        "SELECT count(*), least(min(at), (SELECT min(expires_at) FROM orbs.hold WHERE state = 'pending'), \
         (SELECT min(expires_at) FROM orbs.grants WHERE is_open))::bigint",
        unnumbered!()
    );
    let row = client.query(sql, &[(&low, Type::INT8)])?;
    let row = row.first().ok_or_else(|| strange(()))?;
    let (unnumbered, due) = (row.number(0).map_err(strange)?, row.optional_time(1).map_err(strange)?);
    let Some(number) = number_of(client, after)? else {
        let might = Place::of(after).and_then(|place| place.number.checked_sub(end.number));
        let might = might.is_some_and(|beyond| (1..=unnumbered).contains(&beyond));
        let knows = if might { Knows::NotYet(unnumbered) } else { Knows::NoCursor };
        return Ok(Read { entries: Vec::new(), knows, due });
    };
    let entries = match of {
        Some(of) => entries_of(client, of, number, limit)?,
        None => entries(client, number, limit)?,
    };
    Ok(Read { entries, knows: Knows::Cursor, due })
}

/// How many entries have no number yet.
pub(crate) fn count_unnumbered(client: &mut Client) -> Result<u64, Failed> {
    let (_, low) = end(client)?;
    let rows = client.query(concat!("SELECT count(*)", unnumbered!()), &[(&low, Type::INT8)])?;
    rows.first().ok_or_else(|| strange(()))?.number(0).map_err(strange)
}

/// The number of the entry after which a cursor is.
fn number_of(client: &mut Client, cursor: &Cursor) -> Result<Option<i64>, Failed> {
    if cursor.as_str().is_empty() {
        return Ok(Some(0));
    }
    let rows = match (Place::of(cursor), cursor.as_str().split_once('.')) {
        (Some(place), _) => {
            let sql = "SELECT number FROM orbs.feed WHERE number = $1 AND digest = $2";
            client.query(sql, &[(&number(place.number), Type::INT8), (&place.digest.cast_signed(), Type::INT8)])?
        }
        // Of the first version: a transaction and a position.
        (None, Some((xid, position))) => {
            let Ok(before) = position.parse::<i64>() else {
                return Ok(None);
            };
            let sql = "SELECT f.number FROM orbs.entry AS e JOIN orbs.feed AS f ON f.position = e.position WHERE e.position = $1 \
                       AND e.first_xid::text = $2 AND e.position::text = $3 \
                       AND f.number <= (SELECT value::bigint FROM orbs.setting WHERE name = 'translated')";
            client.query(sql, &[(&before, Type::INT8), (&xid, Type::TEXT), (&position, Type::TEXT)])?
        }
        (None, None) => return Ok(None),
    };
    Ok(rows.first().map(|row| row.get(0)))
}

/// Selects entries with their names, as JSON. `$1` is [`of_holds`]. A line whose grant isn't there has no name, which is damage.
macro_rules! named {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            "jsonb_build_object('account', a.id, 'seq', e.seq, 'at', e.at, \
            'cause', e.cause, 'id', e.id, 'paid', e.paid, 'bonus', e.bonus, 'held', e.held, 'shortfall', e.shortfall, \
            'note', coalesce(CASE WHEN e.cause = ANY ($1) \
                THEN (SELECT note FROM orbs.hold WHERE id = e.id) ELSE r.note END, ''), 'author', coalesce(r.author, ''), \
            'hold', CASE WHEN e.cause = 'refund' THEN (SELECT hold FROM orbs.refund WHERE id = e.id) END, \
            'lines', coalesce((SELECT jsonb_agg(jsonb_build_object('grant', g.id, 'bucket', g.bucket, 'available', l->1, \
                'held', l->2, 'captured', l->3) ORDER BY g.seq) \
                FROM jsonb_array_elements(e.lines) AS l \
                LEFT JOIN orbs.grants AS g ON g.account = e.account AND g.seq = (l->>0)::bigint), '[]'))::text FROM ",
            $rest
        )
    };
    ($rest:literal) => {
        named!(
            "f.number, f.digest, ",
            $rest
        )
    };
}

/// The causes whose entries have the id of a hold.
fn of_holds() -> Vec<&'static str> {
    Cause::ALL.iter().filter(|cause| cause.row().hold.is_some()).map(|cause| cause.name()).collect()
}

/// Entries of all accounts after a number, with their cursors and names.
fn entries(client: &mut Client, after: i64, limit: usize) -> Result<Vec<(Cursor, Entry)>, Failed> {
    let sql = named!(
        "orbs.feed AS f JOIN orbs.entry AS e ON e.position = f.position JOIN orbs.account AS a ON a.key = e.account \
         LEFT JOIN orbs.remark AS r ON r.cause = e.cause AND r.id = e.id \
         WHERE f.number > $2 ORDER BY f.number LIMIT $3"
    );
    let parameters: Parameters<'_> =
        &[(&of_holds(), Type::TEXT_ARRAY), (&after, Type::INT8), (&count(limit), Type::INT8)];
    client.query(sql, parameters)?.iter().map(with_cursor).collect()
}

fn with_cursor(row: &Row) -> Result<(Cursor, Entry), Failed> {
    Ok((place(row, 0)?.cursor(), serde_json::from_str(row.get(2)).map_err(strange)?))
}

/// The same of one account.
fn entries_of(client: &mut Client, of: &AccountId, after: i64, limit: usize) -> Result<Vec<(Cursor, Entry)>, Failed> {
    let sql = "SELECT key, seq FROM orbs.account WHERE id = $1";
    let Some(account) = client.query(sql, &[(&of.as_str(), Type::TEXT)])?.pop() else {
        return Ok(Vec::new());
    };
    let (key, seq) = (account.key(0).map_err(strange)?, account.number(1).map_err(strange)?);
    let first = first_after(seq, after.unsigned_abs(), |seq| {
        let sql = "SELECT f.number FROM orbs.entry AS e JOIN orbs.feed AS f ON f.position = e.position \
                   WHERE e.account = $1 AND e.seq = $2";
        let rows = client.query(sql, &[(&key, Type::INT8), (&number(seq), Type::INT8)])?;
        rows.first().map(|row| row.number(0).map_err(strange)).transpose()
    })?;
    let sql = named!(
        "orbs.entry AS e JOIN orbs.feed AS f ON f.position = e.position JOIN orbs.account AS a ON a.key = e.account \
         LEFT JOIN orbs.remark AS r ON r.cause = e.cause AND r.id = e.id \
         WHERE e.account = $2 AND e.seq >= $3 ORDER BY e.seq LIMIT $4"
    );
    let (of_holds, first, limit) = (of_holds(), number(first), count(limit));
    let parameters: Parameters<'_> =
        &[(&of_holds, Type::TEXT_ARRAY), (&key, Type::INT8), (&first, Type::INT8), (&limit, Type::INT8)];
    client.query(sql, parameters)?.iter().map(with_cursor).collect()
}

/// The entries of an account with these numbers, whether or not they have one in the ledger.
pub(crate) fn entries_between(client: &mut Client, account: i64, first: u64, last: u64) -> Result<Vec<Entry>, Failed> {
    let sql = named!(
        "",
        "orbs.entry AS e JOIN orbs.account AS a ON a.key = e.account \
         LEFT JOIN orbs.remark AS r ON r.cause = e.cause AND r.id = e.id \
         WHERE e.account = $2 AND e.seq BETWEEN $3 AND $4 ORDER BY e.seq"
    );
    let (of_holds, first, last) = (of_holds(), number(first), number(last));
    let parameters: Parameters<'_> =
        &[(&of_holds, Type::TEXT_ARRAY), (&account, Type::INT8), (&first, Type::INT8), (&last, Type::INT8)];
    let rows = client.query(sql, parameters)?;
    rows.iter().map(|row| serde_json::from_str(row.get(0)).map_err(strange)).collect()
}

/// The first column after those of an entry.
pub(crate) const AFTER_ENTRY: usize = 10;

/// Entries after a number, with their places.
pub(crate) fn numbered(client: &mut Client, after: u64, limit: i64) -> Result<Vec<(Place, EntryRow)>, Failed> {
    let sql = concat!(
        "SELECT ",
        select!(entry e),
        ", f.number, f.digest FROM orbs.feed AS f JOIN orbs.entry AS e ON e.position = f.position \
         WHERE f.number > $1 ORDER BY f.number LIMIT $2"
    );
    let rows = client.query(sql, &[(&number(after), Type::INT8), (&limit, Type::INT8)])?;
    rows.iter().map(|row| Ok((place(row, AFTER_ENTRY)?, columns::entry(row).map_err(strange)?))).collect()
}

/// Entries that no reader would ever see.
pub(crate) fn lost(client: &mut Client) -> Result<i64, Failed> {
    let (_, low) = end(client)?;
    let sql = "SELECT count(*) FROM orbs.entry AS e WHERE position <= $1 \
               AND NOT EXISTS (SELECT FROM orbs.feed AS f WHERE f.position = e.position)";
    Ok(client.query(sql, &[(&low, Type::INT8)])?.first().map_or(0, |row| row.get(0)))
}

pub(crate) fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
