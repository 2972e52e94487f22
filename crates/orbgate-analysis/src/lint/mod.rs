//! What is legal in a policy and likely not meant.

mod code;
mod literals;
mod names;
mod overlaps;
mod suppress;
mod texts;
mod words;

use core::fmt;
use std::collections::BTreeSet;

use orbgate::{Engine, Location, Policy};

pub use self::code::{Code, Level};

/// One thing that lint found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Finding {
    /// What kind of thing.
    pub code: Code,
    /// How much it matters: the level of the code.
    pub level: Level,
    /// Where it is.
    pub location: Location,
    /// What it is: lower case, no final period, input in backticks.
    pub message: String,
    /// The other location, if there are two: it comes first in the file.
    pub other: Option<Location>,
    /// Why it is all right, if a comment in the file says so.
    pub suppressed: Option<String>,
}

/// What lint found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Findings {
    /// Each thing, in the order of the file. Those that are suppressed are among them.
    pub list: Vec<Finding>,
    /// Whether everything was looked at and listed, except codes that the whole file allows. `false` where there are
    /// over 1,000 findings of one code, or too many templates overlap: see [`lint`].
    pub complete: bool,
    /// The codes of which findings may be missing. Empty if it is complete.
    pub cut: Vec<Code>,
}

/// The most findings of one code.
const MOST: usize = 1_000;

/// Finds what is legal in a policy and likely not meant. `text` is the policy's file: its comments suppress findings.
///
/// Time is linear in the size of the policy, and in the number of methods that one of two overlapping templates lacks.
/// After a million of these the search for hidden routes ends, and the findings are not
/// [`complete`](Findings::complete).
///
/// ```
/// use orbgate::Policy;
///
/// let text = "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { permits: x, orbs: true, routes: [GET /x] } } } }\n...\n";
/// let found = orbgate_analysis::lint(&Policy::from_yaml(text).unwrap(), text);
/// assert_eq!(
///     found.list[0].to_string(),
///     "2:77: warning[unstated_get]: `GET /x` only reads, and consumes orbs without a stated amount"
/// );
/// ```
#[must_use]
pub fn lint(policy: &Policy, text: &str) -> Findings {
    let engine = Engine::new(policy);
    let mut found = Found::default();
    overlaps::look(&engine, &mut found);
    names::look(policy, &engine, &mut found);
    literals::look(&engine, &mut found);
    let mut list = found.list;
    list.sort_by(|a, b| (a.location, a.code, &a.message).cmp(&(b.location, b.code, &b.message)));
    let mut cut = Vec::from_iter(found.cut);
    suppress::apply(text, &mut list, &mut cut);
    Findings {
        list,
        complete: cut.is_empty(),
        cut,
    }
}

/// The findings so far.
#[derive(Default)]
struct Found {
    list: Vec<Finding>,
    counts: [usize; Code::ALL.len()],
    /// The codes of which some may be missing.
    cut: BTreeSet<Code>,
}

impl Found {
    /// Notes a finding, as long as there is room.
    fn push(&mut self, code: Code, location: Location, other: Option<Location>, message: String) {
        if !self.has_room(code) {
            return;
        }
        self.list.push(Finding::new(code, location, other, message));
        let at = Code::ALL.iter().position(|known| *known == code);
        if let Some(count) = at.and_then(|at| self.counts.get_mut(at)) {
            *count = count.saturating_add(1);
        }
    }

    /// Whether there is room for a finding of this code that was just found. If not, it is noted as missing.
    fn has_room(&mut self, code: Code) -> bool {
        let at = Code::ALL.iter().position(|known| *known == code);
        let count = at.and_then(|at| self.counts.get(at));
        let has_room = count.is_some_and(|count| *count < MOST);
        if !has_room {
            self.cut.insert(code);
        }
        has_room
    }

    /// Notes a finding about two locations, at the second one in the file.
    fn push_pair(&mut self, code: Code, locations: [Location; 2], message: String) {
        let [one, two] = locations;
        self.push(code, one.max(two), Some(one.min(two)), message);
    }
}

impl Finding {
    const fn new(code: Code, location: Location, other: Option<Location>, message: String) -> Self {
        Self {
            code,
            level: code.level(),
            location,
            message,
            other,
            suppressed: None,
        }
    }
}

impl fmt::Display for Finding {
    /// `line:column: level[code]: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            code,
            level,
            location,
            message,
            ..
        } = self;
        write!(f, "{location}: {level}[{code}]: {message}")
    }
}
