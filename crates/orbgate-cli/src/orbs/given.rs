//! The times that are asked for, and why a command fails.

use orbgate_ledger::{Error, Invalid, Period};

use super::values::time;
use crate::output::Stop;

/// Why a command fails.
pub(super) enum Failed {
    Stop(Stop),
    Invalid(Invalid),
    Ledger(Error),
}

impl From<Stop> for Failed {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// What is wrong with a value.
impl From<String> for Failed {
    fn from(message: String) -> Self {
        Self::Stop(Stop::Error(message))
    }
}

impl From<Invalid> for Failed {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Ledger(error)
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        Self::Stop(Stop::from(error))
    }
}

/// The times from one to before another, as they are given.
pub(super) fn period(from: Option<&str>, to: Option<&str>) -> Result<Period, String> {
    Ok(Period { from: from.map(time).transpose()?, to: to.map(time).transpose()? })
}
