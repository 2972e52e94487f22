//! Gives entries their numbers.
//!
//! Writers don't wait for each other's commits, so an entry can have a lower position than another one that has a number already. Each
//! writer numbers what it sees, in a transaction of its own, and under a lock, so that nothing has two numbers.

use ::postgres::types::Type;
use ::postgres::{Client, GenericClient, Row};

use crate::columns;
use crate::feed::Place;
use crate::postgres::failed::{Failed, failed};
use crate::postgres::feed::{self, AFTER_ENTRY, Start, count, query, unnumbered};
use crate::postgres::rows::{Parameters, number, select, strange};
use crate::value::Millis;

/// How many entries get their numbers in a transaction.
const BATCH: usize = 1000;

/// The entries of older versions are read in parts.
const PART: &str = "FETCH 10000 FROM before";

/// What is left after a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Nothing,
    More,
    /// Another process numbers now, and might not see everything.
    Elsewhere,
}

/// Numbers a batch of entries in the order of their positions. Within an account, this is their order there. Must be called in a
/// transaction that writes. `before` is the last start whose writers hadn't ended.
pub(crate) fn some(client: &mut Client, given: Option<Millis>, before: &mut Option<Start>) -> Result<Left, Failed> {
    let lock = client.query_typed_one("SELECT pg_try_advisory_xact_lock(8029188924)", &[]).map_err(failed)?;
    if !lock.get::<_, bool>(0) {
        return Ok(Left::Elsewhere);
    }
    // Later statements see what those have written that had the lock before.
    let start = feed::start(client, given)?;
    let settled = settled(start, before);
    let (end, low) = feed::end(client)?;
    let sql = concat!("SELECT ", select!(entry), ", position", unnumbered!(), " ORDER BY position LIMIT $2");
    let rows = query(client, sql, &[(&low, Type::INT8), (&count(BATCH), Type::INT8)])?;
    let Some(last) = rows.last().map(|row| row.get::<_, i64>(AFTER_ENTRY)) else {
        return Ok(Left::Nothing);
    };
    // What isn't seen by now, and has a position up to this one, will never be: its transaction has ended.
    let settled = settled.map(|start| (start.position.min(last), start.now)).filter(|(position, _)| *position > low);
    write(client, end, &rows, settled)?;
    Ok(if rows.len() < BATCH { Left::Nothing } else { Left::More })
}

/// The newest start whose writers have ended. `before` becomes the one to ask for the next time.
fn settled(start: Start, before: &mut Option<Start>) -> Option<Start> {
    let (settled, next) = match before.take() {
        _ if start.writers.is_empty() => (Some(start), None),
        Some(last) if !last.writers.iter().any(|writer| start.writers.contains(writer)) => (Some(last), Some(start)),
        last => (None, last.or(Some(start))),
    };
    *before = next;
    settled
}

/// Writes the numbers of entries, and returns the place after them.
fn write<C: GenericClient>(
    client: &mut C,
    after: Place,
    rows: &[Row],
    settled: Option<(i64, Millis)>,
) -> Result<Place, Failed> {
    let (mut place, mut numbers, mut positions, mut digests) = (after, Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        place = place.after(&columns::entry(row).map_err(strange)?);
        numbers.push(number(place.number));
        positions.push(row.get::<_, i64>(AFTER_ENTRY));
        digests.push(place.digest.cast_signed());
    }
    let sql = "INSERT INTO orbs.feed (number, position, digest, low, until) \
               SELECT number, position, digest, CASE WHEN number = $4 THEN $5 END, CASE WHEN number = $4 THEN $6 END \
               FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS f (number, position, digest)";
    let parameters: Parameters<'_> = &[
        (&numbers, Type::INT8_ARRAY),
        (&positions, Type::INT8_ARRAY),
        (&digests, Type::INT8_ARRAY),
        (&number(place.number), Type::INT8),
        (&settled.map(|(low, _)| low), Type::INT8),
        (&settled.map(|(_, until)| number(until.get())), Type::INT8),
    ];
    query(client, sql, parameters)?;
    Ok(place)
}

/// Numbers the entries of older versions in the order in which they were read.
pub(crate) fn all<C: GenericClient>(client: &mut C) -> Result<(), Failed> {
    let sql = concat!(
        "DECLARE before NO SCROLL CURSOR FOR SELECT ",
        select!(entry),
        ", position FROM orbs.entry ORDER BY xid, position"
    );
    client.batch_execute(sql).map_err(failed)?;
    let last: Option<i64> =
        query(client, "SELECT max(position) FROM orbs.entry", &[])?.first().and_then(|row| row.get(0));
    let mut place = feed::first(client)?;
    loop {
        let rows = query(client, PART, &[])?;
        if rows.is_empty() {
            return client.batch_execute("CLOSE before").map_err(failed);
        }
        place = write(client, place, &rows, last.map(|last| (last, Millis::ZERO)))?;
    }
}
