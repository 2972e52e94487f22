//! `cargo xtask bench`: orbgate and its peers, recorded in benches/record; or their instructions, or the languages.

use anyhow::Result;
use clap::Args;

use crate::kit::project::Project;

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
    #[arg(long, conflicts_with_all = ["quick", "filter", "repeats"])]
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
        let none = [""; 0];
        match (self.instructions, self.ledger, self.bindings) {
            (true, ..) => ["x86-64", "aarch64"].into_iter().try_for_each(|processor| {
                let update = self.update.then_some("--update");
                project.run("instructions", &[Some(processor), update].into_iter().flatten().collect::<Vec<_>>())
            }),
            (_, true, _) => project.run("python3", &["benches/ledger.py"]),
            (.., true) => project.run("bench_bindings", &none),
            _ => project.run("bench_compare", &self.comparison()),
        }
    }

    /// The features of benches/Cargo.toml, of which policy engines and cryptography take minutes to build, and the options of the comparison.
    fn comparison(&self) -> Vec<String> {
        let mut words = vec![if self.quick { "routers" } else { "routers,engines,tokens" }.to_owned()];
        words.extend(self.quick.then(|| "--quick".to_owned()));
        if let Some(repeats) = self.repeats {
            let command = format!("cargo xtask bench --repeats {repeats}");
            words.extend(["--repeats".to_owned(), repeats.to_string(), "--command".to_owned(), command]);
        }
        if let Some(filter) = &self.filter {
            words.extend(["--no-record", "--filter", filter].map(str::to_owned));
        }
        words
    }
}
