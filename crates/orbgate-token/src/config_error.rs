//! What is wrong with a configuration, and where.

use core::fmt;

use orbgate::Place;
use orbgate_yaml::Fault;

use crate::check::KeyFault;

/// A configuration that cannot be used: every fault found in it.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigError {
    faults: Vec<ConfigFault>,
}

/// One thing wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigFault {
    /// Where it is in the file; `None` for a configuration written in Rust.
    pub place: Option<Place>,
    /// What is wrong: lower case, no final period, input in backticks.
    pub message: String,
}

impl ConfigError {
    /// The error of a configuration written in Rust: each message names issuer and key.
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

    /// The error of a file.
    pub(crate) fn of_file(faults: Vec<Fault>) -> Self {
        let faults = faults.into_iter().map(|fault| ConfigFault {
            place: Some(Place {
                line: fault.place.line,
                column: fault.place.column,
            }),
            message: fault.message,
        });
        Self {
            faults: faults.collect(),
        }
    }

    /// The faults as lines `file:line:column: message`, for a terminal or an editor.
    #[must_use]
    pub fn in_file(&self, file: &str) -> String {
        let lines: Vec<_> = self
            .faults
            .iter()
            .map(|fault| format!("{file}:{fault}"))
            .collect();
        lines.join("\n")
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

/// As `Display`: `main` shows it so, and `unwrap`.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for ConfigError {}
