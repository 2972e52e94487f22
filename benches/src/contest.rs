//! Rounds: A B C A B C …, each a full pass over the stream, so that a noisy moment hits everybody.

use std::time::Instant;

use crate::stream::{Ask, Expected, Stream};
use crate::table::Table;

/// What a contestant finds for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A router of paths: the template's number.
    Shape(Option<usize>),
    /// A router for each method: the route's number.
    Route(Option<usize>),
    /// A policy engine.
    Allowed(bool),
    /// Orbgate: the reason and the route's number.
    Decided(Expected, Option<usize>),
}

impl Answer {
    /// Does the twin say the same? A router has no rule for malformed paths: what it says is not judged.
    pub fn is_right(self, table: &Table, ask: &Ask) -> bool {
        let malformed = ask.expected == Expected::Malformed;
        let method = usize::from(ask.method_id);
        match self {
            Self::Shape(shape) => malformed || shape == table.shape_of(ask.target),
            Self::Route(route) => malformed || route == table.route_of(method, ask.target),
            Self::Allowed(allowed) => allowed == (ask.expected == Expected::Allow),
            Self::Decided(reason, route) => {
                let shape = table.shape_of(ask.target).filter(|_| !malformed);
                let right = shape.and_then(|shape| table.declared(shape, method));
                reason == ask.expected && (route == right || reason == Expected::MethodNotDeclared)
            }
        }
    }
}

/// Somebody who answers requests.
pub trait Contestant: Sync {
    fn name(&self) -> String;

    /// Prepares what its users prepare before requests come, or would have at hand.
    fn prepare(&mut self, _stream: &Stream) {}

    fn answer(&self, ask: &Ask) -> Answer;

    /// Answers all, each input and output through `black_box`; gives the number of positive answers.
    fn pass(&self, asks: &[Ask]) -> usize;
}

/// What was measured of one contestant on one stream.
#[derive(Clone, Debug)]
pub struct Row {
    pub table: String,
    pub stream: String,
    pub contestant: String,
    /// Nanoseconds per request: the best round and the median round.
    pub min: f64,
    pub median: f64,
    /// Orbgate's time (scopes interned, or as text) divided by this one's: the median of the rounds' ratios.
    pub set_ratio: f64,
    pub text_ratio: f64,
    pub rounds: usize,
    /// Requests of the stream, and of them in a round: who is slow answers a part each round, another each time.
    pub requests: usize,
    pub part: usize,
    /// Answers that differ from the twin's.
    pub differ: usize,
}

/// The longest that one contestant's part of a round may take.
const ROUND_SECONDS: f64 = 0.02;

/// Checks and times everybody on one stream.
pub fn run(
    table: &Table,
    name: &str,
    stream: &Stream,
    contestants: &mut [Box<dyn Contestant>],
    rounds: usize,
) -> Vec<Row> {
    let asks = &stream.asks[..];
    for contestant in contestants.iter_mut() {
        contestant.prepare(stream);
    }
    let contestants = &*contestants;
    let entries: Vec<_> = contestants
        .iter()
        .map(|contestant| {
            let part = part(contestant.as_ref(), asks);
            let differ = differ(table, asks, contestant.as_ref(), part);
            (contestant, part, differ)
        })
        .collect();
    let mut times = vec![Vec::with_capacity(rounds); entries.len()];
    for round in 0..rounds {
        for ((contestant, part, _), times) in entries.iter().zip(&mut times) {
            let parts = asks.len() / part;
            let asks = &asks[round % parts * part..][..*part];
            let start = Instant::now();
            std::hint::black_box(contestant.pass(asks));
            times.push(start.elapsed().as_secs_f64() * 1e9 / asks.len() as f64);
        }
    }
    let of = |name: &str| {
        contestants
            .iter()
            .position(|contestant| contestant.name() == name)
    };
    let (set, text) = (of("orbgate-set"), of("orbgate-text"));
    let rows = entries
        .iter()
        .zip(&times)
        .map(|((contestant, part, differ), own)| {
            let ratio = |orbgate: Option<usize>| {
                orbgate.map_or(f64::NAN, |at| {
                    median(times[at].iter().zip(own).map(|(a, b)| a / b))
                })
            };
            Row {
                table: table.name.clone(),
                stream: name.to_owned(),
                contestant: contestant.name(),
                min: own.iter().copied().fold(f64::INFINITY, f64::min),
                median: median(own.iter().copied()),
                set_ratio: ratio(set),
                text_ratio: ratio(text),
                rounds,
                requests: asks.len(),
                part: *part,
                differ: *differ,
            }
        });
    rows.collect()
}

/// How many requests a contestant gets through in its part of a round.
fn part(contestant: &dyn Contestant, asks: &[Ask]) -> usize {
    let mut part = 16.min(asks.len());
    while part < asks.len() {
        let start = Instant::now();
        std::hint::black_box(contestant.pass(&asks[..part]));
        if start.elapsed().as_secs_f64() * 2.0 > ROUND_SECONDS {
            break;
        }
        part = (part * 2).min(asks.len());
    }
    part
}

/// How many answers differ from the twin's. Orbgate's may not.
fn differ(table: &Table, asks: &[Ask], contestant: &dyn Contestant, part: usize) -> usize {
    let checked = &asks[..asks.len().min(part * 8)];
    let wrong: Vec<_> = checked
        .iter()
        .filter(|ask| !contestant.answer(ask).is_right(table, ask))
        .collect();
    if let Some(ask) = wrong.first() {
        let (name, answer) = (contestant.name(), contestant.answer(ask));
        let line = format!(
            "{name}: {} {} gives {answer:?}, not {:?}",
            ask.method, ask.target, ask.expected
        );
        assert!(!name.starts_with("orbgate"), "{line}");
        eprintln!(
            "note: {} of {} answers differ, as {line}",
            wrong.len(),
            checked.len()
        );
    }
    wrong.len()
}

pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
