//! Counts the results of a replay for its summary.

use core::fmt;
use core::time::Duration;

use indicatif::HumanCount;
use orbgate::{Decision, Reason};
use orbgate_analysis::{Disagreement, Shadowed};

#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) lines: u64,
    pub(crate) errors: u64,
    allowed: u64,
    denied: u64,
    reasons: [(Reason, u64); Reason::ALL.len()],
    /// How the candidate disagrees; `None` if there is no candidate.
    disagreements: Option<[(Disagreement, u64); Disagreement::ALL.len()]>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        let reasons = Reason::ALL.map(|reason| (reason, 0));
        Self { lines: 0, errors: 0, allowed: 0, denied: 0, reasons, disagreements: None }
    }

    pub(crate) fn count(&mut self, decision: &Decision<'_>) {
        let side = if decision.is_allow() { &mut self.allowed } else { &mut self.denied };
        *side = side.saturating_add(1);
        let reason = decision.reason();
        if let Some((_, count)) = self.reasons.iter_mut().find(|(of, _)| *of == reason) {
            *count = count.saturating_add(1);
        }
    }

    /// Counts a line that a candidate has also decided.
    pub(crate) fn count_shadowed(&mut self, both: &Shadowed<'_, '_>) {
        let none = Disagreement::ALL.map(|disagreement| (disagreement, 0_u64));
        let counts = self.disagreements.get_or_insert(none);
        let disagreement = both.disagreement();
        if let Some((_, count)) = counts.iter_mut().find(|(of, _)| Some(*of) == disagreement) {
            *count = count.saturating_add(1);
        }
    }

    /// The summary of a replay that took this long.
    pub(crate) const fn summary(&self, took: Duration) -> Summary<'_> {
        Summary { tally: self, took }
    }
}

/// Prints a [`Tally`] on several lines.
pub(crate) struct Summary<'a> {
    tally: &'a Tally,
    took: Duration,
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { lines, errors, allowed, denied, reasons, disagreements } = self.tally;
        let width = HumanCount(*lines).to_string().len();
        let noun = if *lines == 1 { "line" } else { "lines" };
        write!(f, "{} {noun} in {:.2} s", HumanCount(*lines), self.took.as_secs_f64())?;
        if *lines == 0 {
            return writeln!(f);
        }
        let nanoseconds = self.took.as_nanos().max(1);
        let rate = u128::from(*lines).saturating_mul(1_000_000_000).checked_div(nanoseconds);
        let rate = rate.and_then(|rate| u64::try_from(rate).ok()).unwrap_or(0);
        writeln!(f, ", {} lines per second", HumanCount(rate))?;
        for (label, count) in [("allowed", allowed), ("denied", denied), ("errors", errors)] {
            writeln!(f, "  {:>width$}  {label}", HumanCount(*count).to_string())?;
        }
        let met = reasons.iter().filter(|(_, count)| *count > 0);
        let mut heading = "by reason:\n";
        for (reason, count) in met {
            writeln!(f, "{heading}  {:>width$}  {reason}", HumanCount(*count).to_string())?;
            heading = "";
        }
        let Some(disagreements) = disagreements else {
            return Ok(());
        };
        writeln!(f, "by the other policy:")?;
        for (disagreement, count) in disagreements {
            writeln!(f, "  {:>width$}  {disagreement}", HumanCount(*count).to_string())?;
        }
        Ok(())
    }
}
