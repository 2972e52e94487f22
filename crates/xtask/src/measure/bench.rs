//! `cargo xtask bench`: orbgate and its peers, recorded in benches/record; or their instructions.

use anyhow::Result;
use clap::Args;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::measure::bench_bindings;
use crate::measure::instructions;
use crate::measure::record;

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Few rounds, only the routers, and no record
    #[arg(long)]
    quick: bool,
    /// Only these: TABLES/STREAMS/CONTESTANTS, each names separated by commas, or nothing for all;
    /// then no record is written
    #[arg(long)]
    filter: Option<String>,
    /// Repeats of all of it instead of five, each with everybody's memory elsewhere; the record says how many
    #[arg(long)]
    repeats: Option<usize>,
    /// Only counts the instructions of the hot paths, on x86-64 and aarch64, against benches/instructions*.tsv
    #[arg(long, alias = "gate", conflicts_with_all = ["quick", "filter", "repeats"])]
    instructions: bool,
    /// What a decision takes from each language, compared with the Rust call
    #[arg(long, conflicts_with_all = ["quick", "filter", "repeats", "instructions"])]
    bindings: bool,
    /// Writes the figures of the languages into benches/record; the comparison with peers always does
    #[arg(long, requires = "bindings")]
    record: bool,
    /// Rewrites these lists
    #[arg(long, requires = "instructions")]
    update: bool,
}

impl Bench {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        match (self.instructions, self.update) {
            (_, true) => instructions::update(project),
            (true, false) => instructions::check(project)?.needed(),
            (false, false) if self.bindings => self.languages(project),
            (false, false) => self.compare(project),
        }
    }

    fn languages(&self, project: &Project) -> Result<()> {
        let measured = bench_bindings::measure(project)?;
        let table = measured.table();
        println!("\n{table}");
        if self.record {
            record::write("bindings", "A decision from each language", &table)?;
        }
        measured.judge()
    }

    fn compare(&self, project: &Project) -> Result<()> {
        // The policy engines take minutes to build.
        let features = if self.quick {
            "routers"
        } else {
            "routers,engines"
        };
        // A directory of its own: the package has its own lock file and profile.
        let target = project.target.join("bench");
        let cargo = |command: &str| {
            let package = "--locked --release --manifest-path benches/Cargo.toml --features";
            let cargo = Program::parse(&format!("{command} {package}")).arg(features);
            cargo.path("--target-dir", &target)
        };
        // The comparison starts another program, which counts allocations.
        cargo("cargo build --bin compare --bin allocations").run()?;
        let run = cargo("cargo run --quiet").arg("--");
        self.options().into_iter().fold(run, Program::arg).run()
    }

    fn options(&self) -> Vec<String> {
        let mut options = Vec::new();
        if self.quick {
            options.push("--quick".to_owned());
        }
        if let Some(repeats) = self.repeats {
            let command = format!("cargo xtask bench --repeats {repeats}");
            let repeats = repeats.to_string();
            options.extend([
                "--repeats".to_owned(),
                repeats,
                "--command".to_owned(),
                command,
            ]);
        }
        if let Some(filter) = &self.filter {
            options.extend([
                "--no-record".to_owned(),
                "--filter".to_owned(),
                filter.clone(),
            ]);
        }
        options
    }
}
