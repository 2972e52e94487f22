//! A connection that comes back, and asks again if an answer got lost.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use ::postgres::error::{Severity, SqlState};
use ::postgres::types::{ToSql, Type};
use ::postgres::{Client, Config, NoTls};

use crate::answer::{Cursor, Page};
use crate::command::Command;
use crate::error::Error;
use crate::ledger::Clock;
use crate::postgres::Returned;
use crate::value::Order;

const SCHEMA: &str = include_str!("ledger.sql");

/// For how long a command is sent again.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) struct Connection {
    config: Config,
    client: Option<Client>,
    clock: Option<Arc<dyn Clock>>,
    /// The server has warned. After a commit this means that a standby might not have it.
    has_warned: Arc<AtomicBool>,
}

/// Why something failed.
enum Failed {
    /// Try again.
    Lost(String),
    /// It would fail again.
    Wrong(Error),
}

impl Connection {
    pub(crate) fn new(mut config: Config, clock: Option<Arc<dyn Clock>>) -> Self {
        let has_warned = Arc::new(AtomicBool::new(false));
        let warn = Arc::clone(&has_warned);
        config.notice_callback(move |notice| {
            // The text of the severity is in the server's language.
            if notice.parsed_severity() == Some(Severity::Warning) || notice.code() == &SqlState::WARNING {
                warn.store(true, Ordering::SeqCst);
            }
        });
        config.application_name("orbgate");
        // A connection that is dead is noticed.
        config.keepalives_idle(Duration::from_secs(10)).connect_timeout(Duration::from_secs(3));
        Self { config, client: None, clock, has_warned }
    }

    /// Creates the ledger if it isn't there, and checks its version and order.
    pub(crate) fn prepare(&mut self, order: Option<Order>) -> Result<(), Error> {
        self.again(|client| {
            let mut transaction = client.transaction().map_err(failed)?;
            // One process creates it.
            let lock = "SELECT pg_advisory_xact_lock(8029188923)";
            transaction.execute(lock, &[]).map_err(failed)?;
            let exists = "SELECT to_regnamespace('orbs') IS NOT NULL";
            if !transaction.query_one(exists, &[]).map_err(failed)?.get::<_, bool>(0) {
                transaction.batch_execute(SCHEMA).map_err(failed)?;
            }
            let mut setting = |name: &str| -> Result<String, Failed> {
                let sql = "SELECT value FROM orbs.setting WHERE name = $1";
                let row = transaction.query_opt(sql, &[&name]).map_err(failed)?;
                Ok(row.map(|row| row.get(0)).unwrap_or_default())
            };
            let (version, stored) = (setting("version")?, setting("order")?);
            if version != "1" {
                return Err(wrong(format!("the version of the ledger is `{version}`; this program knows `1`")));
            }
            if let Some(order) = order
                && order.name() != stored
            {
                let sql =
                    "UPDATE orbs.setting SET value = $1 WHERE name = 'order' AND NOT EXISTS (SELECT FROM orbs.entry)";
                if transaction.execute(sql, &[&order.name()]).map_err(failed)? != 1 {
                    return Err(wrong(format!("the order of the ledger is `{stored}`, not `{}`", order.name())));
                }
            }
            transaction.commit().map_err(failed)
        })
    }

    /// Does a command, in one round trip: the types of its parameters are stated, so nothing is prepared before or closed
    /// after it.
    pub(crate) fn run(&mut self, command: &Command) -> Returned {
        let command = serde_json::to_string(command).map_err(|error| Error::Unknown(error.to_string()))?;
        let time = self.time();
        let returned = self.again(|client| {
            let row = match time {
                None => client.query_typed_one("SELECT orbs.run($1::jsonb)::text", &[(&command, Type::TEXT)]),
                Some(time) => {
                    let parameters: [(&(dyn ToSql + Sync), Type); 2] = [(&command, Type::TEXT), (&time, Type::INT8)];
                    client.query_typed_one("SELECT orbs.run_at($1::jsonb, $2)::text", &parameters)
                }
            };
            Ok(row.map_err(failed)?.get::<_, String>(0))
        });
        let read = |error| Error::Unknown(format!("postgres: an answer of another version: {error}"));
        serde_json::from_str::<Returned>(&returned?).map_err(read)?
    }

    /// Writes what has expired, one account in each transaction, and reads entries.
    pub(crate) fn entries(&mut self, after: &Cursor, limit: usize) -> Result<Page, Error> {
        let position = if after.as_str().is_empty() { "0.0" } else { after.as_str() };
        let is_position = |text: &str| text.parse::<u64>().is_ok();
        if !position.split_once('.').is_some_and(|(xid, at)| is_position(xid) && is_position(at)) {
            return Err(Error::Cursor);
        }
        let time = self.time();
        let due: Vec<i64> = self.again(|client| {
            let rows = client.query("SELECT orbs.due($1)", &[&time]).map_err(failed)?;
            Ok(rows.iter().map(|row| row.get(0)).collect())
        })?;
        for account in due {
            self.again(|client| client.execute("SELECT orbs.expire_at($1, $2)", &[&account, &time]).map_err(failed))?;
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.again(|client| {
            let sql = "SELECT cursor, entry::text FROM orbs.entries($1, $2)";
            client.query(sql, &[&position, &limit]).map_err(failed)
        })?;
        let entries = rows.iter().map(|row| {
            let entry = serde_json::from_str(row.get(1));
            Ok((Cursor(row.get(0)), entry.map_err(|error| Error::Unknown(error.to_string()))?))
        });
        Ok(Page { entries: entries.collect::<Result<_, Error>>()? })
    }

    /// Reads with the client, without asking again.
    pub(crate) fn read<T>(&mut self, read: impl Fn(&mut Client) -> Result<T, ::postgres::Error>) -> Result<T, Error> {
        self.again(|client| read(client).map_err(failed))
    }

    fn time(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| i64::try_from(clock.now().get()).unwrap_or(i64::MAX))
    }

    /// Does something, and again if the connection was lost: all commands are idempotent. A warning after a commit is a loss,
    /// because a standby might not have it.
    #[allow(clippy::disallowed_methods, reason = "a store is the edge: it waits for its server")]
    fn again<T>(&mut self, mut work: impl FnMut(&mut Client) -> Result<T, Failed>) -> Result<T, Error> {
        let start = Instant::now();
        loop {
            let why = match self.client().and_then(&mut work) {
                Ok(_) if self.has_warned.swap(false, Ordering::SeqCst) => "a warning after a commit".to_owned(),
                Ok(done) => return Ok(done),
                Err(Failed::Wrong(error)) => return Err(error),
                Err(Failed::Lost(why)) => why,
            };
            self.client = None;
            if start.elapsed() > PATIENCE {
                return Err(Error::Unknown(why));
            }
            thread::sleep(PAUSE);
        }
    }

    fn client(&mut self) -> Result<&mut Client, Failed> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.client = Some(self.config.connect(NoTls).map_err(failed)?);
            // Those of the connection don't count.
            self.has_warned.store(false, Ordering::SeqCst);
        }
        self.client.as_mut().ok_or_else(|| Failed::Lost("no connection".to_owned()))
    }
}

const fn wrong(why: String) -> Failed {
    Failed::Wrong(Error::Unknown(why))
}

/// Whether an error is of the connection, or of the command.
#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn failed(error: ::postgres::Error) -> Failed {
    let why = match error.as_db_error() {
        Some(error) => format!("postgres: {}", error.message()),
        None => format!("postgres: {error}"),
    };
    match error.code() {
        // The server is starting or stopping, a deadlock, too many connections: nothing of it is the command's fault.
        None => Failed::Lost(why),
        Some(code) if ["08", "40", "53", "57"].iter().any(|class| code.code().starts_with(class)) => Failed::Lost(why),
        Some(_) => Failed::Wrong(Error::Unknown(why)),
    }
}
