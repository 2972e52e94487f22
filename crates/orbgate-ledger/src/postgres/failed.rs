//! Why something failed, and whether to try again.

use core::error::Error as _;
use std::io;

use rustls::pki_types::InvalidDnsNameError;
use tokio_postgres::error::{DbError, SqlState};

use crate::error::Error;
use crate::plan::Stop;
use crate::postgres::tls::explained;

/// Why something failed.
#[derive(Debug)]
pub(crate) enum Failed {
    /// Try again.
    Lost(String),
    /// Try again, with less at once: the transaction was in the way of another one.
    Apart(String),
    /// Another transaction has used a new id meanwhile, and this one sees it the next time.
    Taken(String),
    /// It would fail again.
    Wrong(Error),
}

impl Failed {
    pub(crate) fn error(self) -> Error {
        match self {
            Self::Wrong(error) => error,
            Self::Lost(why) | Self::Apart(why) | Self::Taken(why) => Error::Unknown(why),
        }
    }
}

impl From<Stop> for Failed {
    fn from(stop: Stop) -> Self {
        Self::Wrong(stop.error())
    }
}

pub(crate) const fn wrong(why: String) -> Failed {
    Failed::Wrong(Error::Unknown(why))
}

/// What lets each id be used once.
const IDS: [&str; 4] = ["hold_pkey", "grants_id_key", "revocation_pkey", "extension_pkey"];

/// Whether an error is of the connection, or of the command.
#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn failed(error: tokio_postgres::Error) -> Failed {
    let why = match error.as_db_error() {
        Some(error) => format!("postgres: {}", error.message()),
        None => format!("postgres: {}", with_cause(&error)),
    };
    match error.code().map(SqlState::code) {
        // Deadlocks.
        Some(code) if code.starts_with("40") => Failed::Apart(why),
        Some("23505") if error.as_db_error().and_then(DbError::constraint).is_some_and(|name| IDS.contains(&name)) => {
            Failed::Taken(why)
        }
        // What was read under the lock isn't there.
        Some("ORBS1") => wrong(error.as_db_error().map_or(why, |error| error.message().to_owned())),
        // The server is starting or stopping, the transaction was idle for too long, too many connections, a full disk: nothing
        // of it is the command's fault.
        None => Failed::Lost(why),
        Some(code) if ["08", "25P03", "53", "57"].iter().any(|class| code.starts_with(class)) => Failed::Lost(why),
        Some(_) => Failed::Wrong(Error::Unknown(why)),
    }
}

/// The same for an error while connecting. What the settings or a certificate are wrong in doesn't come right by itself.
pub(crate) fn unconnected(error: tokio_postgres::Error) -> Failed {
    let wrong = |why: &str| Failed::Wrong(Error::Unknown(format!("postgres: {why}")));
    let tls = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()).and_then(io::Error::get_ref);
    if let Some(error) = tls.and_then(|error| error.downcast_ref::<rustls::Error>()) {
        return wrong(&explained(error));
    }
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    match cause.as_str() {
        "server does not support TLS" => wrong("the server doesn't offer TLS, which `sslmode` requires"),
        "password missing" => wrong("the server requires a password: give it by a file or by `PGPASSWORD`"),
        // Such as a server that doesn't prove that it knows the password.
        _ if ["invalid configuration", "authentication error"].contains(&&*error.to_string()) => {
            wrong(&with_cause(&error))
        }
        _ if error.source().is_some_and(<dyn core::error::Error>::is::<InvalidDnsNameError>) => {
            wrong(&format!("TLS needs a `host` that is a name: {}", with_cause(&error)))
        }
        _ => failed(error),
    }
}

/// The driver's own text is only the kind of an error.
fn with_cause(error: &tokio_postgres::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
