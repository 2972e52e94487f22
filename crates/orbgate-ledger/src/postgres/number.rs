//! Gives entries their numbers.
//!
//! Writers don't wait for each other's commits, so an entry can have a lower position than another one that has a number already. Each
//! writer numbers what it sees, in a transaction of its own, and under a lock, so that nothing has two numbers.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns;
use crate::feed::Place;
use crate::postgres::client::{Client, Statement};
use crate::postgres::failed::Failed;
use crate::postgres::feed::{self, AFTER_ENTRY, Start, count, low};
use crate::postgres::rows::{number, select, strange};
use crate::postgres::watched::Watched;
use crate::value::Millis;

/// How many entries get their numbers in a transaction.
const BATCH: usize = 500;

/// The entries of older versions are read in parts.
const PART: &str = "FETCH 10000 FROM before";

/// Whether no other process numbers now.
const LOCK: &str = "SELECT pg_try_advisory_xact_lock(8029188924)";

/// The first entries above the newest `low` that have no number. Each is looked for by the index, because the planner doesn't know `low`.
const UNNUMBERED: &str = concat!(
    "SELECT ",
    select!(entry),
    ", position FROM orbs.entry AS e WHERE position > coalesce(",
    low!(),
    ", 0) AND (SELECT f.number FROM orbs.feed AS f WHERE f.position = e.position) IS NULL ORDER BY position LIMIT $1"
);

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
pub(crate) fn some(
    client: &mut Client,
    given: Option<Millis>,
    watched: &mut Watched,
    before: &mut Option<Start>,
) -> Result<Left, Failed> {
    // Later statements see what those have written that had the lock before.
    let sent = [LOCK].into_iter().chain(feed::START).chain([feed::END]).map(Statement::new);
    let sent: Vec<_> = sent.chain([Statement::new(UNNUMBERED).with(count(BATCH), Type::INT8)]).collect();
    let read = client.query_all(sent.iter())?;
    let [lock, start @ .., end, rows] = &read[..] else {
        return Err(strange(()));
    };
    if !lock.first().is_some_and(|row| row.get(0)) {
        return client.commit_with(&[]).map(|()| Left::Elsewhere);
    }
    let (start, _) = feed::started(start, given)?;
    let start = Start { now: watched.shown(client, start.now)?, ..start };
    let settled = settled(start, before);
    let (end, low) = feed::ended(end)?;
    let Some(last) = rows.last().map(|row| row.get::<_, i64>(AFTER_ENTRY)) else {
        return client.commit_with(&[]).map(|()| Left::Nothing);
    };
    // What isn't seen by now, and has a position up to this one, will never be: its transaction has ended.
    let settled = settled.map(|start| (start.position.min(last), start.now)).filter(|(position, _)| *position > low);
    client.commit_with(&[write(end, rows, settled)?.0])?;
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

/// Writes the numbers of entries. The place is after them.
fn write(after: Place, rows: &[Row], settled: Option<(i64, Millis)>) -> Result<(Statement<'static>, Place), Failed> {
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
    let statement = Statement::new(sql).with(numbers, Type::INT8_ARRAY).with(positions, Type::INT8_ARRAY);
    let statement = statement.with(digests, Type::INT8_ARRAY).with(number(place.number), Type::INT8);
    let statement = statement.with(settled.map(|(low, _)| low), Type::INT8);
    Ok((statement.with(settled.map(|(_, until)| number(until.get())), Type::INT8), place))
}

/// Numbers the entries of older versions in the order in which they were read.
pub(crate) fn all(client: &mut Client) -> Result<(), Failed> {
    let sql = concat!(
        "DECLARE before NO SCROLL CURSOR FOR SELECT ",
        select!(entry),
        ", position FROM orbs.entry ORDER BY xid, position"
    );
    client.batch_execute(sql)?;
    let last: Option<i64> =
        client.query("SELECT max(position) FROM orbs.entry", &[])?.first().and_then(|row| row.get(0));
    let mut place = feed::first(client)?;
    loop {
        let rows = client.query(PART, &[])?;
        if rows.is_empty() {
            return client.batch_execute("CLOSE before");
        }
        let (statement, after) = write(place, &rows, last.map(|last| (last, Millis::ZERO)))?;
        client.query_all([&statement].into_iter())?;
        place = after;
    }
}
