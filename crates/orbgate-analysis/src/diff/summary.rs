//! What a new version of a policy changes, in numbers and a few lines for a log.

use core::fmt::Write as _;

use orbgate::Engine;
use orbgate::sorted::sort_by_key;

use super::compare::diff;

/// The maximum number of changes that are listed. The text states how many more there are.
const LINES: usize = 20;

/// What a new version of a policy changes for callers, in numbers and a few lines for a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Calls that become allowed or cost fewer orbs.
    pub wider: u64,
    /// Calls that become denied or cost more orbs.
    pub narrower: u64,
    /// Removed routes and scopes.
    pub removed: u64,
    /// Whether access is wider, or might be.
    pub widens: bool,
    /// The numbers and the first changes: those that widen access, then the others. Empty if nothing changes.
    pub text: String,
}

impl Summary {
    /// Compares two engines, of which the second is the newer.
    #[must_use]
    #[inline(never)] // a small module compiles it for its size
    pub fn between(old: &Engine, new: &Engine) -> Self {
        let diff = diff(old, new);
        let number = |count| u64::try_from(count).unwrap_or(u64::MAX);
        let counts = diff.counts();
        let (wider, narrower, removed) = (number(counts.widening), number(counts.narrowing), number(counts.removed));
        let mut changes: Vec<_> = diff.changes.iter().collect();
        if changes.is_empty() && diff.left_out == 0 && diff.complete {
            return Self::default();
        }
        sort_by_key(&mut changes, |change| !change.widens());
        let mut text = format!("{wider} wider, {narrower} narrower, {removed} removed");
        if !diff.complete {
            text.push_str(", and not all were looked for: too many templates overlap");
        }
        for change in changes.iter().take(LINES) {
            // A string can always be written to.
            let _ = write!(text, "\n{change}");
        }
        match changes.len().saturating_add(diff.left_out).saturating_sub(LINES) {
            0 => {}
            more => {
                let _ = write!(text, "\nand {more} more");
            }
        }
        Self { wider, narrower, removed, widens: diff.widens(), text }
    }
}

#[cfg(test)]
mod tests {
    use orbgate::{Engine, Policy};

    use super::Summary;

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
            let changes = Summary::between(old, new);
            assert_eq!(changes.text.lines().count(), 22);
            let more = changes.text.rsplit_once("\nand ").unwrap().1.strip_suffix(" more").unwrap();
            let counts = [changes.wider, changes.narrower, changes.removed];
            (counts, more.parse().unwrap(), changes.widens)
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
        let changes = Summary::between(&old, &new);
        assert_eq!(changes.wider, 0);
        assert!(changes.widens);
        assert!(changes.text.contains("not all were looked for"));
    }
}
