//! Why a gateway doesn't start.

use core::fmt;
use core::net::SocketAddr;
use std::io;
use std::path::{Path, PathBuf};

use orbgate_tower::{LoadError, PublicRoutesError};

use super::address::Address;

/// Why a gateway doesn't start, or rejects a new configuration.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Several errors, each in a different file.
    Several(Vec<StartError>),
    /// A file can't be read.
    Unreadable(PathBuf, io::Error),
    /// The audit log can't be written.
    Audit(PathBuf, io::Error),
    /// A file doesn't mark its end as required.
    Incomplete(PathBuf, &'static str),
    /// The active policy can't be stored in `state`.
    State(PathBuf, io::Error),
    /// A file has errors: one line for each, with its location.
    Invalid(String),
    /// The policy was rejected.
    Policy(PathBuf, LoadError),
    /// The public routes overlap the policy.
    Public(PublicRoutesError),
    /// These settings allow requests without a token that needed one before, and `refuse_wider` is set.
    Wider(Vec<String>),
    /// The system has no trusted certificates.
    Certificates(io::Error),
    /// The service manager passed something that isn't a listening socket.
    Sockets(io::Error),
    /// The service manager passed a socket for this address, but no listener uses it.
    Unasked(String),
    /// Listening on an address fails.
    Listen(String, io::Error),
    /// No proxy accepts connections at this address.
    Proxy(SocketAddr, io::Error),
    /// The server's threads can't be started.
    Runtime(io::Error),
    /// These keys have changed, and take effect only after a restart.
    NeedsRestart(Vec<&'static str>),
}

impl StartError {
    pub(crate) fn unreadable(file: &Path) -> impl FnOnce(io::Error) -> Self {
        |error| Self::Unreadable(file.to_owned(), error)
    }

    pub(crate) fn listen(address: &Address, error: io::Error) -> Self {
        Self::Listen(address.to_string(), error)
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Several(errors) => {
                let lines: Vec<_> = errors.iter().map(Self::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
            Self::Unreadable(file, error) => write!(f, "{}: {error}", file.display()),
            Self::Audit(file, error) => write!(f, "the audit {}: {error}", file.display()),
            Self::Incomplete(file, error) => write!(f, "{}: {error}", file.display()),
            Self::State(file, error) => {
                write!(f, "`state`, {}: {error}", file.display())
            }
            Self::Invalid(lines) => f.write_str(lines),
            Self::Policy(file, LoadError::Unsound(error)) => {
                let file = file.display().to_string();
                write!(f, "{}", error.in_file(&file))
            }
            Self::Policy(file, error) => write!(f, "{}: {error}", file.display()),
            Self::Public(error) => error.fmt(f),
            Self::Wider(settings) => write!(
                f,
                "without a token, more would pass than before: {}; `refuse_wider: false` allows it",
                settings.join(", ")
            ),
            Self::Certificates(error) => write!(f, "the system's certificates: {error}"),
            Self::Sockets(error) => write!(f, "the sockets of `LISTEN_FDS`: {error}"),
            Self::Unasked(address) => {
                write!(f, "`LISTEN_FDS` has a socket for {address}, and no listener has this address")
            }
            Self::Listen(address, error) => write!(f, "listening at {address}: {error}"),
            Self::Proxy(address, error) => write!(f, "no proxy listens at {address}: {error}"),
            Self::Runtime(error) => write!(f, "starting the server: {error}"),
            Self::NeedsRestart(keys) => {
                let has = if keys.len() == 1 { "has" } else { "have" };
                let keys = keys.join("`, `");
                write!(f, "`{keys}` {has} changed, which takes a restart")
            }
        }
    }
}

impl core::error::Error for StartError {}

/// The value, or `None` after adding its error to the others.
pub(crate) fn kept<T>(result: Result<T, StartError>, errors: &mut Vec<StartError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}
