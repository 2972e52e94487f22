//! Why a command stops.

use crate::error::Error;

/// Why a command stops.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The command is wrong: what the account's time has changed stays.
    Refused(Error),
    /// More has expired in this account than the store writes at once: the command has to come again. What was written stays.
    Later(i64),
    /// The store fails, or its rows contradict each other: nothing may stay.
    Broken(String),
}

impl Stop {
    /// What a caller learns of it: whether a command of a store that fails was done isn't known.
    pub(crate) fn error(self) -> Error {
        match self {
            Self::Refused(error) => error,
            Self::Later(_) => Error::Busy,
            Self::Broken(why) => Error::Unknown(why),
        }
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Rows that contradict each other.
pub(crate) fn broken(what: &str) -> Stop {
    Stop::Broken(format!("the ledger contradicts itself: {what}"))
}
