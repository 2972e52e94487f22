//! `cargo xtask bench`: orbgate and its peers, recorded in benches/record; or their instructions, or the languages.

use anyhow::Result;
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
    /// Holds of a ledger compared with the same writes through bare statements, and a gate's answers with and without a ledger
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

/// Prints the tables of a ledger's record.
fn ledger(project: &Project) -> Result<()> {
    let run = "cargo run --quiet --locked --release --manifest-path benches/Cargo.toml --no-default-features --features ledger --bin ledger";
    Program::parse(run).path("--target-dir", &project.target.join("bench")).run()?;
    Program::parse(
        "cargo test --quiet --release -p orbgate-tower --all-features --test ledger speed -- --ignored --nocapture",
    )
    .run()
}
