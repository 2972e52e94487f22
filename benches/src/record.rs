//! Writes a run down: `record/<date>-<cpu>.md` to read, `.svg` to look at.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use crate::chart;
use crate::circumstances::Circumstances;
use crate::contest::Row;
use crate::goals::Goal;
use crate::measures::Measures;

/// Writes both into a directory.
pub fn write(directory: &Path, here: &Circumstances, measures: &Measures, goals: &[Goal]) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let stem = here.stem();
    let file = |extension: &str| directory.join(format!("{stem}.{extension}"));
    fs::write(file("svg"), chart::svg(here, measures))?;
    fs::write(file("md"), markdown(&stem, here, measures, goals))?;
    println!("\nrecorded in {}/{stem}.{{md,svg}}", directory.display());
    Ok(())
}

/// A row of the table of medians, and whose figures it has: of two, the faster one's.
#[rustfmt::skip] // A table.
const HITS: [(&str, &[&str]); 8] = [
    ("floor, which looks at each byte, hashes once, reads a row, and has no answer", &["floor"]),
    ("orbgate, scopes interned once per token", &["orbgate-set"]),
    ("orbgate, scopes as text", &["orbgate-text"]),
    ("matchit and `scopes.split(' ')`, the whole decision by hand", &["by-hand"]),
    ("matchit, routing only", &["matchit-paths", "matchit-methods"]),
    ("wayfind, routing only", &["wayfind-paths", "wayfind-methods"]),
    ("regorus, the route and its input given", &["regorus-routed"]),
    ("Cedar, route and policy given", &["cedar-sliced", "cedar-routed"]),
];

/// A row of the table of other requests, and its stream.
const STREAMS: [(&str, &str); 9] = [
    ("the same 64 over and over", "hits-hot"),
    ("tokens of 20 to 40 scopes", "hits-many-scopes"),
    ("values that are literals elsewhere", "words"),
    ("values of 60 to 250 bytes", "long"),
    ("no route", "misses"),
    ("malformed", "malformed"),
    ("a query of 20 bytes", "query-20"),
    ("a query of 1,000 bytes", "query-1000"),
    ("a letter of the other case", "case"),
];

/// The columns of that table for each policy. Routers only find the route, and Orbgate decides.
const OTHERS: [&[&str]; 3] =
    [&["orbgate-set"], &["orbgate-text"], &["matchit-paths", "matchit-methods", "wayfind-paths", "wayfind-methods"]];

/// Both tables.
fn figures(measures: &Measures) -> String {
    let fastest = |table: &str, stream: &str, who: &[&str], of: fn(&Row) -> f64| {
        let rows = who.iter().filter_map(|who| measures.row(table, stream, who));
        let figure = rows.map(of).reduce(f64::min);
        figure.map_or_else(|| "–".to_owned(), shown)
    };
    let mut text = String::from("\n| nanoseconds per request | 37 routes | 1,222 routes |\n|---|--:|--:|\n");
    for (label, who) in HITS {
        let cells = ["external", "github"].map(|table| fastest(table, "hits", who, |row| row.median));
        writeln!(text, "| {label} | {} |", cells.join(" | ")).unwrap();
    }
    text.push_str(
        "\n| nanoseconds per request of other kinds, best rounds | 37 routes: scopes interned | scopes as text | a router | 1,222 routes: \
         scopes interned | scopes as text | a router |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for (label, stream) in STREAMS {
        let cells = ["external", "github"].map(|table| OTHERS.map(|who| fastest(table, stream, who, |row| row.min)));
        writeln!(text, "| {label} | {} |", cells.concat().join(" | ")).unwrap();
    }
    text
}

/// Three digits, from 1,000 on all of them.
fn shown(figure: f64) -> String {
    match figure {
        ..99.95 => format!("{figure:.1}"),
        ..999.5 => format!("{figure:.0}"),
        _ => chart::thousands(figure),
    }
}

fn markdown(stem: &str, here: &Circumstances, measures: &Measures, goals: &[Goal]) -> String {
    let mut text = format!("# Orbgate beside its peers, {}\n\n![Nanoseconds per request]({stem}.svg)\n\n", here.date);
    writeln!(text, "| | |\n|---|---|").unwrap();
    let facts = [
        ("processor", format!("{}, {} cores, shared, nothing pinned", here.cpu, here.cores)),
        ("system", here.system.clone()),
        ("compiler", format!("{}, release, thin LTO, no target-cpu flags", here.rust)),
        ("commit", here.commit.clone()),
        ("command", format!("`{}`", here.command)),
        ("repeats", here.repeats.to_string()),
        ("what is measured", "[fairness.md](../src/fairness.md)".to_owned()),
    ];
    for (name, value) in facts {
        writeln!(text, "| {name} | {value} |").unwrap();
    }
    for (name, [routes, templates, scopes]) in &measures.tables {
        writeln!(text, "| table {name} | {routes} routes, {templates} templates, {scopes} scopes |").unwrap();
    }
    text.push_str(&figures(measures));
    text.push_str("\n## Goals\n\n| goal | wanted | measured | met | |\n|---|---|---|---|---|\n");
    for goal in goals {
        let (relation, met) = (if goal.at_least { "≥" } else { "≤" }, if goal.is_met() { "yes" } else { "**no**" });
        writeln!(
            text,
            "| {} | {relation} {:.3} | {:.3} | {met} | {} |",
            goal.what, goal.wanted, goal.measured, goal.note
        )
        .unwrap();
    }
    text
}
