//! Why something failed, and whether to try again.

use ::postgres::error::SqlState;

use crate::error::Error;

/// Why something failed.
#[derive(Debug)]
pub(crate) enum Failed {
    /// Try again.
    Lost(String),
    /// Try again, with less at once: the transaction was in the way of another one.
    Apart(String),
    /// It would fail again.
    Wrong(Error),
}

pub(crate) const fn wrong(why: String) -> Failed {
    Failed::Wrong(Error::Unknown(why))
}

/// Whether an error is of the connection, or of the command.
#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn failed(error: ::postgres::Error) -> Failed {
    let why = match error.as_db_error() {
        Some(error) => format!("postgres: {}", error.message()),
        None => format!("postgres: {error}"),
    };
    match error.code().map(SqlState::code) {
        // Deadlocks.
        Some(code) if code.starts_with("40") => Failed::Apart(why),
        // The server is starting or stopping, the transaction was idle for too long, too many connections, a full disk: nothing
        // of it is the command's fault.
        None => Failed::Lost(why),
        Some(code) if ["08", "25P03", "53", "57"].iter().any(|class| code.starts_with(class)) => Failed::Lost(why),
        Some(_) => Failed::Wrong(Error::Unknown(why)),
    }
}
