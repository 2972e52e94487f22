//! What is wrong with a configuration, and where.

use core::fmt;

use orbgate::Place;

use crate::check::KeyFault;

/// A configuration that cannot be used: every fault found in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    faults: Vec<ConfigFault>,
}

/// One thing wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigFault {
    /// Where it stands in the file; `None` for a configuration written in Rust.
    pub place: Option<Place>,
    /// What is wrong: lower case, no final period, input in backticks.
    pub message: String,
}

impl ConfigError {
    /// Of a configuration written in Rust: the message names issuer and key.
    pub(crate) fn of_keys(faults: &[KeyFault]) -> Self {
        let faults = faults.iter().map(|fault| {
            let message = match fault.key.name {
                "" => fault.message.clone(),
                _ => format!("issuers[{}]: {}", fault.key.issuer, fault.message),
            };
            ConfigFault {
                place: None,
                message,
            }
        });
        Self {
            faults: faults.collect(),
        }
    }

    /// Every fault; never empty.
    #[must_use]
    pub fn faults(&self) -> &[ConfigFault] {
        &self.faults
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(place) => write!(f, "{place}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl core::error::Error for ConfigError {}
