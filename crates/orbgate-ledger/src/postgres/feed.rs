//! Gives entries their numbers, and reads them in this order.
//!
//! Writers don't wait for each other's commits, so an entry can have a lower position than another one that is already read. Whoever
//! reads numbers what it sees, in a transaction of its own, and under a lock, so that nothing has two numbers.

use ::postgres::types::Type;
use ::postgres::{Client, GenericClient, Row};

use crate::answer::{Cursor, Entry};
use crate::columns::{self, Columns as _};
use crate::feed::Place;
use crate::plan::EntryRow;
use crate::postgres::failed::{Failed, failed};
use crate::postgres::rows::{self, Parameters, number, select, strange};
use crate::value::Millis;

/// How many entries get their numbers in a transaction.
pub(crate) const NUMBERED: usize = 1000;

/// The entries of older versions are read in parts.
const PART: &str = "FETCH 10000 FROM before";

/// The positions above `low` whose entries have no number.
macro_rules! unnumbered {
    ($columns:expr, $limit:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM orbs.entry AS e WHERE position > $1 \
             AND NOT EXISTS (SELECT FROM orbs.feed AS f WHERE f.position > $1 AND f.position = e.position) ORDER BY position LIMIT ",
            $limit
        )
    };
}

fn query<C: GenericClient>(client: &mut C, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, Failed> {
    client.query_typed(sql, parameters).map_err(failed)
}

/// What a reader knows before it reads.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// Transactions that begin later have no earlier time.
    pub(crate) now: Millis,
    /// Entries of transactions that begin later have a higher position.
    position: i64,
    /// The transactions that might have an earlier time or a lower position.
    pub(crate) writers: Vec<String>,
}

/// The transactions of this ledger that run, prepared ones too. A writer has locked accounts before it reads the time and writes
/// entries. Other transactions, such as those of other databases, aren't asked for.
const WRITERS: &str = "SELECT DISTINCT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND granted \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND relation IN ('orbs.account'::regclass, 'orbs.entry'::regclass) AND mode IN ('RowShareLock', 'RowExclusiveLock')";

pub(crate) fn start(client: &mut Client, given: Option<Millis>) -> Result<Start, Failed> {
    let (now, _) = rows::time(client, given)?;
    let sql = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM orbs.entry_position_seq";
    let position = client.query_typed_one(sql, &[]).map_err(failed)?.get(0);
    // In a later statement, so that each of them is seen.
    let writers = query(client, WRITERS, &[])?.iter().map(|row| row.get(0)).collect();
    Ok(Start { now, position, writers })
}

/// Those of these writers that still run.
pub(crate) fn running(client: &mut Client, writers: &[String]) -> Result<Vec<String>, Failed> {
    let now = query(client, WRITERS, &[])?;
    Ok(now.iter().map(|row| row.get(0)).filter(|writer| writers.contains(writer)).collect())
}

/// The place after the last entry that has a number, and the newest `low`.
fn end<C: GenericClient>(client: &mut C) -> Result<(Place, i64), Failed> {
    let sql = "SELECT number, digest, (SELECT low FROM orbs.feed WHERE low IS NOT NULL ORDER BY number DESC LIMIT 1) \
               FROM orbs.feed ORDER BY number DESC LIMIT 1";
    match query(client, sql, &[])?.first() {
        Some(row) => Ok((place(row, 0)?, row.integer(2).map_err(strange)?.unwrap_or(0))),
        None => Ok((first(client)?, 0)),
    }
}

/// The place before the first entry.
pub(crate) fn first<C: GenericClient>(client: &mut C) -> Result<Place, Failed> {
    let rows = query(client, "SELECT value FROM orbs.setting WHERE name = 'ledger'", &[])?;
    let ledger = rows.first().and_then(|row| u64::from_str_radix(row.get(0), 16).ok()).ok_or_else(|| strange(()))?;
    Ok(Place::start(ledger))
}

fn place(row: &Row, at: usize) -> Result<Place, Failed> {
    let digest: i64 = row.get(at.saturating_add(1));
    Ok(Place { number: row.number(at).map_err(strange)?, digest: digest.cast_unsigned() })
}

/// Numbers entries in the order of their positions, and returns whether there may be more. Within an account, this is their order there. Must be
/// called in a transaction that writes. `start` if all of its writers have ended.
pub(crate) fn number_some(client: &mut Client, start: Option<&Start>) -> Result<usize, Failed> {
    query(client, "SELECT pg_advisory_xact_lock(8029188924)", &[])?;
    // Later statements see what those have written that had the lock before.
    rows::time(client, None)?;
    let (end, low) = end(client)?;
    let sql = unnumbered!(concat!(select!(entry), ", position"), "$2");
    let rows = query(client, sql, &[(&low, Type::INT8), (&count(NUMBERED), Type::INT8)])?;
    let Some(last) = rows.last().map(|row| row.get::<_, i64>(POSITION)) else {
        return Ok(0);
    };
    // What isn't seen by now, and has a position up to this one, will never be: its transaction has ended. Positions that are only
    // in use might be given out again after a crash.
    let settled = start.map(|start| start.position.min(last)).filter(|settled| *settled > low);
    write(client, end, &rows, settled)?;
    Ok(rows.len())
}

/// Where the position is, after the columns of an entry.
const POSITION: usize = 10;

/// Writes the numbers of entries, and returns the place after them.
fn write<C: GenericClient>(client: &mut C, after: Place, rows: &[Row], low: Option<i64>) -> Result<Place, Failed> {
    let (mut place, mut numbers, mut positions, mut digests) = (after, Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        place = place.after(&columns::entry(row).map_err(strange)?);
        numbers.push(number(place.number));
        positions.push(row.get::<_, i64>(POSITION));
        digests.push(place.digest.cast_signed());
    }
    let sql = "INSERT INTO orbs.feed SELECT number, position, digest, CASE WHEN number = $4 THEN $5 END \
               FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS f (number, position, digest)";
    let parameters: Parameters<'_> = &[
        (&numbers, Type::INT8_ARRAY),
        (&positions, Type::INT8_ARRAY),
        (&digests, Type::INT8_ARRAY),
        (&number(place.number), Type::INT8),
        (&low, Type::INT8),
    ];
    query(client, sql, parameters)?;
    Ok(place)
}

/// Numbers the entries of older versions in the order in which they were read.
pub(crate) fn number_all<C: GenericClient>(client: &mut C) -> Result<(), Failed> {
    let sql = concat!(
        "DECLARE before NO SCROLL CURSOR FOR SELECT ",
        select!(entry),
        ", position FROM orbs.entry ORDER BY xid, position"
    );
    client.batch_execute(sql).map_err(failed)?;
    let last: Option<i64> =
        query(client, "SELECT max(position) FROM orbs.entry", &[])?.first().and_then(|row| row.get(0));
    let mut place = first(client)?;
    loop {
        let rows = query(client, PART, &[])?;
        if rows.is_empty() {
            return client.batch_execute("CLOSE before").map_err(failed);
        }
        place = write(client, place, &rows, last)?;
    }
}

/// A page.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) entries: Vec<(Cursor, Entry)>,
    /// Whether the ledger has the cursor. In a restored backup, the entry before it might have no number yet.
    pub(crate) is_known: bool,
    /// Whether there are entries without a number.
    pub(crate) has_unnumbered: bool,
    /// The earliest time of what is due, and of entries that have no number yet.
    pub(crate) due: Option<Millis>,
}

/// Reads a page.
pub(crate) fn read(client: &mut Client, after: &Cursor, limit: usize) -> Result<Read, Failed> {
    let (_, low) = end(client)?;
    // What is written between these statements is no earlier than what is due, or not than the time that was read before.
    let sql = concat!(
        "SELECT count(*), least(min(at), (SELECT min(expires_at) FROM orbs.hold WHERE state = 'pending'), \
         (SELECT min(expires_at) FROM orbs.grants WHERE available > 0))::bigint FROM (",
        unnumbered!("at", "$2"),
        ") AS u"
    );
    let row = query(client, sql, &[(&low, Type::INT8), (&count(NUMBERED), Type::INT8)])?;
    let row = row.first().ok_or_else(|| strange(()))?;
    let (has_unnumbered, due) = (row.get::<_, i64>(0) > 0, row.optional_time(1).map_err(strange)?);
    let after = number_of(client, after)?;
    let entries = after.map_or_else(|| Ok(Vec::new()), |after| entries(client, after, limit))?;
    Ok(Read { entries, is_known: after.is_some(), has_unnumbered, due })
}

/// The number of the entry after which a cursor is.
fn number_of(client: &mut Client, cursor: &Cursor) -> Result<Option<i64>, Failed> {
    if cursor.as_str().is_empty() {
        return Ok(Some(0));
    }
    let rows = match (Place::of(cursor), cursor.as_str().split_once('.')) {
        (Some(place), _) => {
            let sql = "SELECT number FROM orbs.feed WHERE number = $1 AND digest = $2";
            query(client, sql, &[(&number(place.number), Type::INT8), (&place.digest.cast_signed(), Type::INT8)])?
        }
        // Of the first version: a transaction and a position.
        (None, Some((xid, position))) => {
            let Ok(before) = position.parse::<i64>() else {
                return Ok(None);
            };
            let sql = "SELECT f.number FROM orbs.entry AS e JOIN orbs.feed AS f ON f.position = e.position WHERE e.position = $1 \
                       AND e.first_xid::text = $2 AND e.position::text = $3 \
                       AND f.number <= (SELECT value::bigint FROM orbs.setting WHERE name = 'translated')";
            query(client, sql, &[(&before, Type::INT8), (&xid, Type::TEXT), (&position, Type::TEXT)])?
        }
        (None, None) => return Ok(None),
    };
    Ok(rows.first().map(|row| row.get(0)))
}

/// Entries of all accounts after a number, with their cursors and names.
fn entries(client: &mut Client, after: i64, limit: usize) -> Result<Vec<(Cursor, Entry)>, Failed> {
    let sql = "SELECT f.number, f.digest, jsonb_build_object('account', a.id, 'seq', e.seq, 'at', e.at, \
        'cause', e.cause, 'id', e.id, 'paid', e.paid, 'bonus', e.bonus, 'held', e.held, 'shortfall', e.shortfall, \
        'note', coalesce(CASE WHEN e.cause IN ('hold', 'capture', 'void', 'hold_expired') \
            THEN (SELECT note FROM orbs.hold WHERE id = e.id) END, ''), \
        'lines', coalesce((SELECT jsonb_agg(jsonb_build_object('grant', g.id, 'bucket', g.bucket, 'available', l->1, \
            'held', l->2, 'captured', l->3) ORDER BY g.seq) \
            FROM jsonb_array_elements(e.lines) AS l \
            JOIN orbs.grants AS g ON g.account = e.account AND g.seq = (l->>0)::bigint), '[]'))::text \
        FROM orbs.feed AS f JOIN orbs.entry AS e ON e.position = f.position JOIN orbs.account AS a ON a.key = e.account \
        WHERE f.number > $1 ORDER BY f.number LIMIT $2";
    let rows = query(client, sql, &[(&after, Type::INT8), (&count(limit), Type::INT8)])?;
    let read = |row: &Row| Ok((place(row, 0)?.cursor(), serde_json::from_str(row.get(2)).map_err(strange)?));
    rows.iter().map(read).collect()
}

/// Entries after a number, with their places.
pub(crate) fn numbered(client: &mut Client, after: u64, limit: i64) -> Result<Vec<(Place, EntryRow)>, Failed> {
    let sql = concat!(
        "SELECT ",
        select!(entry e),
        ", f.number, f.digest FROM orbs.feed AS f JOIN orbs.entry AS e ON e.position = f.position \
         WHERE f.number > $1 ORDER BY f.number LIMIT $2"
    );
    let rows = query(client, sql, &[(&number(after), Type::INT8), (&limit, Type::INT8)])?;
    rows.iter().map(|row| Ok((place(row, POSITION)?, columns::entry(row).map_err(strange)?))).collect()
}

/// Entries that no reader would ever see.
pub(crate) fn lost(client: &mut Client) -> Result<i64, Failed> {
    let (_, low) = end(client)?;
    let sql = "SELECT count(*) FROM orbs.entry AS e WHERE position <= $1 \
               AND NOT EXISTS (SELECT FROM orbs.feed AS f WHERE f.position = e.position)";
    Ok(query(client, sql, &[(&low, Type::INT8)])?.first().map_or(0, |row| row.get(0)))
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
