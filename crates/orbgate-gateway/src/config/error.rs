//! Why a gateway doesn't start.

use core::net::SocketAddr;
use std::io;
use std::path::{Path, PathBuf};

use orbgate_tower::{LoadError, PublicRoutesError};

use super::address::Address;

/// Why a gateway doesn't start, or rejects a new configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Several errors, each in a different file.
    #[error("{}", .0.iter().map(Self::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<StartError>),
    /// A file can't be read.
    #[error("{file}: {1}", file = .0.display())]
    Unreadable(PathBuf, io::Error),
    /// The audit log can't be written.
    #[error("the audit {file}: {1}", file = .0.display())]
    Audit(PathBuf, io::Error),
    /// A file doesn't mark its end as required.
    #[error("{file}: {1}", file = .0.display())]
    Incomplete(PathBuf, &'static str),
    /// The active policy can't be stored in `state`.
    #[error("`state`, {file}: {1}", file = .0.display())]
    State(PathBuf, io::Error),
    /// A file has errors: one line for each, with its location.
    #[error("{0}")]
    Invalid(String),
    /// The policy was rejected.
    #[error("{}", in_file(.1, &.0.display().to_string()))]
    Policy(PathBuf, LoadError),
    /// The public routes overlap the policy.
    #[error(transparent)]
    Public(PublicRoutesError),
    /// These settings allow requests without a token that needed one before, and `refuse_wider` is set.
    #[error("without a token, more would pass than before: {}; `refuse_wider: false` allows it", .0.join(", "))]
    Wider(Vec<String>),
    /// The system has no trusted certificates.
    #[error("the system's certificates: {0}")]
    Certificates(io::Error),
    /// The service manager passed something that isn't a listening socket.
    #[error("the sockets of `LISTEN_FDS`: {0}")]
    Sockets(io::Error),
    /// The service manager passed a socket for this address, but no listener uses it.
    #[error("`LISTEN_FDS` has a socket for {0}, and no listener has this address")]
    Unasked(String),
    /// Listening on an address fails.
    #[error("listening at {0}: {1}")]
    Listen(String, io::Error),
    /// No proxy accepts connections at this address.
    #[error("no proxy listens at {0}: {1}")]
    Proxy(SocketAddr, io::Error),
    /// The server's threads can't be started.
    #[error("starting the server: {0}")]
    Runtime(io::Error),
    /// These keys have changed, and take effect only after a restart.
    #[error("`{}` {} changed, which takes a restart", .0.join("`, `"), if .0.len() == 1 { "has" } else { "have" })]
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

fn in_file(error: &LoadError, file: &str) -> String {
    match error {
        LoadError::Unsound(error) => error.in_file(file),
        _ => format!("{file}: {error}"),
    }
}

/// The value, or `None` after adding its error to the others.
pub(crate) fn kept<T>(result: Result<T, StartError>, errors: &mut Vec<StartError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}
