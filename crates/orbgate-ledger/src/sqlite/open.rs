//! Opens files: the modes that durability needs, and migrations.

use core::time::Duration;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior};

use crate::error::Error;
use crate::plan::Stop;
use crate::sqlite::rows;
use crate::value::Order;

/// Marks the file as a ledger: "orbs".
const APPLICATION: i32 = 0x6f72_6273;

type Migration = fn(&Connection) -> Result<(), Stop>;

/// Each migration, from an empty file on. The number of those that a file has is its `user_version`.
const MIGRATIONS: [Migration; 4] = [
    |file| Ok(file.execute_batch(include_str!("schema.sql"))?),
    |file| Ok(file.execute_batch(include_str!("rank.sql"))?),
    |file| {
        file.execute_batch(include_str!("feed.sql"))?;
        rows::number_all(file)?;
        Ok(file.execute_batch(include_str!("fed.sql"))?)
    },
    |file| Ok(file.execute_batch(include_str!("people.sql"))?),
];

/// How long a command waits for another process that writes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Opens the connection that writes, and brings the file up to date.
pub(crate) fn writer(path: &Path, order: Option<Order>) -> Result<(Connection, Order), Error> {
    is_safe(rusqlite::version_number())?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error: rusqlite::Error| cannot_open(path, &error.to_string());
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let order = prepare(&mut connection, order).map_err(|why| match why {
        Ok(error) => failed(error),
        Err(why) => cannot_open(path, &why),
    })?;
    Ok((connection, order))
}

/// Opens a connection that only reads, of a file that might be older or no ledger.
pub(crate) fn only_reader(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let marks = Connection::open_with_flags(path, flags).map_err(Ok).and_then(|connection| {
        connection.busy_timeout(PATIENCE).map_err(Ok)?;
        marks(&connection)
    });
    let why = match marks {
        Ok((APPLICATION, version)) if usize::try_from(version).is_ok_and(|version| version < MIGRATIONS.len()) => {
            writer(path, None)?;
            return reader(path);
        }
        Ok((APPLICATION, _)) => return reader(path),
        Ok(_) => "it isn't a ledger".to_owned(),
        Err(Ok(error)) => error.to_string(),
        Err(Err(why)) => why,
    };
    Err(cannot_open(path, &why))
}

/// Opens a connection that only reads.
pub(crate) fn reader(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error: rusqlite::Error| cannot_open(path, &error.to_string());
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    is_current(&connection).map_err(Stop::error)?;
    Ok(connection)
}

/// Whether the file still has the version of this program, because another process can bring it up to date with a newer one.
pub(crate) fn is_current(connection: &Connection) -> Result<(), Stop> {
    let version: i32 = connection.prepare_cached("PRAGMA user_version")?.query_row((), |row| row.get(0))?;
    if usize::try_from(version) == Ok(MIGRATIONS.len()) { Ok(()) } else { Err(Stop::Broken(another_version(version))) }
}

fn another_version(version: i32) -> String {
    format!("its version is {version}; this program knows {}", MIGRATIONS.len())
}

fn cannot_open(path: &Path, why: &str) -> Error {
    Error::Unknown(format!("cannot open `{}`: {why}", path.display()))
}

/// Versions 3.7.0 to 3.51.2 can corrupt a file in WAL mode that two connections write and checkpoint at once. The fix is
/// also in 3.50.7 and 3.44.6.
fn is_safe(version: i32) -> Result<(), Error> {
    match version {
        3_051_003.. | 3_050_007..=3_050_999 | 3_044_006..=3_044_999 => Ok(()),
        _ => Err(Error::Unknown(format!("SQLite {version} can corrupt a ledger: 3051003 or newer is needed"))),
    }
}

type Why = Result<rusqlite::Error, String>;

fn prepare(connection: &mut Connection, order: Option<Order>) -> Result<Order, Why> {
    connection.busy_timeout(PATIENCE).map_err(Ok)?;
    connection.set_prepared_statement_cache_capacity(64);
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0)).map_err(Ok)?;
    if mode != "wal" {
        return Err(Err(format!("the journal mode is {mode}, not wal")));
    }
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864").map_err(Ok)?;
    let synchronous: i64 = connection.query_row("PRAGMA synchronous", (), |row| row.get(0)).map_err(Ok)?;
    if synchronous != 2 {
        return Err(Err(format!("`synchronous` is {synchronous}, not 2")));
    }
    migrate(connection)?;
    let read = |connection: &Connection| {
        let sql = "SELECT value FROM setting WHERE name = 'order'";
        connection.query_row(sql, (), |row| row.get::<_, String>(0)).optional()
    };
    let stored = read(connection).map_err(Ok)?.unwrap_or_default();
    let stored = Order::from_name(&stored).ok_or_else(|| Err(format!("unknown order `{stored}`")))?;
    match order {
        Some(order) if order != stored => set_order(connection, order, stored),
        _ => Ok(stored),
    }
}

/// An order can be chosen until the first command.
fn set_order(connection: &Connection, order: Order, stored: Order) -> Result<Order, Why> {
    let sql = "UPDATE setting SET value = ?1 WHERE name = 'order' AND NOT EXISTS (SELECT 1 FROM entry)";
    match connection.execute(sql, [order.name()]).map_err(Ok)? {
        1 => Ok(order),
        _ => Err(Err(format!("its order is `{}`, not `{}`", stored.name(), order.name()))),
    }
}

/// Brings a file up to date. A current one is only read.
fn migrate(connection: &mut Connection) -> Result<(), Why> {
    let (application, version) = marks(connection)?;
    if application == APPLICATION && usize::try_from(version) == Ok(MIGRATIONS.len()) {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(Ok)?;
    let (application, version) = marks(&transaction)?;
    let objects: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0)).map_err(Ok)?;
    if application != APPLICATION && objects > 0 {
        return Err(Err("it is a database of another program".to_owned()));
    }
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    let Some(missing) = MIGRATIONS.get(done..) else {
        return Err(Err(another_version(version)));
    };
    for migration in missing {
        migration(&transaction).map_err(|stop| Err(stop.error().to_string()))?;
    }
    if done == 0 {
        let order = Order::default().name();
        transaction.execute("INSERT INTO setting VALUES ('order', ?1)", [order]).map_err(Ok)?;
    }
    let pragmas = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {}", MIGRATIONS.len());
    transaction.execute_batch(&pragmas).map_err(Ok)?;
    transaction.commit().map_err(Ok)
}

/// What says that a file is a ledger, and of which version.
fn marks(connection: &Connection) -> Result<(i32, i32), Why> {
    let pragma = |name| connection.query_row(&format!("PRAGMA {name}"), (), |row| row.get::<_, i32>(0)).map_err(Ok);
    Ok((pragma("application_id")?, pragma("user_version")?))
}

#[cfg(test)]
mod tests {
    use super::is_safe;

    #[test]
    fn libraries_that_can_corrupt_a_file_are_refused() {
        for version in [3_040_001, 3_044_005, 3_050_006, 3_051_002] {
            assert!(is_safe(version).is_err(), "{version}");
        }
        for version in [3_044_006, 3_050_007, 3_051_003, rusqlite::version_number()] {
            assert_eq!(is_safe(version), Ok(()), "{version}");
        }
    }
}
