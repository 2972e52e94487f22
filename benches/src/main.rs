//! `cargo run --release -- --help`

use clap::Parser;
use orbgate_bench::contest::{self, Row};
use orbgate_bench::table::Table;
use orbgate_bench::{peers, stream};

/// Runs orbgate beside its peers
#[derive(Parser)]
struct Arguments {
    /// Few rounds
    #[arg(long)]
    quick: bool,
    /// TABLES/STREAMS/CONTESTANTS, each names separated by commas, or nothing for all; a contestant's name may
    /// be cut short: `external,github/hits/orbgate,matchit,wayfind`
    #[arg(long, short, default_value = "")]
    filter: String,
    /// Rounds of everybody in turn
    #[arg(long)]
    rounds: Option<usize>,
    /// Requests in a stream
    #[arg(long, default_value_t = 16_384)]
    requests: usize,
    /// Writes no file under record/
    #[arg(long)]
    no_record: bool,
}

const TABLES: [&str; 5] = ["external", "github", "10", "1000", "100000"];

fn main() {
    let arguments = Arguments::parse();
    let rounds = arguments
        .rounds
        .unwrap_or(if arguments.quick { 25 } else { 101 });
    let mut rows = Vec::new();
    for name in TABLES
        .into_iter()
        .filter(|name| arguments.wants_table(name))
    {
        let table: &'static Table = Box::leak(Box::new(Table::named(name)));
        let (routes, templates, scopes) =
            (table.rows.len(), table.shapes.len(), table.scopes.len());
        println!("\n{name}: {routes} routes, {templates} templates, {scopes} scopes");
        let contestants = peers::all(table, &|name| arguments.wants_contestant(name));
        let streams = stream::plans(name).into_iter();
        for plan in streams.filter(|plan| arguments.wants_stream(plan.name)) {
            let asks = stream::asks(table, plan, arguments.requests);
            let own = contest::run(table, plan.name, &asks, &contestants, rounds);
            print(&own);
            rows.extend(own);
        }
    }
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
    println!(
        "\n{} / {} ({} requests, {} rounds)",
        first.table, first.stream, first.requests, first.rounds
    );
    println!(
        "  {:<22}{:>10}{:>10}{:>12}{:>13}",
        "ns per request", "min", "median", "set ÷ this", "text ÷ this"
    );
    for row in rows {
        println!(
            "  {:<22}{:>10.1}{:>10.1}{:>12.3}{:>13.3}{}",
            row.contestant,
            row.min,
            row.median,
            row.set_ratio,
            row.text_ratio,
            if row.differ > 0 {
                "  (some answers differ)"
            } else {
                ""
            }
        );
    }
}
