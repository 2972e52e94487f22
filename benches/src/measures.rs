//! Everything that a run measured.

use crate::contest::Row;
use crate::load::Load;
use crate::threads::Scaling;

#[derive(Default)]
pub struct Measures {
    /// Routes, templates and scopes of each table.
    pub tables: Vec<(String, [usize; 3])>,
    pub rows: Vec<Row>,
    pub paces: Vec<Pace>,
    /// By table.
    pub threads: Vec<(String, Scaling)>,
    /// By table.
    pub loads: Vec<(String, Load)>,
    pub allocations: Vec<Allocations>,
    pub tokens: Vec<Verified>,
}

/// What was measured of one contestant, in microseconds per token.
pub struct Verified {
    pub algorithm: &'static str,
    pub contestant: &'static str,
    /// The best round of each turn, and the median one.
    pub min: f64,
    pub median: f64,
    /// The time of `orbgate`, verified and decided, divided by this one's: the median of the turns' ratios.
    pub ratio: f64,
}

/// How orbgate's time on one stream compares with its time on another, in turns of both.
pub struct Pace {
    pub table: String,
    pub stream: String,
    /// The table whose hits it is compared with.
    pub than: String,
    pub ratio: f64,
}

pub struct Allocations {
    pub table: String,
    pub stream: String,
    pub contestant: String,
    /// Allocations per request.
    pub each: f64,
}

impl Measures {
    /// Merges several repeats of the same run: the best of the best, and medians of the rest. Other programs on the
    /// machine can slow one contestant for the length of a repeat, depending on where its memory is.
    pub fn merged(repeats: Vec<Self>) -> Self {
        let mut repeats = repeats.into_iter();
        let mut merged = repeats.next().unwrap_or_default();
        let rest: Vec<_> = repeats.collect();
        for (at, row) in merged.rows.iter_mut().enumerate() {
            let all = || rest.iter().map(|repeat| &repeat.rows[at]);
            row.min = all().map(|other| other.min).fold(row.min, f64::min);
            row.median = middle(row.median, all().map(|other| other.median));
            row.set_ratio = middle(row.set_ratio, all().map(|other| other.set_ratio));
            row.text_ratio = middle(row.text_ratio, all().map(|other| other.text_ratio));
            row.rounds += all().map(|other| other.rounds).sum::<usize>();
            row.differ = all().map(|other| other.differ).fold(row.differ, usize::max);
        }
        for (at, pace) in merged.paces.iter_mut().enumerate() {
            let all = rest.iter().map(|repeat| repeat.paces[at].ratio);
            pace.ratio = middle(pace.ratio, all);
        }
        for (at, (_, row)) in merged.threads.iter_mut().enumerate() {
            let all = || rest.iter().map(|repeat| &repeat.threads[at].1);
            row.best = all().map(|other| other.best).fold(row.best, f64::max);
            row.median = middle(row.median, all().map(|other| other.median));
        }
        for (at, row) in merged.tokens.iter_mut().enumerate() {
            let all = || rest.iter().map(|repeat| &repeat.tokens[at]);
            row.min = all().map(|other| other.min).fold(row.min, f64::min);
            row.median = middle(row.median, all().map(|other| other.median));
            row.ratio = middle(row.ratio, all().map(|other| other.ratio));
        }
        for (at, (_, row)) in merged.loads.iter_mut().enumerate() {
            let all = || rest.iter().map(|repeat| &repeat.loads[at].1);
            row.min = all().map(|other| other.min).fold(row.min, f64::min);
            row.median = middle(row.median, all().map(|other| other.median));
        }
        merged
    }

    /// Orbgate's time on a stream, divided by its time on hits.
    pub fn pace(&self, table: &str, stream: &str) -> Option<f64> {
        let mut paces = self.paces.iter();
        let pace = paces.find(|pace| pace.table == table && pace.stream == stream);
        pace.map(|pace| pace.ratio)
    }

    /// One's figures for the tokens of an algorithm.
    pub fn verified(&self, algorithm: &str, contestant: &str) -> Option<&Verified> {
        let mut rows = self.tokens.iter();
        rows.find(|row| row.algorithm == algorithm && row.contestant == contestant)
    }

    pub fn row(&self, table: &str, stream: &str, contestant: &str) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.table == table && row.stream == stream && row.contestant == contestant)
    }
}

fn middle(first: f64, others: impl Iterator<Item = f64>) -> f64 {
    crate::contest::median(others.chain([first]))
}
