//! Decides which versions of a policy become active, and what to log about each.

mod ending;
mod error;
mod follower;
pub(crate) mod read;

use core::fmt::Write as _;
use std::collections::HashSet;

use orbgate::{Digest, Engine, Policy};

use crate::mcp::endpoint::Mcp;
use crate::orbs::statement::{GateCharges, Statement};
use crate::public::PublicRoutes;
use crate::routes::{RoutesDiffer, check_routes};
pub use ending::Ending;
pub use error::LoadError;
pub use follower::{Follower, Look};

/// The most routes that a warning names.
const LINES: usize = 20;

/// Which versions of a policy are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadRules {
    /// Rejects a version that doesn't end in YAML's end marker, a line `...`.
    pub require_end: bool,
    /// Rejects a version whose end marker has no seal. A wrong seal is always rejected.
    pub require_seal: bool,
    /// Rejects every policy except the one with this digest.
    pub expected: Option<Digest>,
    /// Rejects a version that allows a call that the active policy denies, or for fewer orbs.
    pub refuse_wider: bool,
}

/// What a version is compared with.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "each caller has all of it")]
pub struct Current<'c> {
    /// The active engine; `None` if the version is the first.
    pub engine: Option<&'c Engine>,
    /// The routes that need no token.
    pub public: Option<&'c PublicRoutes>,
    /// The MCP endpoints.
    pub mcp: &'c [&'c Mcp],
    /// The routes of the service, each a method and a template; empty if it hasn't stated them.
    pub served: &'c [(String, String)],
    /// How the gates of this engine charge. With a ledger, a version is rejected that has a route without an amount, or whose calls
    /// no token could pay.
    pub charges: &'c [GateCharges],
    /// How the active versions so far marked their end. The next version must do the same.
    pub ending: Ending,
}

/// Compares two engines: what the second one changes for callers.
pub type Compare = fn(&Engine, &Engine) -> Changes;

/// The changes of a version for callers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "who compares states all of it")]
pub struct Changes {
    /// Calls that become allowed or cost fewer orbs.
    pub wider: u64,
    /// Calls that become denied or cost more orbs.
    pub narrower: u64,
    /// Removed routes and scopes.
    pub removed: u64,
    /// Whether access is wider, or might be.
    pub widens: bool,
    /// A few lines about them; empty if nothing changes.
    pub text: String,
}

/// A version of a policy that is accepted.
#[derive(Debug)]
#[non_exhaustive]
pub struct Version {
    /// Its engine.
    pub engine: Engine,
    /// How it marks its end.
    pub ending: Ending,
    /// What it changes; nothing if it is the first.
    pub changes: Changes,
    /// What an operator should look at, in a few lines; empty if there is nothing.
    pub warning: String,
    /// How each gate charges with it, for the log.
    pub charging: Vec<Statement>,
}

impl LoadRules {
    /// Accepts every valid policy.
    #[must_use]
    pub const fn new() -> Self {
        Self { require_end: false, require_seal: false, expected: None, refuse_wider: false }
    }

    /// Compiles a version, and checks it.
    ///
    /// # Errors
    ///
    /// Returns why the version is rejected. The active one then stays.
    pub fn load(&self, policy: &[u8], current: &Current<'_>, compare: Compare) -> Result<Version, LoadError> {
        let policy = Policy::from_bytes(policy)?;
        let ending = Ending { marked: policy.has_end_marker(), sealed: policy.is_sealed() };
        if (self.require_end || current.ending.marked) && !ending.marked {
            return Err(LoadError::Unfinished);
        }
        if (self.require_seal || current.ending.sealed) && !ending.sealed {
            return Err(LoadError::Unsealed);
        }
        let engine = Engine::new(&policy);
        let digest = engine.digest();
        if self.expected.is_some_and(|expected| expected != digest) {
            return Err(LoadError::Unexpected(digest));
        }
        current.public.map_or(Ok(()), |public| public.check(&engine)).map_err(LoadError::Public)?;
        current.mcp.iter().try_for_each(|mcp| mcp.check(&engine)).map_err(LoadError::Mcp)?;
        let charging = current.charges.iter().map(|charges| charges.statement(&engine));
        let charging = charging.collect::<Result<_, _>>().map_err(LoadError::Uncharged)?;
        let other = current.engine.filter(|active| active.digest() != digest);
        let changes = other.map(|active| compare(active, &engine)).unwrap_or_default();
        if self.refuse_wider {
            if changes.widens {
                return Err(LoadError::Wider(changes.text));
            }
            if let (Some(public), Some(active)) = (current.public, other) {
                let checked = public.check_wider(active, &engine);
                checked.map_err(|error| LoadError::Wider(error.to_string()))?;
            }
        }
        let warning = warning(&engine, current, &changes);
        Ok(Version { engine, ending, changes, warning, charging })
    }
}

/// What an operator should look at.
fn warning(engine: &Engine, current: &Current<'_>, changes: &Changes) -> String {
    let mut text = String::new();
    // A string can always be written to.
    if !changes.text.is_empty() {
        let _ = writeln!(text, "the policy changes answers: {}", changes.text);
    }
    if engine.routes().len() == 0 {
        text.push_str("the policy has no routes: every request that needs a token is denied\n");
    }
    let differ = |engine: &Engine| {
        let served = current.served.iter().map(|(method, template)| (method.as_str(), template.as_str()));
        check_routes(engine, current.public, current.mcp, served).err()
    };
    if !current.served.is_empty()
        && let Some(now) = differ(engine)
    {
        let before = current.engine.and_then(differ);
        let before: HashSet<_> = before.iter().flat_map(RoutesDiffer::lines).collect();
        let mut new = now.lines().filter(|line| !before.contains(line));
        for line in new.by_ref().take(LINES) {
            let _ = writeln!(text, "{line}");
        }
        match new.count() {
            0 => {}
            more => {
                let _ = writeln!(text, "and {more} more");
            }
        }
    }
    text.truncate(text.trim_end().len());
    text
}
