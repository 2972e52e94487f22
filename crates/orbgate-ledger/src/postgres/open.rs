//! A connection that comes back, and asks again if an answer got lost.

use core::mem;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use tokio_postgres::Config;
use tokio_postgres::types::Type;

use crate::answer::{Cursor, Page};
use crate::command::Command;
use crate::error::Error;
use crate::ledger::{Backlog, Clock};
use crate::postgres::client::Client;
use crate::postgres::failed::{Failed, wrong};
use crate::postgres::feed::{self, Knows, Start};
use crate::postgres::number::{self, Left};
use crate::postgres::people::{self, Read};
use crate::postgres::rows;
use crate::postgres::settings::Settings;
use crate::postgres::watched::Watched;
use crate::postgres::writer::{self, Became, Known, Returned, Round, Written};
use crate::value::{AccountId, Millis, Order};
use crate::watch::Leap;

/// Version 1 of the schema.
const SCHEMA: &str = include_str!("schema.sql");

/// The functions of the newest version. They name columns only when they run.
const FUNCTIONS: &str = include_str!("batch.sql");

type Upgrade = fn(&mut Client) -> Result<(), Failed>;

/// What brings a version up to date with the next one.
const UPGRADES: [Upgrade; 6] = [
    |database| database.batch_execute(include_str!("upgrade.sql")),
    |database| {
        // No program of an older version writes meanwhile.
        database.batch_execute("LOCK TABLE orbs.account; LOCK TABLE orbs.entry")?;
        database.batch_execute(include_str!("feed.sql"))?;
        number::all(database)?;
        database.batch_execute(include_str!("fed.sql"))
    },
    |database| database.batch_execute(include_str!("until.sql")),
    |database| database.batch_execute(include_str!("due.sql")),
    |database| {
        database.batch_execute(FUNCTIONS)?;
        database.batch_execute("UPDATE orbs.setting SET value = '6' WHERE name = 'version'")
    },
    |database| {
        database.batch_execute(include_str!("people.sql"))?;
        database.batch_execute(include_str!("hot.sql"))?;
        database.batch_execute(FUNCTIONS)
    },
];

/// For how long commands are sent again.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// How often a page waits for writers, or a writer for another one that numbers, and for how long.
pub(crate) const ATTEMPTS: u32 = 50;
pub(crate) const MOMENT: Duration = Duration::from_millis(10);

/// How long a thread is idle before it looks again for what has expired, or for what others have left without a number.
pub(crate) const IDLE: Duration = Duration::from_secs(1);

pub(crate) struct Connection {
    settings: Settings,
    client: Option<Client>,
    pub(crate) watched: Watched,
    /// The server has warned. After a commit this means that a standby might not have it.
    has_warned: Arc<AtomicBool>,
    /// Until when the last page was complete.
    complete_until: Millis,
    /// The writers that a page has waited for in vain. It isn't done again.
    stuck: Vec<String>,
    /// What the last commands have left to do.
    known: Known,
    /// Entries were written here, and the thread that numbers doesn't know of them.
    pub(crate) has_written: bool,
    /// How many holds were released here, because they had expired.
    pub(crate) expired: Arc<AtomicU64>,
    /// The last start of numbering whose writers hadn't ended.
    unsettled: Option<Start>,
}

impl Connection {
    pub(crate) fn new(mut settings: Settings, clock: Option<Arc<dyn Clock>>) -> Self {
        let has_warned = Arc::new(AtomicBool::new(false));
        let config = &mut settings.config;
        // What the connection string states counts.
        if config.get_application_name().is_none() {
            config.application_name("orbgate");
        }
        // A connection that is dead is noticed soon.
        if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
            config.keepalives_idle(Duration::from_secs(10));
        }
        Self {
            settings,
            client: None,
            watched: Watched::new(clock),
            has_warned,
            complete_until: Millis::ZERO,
            stuck: Vec::new(),
            known: Known::default(),
            has_written: false,
            expired: Arc::default(),
            unsettled: None,
        }
    }

    pub(crate) fn close(&mut self) {
        self.client = None;
    }

    /// Creates the ledger if it isn't there, and checks its version and order.
    pub(crate) fn prepare(&mut self, order: Option<Order>) -> Result<(), Error> {
        self.again(|client| client.transaction("BEGIN", |client| prepare(client, order)))
    }

    /// Does commands in their order, in as few transactions as possible, and answers each once it is durable, by its number. Those
    /// without an answer wait for the backlog of their account, and have to come again, in their order and before any others.
    pub(crate) fn run(&mut self, commands: &[Box<Command>], answer: &mut dyn FnMut(usize, Returned)) {
        let mut round = Round::new(self.watched.given(), mem::take(&mut self.watched), mem::take(&mut self.known));
        let all = commands.iter().map(|command| &**command).enumerate().collect();
        self.round(all, &mut round, answer);
        self.wrote(round.written);
        self.watched = mem::take(&mut round.watched);
        self.known = round.known();
    }

    fn round(&mut self, mut open: Vec<(usize, &Command)>, round: &mut Round, answer: &mut dyn FnMut(usize, Returned)) {
        // An account that is locked elsewhere is skipped once. Its commands are then awaited, before any others.
        let mut skips = true;
        while !open.is_empty() {
            let batch: Vec<&Command> = open.iter().map(|(_, command)| *command).collect();
            let done = match self.tried(batch.len() == 1, |client| writer::batch(client, &batch, skips, round)) {
                Ok(done) => done,
                Err(failed) if open.len() == 1 || matches!(failed, Failed::Lost(_)) => {
                    let error = failed.error();
                    return open.into_iter().for_each(|(at, _)| answer(at, Err(error.clone())));
                }
                // One of them fails, or is in the way: each by itself.
                Err(_) => return open.into_iter().for_each(|one| self.round(vec![one], round, answer)),
            };
            let mut again = Vec::new();
            for ((at, command), became) in open.into_iter().zip(done) {
                match became {
                    Became::Done(done) => answer(at, done),
                    Became::Again => again.push((at, command)),
                    Became::Later => {}
                }
            }
            (open, skips) = (again, false);
        }
    }

    /// Reads entries of one account, or of all, and until when they are complete.
    #[allow(clippy::disallowed_methods, reason = "a store is the edge: it waits for other transactions")]
    pub(crate) fn entries(&mut self, of: Option<&AccountId>, after: &Cursor, limit: usize) -> Result<Page, Error> {
        let start = self.start()?;
        // If a writer runs for long, an earlier time is still true.
        let now = if start.writers.is_empty() { start.now } else { self.complete_until };
        self.complete_until = now;
        let mut attempt = 0;
        loop {
            let page = self.again(|client| reading(client, |client| feed::read(client, of, after, limit)))?;
            match page.knows {
                Knows::Cursor => {
                    return Ok(Page {
                        entries: page.entries,
                        complete_until: page.due.map_or(now, |due| due.min(now)),
                    });
                }
                Knows::NoCursor => return Err(Error::Cursor),
                Knows::NotYet(entries) if attempt == ATTEMPTS => {
                    let why = "so it isn't known whether the cursor is from this ledger";
                    return Err(Error::Unknown(format!("{entries} entries have no number yet, {why}")));
                }
                Knows::NotYet(_) => thread::sleep(MOMENT),
            }
            attempt = attempt.saturating_add(1);
        }
    }

    /// Numbers a batch of the entries that have no number.
    pub(crate) fn number(&mut self) -> Result<Left, Error> {
        let time = self.time();
        // After a new connection, nothing is unsettled.
        self.client().map_err(Failed::error)?;
        let (mut unsettled, mut watched) = (self.unsettled.take(), mem::take(&mut self.watched));
        let left = self.once(|client| {
            client.until_commit(writer::BEGIN, |client| number::some(client, time, &mut watched, &mut unsettled))
        });
        (self.watched, self.unsettled) = (watched, unsettled);
        left
    }

    /// Waits for the writers that run now, but not twice for one that doesn't end.
    #[allow(clippy::disallowed_methods, reason = "a store is the edge: it waits for other transactions")]
    fn start(&mut self) -> Result<Start, Error> {
        let (time, mut watched) = (self.time(), mem::take(&mut self.watched));
        let start = self.again(|client| reading(client, |client| feed::start(client, time, &mut watched)));
        self.watched = watched;
        let mut start = start?;
        for _ in 0..ATTEMPTS {
            if start.writers.iter().all(|writer| self.stuck.contains(writer)) {
                break;
            }
            thread::sleep(MOMENT);
            start.writers = self.again(|client| reading(client, |client| feed::running(client, &start.writers)))?;
        }
        self.stuck.clone_from(&start.writers);
        Ok(start)
    }

    /// Writes at most so much of what has expired: none if nothing has, and false if its accounts are locked elsewhere.
    pub(crate) fn expire(&mut self, most: usize) -> Result<Option<bool>, Error> {
        let (time, mut watched) = (self.time(), mem::take(&mut self.watched));
        let done = self.expire_watched(most, time, &mut watched);
        self.watched = watched;
        done
    }

    fn expire_watched(
        &mut self,
        most: usize,
        time: Option<Millis>,
        watched: &mut Watched,
    ) -> Result<Option<bool>, Error> {
        let due = self.once(|client| reading(client, |client| due(client, most, time, watched)))?;
        let due = due.map_err(|leap| leap.error())?;
        if due.is_empty() {
            return Ok(None);
        }
        let written = self.once(|client| writer::expire(client, &due, most, time, watched))?;
        self.wrote(written);
        Ok(Some(written.entries > 0))
    }

    fn wrote(&mut self, written: Written) {
        self.has_written |= written.entries > 0;
        self.expired.fetch_add(written.expired, Ordering::Relaxed);
    }

    /// What has expired and isn't written, what has no number, and what is pending. What was released isn't read here.
    pub(crate) fn backlog(&mut self) -> Result<Backlog, Error> {
        let (time, mut watched) = (self.time(), mem::take(&mut self.watched));
        let backlog = self.again(|client| {
            reading(client, |client| {
                let (now, _) = rows::time(client, time)?;
                // What hasn't expired without a leap waits for nothing.
                let now = watched.shown(client, now)?;
                let (accounts, first) = rows::backlog(client, now)?;
                let age = first.and_then(|first| now.minus(first)).unwrap_or_default();
                let (unnumbered, pending) = (feed::count_unnumbered(client)?, rows::count_pending(client)?);
                Ok(Backlog { accounts, age, unnumbered, pending, expired: 0 })
            })
        });
        self.watched = watched;
        backlog
    }

    /// Reads what people ask for, in a snapshot.
    pub(crate) fn read<T>(&mut self, mut work: impl FnMut(&mut Read<'_>) -> Result<T, Failed>) -> Result<T, Error> {
        let (time, mut watched) = (self.time(), mem::take(&mut self.watched));
        let read = self.again(|client| people::read(client, time, &mut watched, &mut work));
        self.watched = watched;
        read
    }

    pub(crate) fn names(&mut self, after: &str, most: usize) -> Result<Vec<AccountId>, Error> {
        self.again(|client| reading(client, |client| people::names(client, after, most)))
    }

    /// Whether the time passes by itself.
    pub(crate) fn runs(&self) -> bool {
        self.watched.runs()
    }

    fn time(&self) -> Option<Millis> {
        self.watched.given()
    }

    /// Does something that comes again anyway.
    fn once<T>(&mut self, work: impl FnOnce(&mut Client) -> Result<T, Failed>) -> Result<T, Error> {
        let done = self.client().and_then(work);
        self.has_warned.store(false, Ordering::SeqCst);
        done.map_err(|failed| {
            self.client = None;
            failed.error()
        })
    }

    pub(crate) fn again<T>(&mut self, work: impl FnMut(&mut Client) -> Result<T, Failed>) -> Result<T, Error> {
        self.tried(true, work).map_err(Failed::error)
    }

    /// Does something, and again if the connection was lost: all commands are idempotent. A warning after a commit is a loss,
    /// because a standby might not have it. What is in the way of others is only tried again if it is `alone`.
    #[allow(clippy::disallowed_methods, reason = "a store is the edge: it waits for its server")]
    fn tried<T>(&mut self, alone: bool, mut work: impl FnMut(&mut Client) -> Result<T, Failed>) -> Result<T, Failed> {
        let start = Instant::now();
        loop {
            let failed = match self.client().and_then(&mut work) {
                Ok(_) if self.has_warned.swap(false, Ordering::SeqCst) => {
                    Failed::Lost("a warning after a commit".to_owned())
                }
                Ok(done) => return Ok(done),
                Err(failed @ Failed::Wrong(_)) => return Err(failed),
                Err(failed @ Failed::Apart(_)) if !alone => return Err(failed),
                Err(failed) => failed,
            };
            self.client = None;
            if start.elapsed() > PATIENCE {
                return Err(failed);
            }
            thread::sleep(PAUSE);
        }
    }

    fn client(&mut self) -> Result<&mut Client, Failed> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.client = Some(self.settings.connect(&self.has_warned)?);
            self.unsettled = None;
            // Those of the connection don't count.
            self.has_warned.store(false, Ordering::SeqCst);
        }
        self.client.as_mut().ok_or_else(|| Failed::Lost("no connection".to_owned()))
    }
}

fn prepare(client: &mut Client, order: Option<Order>) -> Result<(), Failed> {
    // One process creates it.
    client.batch_execute("SELECT pg_advisory_xact_lock(8029188923)")?;
    if !client.query_one("SELECT to_regnamespace('orbs') IS NOT NULL", &[])?.get::<_, bool>(0) {
        client.batch_execute(SCHEMA)?;
    }
    let mut setting = |name: &str| -> Result<String, Failed> {
        let rows = client.query("SELECT value FROM orbs.setting WHERE name = $1", &[(&name, Type::TEXT)])?;
        Ok(rows.first().map(|row| row.get(0)).unwrap_or_default())
    };
    let (version, stored) = (setting("version")?, setting("order")?);
    let older = version.parse::<usize>().ok().and_then(|version| UPGRADES.get(version.checked_sub(1)?..));
    for upgrade in older.ok_or_else(|| rows::another_version(&version))? {
        upgrade(client)?;
    }
    let Some(order) = order.filter(|order| order.name() != stored) else {
        return Ok(());
    };
    let sql =
        "UPDATE orbs.setting SET value = $1 WHERE name = 'order' AND NOT EXISTS (SELECT FROM orbs.entry) RETURNING 1";
    match client.query(sql, &[(&order.name(), Type::TEXT)])?.is_empty() {
        true => Err(wrong(format!("the order of the ledger is `{stored}`, not `{}`", order.name()))),
        false => Ok(()),
    }
}

fn due(
    client: &mut Client,
    most: usize,
    time: Option<Millis>,
    watched: &mut Watched,
) -> Result<Result<Vec<AccountId>, Leap>, Failed> {
    let (now, _) = rows::time(client, time)?;
    match watched.look(client, now)? {
        Ok(()) => rows::due_accounts(client, now, most).map(Ok),
        Err(leap) => Ok(Err(leap)),
    }
}

/// Reads in a transaction, in which no name means another schema's object, and rows are found by their indexes.
pub(crate) fn reading<T>(
    client: &mut Client,
    read: impl FnOnce(&mut Client) -> Result<T, Failed>,
) -> Result<T, Failed> {
    const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL enable_seqscan = off; SET LOCAL jit = off";
    client.transaction(BEGIN, read)
}
