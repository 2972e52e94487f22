//! What a configuration says once it is read.

use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;

use orbgate_tower::{Challenge, CorsPreflight, PublicRoutes};
use rustix::process::{Resource, getrlimit};

use super::address::Address;
use super::authzen::AuthzenConfig;
use super::error::StartError;
use super::files::Ending;
use super::ledger::LedgerConfig;
use super::mode::Mode;
use super::peers::Block;
use super::promises::Promises;
use super::tls::TlsFiles;

/// The configuration of a gateway: the file `gateway.yaml`.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) policy: PolicySettings,
    pub(crate) tokens: PathBuf,
    pub(crate) listeners: Vec<ListenerConfig>,
    pub(crate) admin: Option<Address>,
    pub(crate) audit: Option<PathBuf>,
    /// Whether the log explains denials.
    pub(crate) debug: bool,
    /// The folder in which it keeps the accepted policy between restarts.
    pub(crate) state: Option<PathBuf>,
    pub(crate) ending: Ending,
    pub(crate) promises: Promises,
    pub(crate) challenge: Challenge,
    pub(crate) flat_403: bool,
    pub(crate) authzen: AuthzenConfig,
    pub(crate) ledger: Option<LedgerConfig>,
    pub(crate) limits: Limits,
}

/// The policy, and which versions of it are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PolicySettings {
    /// The file; `None` for the built-in policy.
    pub(crate) file: Option<PathBuf>,
    pub(crate) require_seal: bool,
    pub(crate) refuse_wider: bool,
    /// Routes that need no token.
    pub(crate) public: Option<Arc<PublicRoutes>>,
    pub(crate) cors_preflight: CorsPreflight,
}

#[derive(Clone, Debug)]
pub(crate) struct ListenerConfig {
    pub(crate) mode: Mode,
    pub(crate) address: Address,
    /// The trusted addresses. `None` trusts all callers: on a Unix socket, which has no addresses, and if
    /// callers authenticate.
    pub(crate) trusted: Option<Vec<Block>>,
    pub(crate) tls: Option<TlsFiles>,
}

/// Limits on everything that clients could make grow. Each listener has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) connections: usize,
    pub(crate) requests: usize,
    pub(crate) header_bytes: usize,
    pub(crate) idle: Duration,
    pub(crate) drain: Duration,
}

impl Limits {
    /// The maximum number of connections over the limit that get a response at once. Further ones
    /// are closed without a response.
    pub(crate) const TOLD: usize = 64;

    /// The limits of the operators' address, which are separate from those of the listeners.
    pub(crate) const fn of_operators(self) -> Self {
        Self { connections: 64, header_bytes: 8 * 1024, ..self }
    }
}

impl Config {
    /// The number of open files if every address has its maximum number of connections, including files of the program
    /// itself.
    pub(crate) fn open_files(&self) -> u64 {
        const BESIDES: usize = 64;
        let sockets = |limits: Limits| limits.connections.saturating_add(Limits::TOLD);
        let listeners = sockets(self.limits).saturating_mul(self.listeners.len());
        let operators = sockets(self.limits.of_operators());
        let all = listeners.saturating_add(operators).saturating_add(BESIDES);
        u64::try_from(all).unwrap_or(u64::MAX)
    }

    /// Warnings about settings that are probably mistakes.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(Address::Tcp(address)) = self.admin
            && address.ip().is_unspecified()
        {
            warnings
                .push(format!("`admin: {address}` answers every address of every network: /metrics needs no token"));
        }
        let needed = self.open_files();
        if let Some(most) = getrlimit(Resource::Nofile).maximum.filter(|most| *most < needed) {
            warnings.push(format!(
                "all connections that `limits` allows need {needed} open files, and this process may have {most}: raise its limit (`LimitNOFILE`), or lower `connections`"
            ));
        }
        warnings
    }

    /// Rejects changes that need a restart, because the sockets are open and their limits are in
    /// use.
    pub(crate) fn refuse_moved(&self, new: &Self) -> Result<(), StartError> {
        let addresses = |config: &Self| -> Vec<_> {
            let listeners = config.listeners.iter();
            listeners.map(|listener| (listener.mode, listener.address.clone())).collect()
        };
        let moved = [
            ("listeners", addresses(self) != addresses(new)),
            ("admin", self.admin != new.admin),
            ("audit", self.audit != new.audit),
            ("state", self.state != new.state),
            (
                "ledger",
                self.ledger.as_ref().zip(new.ledger.as_ref()).is_some_and(|(ledger, new)| ledger.has_moved(new)),
            ),
            ("limits", self.limits != new.limits),
        ];
        let moved = moved.into_iter().filter(|(_, has_moved)| *has_moved);
        let moved: Vec<_> = moved.map(|(key, _)| key).collect();
        match moved.as_slice() {
            [] => Ok(()),
            _ => Err(StartError::NeedsRestart(moved)),
        }
    }
}
