//! `cargo xtask bench --bindings`: what a decision takes from each language, beside the Rust call in the same run.
//!
//! Each language has a program that takes a file of requests, checks every answer and prints lines `NAME
//! NANOSECONDS`: `single` for one call, `batch` for a decision in batches of 256 whose columns are there, `filled` for
//! the same with making the columns of the language's own strings, `empty` for the language's own empty call. Another
//! language is one more row of [`programs`].

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::go;
use crate::java;
use crate::native::{Compiler, Library};
use crate::node;
use crate::program::Program;
use crate::project::Project;
use crate::test::Outcome;

/// Programs take turns this often. A program's figure in a turn is the least of its rounds, because noise only adds.
const TURNS: usize = 15;

/// Most that a figure may be, as a multiple of the Rust call's in the same turn: the median of the turns, because a
/// machine is not as fast in one turn as in another.
const GOALS: [(&str, &str, f64); 5] = [
    ("c", "single", 1.3),
    ("c", "batch", 1.5),
    ("go", "batch", 1.5),
    ("java", "batch", 1.5),
    ("node", "batch", 1.5),
];

/// A language's program and its figures, in nanoseconds, one for each turn.
struct Contestant {
    language: &'static str,
    program: Program,
    figures: Vec<(String, Vec<f64>)>,
}

pub(crate) fn run(project: &Project) -> Result<()> {
    let home = project.target.join("xtask").join("bench");
    fs::create_dir_all(&home)?;
    let requests = home.join("requests.tsv");
    let mut contestants = programs(project, &home, &requests)?;
    for _ in 0..TURNS {
        for contestant in &mut contestants {
            contestant.take_turn()?;
        }
    }
    report(&contestants)
}

/// Builds every language's program; the first is Rust.
fn programs(project: &Project, home: &Path, requests: &Path) -> Result<Vec<Contestant>> {
    let target = project.target.join("bench");
    let build = "cargo build --locked --release --no-default-features --manifest-path benches/Cargo.toml --bin bindings";
    Program::parse(build).path("--target-dir", &target).run()?;
    let rust = target.join("release").join("bindings");
    Program::at(&rust).path("write", requests).run()?;

    let library = Library::build_release(project)?;
    if let Outcome::Skipped(why) = Compiler::C.set_up()? {
        bail!(why);
    }
    let c = home.join("c");
    let options = ["-O3"];
    Compiler::C.link(&["bindings/c/bench/bench.c"], &options, &library, &c)?;

    let contestant = |language, program: &Path| Contestant {
        language,
        program: Program::at(program).arg(requests.display().to_string()),
        figures: Vec::new(),
    };
    let mut contestants = vec![contestant("rust", &rust), contestant("c", &c)];
    let others = java::benchmarks(project, &library)?.into_iter();
    let others = others.chain(go::benchmark(project)?);
    for (language, program) in others.chain(node::benchmark(project, &library)?) {
        contestants.push(Contestant {
            language,
            program: program.arg(requests.display().to_string()),
            figures: Vec::new(),
        });
    }
    Ok(contestants)
}

impl Contestant {
    fn take_turn(&mut self) -> Result<()> {
        let printed = self.program.read()?;
        for line in printed.lines() {
            let (name, figure) =
                figure(line).with_context(|| format!("`{}` printed `{line}`", self.program))?;
            match self.figures.iter_mut().find(|(known, _)| known == name) {
                Some((_, turns)) => turns.push(figure),
                None => self.figures.push((name.to_owned(), vec![figure])),
            }
        }
        Ok(())
    }

    fn figures(&self, name: &str) -> Option<&[f64]> {
        let found = self.figures.iter().find(|(known, _)| known == name);
        found.map(|(_, turns)| turns.as_slice())
    }
}

/// `single 41.20`
fn figure(line: &str) -> Option<(&str, f64)> {
    let (name, figure) = line.split_once(' ')?;
    Some((name, figure.parse().ok()?))
}

/// Prints the figures and judges them.
fn report(contestants: &[Contestant]) -> Result<()> {
    let rust = contestants.first().and_then(|rust| rust.figures("single"));
    let rust = rust.context("the Rust call has no figure")?;
    println!(
        "\n{:<10}{:<10}{:>10}{:>10}",
        "language", "call", "ns", "of Rust"
    );
    let mut missed = Vec::new();
    for contestant in contestants {
        let language = contestant.language;
        for (name, turns) in &contestant.figures {
            let ratios = turns.iter().zip(rust).map(|(turn, rust)| turn / rust);
            let (figure, ratio) = (median(turns.iter().copied()), median(ratios));
            println!("{language:<10}{name:<10}{figure:>10.1}{ratio:>10.2}");
            let goal = GOALS
                .iter()
                .find(|goal| (goal.0, goal.1) == (language, name));
            if let Some((_, _, most)) = goal.filter(|goal| ratio > goal.2) {
                missed.push(format!("{language} {name}: {ratio:.2}, at most {most}"));
            }
        }
    }
    for (language, name, _) in GOALS {
        let mut of = contestants.iter().filter(|one| one.language == language);
        if !of.any(|one| one.figures(name).is_some()) {
            missed.push(format!("{language} {name}: not measured"));
        }
    }
    match missed.as_slice() {
        [] => Ok(()),
        missed => bail!("more than it may be: {}", missed.join("; ")),
    }
}

/// The middle one; of an even number the upper of the two.
fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::{figure, median};

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(
            median([3.0, 1.0, 2.0].into_iter()).to_bits(),
            2.0_f64.to_bits()
        );
        assert_eq!(median([2.0, 1.0].into_iter()).to_bits(), 2.0_f64.to_bits());
        assert!(median([].into_iter()).is_nan());
    }

    #[test]
    fn a_figure_has_its_name() {
        assert_eq!(figure("single 41.20"), Some(("single", 41.2)));
        assert_eq!(figure("single"), None);
        assert_eq!(figure("single fast"), None);
    }
}
