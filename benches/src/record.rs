//! Writes a run down: `record/<date>-<cpu>.csv` with every figure, `.md` to read, `.svg` to look at.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::chart;
use crate::goals::Goal;
use crate::measures::Measures;

/// Where and when a run was made.
pub struct Circumstances {
    pub date: String,
    pub cpu: String,
    pub cores: usize,
    pub system: String,
    pub rust: String,
    pub commit: String,
    pub command: String,
    pub repeats: usize,
}

impl Circumstances {
    pub fn here(command: String, repeats: usize) -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split(':').nth(1));
        let read = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).output().ok()?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let unknown = || "unknown".to_owned();
        Self {
            date: jiff::Zoned::now().date().to_string(),
            cpu: model.map_or_else(|| std::env::consts::ARCH.to_owned(), |name| name.trim().to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            rust: read("rustc", &["--version"]).unwrap_or_else(unknown),
            commit: read("git", &["describe", "--always", "--dirty"]).unwrap_or_else(unknown),
            command,
            repeats,
        }
    }

    /// `2026-01-31-amd-epyc`
    fn stem(&self) -> String {
        let words = self.cpu.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<_> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        format!("{}-{}", self.date, words.join("-"))
    }
}

/// Writes all three into a directory.
pub fn write(directory: &Path, here: &Circumstances, measures: &Measures, goals: &[Goal]) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let stem = here.stem();
    let file = |extension: &str| directory.join(format!("{stem}.{extension}"));
    fs::write(file("csv"), csv(measures))?;
    fs::write(file("svg"), chart::svg(here, measures))?;
    fs::write(file("md"), markdown(&stem, here, measures, goals))?;
    println!("\nrecorded in {}/{stem}.{{csv,md,svg}}", directory.display());
    Ok(())
}

/// A line for each contestant on each stream, a column for each figure.
fn csv(measures: &Measures) -> String {
    let mut columns: Vec<String> = Vec::new();
    let mut lines: Vec<(String, BTreeMap<usize, f64>)> = Vec::new();
    let mut lines_of = HashMap::new();
    let mut add = |of: [&str; 3], what: &str, unit: &str, value: f64| {
        let name = format!("{what} ({unit})");
        let column = columns.iter().position(|column| *column == name);
        let column = column.unwrap_or_else(|| {
            columns.push(name);
            columns.len() - 1
        });
        let line = *lines_of.entry(of.join(",")).or_insert_with_key(|of| {
            lines.push((of.clone(), BTreeMap::new()));
            lines.len() - 1
        });
        lines[line].1.insert(column, value);
    };
    for row in &measures.rows {
        let of = [&*row.table, &*row.stream, &*row.contestant];
        add(of, "min", "ns/request", row.min);
        add(of, "median", "ns/request", row.median);
        add(of, "orbgate_set_over_this", "ratio", row.set_ratio);
        add(of, "orbgate_text_over_this", "ratio", row.text_ratio);
        add(of, "rounds", "count", row.rounds as f64);
        add(of, "requests_a_round", "count", row.part as f64);
        add(of, "requests", "count", row.requests as f64);
        add(of, "answers_that_differ", "count", row.differ as f64);
    }
    for row in &measures.allocations {
        let of = [&*row.table, &*row.stream, &*row.contestant];
        add(of, "allocations", "count/request", row.each);
    }
    for pace in &measures.paces {
        let of = [&*pace.table, &*pace.stream, "orbgate-set"];
        add(of, &format!("over_hits_of_{}", pace.than), "ratio", pace.ratio);
    }
    for (table, row) in &measures.threads {
        let of = [&**table, "hits", &*row.contestant];
        add(of, "two_threads_over_one_best", "ratio", row.best);
        add(of, "two_threads_over_one_median", "ratio", row.median);
    }
    for (table, row) in &measures.loads {
        let of = [&**table, "", &*row.contestant];
        add(of, "load_min", "ms", row.min);
        add(of, "load_median", "ms", row.median);
    }
    for row in &measures.tokens {
        let of = ["tokens", row.algorithm, row.contestant];
        add(of, "min", "us/token", row.min);
        add(of, "median", "us/token", row.median);
        add(of, "orbgate_over_this", "ratio", row.ratio);
    }
    let mut csv = format!("table,stream,contestant,{}\n", columns.join(","));
    for (of, figures) in &lines {
        csv.push_str(of);
        for column in 0..columns.len() {
            let figure = figures.get(&column);
            let figure = figure.map_or_else(String::new, |figure| format!("{figure:.4}"));
            write!(csv, ",{figure}").unwrap();
        }
        csv.push('\n');
    }
    csv
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
        ("every figure", format!("[{stem}.csv]({stem}.csv)")),
        ("what is measured", "[fairness.md](../src/fairness.md)".to_owned()),
    ];
    for (name, value) in facts {
        writeln!(text, "| {name} | {value} |").unwrap();
    }
    for (name, [routes, templates, scopes]) in &measures.tables {
        writeln!(text, "| table {name} | {routes} routes, {templates} templates, {scopes} scopes |").unwrap();
    }
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
