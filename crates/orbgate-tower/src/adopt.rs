//! Checks a new version of a policy: its end marker, and its changes.

use core::fmt;

use orbgate::{Digest, Engine, Policy, PolicyError};
use orbgate_analysis::diff;

use crate::observe;

/// The maximum number of changes that are logged for one version of a policy. The log states how
/// many more there are.
const LINES: usize = 20;

/// A compiled version of a policy.
pub(crate) struct Version {
    pub(crate) engine: Engine,
    #[cfg(feature = "watch")]
    pub(crate) ending: Ending,
}

/// How a version marks its end.
#[cfg(feature = "watch")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    /// With the end marker.
    pub(crate) marked: bool,
    /// With a valid seal.
    pub(crate) sealed: bool,
}

#[cfg(feature = "watch")]
impl Ending {
    /// The union of the two.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self { marked: self.marked || other.marked, sealed: self.sealed || other.sealed }
    }
}

/// A version of a policy that could become active.
pub(crate) struct Candidate {
    pub(crate) version: Version,
    pub(crate) changes: Changes,
    /// Whether it was compared with the active engine.
    #[cfg(feature = "watch")]
    pub(crate) is_compared: bool,
}

/// The changes of a version for callers, in numbers and a few lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Calls that become allowed or cost fewer orbs.
    wider: u64,
    /// Calls that become denied or cost more orbs.
    narrower: u64,
    /// Removed routes and scopes.
    removed: u64,
    /// Some changes might be missing, because too many templates overlap.
    incomplete: bool,
    /// Whether access is wider, or might be.
    #[cfg(feature = "watch")]
    widens: bool,
    /// The first changes: those that widen access, then the others.
    lines: Vec<String>,
    /// The number of further changes.
    more: usize,
}

impl Candidate {
    /// Compiles a policy without comparing it.
    #[cfg(feature = "watch")]
    pub(crate) fn first(policy: &[u8]) -> Result<Self, PolicyError> {
        let version = Version::compile(policy)?;
        Ok(Self { version, changes: Changes::default(), is_compared: false })
    }

    /// Compiles a policy and compares it with the active engine.
    pub(crate) fn new(policy: &[u8], current: &Engine) -> Result<Self, PolicyError> {
        let version = Version::compile(policy)?;
        Ok(Self {
            changes: Changes::between(current, &version.engine),
            version,
            #[cfg(feature = "watch")]
            is_compared: true,
        })
    }
}

impl Version {
    pub(crate) fn compile(policy: &[u8]) -> Result<Self, PolicyError> {
        let policy = Policy::from_bytes(policy)?;
        Ok(Self {
            engine: Engine::new(&policy),
            #[cfg(feature = "watch")]
            ending: Ending { marked: policy.has_end_marker(), sealed: policy.is_sealed() },
        })
    }
}

impl Changes {
    fn between(old: &Engine, new: &Engine) -> Self {
        if old.digest() == new.digest() {
            return Self::default();
        }
        let diff = diff(old, new);
        let number = |count| u64::try_from(count).unwrap_or(u64::MAX);
        let counts = diff.counts();
        let mut changes: Vec<_> = diff.changes.iter().collect();
        changes.sort_by_key(|change| !change.widens());
        let lines = changes.iter().take(LINES).map(ToString::to_string);
        Self {
            wider: number(counts.widening),
            narrower: number(counts.narrowing),
            removed: number(counts.removed),
            incomplete: !diff.complete,
            #[cfg(feature = "watch")]
            widens: diff.widens(),
            lines: lines.collect(),
            more: changes.len().saturating_add(diff.left_out).saturating_sub(LINES),
        }
    }

    #[cfg(feature = "watch")]
    pub(crate) const fn widen(&self) -> bool {
        self.widens
    }

    /// Logs and counts the changes of the version with this digest.
    pub(crate) fn say(&self, digest: Digest) {
        let (wider, narrower, removed) = (self.wider, self.narrower, self.removed);
        tracing::info!(policy = %digest, wider, narrower, removed, "policy loaded");
        if *self != Self::default() {
            tracing::warn!(policy = %digest, "the policy changes answers: {self}");
        }
        observe::policy_changed(wider, narrower, removed);
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (wider, narrower, removed) = (self.wider, self.narrower, self.removed);
        write!(f, "{wider} wider, {narrower} narrower, {removed} removed")?;
        if self.incomplete {
            f.write_str(", and not all were looked for: too many templates overlap")?;
        }
        self.lines.iter().try_for_each(|line| write!(f, "\n{line}"))?;
        and_more(f, self.more)
    }
}

/// The first errors of a policy, and the number of further errors.
pub(crate) fn diagnostics(error: &PolicyError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let diagnostics = error.diagnostics();
    for (at, diagnostic) in diagnostics.iter().take(LINES).enumerate() {
        write!(f, "{}{diagnostic}", if at == 0 { "" } else { "\n" })?;
    }
    and_more(f, diagnostics.len().saturating_sub(LINES))
}

fn and_more(f: &mut fmt::Formatter<'_>, more: usize) -> fmt::Result {
    if more == 0 {
        return Ok(());
    }
    write!(f, "\nand {more} more")
}

#[cfg(all(test, feature = "watch"))]
mod tests {
    use orbgate::{Engine, Policy};

    use super::Changes;

    #[test]
    fn changes_that_are_not_listed_count() {
        /// A policy with routes that differ in a number, below a long path, so that few of its changes fit into
        /// the list.
        fn numbered(prefix: &str, orbs: u32) -> Engine {
            let base = format!("/{}", "b".repeat(249)).repeat(30);
            let routes = (0..4_000).map(|number| format!("GET /{prefix}{number}"));
            let text = format!(
                "orbgate: 1\napis: {{ a: {{ base_path: {base}, scopes: {{ s: {{ orbs: {orbs}, routes: [{}] }} }} }} }}\n",
                routes.collect::<Vec<_>>().join(", ")
            );
            Engine::new(&Policy::from_yaml(&text).unwrap())
        }

        let counts = |old: &Engine, new: &Engine| {
            let changes = Changes::between(old, new);
            assert_eq!(changes.lines.len(), 20);
            let counts = [changes.wider, changes.narrower, changes.removed];
            (counts, changes.more, changes.widen())
        };
        let (old, new) = (numbered("a", 1), numbered("b", 1));
        assert_eq!(counts(&old, &new), ([4_000; 3], 7_980, true));
        let (dear, cheap) = (numbered("a", 2), old);
        // Deciding by scope also costs a different amount.
        assert_eq!(counts(&cheap, &dear), ([0, 4_001, 0], 3_981, false));
        assert_eq!(counts(&dear, &cheap), ([4_001, 0, 0], 3_981, true));
    }

    /// Every template of one policy overlaps every template of the other, and one route matches all
    /// their paths.
    #[test]
    fn a_comparison_that_is_too_large_is_incomplete() {
        let policy = |template: fn(usize) -> String| {
            let routes = (0..2_000).map(|number| format!("'GET {}'", template(number)));
            let text = format!(
                "orbgate: 1\napis: {{ a: {{ base_path: '', scopes: {{ s: {{ orbs: false, routes: [\
                 'GET /{{a}}/{{b}}', {}] }} }} }} }}\n",
                routes.collect::<Vec<_>>().join(", ")
            );
            Engine::new(&Policy::from_yaml(&text).unwrap())
        };
        let old = policy(|number| format!("/{{a}}/{number}"));
        let new = policy(|number| format!("/{number}/{{b}}"));
        let changes = Changes::between(&old, &new);
        assert_eq!((changes.wider, changes.incomplete), (0, true));
        assert!(changes.widen());
        assert!(changes.to_string().contains("not all were looked for"));
    }
}
