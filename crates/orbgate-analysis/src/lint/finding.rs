//! Findings, and how they are collected.

use core::fmt;
use std::collections::BTreeSet;

use orbgate::Location;

use super::code::{Code, Level, Levels};

/// A finding of lint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Finding {
    /// The kind of finding.
    pub code: Code,
    /// The severity: the level of the code, or a lower one.
    pub level: Level,
    /// The location.
    pub location: Location,
    /// The message: lower case, no final period, input in backticks.
    pub message: String,
    /// The other location, if the finding has two. It comes first in the file.
    pub other: Option<Location>,
    /// The reason in a comment that suppresses the finding, if there is one.
    pub suppressed: Option<String>,
}

/// The findings of lint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Findings {
    /// The findings in the order of the file, including suppressed ones.
    pub list: Vec<Finding>,
    /// Whether everything was checked and listed, apart from codes that are allowed for the whole file. `false` if
    /// there are more than 1,000 findings with one code, or if too many templates overlap: see [`lint`](fn@crate::lint).
    pub complete: bool,
    /// The codes for which findings might be missing. Empty if the list is complete.
    pub cut: Vec<Code>,
}

/// The maximum number of findings with one code.
const MOST: usize = 1_000;

#[derive(Default)]
pub(super) struct Collector {
    pub(super) list: Vec<Finding>,
    counts: [usize; Code::ALL.len()],
    /// The codes for which findings might be missing.
    pub(super) cut: BTreeSet<Code>,
}

impl Collector {
    /// Records a finding, if there is room.
    pub(super) fn push(&mut self, code: Code, location: Location, other: Option<Location>, message: String) {
        self.record(Finding::new(code, location, other, message));
    }

    /// Records a finding, if there is room.
    pub(super) fn record(&mut self, finding: Finding) {
        let code = finding.code;
        if !self.has_room(code) {
            return;
        }
        self.list.push(finding);
        let at = Code::ALL.iter().position(|known| *known == code);
        if let Some(count) = at.and_then(|at| self.counts.get_mut(at)) {
            *count = count.saturating_add(1);
        }
    }

    /// Whether there is room for another finding with this code. If not, the code is recorded as incomplete.
    pub(super) fn has_room(&mut self, code: Code) -> bool {
        let at = Code::ALL.iter().position(|known| *known == code);
        let count = at.and_then(|at| self.counts.get(at));
        let has_room = count.is_some_and(|count| *count < MOST);
        if !has_room {
            self.cut.insert(code);
        }
        has_room
    }

    /// Records a finding with two locations, at the second one in the file.
    pub(super) fn push_pair(&mut self, code: Code, locations: [Location; 2], message: String) {
        let [one, two] = locations;
        self.push(code, one.max(two), Some(one.min(two)), message);
    }
}

impl Finding {
    pub(super) const fn new(code: Code, location: Location, other: Option<Location>, message: String) -> Self {
        Self { code, level: code.level(), location, message, other, suppressed: None }
    }
}

impl Levels {
    /// The level of a finding: the one that is set for its code, or else its own; `None` if the code is off.
    #[must_use]
    pub fn of_finding(&self, finding: &Finding) -> Option<Level> {
        self.0.get(&finding.code).copied().unwrap_or(Some(finding.level))
    }
}

impl fmt::Display for Finding {
    /// `line:column: level[code]: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, level, location, message, .. } = self;
        write!(f, "{location}: {level}[{code}]: {message}")
    }
}
