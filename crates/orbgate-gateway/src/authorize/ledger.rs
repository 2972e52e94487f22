//! The store of a ledger service, and the secrets of its callers.

use core::fmt;
use std::path::Path;
use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use orbgate_ledger::{Ledger, Postgres, Sqlite};

use crate::config::error::{StartError, kept};
use crate::config::files;
use crate::config::{LedgerConfig, Role};

/// The shortest secret, and the longest.
const LENGTHS: core::ops::RangeInclusive<usize> = 32..=256;

/// Connections to a PostgreSQL database.
const CONNECTIONS: usize = 8;

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
    let refuse = |error: orbgate_ledger::Error| StartError::Invalid(format!("the ledger: {error}"));
    match &config.url {
        None => Ok(Arc::new(Sqlite::open(&config.db).map_err(refuse)?)),
        Some(url) => {
            // The client runs a loop of its own, which can't be inside another.
            let opened = std::thread::scope(|scope| scope.spawn(|| Postgres::open(url, CONNECTIONS)).join());
            let opened = opened.unwrap_or_else(|_| Err(orbgate_ledger::Error::Busy));
            Ok(Arc::new(opened.map_err(refuse)?))
        }
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
