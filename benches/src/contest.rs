//! Rounds over a stream in short turns, A B C A B C …, so that a noisy moment hits everybody and spoils
//! little.

use std::hint::black_box;
use std::time::Instant;

use crate::stream::{Ask, Expected, Stream};
use crate::table::Table;

/// What a contestant finds for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// None that could be right or wrong.
    None,
    /// A router of paths: the template's number.
    Template(Option<usize>),
    /// A router for each method: the route's number.
    Route(Option<usize>),
    /// A policy engine.
    Allowed(bool),
    /// Orbgate: the reason and the route's number.
    Decided(Expected, Option<usize>),
}

impl Answer {
    /// Does the reference say the same? A router has no rule for malformed paths: what it says is not judged.
    pub fn is_right(self, table: &Table, ask: &Ask) -> bool {
        let malformed = ask.expected == Expected::Malformed;
        let method = usize::from(ask.method_id);
        match self {
            Self::None => true,
            Self::Template(template) => malformed || template == table.template_of(ask.target),
            Self::Route(route) => malformed || route == table.route_of(method, ask.target),
            Self::Allowed(allowed) => allowed == (ask.expected == Expected::Allow),
            Self::Decided(reason, route) => {
                // Only orbgate is given queries.
                let path = ask.target.split('?').next().unwrap_or_default();
                let template = table.template_of(path).filter(|_| !malformed);
                let right = template.and_then(|template| table.declared(template, method));
                reason == ask.expected && (route == right || reason == Expected::MethodNotDeclared)
            }
        }
    }
}

/// A router, an engine or a function that answers requests.
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
    /// Nanoseconds per request: of each turn the best round, and the median round.
    pub min: f64,
    pub median: f64,
    /// Orbgate's time (scopes interned, or as text) divided by this one's: the median of the turns' ratios.
    pub set_ratio: f64,
    pub text_ratio: f64,
    pub rounds: usize,
    /// Requests of the stream, and how many of them a round has: a slow contestant answers a part, another part in each round.
    pub requests: usize,
    pub part: usize,
    /// Answers that differ from the reference's.
    pub differ: usize,
}

/// Requests in a turn: short enough that other work on the machine spoils few of them. All the turns of a
/// round make up the stream.
const TURN: usize = 4_096;

/// A contestant that is slower than this in a turn answers a part of it, and takes one turn a round.
const TURN_SECONDS: f64 = 0.004;

/// A contestant on one stream.
struct Entry<'c> {
    contestant: &'c dyn Contestant,
    part: usize,
    differ: usize,
    /// Nanoseconds per request, by turn and round.
    times: Vec<Vec<f64>>,
}

/// Checks and times everybody on one stream.
pub fn run(
    table: &Table,
    name: &str,
    stream: &Stream,
    contestants: &mut [Box<dyn Contestant>],
    rounds: usize,
) -> Vec<Row> {
    for contestant in contestants.iter_mut() {
        contestant.prepare(stream);
    }
    let asks = &stream.asks[..];
    let turns = (asks.len() / TURN).max(1);
    let entries = contestants.iter().map(|contestant| {
        let contestant = contestant.as_ref();
        let part = part(contestant, asks);
        Entry {
            contestant,
            part,
            differ: differ(table, asks, contestant, part),
            times: vec![Vec::with_capacity(rounds); turns],
        }
    });
    let mut entries: Vec<_> = entries.collect();
    for round in 0..rounds {
        for turn in 0..turns {
            for entry in &mut entries {
                let (before, own) = match entry.part < TURN.min(asks.len()) {
                    true if turn > 0 => continue,
                    true => parts(asks, entry.part, round),
                    false => parts(asks, TURN.min(asks.len()), turn),
                };
                let nanoseconds = time(entry.contestant, before, own);
                entry.times[turn].push(nanoseconds);
            }
        }
    }
    let of = |name: &str| entries.iter().find(|entry| entry.contestant.name() == name);
    let (set, text) = (of("orbgate-set"), of("orbgate-text"));
    let rows = entries.iter().map(|entry| Row {
        table: table.name.clone(),
        stream: name.to_owned(),
        contestant: entry.contestant.name(),
        min: entry.nanoseconds(|times| times.iter().copied().fold(f64::INFINITY, f64::min)),
        median: entry.nanoseconds(|times| median(times.iter().copied())),
        set_ratio: ratio(set, entry),
        text_ratio: ratio(text, entry),
        rounds,
        requests: asks.len(),
        part: if entry.part < TURN { entry.part } else { asks.len() },
        differ: entry.differ,
    });
    rows.collect()
}

/// Checks and times streams in turns, as contestants are: the time of a request of each stream, divided by the time of one
/// of the first stream.
pub fn paces(streams: &[(&Table, &dyn Contestant, &[Ask])], rounds: usize) -> Vec<f64> {
    let Some(((_, _, first), rest)) = streams.split_first() else {
        return Vec::new();
    };
    for (table, contestant, asks) in streams {
        differ(table, asks, *contestant, TURN);
    }
    let size = TURN.min(first.len());
    let mut ratios = vec![Vec::new(); rest.len()];
    for turn in (0..rounds).flat_map(|_| 0..(first.len() / size).max(1)) {
        let mut times = streams.iter().map(|(_, contestant, asks)| {
            let (before, own) = parts(asks, size, turn);
            time(*contestant, before, own)
        });
        let first = times.next().unwrap_or(f64::NAN);
        for (ratios, time) in ratios.iter_mut().zip(times) {
            ratios.push(time / first);
        }
    }
    ratios.into_iter().map(|ratios| median(ratios.into_iter())).collect()
}

/// The part of a stream with this number, and the one before it.
fn parts(asks: &[Ask], part: usize, number: usize) -> (&[Ask], &[Ask]) {
    let parts = asks.len() / part;
    let of = |number: usize| &asks[number % parts * part..][..part];
    (of(number + parts - 1), of(number))
}

/// Nanoseconds per request. Other requests come first, so that everybody's own tables and the branch
/// predictor are as warm as they are in a server; the requests themselves are in the cache, as a server has
/// just read them.
fn time(contestant: &dyn Contestant, before: &[Ask], asks: &[Ask]) -> f64 {
    black_box(contestant.pass(before));
    for ask in asks {
        let texts = [ask.target, ask.method, ask.scopes];
        black_box(texts.map(|text| text.bytes().step_by(64).fold(0, u8::wrapping_add)));
    }
    let start = Instant::now();
    black_box(contestant.pass(asks));
    start.elapsed().as_secs_f64() * 1e9 / asks.len() as f64
}

impl Entry<'_> {
    /// Nanoseconds per request over the whole stream, each turn's by one of its rounds.
    fn nanoseconds(&self, pick: impl Fn(&[f64]) -> f64) -> f64 {
        let turns = self.times.iter().filter(|times| !times.is_empty());
        let picked: Vec<_> = turns.map(|times| pick(times)).collect();
        picked.iter().sum::<f64>() / picked.len() as f64
    }
}

/// The median of one's time over another's, turn by turn.
fn ratio(one: Option<&Entry<'_>>, other: &Entry<'_>) -> f64 {
    let Some(one) = one else { return f64::NAN };
    let turns = one.times.iter().zip(&other.times);
    median(turns.flat_map(|(one, other)| one.iter().zip(other).map(|(one, other)| one / other)))
}

/// How many requests a contestant gets through in a turn.
fn part(contestant: &dyn Contestant, asks: &[Ask]) -> usize {
    let most = TURN.min(asks.len());
    let mut part = 4.min(most);
    while part < most {
        let start = Instant::now();
        black_box(contestant.pass(&asks[..part]));
        if start.elapsed().as_secs_f64() * 2.0 > TURN_SECONDS {
            break;
        }
        part = (part * 2).min(most);
    }
    part
}

/// How many answers differ from the reference's. Orbgate's may not.
fn differ(table: &Table, asks: &[Ask], contestant: &dyn Contestant, part: usize) -> usize {
    let checked = &asks[..if part < TURN { part * 8 } else { asks.len() }.min(asks.len())];
    let wrong: Vec<_> = checked.iter().filter(|ask| !contestant.answer(ask).is_right(table, ask)).collect();
    if let Some(ask) = wrong.first() {
        let (name, answer) = (contestant.name(), contestant.answer(ask));
        let line = format!("{name}: {} {} gives {answer:?}, not {:?}", ask.method, ask.target, ask.expected);
        assert!(!name.starts_with("orbgate"), "{line}");
        eprintln!("note: {} of {} answers differ, as {line}", wrong.len(), checked.len());
    }
    wrong.len()
}

pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Takes a contestant by name, made only where it is wanted.
pub(crate) type Add<'a> = dyn FnMut(&str, &dyn Fn() -> Box<dyn Contestant>) + 'a;

/// The loop of every pass, compiled into each contestant.
#[inline(always)]
pub(crate) fn pass(asks: &[Ask], is_positive: impl Fn(&Ask) -> bool) -> usize {
    asks.iter().filter(|ask| is_positive(black_box(ask))).count()
}
