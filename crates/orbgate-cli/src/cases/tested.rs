//! What the cases of one file gave.

use orbgate::{Digest, Location};
use orbgate_analysis::{Proved, Tried};

use crate::output::count;
use crate::policy_file::Source;

pub(crate) struct Tested<'a> {
    pub(crate) file: &'a str,
    pub(super) policy: Digest,
    pub(super) source: &'a Source,
    pub(crate) cases: Vec<Tried<'a, 'a>>,
    pub(crate) properties: Vec<Proved<'a, 'a>>,
}

impl<'a> Tested<'a> {
    pub(crate) fn failed(&self) -> impl Iterator<Item = &Tried<'a, 'a>> {
        self.cases.iter().filter(|tried| !tried.passed())
    }

    /// Whether a case failed, or a property doesn't hold.
    pub(crate) fn fails(&self) -> bool {
        self.failed().next().is_some() || self.refuted().next().is_some()
    }

    /// Warnings, each with its location, which don't make the command fail: possible misspellings in the scopes of
    /// cases, and properties that hold trivially.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = (Location, String)> {
        let slips = self.cases.iter().flat_map(|tried| {
            let slips = tried.slips.iter();
            slips.map(|slip| (tried.case.location, slip.clone()))
        });
        let little = self.properties.iter().filter_map(|proved| {
            let (stated, warning) = (&proved.stated, proved.warning()?);
            Some((stated.location, format!("{}: {warning}", stated.text)))
        });
        slips.chain(little)
    }

    /// The number of cases and, if there are any, of properties.
    pub(crate) fn size(&self) -> String {
        let cases = count(self.cases.len(), "case");
        match (self.cases.len(), self.properties.len()) {
            (_, 0) => cases,
            (0, properties) => count(properties, "property"),
            (_, properties) => format!("{cases}, {}", count(properties, "property")),
        }
    }

    /// The actual reason, and the rule that decided.
    pub(super) fn why(&self, tried: &Tried<'_, '_>) -> String {
        let decision = &tried.decision;
        let detail = decision.detail().map(|detail| format!(" ({detail})"));
        let rule = decision.location();
        let rule = rule.map(|location| format!(", by {}", self.source.at(location)));
        let (detail, rule) = (detail.unwrap_or_default(), rule.unwrap_or_default());
        format!("reason {}{detail}{rule}", decision.reason())
    }
}
