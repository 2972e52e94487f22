//! Where the ledger is, and which files have the secrets of its callers.

use core::fmt::{self, Debug};
use std::path::{Path, PathBuf};

use orbgate_ledger::Postgres;
use orbgate_yaml::{Diagnostics, Spanned};

use super::address::Address;
use super::document::{LedgerDocument, ListenerDocument};
use super::mode::Mode;
use super::tls::TlsFiles;

/// The role of a caller, by its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// May hold, extend and settle.
    Gate,
    /// May read.
    Support,
    /// May do everything.
    Operator,
}

impl Role {
    /// The key that names the files of its secrets.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Gate => "gate_secrets",
            Self::Support => "support_secrets",
            Self::Operator => "operator_secrets",
        }
    }
}

/// Where the accounts are.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Database {
    /// In this file.
    Sqlite(PathBuf),
    /// In the database of this URL, with the password of this file.
    Postgres(String, Option<PathBuf>),
}

/// The URL can have a password.
impl Debug for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(file) => formatter.debug_tuple("Sqlite").field(file).finish(),
            Self::Postgres(_, file) => formatter.debug_tuple("Postgres").field(&"_").field(file).finish(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LedgerConfig {
    pub(crate) database: Database,
    secrets: Vec<(Role, PathBuf)>,
}

impl LedgerConfig {
    pub(crate) fn secrets(&self) -> impl Iterator<Item = (Role, &Path)> {
        self.secrets.iter().map(|(role, file)| (*role, file.as_path()))
    }

    /// Whether it is another ledger, which takes a restart.
    pub(crate) fn has_moved(&self, new: &Self) -> bool {
        self.database != new.database
    }
}

/// The most secrets of gates: one replaces another.
const MOST_GATES: usize = 2;

/// The most secrets of people, who each have one.
const MOST_PEOPLE: usize = 64;

pub(super) fn config(document: &LedgerDocument, folder: &Path, diagnostics: &mut Diagnostics) -> LedgerConfig {
    let LedgerDocument { db, password_file, gate_secrets, support_secrets, operator_secrets } = document;
    let database = match (Postgres::is_url(&db.value), password_file) {
        (true, file) => {
            if let Err(error) = Postgres::check(&db.value) {
                diagnostics.push_new(db.location, error.to_string());
            }
            Database::Postgres(db.value.clone(), file.as_ref().map(|file| folder.join(&file.value)))
        }
        (false, file) => {
            if let Some(file) = file {
                diagnostics.push_new(file.location, "a SQLite file has no password".to_owned());
            }
            Database::Sqlite(folder.join(&db.value))
        }
    };
    let mut secrets = Vec::new();
    let lists = [
        (Role::Gate, MOST_GATES, Some(gate_secrets)),
        (Role::Support, MOST_PEOPLE, support_secrets.as_ref()),
        (Role::Operator, MOST_PEOPLE, operator_secrets.as_ref()),
    ];
    for (role, most, files) in lists {
        let Some(Spanned { location, value }) = files else { continue };
        if !(1..=most).contains(&value.len()) {
            diagnostics.push_new(*location, format!("it must be 1 to {most} files"));
        }
        secrets.extend(value.iter().map(|file| (role, folder.join(&file.value))));
    }
    LedgerConfig { database, secrets }
}

/// Rejects a ledger without a listener, and a listener without a ledger.
pub(super) fn refuse_unused(
    ledger: Option<&LedgerDocument>,
    listeners: &Spanned<Vec<ListenerDocument>>,
    diagnostics: &mut Diagnostics,
) {
    // The mode might be missing by mistake, so a listener without one counts.
    let serves = |it: &&ListenerDocument| it.mode.value == Mode::Ledger;
    let might = |it: &ListenerDocument| serves(&it) || diagnostics.stand_at(it.mode.location);
    if ledger.is_some() && !listeners.value.iter().any(might) {
        let message = "no listener has the mode `ledger`, so nobody can use it";
        diagnostics.push_new(listeners.location, message.to_owned());
    }
    if let Some(listener) = listeners.value.iter().find(serves).filter(|_| ledger.is_none()) {
        diagnostics.push_new(listener.mode.location, "the mode `ledger` requires the key `ledger`".to_owned());
    }
}

/// Why secrets could be read on the way.
pub(super) fn exposed(address: &Address, tls: Option<&TlsFiles>) -> Option<&'static str> {
    let is_near = match address {
        Address::Unix(_) => true,
        Address::Tcp(address) => address.ip().is_loopback(),
    };
    let message =
        "the secrets would be readable on the way: set `tls`, or listen at a loopback address or a Unix socket";
    (!is_near && tls.is_none()).then_some(message)
}
