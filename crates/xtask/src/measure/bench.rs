//! `cargo xtask bench`: orbgate and its peers, recorded in benches/record; or their instructions, or the languages.

use std::fs;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::measure::{bench_bindings, instructions};

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Few rounds, only the routers, and no record
    #[arg(long)]
    quick: bool,
    /// Only these: TABLES/STREAMS/CONTESTANTS, each names separated by commas, or nothing for all;
    /// then no record is written
    #[arg(long)]
    filter: Option<String>,
    /// Repeats of everything instead of five, each with all programs' memory at other addresses; the record
    /// states how many
    #[arg(long)]
    repeats: Option<usize>,
    /// Only counts the instructions of the hot paths, on x86-64 and aarch64, against benches/instructions*.tsv
    #[arg(long, alias = "gate", conflicts_with_all = ["quick", "filter", "repeats"])]
    instructions: bool,
    /// What a decision takes from each language, compared with the Rust call
    #[arg(long, conflicts_with_all = ["quick", "filter", "repeats", "instructions"])]
    bindings: bool,
    /// Holds of a ledger compared with the same writes through bare statements, how long callers wait, and a gate's answers with and
    /// without a ledger; recorded in benches/record and docs/speed.md
    #[arg(long, conflicts_with_all = ["quick", "filter", "repeats", "instructions", "bindings"])]
    ledger: bool,
    /// Rewrites these lists
    #[arg(long, requires = "instructions")]
    update: bool,
}

impl Bench {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        if self.ledger {
            return ledger(project);
        }
        match (self.instructions, self.update, self.bindings) {
            (_, true, _) => instructions::update(),
            (true, ..) => {
                instructions::check("x86-64")?;
                instructions::check("aarch64")
            }
            (.., true) => bench_bindings::run(project),
            _ => self.compare(project),
        }
    }

    fn compare(&self, project: &Project) -> Result<()> {
        // The policy engines and cryptography take minutes to build.
        let features = match self.quick {
            true => "routers",
            false => "routers,engines,tokens",
        };
        // A directory of its own: the package has its own lock file and profile.
        let target = project.target.join("bench");
        let cargo = |command: &str| {
            let package = "--locked --release --manifest-path benches/Cargo.toml --features";
            let cargo = Program::parse(&format!("cargo {command} {package} {features}"));
            cargo.path("--target-dir", &target)
        };
        // The comparison starts another program, which counts allocations.
        cargo("build --bin compare --bin allocations").run()?;
        let mut run = cargo("run --quiet").arg("--");
        if self.quick {
            run = run.arg("--quick");
        }
        if let Some(repeats) = self.repeats {
            let command = format!("cargo xtask bench --repeats {repeats}");
            run = run.words(&format!("--repeats {repeats} --command"));
            run = run.arg(command);
        }
        if let Some(filter) = &self.filter {
            run = run.words("--no-record --filter").arg(filter);
        }
        run.run()
    }
}

/// Writes a ledger's record, and its tables into the page.
fn ledger(project: &Project) -> Result<()> {
    let target = project.target.join("bench");
    let statements = "cargo run --quiet --locked --release --manifest-path benches/Cargo.toml --no-default-features --features ledger --bin ledger";
    let callers = "cargo test --quiet --release -p orbgate-tower --all-features --test ledger";
    // What is built takes the processors from what is measured.
    Program::parse(&statements.replace("run --quiet", "build")).path("--target-dir", &target).run()?;
    Program::parse(callers).arg("--no-run").run()?;
    let load = || fs::read_to_string("/proc/loadavg").map(|load| load.split(' ').next().unwrap_or_default().to_owned());
    let before = load()?;
    let mut tables = Vec::new();
    for program in [
        Program::parse(statements).path("--target-dir", &target),
        Program::parse(callers).words("speed -- --ignored --nocapture"),
    ] {
        let output = program.read()?;
        println!("$ {program}\n{output}");
        tables.extend(self::tables(&output));
    }
    let after = load()?;
    let [date, commit] = ["date -u +%F", "git rev-parse --short=12 HEAD"].map(|line| Program::parse(line).read());
    let (date, commit) = (date?, commit?);
    let processors = fs::read_to_string("/proc/cpuinfo")?;
    let models: Vec<_> =
        processors.lines().filter_map(|line| line.strip_prefix("model name")?.split_once(": ")).collect();
    let (_, model) = models.first().context("no processor")?;
    let name = model.split(' ').take(2).collect::<Vec<_>>().join("-").to_lowercase();
    let record = format!("benches/record/{}-{name}-ledger.md", date.trim());
    let text = format!(
        "# Ledger, {}\n\n`cargo xtask bench --ledger` at {}: {model}, {} processors, at a load of {before} before it and {after} after it.\n\n{LEDGER}\n{}",
        date.trim(),
        commit.trim(),
        models.len(),
        tables.join("\n")
    );
    fs::write(project.root.join(&record), text)?;
    let page = project.root.join(PAGE);
    let text = tables.iter().try_fold(fs::read_to_string(&page)?, |text, table| replace(&text, table))?;
    let link =
        |line: &str| if line.starts_with("[ledger]: ") { format!("[ledger]: ../{record}") } else { line.to_owned() };
    let text: String = text.lines().map(|line| link(line) + "\n").collect();
    fs::write(page, text)?;
    Ok(())
}

/// The page with tables of the record.
const PAGE: &str = "docs/speed.md";

/// How the tables of the record were measured.
const LEDGER: &str = "\
Bare statements write the same rows to the same tables, prepared, in transactions of the same size, with the same `synchronous = FULL`; the best of 300 rounds counts. A
ledger also reads the account and its grants, chooses among them, and crosses to its thread and back. Then clients send one hold after another, each
of which waits for its commit. At last, calls of a service go through the tower layer: one that holds nothing and one that holds 10 orbs take turns, over connections
that stay open, each with its account. Times are from the request to the end of the answer's head: a hold's commit is before the handler, and
settlements share commits after it. SQLite and PostgreSQL sync each commit to the same disk.
";

/// The tables of an output, each with its line feed.
fn tables(output: &str) -> Vec<String> {
    // The harness reports a test that takes longer, in the middle of its table.
    let lines = output.lines().filter(|line| !line.starts_with("test "));
    let rows: Vec<_> = lines.map(|line| if line.starts_with('|') { line } else { "" }).collect();
    let tables = rows.split(|row| row.is_empty()).filter(|table| !table.is_empty());
    tables.map(|table| table.join("\n") + "\n").collect()
}

/// A page with this table instead of the one with the same head.
fn replace(page: &str, table: &str) -> Result<String> {
    let head = table.lines().next().unwrap_or_default();
    let (before, after) = page.split_once(head).with_context(|| format!("{PAGE} has no table {head}"))?;
    let rest = after.split_once("\n\n").map_or("", |(_, rest)| rest);
    Ok(format!("{before}{table}\n{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_takes_the_place_of_the_one_with_its_head() {
        let output =
            "running 1 test\n| a | b |\n|--|--|\ntest it has been running\n| 1 | 2 |\n.\n\n| c |\n|--|\n| 3 |\n";
        let found = tables(output);
        assert_eq!(found, ["| a | b |\n|--|--|\n| 1 | 2 |\n", "| c |\n|--|\n| 3 |\n"]);
        let page = "# Page\n\n| a | b |\n|--|--|\n| 8 | 9 |\n| 9 | 9 |\n\nText\n";
        assert_eq!(replace(page, &found[0]).unwrap(), "# Page\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\nText\n");
        assert!(replace(page, &found[1]).is_err());
    }
}
