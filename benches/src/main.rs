//! `cargo run --release -- --help`

use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Parser;
use orbgate_bench::circumstances::Circumstances;
use orbgate_bench::contest::{self, Row};
use orbgate_bench::goals::{self, Goal};
use orbgate_bench::measures::{Allocations, Measures, Pace};
use orbgate_bench::record;
use orbgate_bench::table::Table;
use orbgate_bench::{load, peers, stream, threads};

/// Runs orbgate and its peers, and writes down the figures
#[derive(Parser)]
struct Arguments {
    /// One repeat, no loads, threads and allocations, and no record
    #[arg(long)]
    quick: bool,
    /// TABLES/STREAMS/CONTESTANTS, each names separated by commas, or nothing for all; a
    /// contestant's name may be cut short: `external,github/hits/orbgate,matchit,wayfind`
    #[arg(long, short, default_value = "")]
    filter: String,
    /// Rounds of everybody in turn, in each repeat
    #[arg(long)]
    rounds: Option<usize>,
    /// Repeats of all of it, each with everybody's memory elsewhere
    #[arg(long)]
    repeats: Option<usize>,
    /// Requests in a stream
    #[arg(long, default_value_t = 16_384)]
    requests: usize,
    /// Writes no file under record/
    #[arg(long)]
    no_record: bool,
    /// The command that the record names
    #[arg(long, default_value = "cargo xtask bench")]
    command: String,
}

/// The contestant that is compared with itself.
const OWN: &str = "orbgate-set";

const TABLES: [&str; 5] = ["external", "github", "10", "1000", "100000"];

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let repeats = arguments.repeats.unwrap_or(if arguments.quick { 1 } else { 5 });
    let measured = (1..=repeats).map(|repeat| {
        println!("\nrepeat {repeat} of {repeats}");
        let mut measures = Measures::default();
        for name in TABLES.into_iter().filter(|name| arguments.wants_table(name)) {
            measure(name, &arguments, &mut measures);
        }
        #[cfg(feature = "tokens")]
        if arguments.wants_table("tokens") {
            measures.tokens = verify(&arguments);
        }
        measures
    });
    let mut measures = Measures::merged(measured.collect());
    if !arguments.quick {
        measures.allocations = allocations(&arguments);
    }
    let goals = goals::judge(&measures);
    print_goals(&goals);
    if arguments.quick || arguments.no_record {
        return ExitCode::SUCCESS;
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("record");
    let here = Circumstances::here(arguments.command, repeats);
    match record::write(&directory, &here, &measures, &goals) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}: {error}", directory.display());
            ExitCode::FAILURE
        }
    }
}

/// Everything about one table.
fn measure(name: &str, arguments: &Arguments, measures: &mut Measures) {
    let rounds = arguments.rounds.unwrap_or(if arguments.quick { 25 } else { 21 });
    let table: &'static Table = Box::leak(Box::new(Table::named(name)));
    let counts = [table.rows.len(), table.templates.len(), table.scopes.len()];
    let [routes, templates, scopes] = counts;
    println!("\n{name}: {routes} routes, {templates} templates, {scopes} scopes");
    measures.tables.push((name.to_owned(), counts));
    let wanted = |name: &str| arguments.wants_contestant(name);
    let mut contestants = peers::all(table, &wanted);
    for plan in stream::plans(name).into_iter().filter(|plan| arguments.wants_stream(plan.name)) {
        let stream = stream::stream(table, plan, arguments.requests);
        let rows = contest::run(table, plan.name, &stream, &mut contestants, rounds);
        print(&rows);
        measures.rows.extend(rows);
    }
    if matches!(name, "external" | "github") {
        let own = |name: &str| wanted(name) && name.starts_with("orbgate");
        let mut own = peers::all(table, &own);
        let plans = stream::own_plans().into_iter();
        for plan in plans.filter(|plan| arguments.wants_stream(plan.name)) {
            let stream = stream::stream(table, plan, arguments.requests);
            let rows = contest::run(table, plan.name, &stream, &mut own, rounds);
            print(&rows);
            measures.rows.extend(rows);
        }
    }
    if wanted(OWN) {
        for pace in paces(table, arguments, rounds) {
            let (stream, than, ratio) = (&pace.stream, &pace.than, pace.ratio);
            println!("\n{name} / {stream} ÷ {than} / hits, turn by turn{ratio:>10.3}");
            measures.paces.push(pace);
        }
    }
    if arguments.quick {
        return;
    }
    if matches!(name, "external" | "github") {
        let plan = stream::plans(name)[0];
        let stream = stream::stream(table, plan, arguments.requests);
        // The engines are far slower, and one of them needs a lock around its machine here.
        let wanted = |name: &str| wanted(name) && !peers::is_slow(name);
        let contestants = peers::all(table, &wanted);
        println!("\n{name} / two threads ÷ one{:>10}{:>10}", "best", "median");
        for row in threads::run(&stream.asks, &contestants, rounds) {
            println!("  {:<26}{:>10.2}{:>10.2}", row.contestant, row.best, row.median);
            measures.threads.push((name.to_owned(), row));
        }
    }
    println!("\n{name} / load, ms{:>21}{:>10}", "min", "median");
    for row in load::run(table, &wanted, if name == "100000" { 2 } else { 9 }) {
        println!("  {:<26}{:>10.3}{:>10.3}", row.contestant, row.min, row.median);
        measures.loads.push((name.to_owned(), row));
    }
}

/// From tokens to answers.
#[cfg(feature = "tokens")]
fn verify(arguments: &Arguments) -> Vec<orbgate_bench::measures::Verified> {
    let rows = orbgate_bench::tokens::run(arguments.rounds.unwrap_or(21));
    println!("\ntokens\n  {:<22}{:>10}{:>10}{:>16}", "µs per token", "min", "median", "orbgate ÷ this");
    for row in &rows {
        let name = format!("{} {}", row.algorithm, row.contestant);
        println!("  {name:<22}{:>10.2}{:>10.2}{:>16.3}", row.min, row.median, row.ratio);
    }
    rows
}

/// Orbgate's time on refused requests, compared with its time on hits; and its time on a large table, compared with a small one.
fn paces(table: &'static Table, arguments: &Arguments, rounds: usize) -> Vec<Pace> {
    let (than, streams) = match table.name.as_str() {
        "external" | "github" => (table, goals::AGAINST_HITS.map(|(name, _)| name).to_vec()),
        "100000" => {
            let small: &'static Table = Box::leak(Box::new(Table::named("1000")));
            (small, vec!["hits-1000-of-them", "hits"])
        }
        _ => return Vec::new(),
    };
    let mut wanted = vec![(than, "hits")];
    let streams = streams.iter().filter(|name| arguments.wants_stream(name));
    wanted.extend(streams.map(|name| (table, *name)));
    let made = wanted.iter().flat_map(|(table, name)| {
        let plans = stream::plans(&table.name).into_iter();
        let plans = plans.chain(stream::own_plans());
        let plan = plans.filter(|plan| plan.name == *name);
        let made = plan.map(|plan| stream::stream(table, plan, arguments.requests));
        let own = peers::all(table, &|name| name == OWN).into_iter();
        own.zip(made).map(|(own, stream)| (*table, own, stream))
    });
    let made: Vec<_> = made.collect();
    let beside = made.iter().map(|(table, own, stream)| (*table, own.as_ref(), &stream.asks[..]));
    let ratios = contest::paces(&beside.collect::<Vec<_>>(), rounds);
    let paces = wanted.iter().skip(1).zip(ratios);
    let paces = paces.map(|((_, stream), ratio)| Pace {
        table: table.name.clone(),
        stream: (*stream).to_owned(),
        than: than.name.clone(),
        ratio,
    });
    paces.collect()
}

/// Allocations per request, counted by the program `allocations` in this program's folder.
fn allocations(arguments: &Arguments) -> Vec<Allocations> {
    let beside = std::env::current_exe().map(|own| own.with_file_name("allocations"));
    let output = beside.and_then(|program| Command::new(program).output());
    let Ok(output) = output else {
        eprintln!("note: allocations are not counted; `cargo build --release` builds what counts them");
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let rows = text.lines().filter_map(|line| {
        let [table, stream, contestant, each] = line.split('\t').collect::<Vec<_>>()[..] else {
            return None;
        };
        let wanted =
            arguments.wants_table(table) && arguments.wants_stream(stream) && arguments.wants_contestant(contestant);
        let each = each.parse().ok().filter(|_| wanted)?;
        let [table, stream, contestant] = [table, stream, contestant].map(str::to_owned);
        Some(Allocations { table, stream, contestant, each })
    });
    rows.collect()
}

impl Arguments {
    fn wants_table(&self, name: &str) -> bool {
        self.wants(0, |wanted| name == wanted)
    }

    fn wants_stream(&self, name: &str) -> bool {
        self.wants(1, |wanted| name == wanted)
    }

    fn wants_contestant(&self, name: &str) -> bool {
        self.wants(2, |wanted| name.starts_with(wanted))
    }

    /// Does the filter's part at a place accept something?
    fn wants(&self, place: usize, is_it: impl Fn(&str) -> bool) -> bool {
        let part = self.filter.split('/').nth(place).unwrap_or("");
        part.is_empty() || part.split(',').any(is_it)
    }
}

fn print(rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    println!("\n{} / {} ({} requests, {} rounds)", first.table, first.stream, first.requests, first.rounds);
    println!("  {:<22}{:>10}{:>10}{:>12}{:>13}", "ns per request", "min", "median", "set ÷ this", "text ÷ this");
    for row in rows {
        println!(
            "  {:<22}{:>10.1}{:>10.1}{:>12.3}{:>13.3}{}",
            row.contestant,
            row.min,
            row.median,
            row.set_ratio,
            row.text_ratio,
            if row.differ > 0 { "  (some answers differ)" } else { "" }
        );
    }
}

fn print_goals(goals: &[Goal]) {
    println!("\ngoals");
    for goal in goals {
        let relation = if goal.at_least { "≥" } else { "≤" };
        let met = if goal.is_met() { "met    " } else { "NOT MET" };
        println!("  {met}  {:<78} {relation} {:.3}: {:.3}  {}", goal.what, goal.wanted, goal.measured, goal.note);
    }
}
