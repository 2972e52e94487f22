//! The clock of a file: looks at it, accepts it, and brings accounts back that are ahead of it.

use rusqlite::{Connection, OptionalExtension as _};

use crate::answer::{ClockState, Early};
use crate::columns::Columns as _;
use crate::error::Error;
use crate::ledger::ClockChange;
use crate::plan::{self, Stop};
use crate::sqlite::rows::Rows;
use crate::sqlite::writer::{BATCH, Writer};
use crate::value::{AccountId, Bucket, Id, Millis};
use crate::watch::{self, Told, Watch};

impl Writer {
    /// The time, unless the clock has leapt.
    pub(crate) fn looked(&self) -> Result<Millis, Stop> {
        let now = self.clock.now();
        let mut watch = self.watch.get();
        let looked = watch.look(now, self.clock.steady(), || told(&self.connection));
        self.watch.set(watch);
        looked?.map_err(|leap| leap.error())?;
        Ok(now)
    }

    /// The time for whoever only reads.
    pub(crate) fn shown(&self, now: Millis) -> Result<Millis, Stop> {
        let mut watch = self.watch.get();
        let shown = watch.without_leap(now, self.clock.steady(), || told(&self.connection));
        self.watch.set(watch);
        shown
    }

    /// Accepts the clock or resets accounts, if asked to, and returns what is true then.
    pub(crate) fn change_clock(&self, change: ClockChange) -> Result<ClockState, Error> {
        let mut done = ClockState::default();
        match change {
            ClockChange::Nothing => {}
            ClockChange::Accept => {
                self.transaction("BEGIN IMMEDIATE", |connection, clock| accept(connection, clock.now()))?;
            }
            ClockChange::Reset => {
                watch::is_possible(self.clock.now(), self.clock.steady())?;
                let mut is_last = false;
                while !is_last {
                    self.transaction("BEGIN IMMEDIATE", |connection, clock| {
                        let now = clock.now();
                        let ahead = Rows::new(connection).ahead(now, BATCH)?;
                        is_last = ahead.len() < BATCH;
                        for account in ahead {
                            let shortened = plan::reset(&mut Rows::new(connection), account, now)?;
                            done.reset = done.reset.saturating_add(1);
                            done.shortened = done.shortened.saturating_add(shortened.unwrap_or_default());
                        }
                        set(connection, "reset", now)?;
                        accept(connection, now)
                    })?;
                }
            }
        }
        self.state(done).map_err(Stop::error)
    }

    fn state(&self, done: ClockState) -> Result<ClockState, Stop> {
        let (now, connection) = (self.clock.now(), &*self.connection);
        let told = told(connection)?;
        let looked = Watch::default().look(now, self.clock.steady(), || Ok::<_, Stop>(told))?;
        let sql = "SELECT count(*) FILTER (WHERE clock > ?1), max(clock) FROM account";
        let (ahead, latest) =
            connection.query_row(sql, [millis(now)], |row| Ok((row.number(0)?, row.optional_time(1)?)))?;
        let (Told { newest, accepted, .. }, refused) = (told, looked.is_err());
        Ok(ClockState { now, newest, accepted, refused, ahead, latest, early: early(connection, now)?, ..done })
    }
}

/// What the rows of the file tell about the time.
fn told(connection: &Connection) -> Result<Told, Stop> {
    let setting = |name| {
        let sql = "SELECT CAST(value AS INTEGER) FROM setting WHERE name = ?1";
        connection.prepare_cached(sql)?.query_row([name], |row| row.time(0)).optional()
    };
    Ok(Told { newest: Rows::new(connection).last_time()?, accepted: setting("accepted")?, reset: setting("reset")? })
}

/// Other processes read it once they look at a time that is too far ahead.
fn accept(connection: &Connection, now: Millis) -> Result<(), Stop> {
    set(connection, "accepted", now)
}

fn set(connection: &Connection, name: &str, now: Millis) -> Result<(), Stop> {
    let sql = "INSERT INTO setting VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    connection.execute(sql, [name, &now.get().to_string()])?;
    Ok(())
}

fn early(connection: &Connection, now: Millis) -> Result<Vec<Early>, Stop> {
    let sql = "SELECT account.id, grants.id, bucket, expired, expires_at FROM grants JOIN account ON account.key = grants.account \
         WHERE expired > 0 AND expires_at > ?1 ORDER BY account.id, grants.seq";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([millis(now)], |row| {
        let (account, grant) = (row.name(0, AccountId::new)?, row.name(1, Id::new)?);
        let (bucket, expired, expires_at) = (row.word(2, Bucket::from_name)?, row.orbs(3)?, row.time(4)?);
        Ok(Early { account, grant, bucket, expired, expires_at })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn millis(time: Millis) -> i64 {
    i64::try_from(time.get()).unwrap_or(i64::MAX)
}
