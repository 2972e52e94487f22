//! The store of a ledger service, and the secrets of its callers.

use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use orbgate_ledger::{
    AccountId, Backlog, Command, Cursor, Error, Faults, Ledger, Listed, Listing, Millis, Note, Page, Part, Postgres,
    Reply, Sqlite, Statement, Totals,
};
use tokio::time::Instant;

use crate::authorize::measures;
use crate::config::error::{StartError, kept};
use crate::config::files;
use crate::config::{Database, LedgerConfig, Role};

/// The shortest secret, and the longest.
const LENGTHS: core::ops::RangeInclusive<usize> = 32..=256;

/// A ledger that callers can use. Cheap to clone.
#[derive(Clone)]
pub(crate) struct OpenLedger {
    pub(crate) store: Store,
    secrets: Vec<(Caller, Vec<u8>)>,
}

/// The caller that a secret belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) role: Role,
    /// The name of the secret's file, which is the author of what the caller does.
    pub(crate) name: Note,
}

/// A store, and why it fails while it does.
#[derive(Clone)]
pub(crate) struct Store {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) failure: Failure,
    waiting: Waiting,
}

impl Store {
    /// How many commands the ledger hasn't answered yet.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

type Waiting = Arc<AtomicUsize>;

type Failure = Arc<ArcSwapOption<String>>;

impl OpenLedger {
    pub(crate) const fn new(store: Store, secrets: Vec<(Caller, Vec<u8>)>) -> Self {
        Self { store, secrets }
    }

    /// The caller that a secret belongs to. The time that it takes tells nothing about the secrets but their lengths.
    pub(crate) fn caller(&self, secret: &[u8]) -> Option<&Caller> {
        let mut matching = None;
        for (caller, known) in &self.secrets {
            if verify_slices_are_equal(known, secret).is_ok() {
                matching = Some(caller);
            }
        }
        matching
    }
}

impl fmt::Debug for OpenLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenLedger").field(&self.store.ledger).finish()
    }
}

/// Opens the store, or creates it.
pub(crate) fn open(config: &LedgerConfig) -> Result<Store, StartError> {
    let refuse = |error: Error| StartError::Invalid(format!("the ledger: {error}"));
    match &config.database {
        Database::Sqlite(file) => Ok(watched(Sqlite::open(file).map_err(refuse)?)),
        Database::Postgres(url, password) => {
            let open = || match password {
                None => Postgres::open(url),
                Some(file) => Postgres::open_with_password(url, file),
            };
            // The client runs a loop of its own, which can't be inside another.
            let opened = std::thread::scope(|scope| scope.spawn(open).join());
            let opened = opened.unwrap_or(Err(Error::Busy));
            Ok(watched(opened.map_err(refuse)?))
        }
    }
}

/// Reads the files that opening a database would read. Opens and creates nothing.
pub(crate) fn look(config: &LedgerConfig) -> Result<(), StartError> {
    match &config.database {
        Database::Sqlite(_) => Ok(()),
        Database::Postgres(url, password) => {
            let looked = Postgres::check_files(url, password.as_deref());
            looked.map_err(|error| StartError::Invalid(format!("the ledger: {error}")))
        }
    }
}

/// A store that says in the log when it begins to fail, and when it answers again, and measures its commands.
#[derive(Debug)]
struct Watched<L> {
    store: L,
    failure: Failure,
    waiting: Waiting,
}

fn watched(store: impl Ledger + 'static) -> Store {
    let (failure, waiting) = (Failure::default(), Waiting::default());
    let ledger = Watched { store, failure: Arc::clone(&failure), waiting: Arc::clone(&waiting) };
    Store { ledger: Arc::new(ledger), failure, waiting }
}

/// A full queue is no failure: the callers are too many.
fn note(failure: &Failure, error: Option<&Error>) {
    match error {
        Some(Error::Clock(why) | Error::Unknown(why)) if failure.swap(Some(Arc::new(why.clone()))).is_none() => {
            tracing::error!(error = why, "the ledger fails");
        }
        Some(Error::Clock(_) | Error::Unknown(_) | Error::Busy) => {}
        _ if failure.load().is_some() && failure.swap(None).is_some() => tracing::info!("the ledger answers again"),
        _ => {}
    }
}

impl<L> Watched<L> {
    /// What was read. It can be, although commands fail.
    fn read<T>(&self, read: Result<T, Error>) -> Result<T, Error> {
        if let Err(error @ (Error::Clock(_) | Error::Unknown(_))) = &read {
            note(&self.failure, Some(error));
        }
        read
    }
}

impl<L: Ledger> Ledger for Watched<L> {
    fn submit(&self, command: Command, reply: Reply) {
        let (failure, waiting) = (Arc::clone(&self.failure), Arc::clone(&self.waiting));
        let (name, start) = (command.name(), Instant::now());
        waiting.fetch_add(1, Ordering::Relaxed);
        self.store.submit(
            command,
            Box::new(move |answer| {
                waiting.fetch_sub(1, Ordering::Relaxed);
                measures::took(name, start.elapsed());
                note(&failure, answer.as_ref().err());
                reply(answer);
            }),
        );
    }

    fn entries(&self, after: &Cursor, limit: usize) -> Result<Page, Error> {
        self.read(self.store.entries(after, limit))
    }

    fn entries_of(&self, account: &AccountId, after: &Cursor, limit: usize) -> Result<Page, Error> {
        self.read(self.store.entries_of(account, after, limit))
    }

    fn accounts(&self, listing: &Listing) -> Result<Vec<Listed>, Error> {
        self.read(self.store.accounts(listing))
    }

    fn statement(&self, part: &Part) -> Result<Statement, Error> {
        self.read(self.store.statement(part))
    }

    fn totals(&self, at: Option<Millis>) -> Result<Totals, Error> {
        self.read(self.store.totals(at))
    }

    fn names(&self, after: &str, limit: usize) -> Result<Vec<AccountId>, Error> {
        self.read(self.store.names(after, limit))
    }

    fn expire(&self) -> Result<(), Error> {
        self.store.expire()
    }

    fn backlog(&self) -> Result<Backlog, Error> {
        self.store.backlog()
    }

    fn verify(&self) -> Result<Faults, Error> {
        self.store.verify()
    }

    fn keeps_order(&self) -> bool {
        self.store.keeps_order()
    }

    fn stopped(&self) -> Option<String> {
        self.store.stopped()
    }
}

pub(crate) fn secrets(config: &LedgerConfig) -> Result<Vec<(Caller, Vec<u8>)>, StartError> {
    let mut errors = Vec::new();
    let mut secrets: Vec<(Caller, Vec<u8>)> = Vec::new();
    for (role, file) in config.secrets() {
        let Some(secret) = kept(secret(file), &mut errors) else { continue };
        if secrets.iter().any(|(other, known)| other.role != role && *known == secret) {
            let message = format!("{}: secrets of gates, support and operators can't be the same", file.display());
            errors.push(StartError::Invalid(message));
        }
        // Two files of one name are one author, as while one replaces another.
        let name = file.file_stem().and_then(|name| Note::new(name.to_string_lossy()).ok()).unwrap_or_default();
        secrets.push((Caller { role, name }, secret));
    }
    if errors.is_empty() { Ok(secrets) } else { Err(StartError::Several(errors)) }
}

fn secret(file: &Path) -> Result<Vec<u8>, StartError> {
    let text = files::text(file).map_err(StartError::unreadable(file))?;
    let secret = text.trim_end_matches(['\r', '\n']).as_bytes();
    if !LENGTHS.contains(&secret.len()) || !secret.iter().all(u8::is_ascii_graphic) {
        let (least, most) = (LENGTHS.start(), LENGTHS.end());
        let message = format!("{}: a secret is {least} to {most} visible ASCII characters", file.display());
        return Err(StartError::Invalid(message));
    }
    Ok(secret.to_vec())
}
