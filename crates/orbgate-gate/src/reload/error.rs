//! Why a policy file was rejected.

use core::time::Duration;

use orbgate::{Digest, PolicyError};
use orbgate_token::ConfigError;

use crate::mcp::error::McpError;
use crate::names;
use crate::orbs::statement::Uncharged;
use crate::public::PublicRoutesError;

/// The maximum number of errors that are printed.
const LINES: usize = 20;

/// Why a policy file was rejected.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It can't be read.
    #[error("the policy file cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// It isn't a valid policy. `Display` prints the first 20 errors.
    #[error("{}", first(.0.to_string().lines(), .0))]
    Unsound(PolicyError),
    /// It is still being written.
    #[error("the policy file is still being written")]
    Changing,
    /// It doesn't end in a line `...`, although the settings require it.
    #[error("the policy does not end in a line `...`")]
    Unfinished,
    /// Its end marker has no seal, although the settings require it.
    #[error("the policy does not end in a line `... # sha256:…`: `orbgate fmt --seal` writes it")]
    Unsealed,
    /// It isn't the policy that the settings expect. It has this digest.
    #[error("the policy is not the expected one: its digest is {0}")]
    Unexpected(Digest),
    /// Compiling it took longer than this.
    #[error("the policy could not be compiled within {0:?}")]
    Overdue(Duration),
    /// Compiling it panicked, which is a bug in this program.
    #[error("compiling the policy panicked: please report it with the policy")]
    Panicked,
    /// It allows more than the active policy, and the settings reject that. Lists the changes in a few
    /// lines.
    #[error("the policy allows more than the active one: {0}")]
    Wider(String),
    /// It overlaps the public routes.
    #[error(transparent)]
    Public(PublicRoutesError),
    /// It doesn't fit an MCP endpoint.
    #[error(transparent)]
    Mcp(McpError),
    /// A layer has a ledger, and couldn't charge calls.
    #[error(transparent)]
    Uncharged(Uncharged),
    /// A secret can't be read.
    #[error(transparent)]
    Secrets(ConfigError),
    /// The settings themselves are invalid.
    #[error("following the policy file: {0}")]
    Settings(String),
}

impl LoadError {
    /// The counter's label.
    #[must_use]
    pub const fn result(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => names::LOAD_UNREADABLE,
            Self::Unsound(_) | Self::Public(_) | Self::Mcp(_) | Self::Uncharged(_) | Self::Secrets(_) => {
                names::LOAD_REFUSED
            }
            Self::Changing => "changing",
            Self::Unfinished => names::LOAD_UNFINISHED,
            Self::Unsealed => "unsealed",
            Self::Unexpected(_) => "unexpected",
            Self::Overdue(_) => "overdue",
            Self::Panicked => "panicked",
            Self::Wider(_) => names::LOAD_WIDER,
            Self::Settings(_) => "settings",
        }
    }

    /// Whether the same file might be accepted next time, because the error isn't in the file.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Unreadable(_) | Self::Overdue(_) | Self::Panicked | Self::Secrets(_))
    }

    /// The same as `Display`, with the name of the policy's file.
    #[must_use]
    pub fn in_file(&self, file: &str) -> String {
        match self {
            _ if file.is_empty() => self.to_string(),
            Self::Unsound(error) => first(error.in_file(file).lines(), error),
            // They are errors of another file.
            Self::Secrets(_) => self.to_string(),
            _ => format!("{file}: {self}"),
        }
    }
}

/// The first of these lines of a policy's errors, and the number of further errors.
fn first<'e>(lines: impl Iterator<Item = &'e str>, error: &PolicyError) -> String {
    let mut lines: Vec<_> = lines.take(LINES).map(str::to_owned).collect();
    let more = error.diagnostics().len().saturating_sub(LINES);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines.join("\n")
}

impl From<std::io::Error> for LoadError {
    fn from(error: std::io::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl From<PolicyError> for LoadError {
    fn from(error: PolicyError) -> Self {
        Self::Unsound(error)
    }
}

orbgate_yaml::debug_as_display!(LoadError);
