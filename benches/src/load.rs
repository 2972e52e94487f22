//! From the text of a policy to an engine that answers; and the last step of it alone, from a policy that
//! was read to an engine.

use std::hint::black_box;
use std::time::Instant;

use orbgate::{Engine, Policy};

use crate::contest::median;
use crate::table::Table;

/// How long a table takes to load.
pub struct Load {
    pub contestant: &'static str,
    /// Milliseconds: the best time and the median.
    pub min: f64,
    pub median: f64,
}

/// The name of a contestant, and how it loads.
type Loader<'t> = (&'static str, Box<dyn Fn() + 't>);

/// Loads a table in turn with every contestant that can.
pub fn run(table: &Table, wanted: &dyn Fn(&str) -> bool, rounds: usize) -> Vec<Load> {
    let mut loaders: Vec<Loader<'_>> = Vec::new();
    loaders.push((
        "orbgate",
        Box::new(|| {
            let policy = Policy::from_yaml(black_box(&table.yaml)).expect("a valid policy");
            black_box(Engine::new(&policy));
        }),
    ));
    let policy = Policy::from_yaml(&table.yaml).expect("a valid policy");
    loaders.push((
        "orbgate-compile",
        Box::new(move || {
            black_box(Engine::new(black_box(&policy)));
        }),
    ));
    #[cfg(all(feature = "engines", feature = "routers"))]
    add_engines(table, &mut loaders);
    loaders.retain(|(name, _)| wanted(name));
    let mut times = vec![Vec::new(); loaders.len()];
    for _ in 0..rounds {
        for ((_, load), times) in loaders.iter().zip(&mut times) {
            let start = Instant::now();
            load();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let rows = loaders.iter().zip(&times).map(|((contestant, _), times)| Load {
        contestant,
        min: times.iter().copied().fold(f64::INFINITY, f64::min),
        median: median(times.iter().copied()),
    });
    rows.collect()
}

/// `-routed` answers once a route is found; with matchit's routers it can be asked with a request, as
/// `regorus-paths` can.
#[cfg(all(feature = "engines", feature = "routers"))]
fn add_engines<'t>(table: &'t Table, loaders: &mut Vec<Loader<'t>>) {
    use crate::peers::engines::{self, cedar, regorus};
    use crate::peers::routers;

    if table.rows.len() >= engines::MOST_ROUTES {
        return;
    }
    let text = cedar::text(table);
    let cedar = move || {
        black_box(cedar::load(table, black_box(&text)));
    };
    let (text, data) = regorus::routed(table);
    let regorus = move || {
        black_box(regorus::load(black_box(&text), black_box(&data)));
    };
    let text = regorus::paths(table);
    let paths = move || {
        black_box(regorus::load(black_box(&text), "{}"));
    };
    let (routed_cedar, routed_regorus) = (cedar.clone(), regorus.clone());
    let all: [Loader<'t>; 6] = [
        ("cedar-routed", Box::new(cedar)),
        (
            "cedar-routed+matchit",
            Box::new(move || {
                routed_cedar();
                routers::load(table);
            }),
        ),
        ("regorus-routed", Box::new(regorus)),
        (
            "regorus-routed+matchit",
            Box::new(move || {
                routed_regorus();
                routers::load(table);
            }),
        ),
        ("regorus-paths", Box::new(paths)),
        ("by-hand", Box::new(move || routers::load(table))),
    ];
    loaders.extend(all);
}
