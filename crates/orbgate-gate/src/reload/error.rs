//! Why a policy file was rejected.

use core::fmt;
use core::time::Duration;

use orbgate::{Digest, PolicyError};
use orbgate_token::ConfigError;

use crate::mcp::McpError;
use crate::names;
use crate::orbs::NoAmount;
use crate::public::PublicRoutesError;

/// The maximum number of errors that are printed.
const LINES: usize = 20;

/// Why a policy file was rejected.
#[non_exhaustive]
pub enum LoadError {
    /// It can't be read.
    Unreadable(std::io::Error),
    /// It isn't a valid policy. `Display` prints the first 20 errors.
    Unsound(PolicyError),
    /// It is still being written.
    Changing,
    /// It doesn't end in a line `...`, although the settings require it.
    Unfinished,
    /// Its end marker has no seal, although the settings require it.
    Unsealed,
    /// It isn't the policy that the settings expect. It has this digest.
    Unexpected(Digest),
    /// Compiling it took longer than this.
    Overdue(Duration),
    /// Compiling it panicked, which is a bug in this program.
    Panicked,
    /// It allows more than the active policy, and the settings reject that. Lists the changes in a few
    /// lines.
    Wider(String),
    /// It overlaps the public routes.
    Public(PublicRoutesError),
    /// It doesn't fit an MCP endpoint.
    Mcp(McpError),
    /// A route consumes orbs without an amount, and a layer has a ledger.
    Amounts(NoAmount),
    /// A secret can't be read.
    Secrets(ConfigError),
    /// The settings themselves are invalid.
    Settings(String),
}

impl LoadError {
    /// The counter's label.
    #[must_use]
    pub const fn result(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => names::LOAD_UNREADABLE,
            Self::Unsound(_) | Self::Public(_) | Self::Mcp(_) | Self::Amounts(_) | Self::Secrets(_) => {
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
            Self::Unsound(error) => {
                let mut lines: Vec<_> = error.in_file(file).lines().take(LINES).map(str::to_owned).collect();
                lines.extend(more(error));
                lines.join("\n")
            }
            // They are errors of another file.
            Self::Secrets(_) => self.to_string(),
            _ => format!("{file}: {self}"),
        }
    }
}

/// The first errors of a policy, and the number of further errors.
fn diagnostics(error: &PolicyError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let diagnostics = error.diagnostics();
    for (at, diagnostic) in diagnostics.iter().take(LINES).enumerate() {
        write!(f, "{}{diagnostic}", if at == 0 { "" } else { "\n" })?;
    }
    more(error).map_or(Ok(()), |more| write!(f, "\n{more}"))
}

/// The number of further errors.
fn more(error: &PolicyError) -> Option<String> {
    let more = error.diagnostics().len().saturating_sub(LINES);
    (more > 0).then(|| format!("and {more} more"))
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

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "the policy file cannot be read: {error}"),
            Self::Unsound(error) => diagnostics(error, f),
            Self::Changing => f.write_str("the policy file is still being written"),
            Self::Unfinished => f.write_str("the policy does not end in a line `...`"),
            Self::Unsealed => {
                f.write_str("the policy does not end in a line `... # sha256:…`: `orbgate fmt --seal` writes it")
            }
            Self::Unexpected(digest) => {
                write!(f, "the policy is not the expected one: its digest is {digest}")
            }
            Self::Overdue(time) => write!(f, "the policy could not be compiled within {time:?}"),
            Self::Panicked => f.write_str("compiling the policy panicked: please report it with the policy"),
            Self::Public(error) => error.fmt(f),
            Self::Mcp(error) => error.fmt(f),
            Self::Amounts(error) => error.fmt(f),
            Self::Secrets(error) => error.fmt(f),
            Self::Settings(diagnostics) => write!(f, "following the policy file: {diagnostics}"),
            Self::Wider(changes) => write!(f, "the policy allows more than the active one: {changes}"),
        }
    }
}

/// The same as `Display`, because `main` and `unwrap` print it.
impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for LoadError {}
