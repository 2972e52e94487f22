//! The hot paths, one at a time: what `cargo xtask bench --instructions` counts.
//!
//! ```text
//! paths                the names
//! paths count NAME     does one path's work once, within `measured` and between two yields, and prints how many units it had
//! ```

use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::thread;

use orbgate::{Engine, Policy, Request, Token};
use orbgate_bench::hostile::{self, Hostile};
use orbgate_bench::stream::{self, Ask, Plan};
use orbgate_bench::table::Table;
use orbgate_bench::{peers, support};

/// Requests of a stream whose instructions are counted: few, because callgrind is fifty times slower than
/// the machine, and enough for the mean of the whole stream.
const COUNTED: usize = 1_024;

/// The streams that are counted of each table, and the contestants that answer them.
const STREAMS: [(&str, &str); 23] = [
    ("hits", "orbgate-set"),
    ("hits-hot", "orbgate-set"),
    ("hits", "orbgate-batch"),
    ("hits", "orbgate-text"),
    ("hits-many-scopes", "orbgate-text"),
    ("misses", "orbgate-set"),
    ("malformed", "orbgate-set"),
    ("words", "orbgate-set"),
    ("long", "orbgate-set"),
    ("uuids", "orbgate-set"),
    ("query-4", "orbgate-set"),
    ("query-20", "orbgate-set"),
    ("query-20", "orbgate-batch"),
    ("query-1000", "orbgate-set"),
    ("case", "orbgate-set"),
    // The same requests as above, by contestants that only route.
    ("hits", "matchit-paths"),
    ("hits", "matchit-methods"),
    ("hits", "wayfind-paths"),
    ("hits", "wayfind-methods"),
    ("uuids", "matchit-paths"),
    ("uuids", "matchit-methods"),
    ("uuids", "wayfind-paths"),
    ("uuids", "wayfind-methods"),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    match *arguments {
        [] => paths().iter().for_each(|path| println!("{}", path.name)),
        ["count", name] => {
            let mut work = (named(name)?.prepare)(COUNTED);
            // Where callgrind is not, a plugin of qemu's counts from one of these calls to the other.
            thread::yield_now();
            measured(&mut *work.run);
            thread::yield_now();
            println!("{}", work.units);
        }
        _ => return Err("usage: paths [count NAME]".into()),
    }
    Ok(())
}

fn named(name: &str) -> Result<Path, String> {
    let path = paths().into_iter().find(|path| path.name == name);
    path.ok_or_else(|| format!("no path is called {name}"))
}

/// What callgrind counts: all that happens between the call of this function and its return.
#[inline(never)]
fn measured(run: &mut dyn FnMut()) {
    run();
    // Or else the call above would be a jump, and this function would have returned before it.
    black_box(());
}

struct Path {
    name: String,
    /// Makes the work ready, with this many requests.
    prepare: Box<dyn Fn(usize) -> Work>,
}

struct Work {
    /// Decisions, tokens or loads.
    units: usize,
    run: Box<dyn FnMut()>,
}

fn paths() -> Vec<Path> {
    let mut paths = Vec::new();
    let mut add = |name: String, prepare: Box<dyn Fn(usize) -> Work>| {
        paths.push(Path { name, prepare });
    };
    for table in ["external", "github"] {
        for (stream, who) in STREAMS {
            let name = format!("{table}/{stream}/{who}");
            add(name, Box::new(move |count| decide(table, stream, who, count)));
        }
        let name = format!("{table}/scopes");
        add(name, Box::new(move |count| intern(table, count)));
    }
    for table in ["external-slash", "github-slash"] {
        for stream in ["hits", "misses"] {
            let slash = move |count| decide(table, stream, "orbgate-set", count);
            add(format!("{table}/{stream}/orbgate-set"), Box::new(slash));
        }
    }
    // Only this, because the table takes half a minute to be made under callgrind.
    let largest = |count| decide("100000", "hits", "orbgate-set", count);
    add("100000/hits/orbgate-set".to_owned(), Box::new(largest));
    add("external/decide_scope".to_owned(), Box::new(decide_scope));
    add("external/decide_route-set".to_owned(), Box::new(|count| decide_route(count, |ask| Token::user(ask.set))));
    add("external/decide_route-text".to_owned(), Box::new(|count| decide_route(count, |ask| Token::user(ask.scopes))));
    for alternatives in [2, 128] {
        for (form, is_text) in [("set", false), ("text", true)] {
            let name = format!("requirement-{alternatives}/{form}");
            add(name, Box::new(move |count| decide_requirement(alternatives, is_text, count)));
        }
    }
    for hostile in hostile::all() {
        let name = format!("hostile/{}", hostile.name);
        let hostile = leak(hostile);
        add(name, Box::new(|_| decide_hostile(hostile)));
    }
    add("1000/from_yaml".to_owned(), Box::new(|_| from_yaml()));
    add("1000/compile".to_owned(), Box::new(|_| compile()));
    paths
}

/// Decisions on a stream, each answer checked first.
fn decide(table: &str, stream: &str, who: &str, count: usize) -> Work {
    let table = leak(Table::named(table));
    let stream = leak(stream::stream(table, plan(&table.name, stream), count));
    let mut contestants = peers::all(table, &|name| name == who);
    let contestant = contestants.pop().expect("orbgate takes part");
    for ask in &stream.asks {
        let answer = contestant.answer(ask);
        assert!(answer.is_right(table, ask), "{}: {answer:?}", ask.target);
    }
    Work {
        units: stream.asks.len(),
        run: Box::new(move || {
            black_box(contestant.pass(&stream.asks));
        }),
    }
}

/// Scope texts of 20 to 40 scopes, made into sets.
fn intern(table: &str, count: usize) -> Work {
    let table = leak(Table::named(table));
    let stream = stream::stream(table, plan(&table.name, "hits-many-scopes"), count);
    let engine = table.engine;
    Work {
        units: stream.asks.len(),
        run: Box::new(move || {
            for ask in &stream.asks {
                black_box(engine.scopes(black_box(ask.scopes)));
            }
        }),
    }
}

/// Decisions without a route, over the scopes of the table.
fn decide_scope(count: usize) -> Work {
    let table = leak(Table::named("external"));
    let stream = stream::stream(table, plan("external", "mixed"), count);
    let engine = table.engine;
    let pairs = stream.asks.into_iter().enumerate();
    let pairs: Vec<_> = pairs.map(|(at, ask)| (table.scopes[at % table.scopes.len()], ask)).collect();
    let decide = move || {
        let decisions = pairs.iter().map(|(scope, ask)| {
            let token = Some(Token::user(black_box(ask.set)));
            engine.decide_scope(black_box(scope), token, false)
        });
        decisions.filter(orbgate::Decision::is_allow).count()
    };
    assert!((1..count).contains(&decide()), "some are held, some not");
    Work {
        units: count,
        run: Box::new(move || {
            black_box(decide());
        }),
    }
}

/// Decisions by route, over the routes of the table.
fn decide_route(count: usize, token: impl Fn(&Ask) -> Token<'_> + 'static) -> Work {
    let table = leak(Table::named("external"));
    let stream = stream::stream(table, plan("external", "mixed"), count);
    let engine = table.engine;
    let routes: Vec<_> = engine.routes().map(|route| route.id()).collect();
    let pairs = stream.asks.into_iter().enumerate();
    let pairs: Vec<_> = pairs.map(|(at, ask)| (routes[at % routes.len()], ask)).collect();
    let decide = move || {
        let decisions = pairs.iter().map(|(route, ask)| {
            let token = Some(token(black_box(ask)));
            engine.decide_route(black_box(*route), token, false)
        });
        decisions.filter(orbgate::Decision::is_allow).count()
    };
    assert!((1..count).contains(&decide()), "some are allowed, some not");
    Work {
        units: count,
        run: Box::new(move || {
            black_box(decide());
        }),
    }
}

/// Decisions on a route with this many alternatives of one scope, for tokens of five other scopes and, in turn, the
/// owner, the last alternative and none.
fn decide_requirement(alternatives: usize, is_text: bool, count: usize) -> Work {
    let others: Vec<_> = (1..alternatives).map(|at| format!("read:item{at:03}")).collect();
    let scopes = others.iter().map(|scope| format!("      {scope}: {{ routes: [] }}\n"));
    let policy = Policy::from_yaml(&format!(
        "orbgate: 1\napis:\n  a:\n    base_path: /api/v1\n    scopes:\n      read:item:\n        or: [{}]\n        orbs: false\n        \
         routes: ['GET /items/{{id}}']\n{}",
        others.join(", "),
        scopes.collect::<String>(),
    ));
    let engine = leak(Engine::new(&policy.expect("a valid policy")));
    let held = ["read:item", others.last().expect("two or more"), "none"];
    let texts = held.map(|held| format!("openid profile email offline_access {held} read:other"));
    let sets = texts.each_ref().map(|text| engine.scopes(text));
    let decide = move || {
        let decisions = (0..count).map(|at| {
            let token = match is_text {
                true => Token::user(black_box(&texts[at % 3])),
                false => Token::user(black_box(&sets[at % 3])),
            };
            let target = black_box(b"/api/v1/items/12345678".as_slice());
            engine.decide(&Request { method: b"GET", target, token: Some(token), allow_bonus_orbs_use: false })
        });
        decisions.filter(orbgate::Decision::is_allow).count()
    };
    assert_eq!(decide(), count - count / 3, "two of three hold an alternative");
    Work {
        units: count,
        run: Box::new(move || {
            black_box(decide());
        }),
    }
}

/// The dearest decision of a policy, without its scope.
fn decide_hostile(hostile: &'static Hostile) -> Work {
    let decide = || {
        let request = Request {
            method: b"GET",
            target: black_box(hostile.target.as_bytes()),
            token: Some(Token::user("")),
            allow_bonus_orbs_use: false,
        };
        assert!(!hostile.engine.decide(&request).is_allow());
    };
    Work { units: 1, run: Box::new(decide) }
}

fn from_yaml() -> Work {
    let yaml = support::policy(1_000);
    Work {
        units: 1,
        run: Box::new(move || {
            black_box(Policy::from_yaml(black_box(&yaml)).expect("a valid policy"));
        }),
    }
}

fn compile() -> Work {
    let policy = Policy::from_yaml(&support::policy(1_000)).expect("a valid policy");
    Work {
        units: 1,
        run: Box::new(move || {
            black_box(Engine::new(black_box(&policy)));
        }),
    }
}

fn plan(table: &str, stream: &str) -> Plan {
    let plans = stream::plans(table).into_iter();
    let mut plans = plans.chain(stream::own_plans());
    plans.find(|plan| plan.name == stream).expect("a stream of the table")
}

/// Contestants keep what they answer from for the life of the program.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}
