//! What orbgate promises, and whether this run shows it.

use crate::measures::Measures;

/// One promise.
pub struct Goal {
    pub what: String,
    /// At most this, or at least this where `at_least`.
    pub wanted: f64,
    pub at_least: bool,
    pub measured: f64,
    /// Which peer it was compared with, and other words.
    pub note: String,
}

impl Goal {
    pub fn is_met(&self) -> bool {
        match self.at_least {
            true => self.measured >= self.wanted,
            false => self.measured <= self.wanted,
        }
    }

    fn at_most(what: String, wanted: f64, measured: f64, note: String) -> Self {
        Self { what, wanted, at_least: false, measured, note }
    }
}

/// The goals that the measures of this run can judge.
pub fn judge(measures: &Measures) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (number, table) in ["external", "github"].into_iter().enumerate() {
        against_peers(measures, table, number, &mut goals);
        against_hits(measures, table, &mut goals);
    }
    batches(measures, &mut goals);
    against_size(measures, &mut goals);
    against_threads(measures, &mut goals);
    allocations(measures, &mut goals);
    loads(measures, &mut goals);
    tokens(measures, &mut goals);
    goals
}

/// Orbgate's time over the fastest of some peers'.
struct Beside {
    what: &'static str,
    stream: &'static str,
    /// The peers, by the start of their names.
    peers: &'static [&'static str],
    /// With the scopes as text.
    as_text: bool,
    /// On the 37 routes, and on GitHub's.
    wanted: [f64; 2],
}

const BESIDE: [Beside; 9] = [
    Beside {
        what: "a decision, scopes interned ÷ matchit's routing",
        stream: "hits",
        peers: &["matchit"],
        as_text: false,
        wanted: [0.65, 0.4],
    },
    Beside {
        what: "a decision, scopes interned ÷ wayfind's routing",
        stream: "hits",
        peers: &["wayfind"],
        as_text: false,
        wanted: [0.72, 0.48],
    },
    Beside {
        what: "the same as matchit's, parameters all UUIDs",
        stream: "uuids",
        peers: &["matchit"],
        as_text: false,
        wanted: [0.65, 0.4],
    },
    Beside {
        what: "the same as wayfind's, parameters all UUIDs",
        stream: "uuids",
        peers: &["wayfind"],
        as_text: false,
        wanted: [0.72, 0.48],
    },
    Beside {
        what: "a decision, scopes as text ÷ matchit and a split of the scopes",
        stream: "hits",
        peers: &["by-hand"],
        as_text: true,
        wanted: [0.45, 0.4],
    },
    Beside {
        what: "the same with 20 to 40 scopes",
        stream: "hits-many-scopes",
        peers: &["by-hand"],
        as_text: true,
        wanted: [0.45, 0.4],
    },
    Beside {
        what: "a decision ÷ the fastest policy engine's, which is given the route",
        stream: "hits",
        peers: &["cedar", "regorus-routed", "casbin-routed"],
        as_text: false,
        wanted: [1.0 / 30.0; 2],
    },
    Beside {
        what: "a decision ÷ regorus's, which a router gives the route",
        stream: "hits",
        peers: &["regorus-matchit"],
        as_text: false,
        wanted: [1.0 / 30.0; 2],
    },
    Beside {
        what: "a decision ÷ the fastest policy engine's that finds the route itself",
        stream: "hits",
        peers: &["regorus-paths", "casbin-paths"],
        as_text: false,
        wanted: [1.0 / 30.0; 2],
    },
];

fn against_peers(measures: &Measures, table: &str, number: usize, goals: &mut Vec<Goal>) {
    for beside in &BESIDE {
        let rows = measures.rows.iter();
        let rows = rows.filter(|row| row.table == table && row.stream == beside.stream);
        let peers = rows.filter(|row| beside.peers.iter().any(|peer| row.contestant.starts_with(peer)));
        let ratios = peers.map(|row| match beside.as_text {
            true => (row.text_ratio, &row.contestant),
            false => (row.set_ratio, &row.contestant),
        });
        // The fastest peer gives the greatest ratio.
        let known = ratios.filter(|(ratio, _)| ratio.is_finite());
        if let Some((measured, peer)) = known.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let what = format!("{table}: {}", beside.what);
            goals.push(Goal::at_most(what, beside.wanted[number], measured, format!("beside {peer}")));
        }
    }
}

/// What a request costs that is not in the order of the bench, compared with an allowed one.
pub const AGAINST_HITS: [(&str, f64); 4] = [("misses", 1.2), ("malformed", 2.0), ("query-20", 1.6), ("case", 3.0)];

fn against_hits(measures: &Measures, table: &str, goals: &mut Vec<Goal>) {
    for (stream, wanted) in AGAINST_HITS {
        if let Some(pace) = measures.pace(table, stream) {
            let what = format!("{table}: {stream} ÷ hits");
            goals.push(Goal::at_most(what, wanted, pace, "turn by turn".to_owned()));
        }
    }
}

/// Many requests in one go cost no more than one by one, and less where a table outgrows the caches.
fn batches(measures: &Measures, goals: &mut Vec<Goal>) {
    for (table, wanted) in [("external", 1.0), ("github", 1.0), ("100000", 0.8)] {
        if let Some(row) = measures.row(table, "hits", "orbgate-batch") {
            let what = format!("{table}: a decision in a batch of 256 ÷ alone");
            let note = "orbgate-set is the one alone".to_owned();
            goals.push(Goal::at_most(what, wanted, 1.0 / row.set_ratio, note));
        }
    }
}

fn against_size(measures: &Measures, goals: &mut Vec<Goal>) {
    let pace = |stream| measures.pace("100000", stream);
    if let (Some(some), Some(all)) = (pace("hits-1000-of-them"), pace("hits")) {
        let what = "100,000 routes, requests from 1,000 of them ÷ a table of 1,000".to_owned();
        let note = format!("turn by turn; uniform over all 100,000: {all:.2}");
        goals.push(Goal::at_most(what, 2.0, some, note));
    }
}

fn against_threads(measures: &Measures, goals: &mut Vec<Goal>) {
    for table in ["external", "github"] {
        let of = |own: bool| {
            let rows = measures.threads.iter().filter(|(name, _)| name == table);
            let rows = rows.filter(|(_, row)| row.contestant.starts_with("orbgate") == own);
            rows.max_by(|a, b| a.1.best.total_cmp(&b.1.best)).map(|(_, row)| row)
        };
        if let (Some(own), Some(peer)) = (of(true), of(false)) {
            goals.push(Goal {
                what: format!("{table}: two threads ÷ one, against the best peer"),
                // Less than this is noise.
                wanted: peer.best.min(2.0) * 0.97,
                at_least: true,
                measured: own.best,
                note: format!("{} {:.2}; 1.9 is aimed at", peer.contestant, peer.best),
            });
        }
    }
}

fn allocations(measures: &Measures, goals: &mut Vec<Goal>) {
    let own = measures.allocations.iter().filter(|row| row.contestant.starts_with("orbgate"));
    if let Some(most) = own.map(|row| row.each).max_by(f64::total_cmp) {
        goals.push(Goal::at_most("allocations in a decision".to_owned(), 0.0, most, String::new()));
    }
}

/// Loads, from the text on: with a router, as orbgate's has one in it, and without.
const LOADED_BESIDE: [&str; 5] =
    ["cedar-routed", "cedar-routed+matchit", "regorus-routed", "regorus-routed+matchit", "regorus-paths"];
const COMPILED_BESIDE: [&str; 3] = ["cedar-routed", "regorus-routed", "regorus-paths"];

fn loads(measures: &Measures, goals: &mut Vec<Goal>) {
    let of = |table: &str, who: &str| {
        let rows = measures.loads.iter().filter(|(name, row)| name == table && row.contestant == who);
        rows.map(|(_, row)| row.median).next()
    };
    for table in ["1000", "github"] {
        let loads = LOADED_BESIDE.map(|peer| ("orbgate", "load of the table", peer));
        let compiled = COMPILED_BESIDE.map(|peer| ("orbgate-compile", "compiling what was read", peer));
        for (own, step, peer) in loads.into_iter().chain(compiled) {
            if let (Some(own), Some(other)) = (of(table, own), of(table, peer)) {
                let note = format!("{own:.2} ms, {other:.2} ms");
                let what = format!("{table}: {step} ÷ {peer}'s load");
                goals.push(Goal::at_most(what, 1.0, own / other, note));
            }
        }
    }
}

fn tokens(measures: &Measures, goals: &mut Vec<Goal>) {
    for algorithm in ["RS256", "ES256"] {
        let of = |contestant| measures.verified(algorithm, contestant);
        if let (Some(own), Some(peer)) = (of("orbgate"), of("jsonwebtoken")) {
            let note = format!("{:.1} µs, {:.1} µs", own.min, peer.min);
            let what = format!("{algorithm}: a token verified and the call decided ÷ jsonwebtoken's verifying");
            goals.push(Goal::at_most(what, 1.0, peer.ratio, note));
        }
        if let (Some(own), Some(signature)) = (of("orbgate-verify"), of("signature")) {
            let outside = (own.min - signature.min) / own.min;
            let what = format!("{algorithm}: of verifying, what is not the signature");
            goals.push(Goal::at_most(what, 0.1, outside, format!("{:.1} µs in all", own.min)));
        }
    }
}
