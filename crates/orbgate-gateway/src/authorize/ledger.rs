//! The store of a ledger service, and the secrets of its callers.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::path::Path;
use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use orbgate_ledger::{Backlog, Command, Cursor, Error, Faults, Ledger, Page, Postgres, Reply, Sqlite};

use crate::config::error::{StartError, kept};
use crate::config::files;
use crate::config::{Database, LedgerConfig, Role};

/// The shortest secret, and the longest.
const LENGTHS: core::ops::RangeInclusive<usize> = 32..=256;

/// A ledger that callers can use. Cheap to clone.
#[derive(Clone)]
pub(crate) struct OpenLedger {
    pub(crate) store: Arc<dyn Ledger>,
    secrets: Vec<(Role, Vec<u8>)>,
}

impl OpenLedger {
    pub(crate) const fn new(store: Arc<dyn Ledger>, secrets: Vec<(Role, Vec<u8>)>) -> Self {
        Self { store, secrets }
    }

    /// The role of a secret. The time that it takes tells nothing about the secrets but their lengths.
    pub(crate) fn role(&self, secret: &[u8]) -> Option<Role> {
        let mut matching = None;
        for (role, known) in &self.secrets {
            if verify_slices_are_equal(known, secret).is_ok() {
                matching = Some(*role);
            }
        }
        matching
    }
}

impl fmt::Debug for OpenLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenLedger").field(&self.store).finish()
    }
}

/// Opens the store, or creates it.
pub(crate) fn open(config: &LedgerConfig) -> Result<Arc<dyn Ledger>, StartError> {
    let refuse = |error: Error| StartError::Invalid(format!("the ledger: {error}"));
    match &config.database {
        Database::Sqlite(file) => Ok(Arc::new(Watched::new(Sqlite::open(file).map_err(refuse)?))),
        Database::Postgres(url, password) => {
            let open = || match password {
                None => Postgres::open(url),
                Some(file) => Postgres::open_with_password(url, file),
            };
            // The client runs a loop of its own, which can't be inside another.
            let opened = std::thread::scope(|scope| scope.spawn(open).join());
            let opened = opened.unwrap_or(Err(Error::Busy));
            Ok(Arc::new(Watched::new(opened.map_err(refuse)?)))
        }
    }
}

/// A store that says in the log when it begins to fail, and when it answers again.
#[derive(Debug)]
struct Watched<L> {
    store: L,
    fails: Arc<AtomicBool>,
}

impl<L> Watched<L> {
    fn new(store: L) -> Self {
        Self { store, fails: Arc::default() }
    }
}

/// A full queue is no failure: the callers are too many.
fn note(fails: &AtomicBool, error: Option<&Error>) {
    match error {
        Some(Error::Unknown(why)) if !fails.swap(true, Ordering::SeqCst) => {
            tracing::error!(error = why, "the ledger fails");
        }
        Some(Error::Unknown(_) | Error::Busy) => {}
        _ if fails.load(Ordering::SeqCst) && fails.swap(false, Ordering::SeqCst) => {
            tracing::info!("the ledger answers again");
        }
        _ => {}
    }
}

impl<L: Ledger> Ledger for Watched<L> {
    fn submit(&self, command: Command, reply: Reply) {
        let fails = Arc::clone(&self.fails);
        self.store.submit(
            command,
            Box::new(move |answer| {
                note(&fails, answer.as_ref().err());
                reply(answer);
            }),
        );
    }

    fn entries(&self, after: &Cursor, limit: usize) -> Result<Page, Error> {
        let page = self.store.entries(after, limit);
        note(&self.fails, page.as_ref().err());
        page
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

pub(crate) fn secrets(config: &LedgerConfig) -> Result<Vec<(Role, Vec<u8>)>, StartError> {
    let mut errors = Vec::new();
    let mut secrets: Vec<(Role, Vec<u8>)> = Vec::new();
    for (role, file) in config.secrets() {
        let Some(secret) = kept(secret(file), &mut errors) else { continue };
        if secrets.iter().any(|(other, known)| *other != role && *known == secret) {
            let message = format!("{}: gates and operators have the same secret", file.display());
            errors.push(StartError::Invalid(message));
        }
        secrets.push((role, secret));
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
