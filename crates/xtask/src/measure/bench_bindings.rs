//! `cargo xtask bench --bindings`: what a decision takes from each language, compared with the Rust call in the same run.
//!
//! Each language has a program that takes a file of requests, checks every answer and prints lines `NAME
//! NANOSECONDS`: `single` for one call, `batch` for a decision in batches of 256 whose columns are there, `filled` for
//! the same with making the columns of the language's own strings, `empty` for the language's own empty call. Another
//! language is one more row of [`programs`].

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::kit::outcome::{StepResult, step};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::go;
use crate::language::java;
use crate::language::library::{Library, Profile};
use crate::language::native::Compiler;
use crate::language::node;
use crate::language::python;

/// Programs take turns this often. A program's figure in a turn is the least of its rounds, because noise only adds.
const TURNS: usize = 15;

/// Most that a figure may be, as a multiple of the Rust call's in the same turn: the median of the turns, because a
/// machine is not as fast in one turn as in another.
const GOALS: [(&str, &str, f64); 5] = [
    ("c", "single", 1.3),
    ("c", "batch", 1.5),
    ("go-cgo", "batch", 1.5),
    ("java", "batch", 1.5),
    ("node", "batch", 1.5),
];

/// A language's program and its figures, in nanoseconds, one for each turn.
struct Contestant {
    language: &'static str,
    program: Program,
    figures: Vec<(String, Vec<f64>)>,
}

/// Programs, each with its language.
type Programs = Vec<(&'static str, Program)>;

/// What was measured, and the Rust call's turns.
pub(crate) struct Measured {
    contestants: Vec<Contestant>,
    rust: Vec<f64>,
}

pub(crate) fn measure(project: &Project) -> Result<Measured> {
    let home = project.target.join("xtask").join("bench");
    fs::create_dir_all(&home)?;
    let requests = home.join("requests.tsv");
    let mut contestants = programs(project, &home, &requests)?;
    for _ in 0..TURNS {
        for contestant in &mut contestants {
            contestant.take_turn()?;
        }
    }
    let rust = contestants.first().and_then(|rust| rust.figures("single"));
    let rust = rust.context("the Rust call has no figure")?.to_vec();
    Ok(Measured { contestants, rust })
}

/// Builds every language's program; the first is Rust.
fn programs(project: &Project, home: &Path, requests: &Path) -> Result<Vec<Contestant>> {
    let target = project.target.join("bench");
    let build = "cargo build --locked --release --no-default-features --manifest-path benches/Cargo.toml --bin bindings";
    Program::parse(build).path("--target-dir", &target).run()?;
    let rust = target.join("release").join("bindings");
    Program::at(&rust).path("write", requests).run()?;

    let library = Library::build(project, Profile::Release)?;
    Compiler::C.set_up()?.needed()?;
    Compiler::Cpp.set_up()?.needed()?;
    let (c, cpp) = (home.join("c"), home.join("cpp"));
    let options = ["-O3"];
    Compiler::C.link(&["bindings/c/bench/bench.c"], &options, &library, &c)?;
    Compiler::Cpp.link(&["bindings/cpp/bench/bench.cpp"], &options, &library, &cpp)?;

    let contestant = |language, program: &Path| Contestant {
        language,
        program: Program::at(program).arg(requests.display().to_string()),
        figures: Vec::new(),
    };
    let mut contestants = vec![
        contestant("rust", &rust),
        contestant("c", &c),
        contestant("cpp", &cpp),
    ];
    let java = || java::benchmarks(project, &library);
    let go = || go::benchmarks(project);
    let node = || Ok(vec![node::benchmark(project, &library)?]);
    let python = || Ok(vec![python::benchmark(project)?]);
    let others: [&dyn Fn() -> Result<Programs>; 4] = [&java, &go, &node, &python];
    for programs in others {
        let outcome = step(|| {
            contestants.extend(
                programs()?
                    .into_iter()
                    .map(|(language, program)| Contestant {
                        language,
                        program: program.arg(requests),
                        figures: Vec::new(),
                    }),
            );
            Ok(())
        })?;
        if let StepResult::Skipped(what) = outcome {
            println!("skipped: {what}");
        }
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

impl Measured {
    /// The figures, and what they are of the Rust call.
    pub(crate) fn table(&self) -> String {
        let mut table = "| language | call | ns | of Rust |\n|---|---|--:|--:|\n".to_owned();
        for contestant in &self.contestants {
            let language = contestant.language;
            for (name, turns) in &contestant.figures {
                let figure = median(turns.iter().copied());
                let ratio = ratio(turns, &self.rust);
                table.push_str(&format!(
                    "| {language} | {name} | {figure:.1} | {ratio:.2} |\n"
                ));
            }
        }
        table
    }

    /// Fails where something takes more than its goal.
    pub(crate) fn judge(&self) -> Result<()> {
        let of = |language| {
            self.contestants
                .iter()
                .find(move |one| one.language == language)
        };
        let missed = GOALS.iter().filter_map(|&(language, name, most)| {
            let Some(turns) = of(language).and_then(|one| one.figures(name)) else {
                return Some(format!("{language} {name}: not measured"));
            };
            let ratio = ratio(turns, &self.rust);
            (ratio > most).then(|| format!("{language} {name}: {ratio:.2}, at most {most}"))
        });
        match missed.collect::<Vec<_>>().as_slice() {
            [] => Ok(()),
            missed => bail!("more than it may be: {}", missed.join("; ")),
        }
    }
}

/// The median of what each turn took of the Rust call's turn.
fn ratio(turns: &[f64], rust: &[f64]) -> f64 {
    median(turns.iter().zip(rust).map(|(turn, rust)| turn / rust))
}

/// The middle one; of an even number the upper of the two.
fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::{Contestant, GOALS, Measured, Program};

    #[test]
    fn what_takes_longer_than_it_may_or_was_not_measured_is_named() {
        let of = |language, figures: &[(&str, [f64; 2])]| Contestant {
            language,
            program: Program::parse("true"),
            figures: figures
                .iter()
                .map(|(name, turns)| ((*name).to_owned(), turns.to_vec()))
                .collect(),
        };
        let contestants = vec![
            of("c", &[("single", [2.0, 6.0]), ("batch", [1.0, 1.0])]),
            of("go-cgo", &[("batch", [1.5, 3.0])]),
            of("java", &[("batch", [1.0, 1.0])]),
        ];
        let rust = vec![1.0, 2.0];
        let measured = Measured { contestants, rust };
        assert!(
            measured
                .table()
                .ends_with("| java | batch | 1.0 | 1.00 |\n")
        );
        assert_eq!(
            measured.judge().unwrap_err().to_string(),
            "more than it may be: c single: 3.00, at most 1.3; node batch: not measured"
        );
    }

    /// The goals are those that bindings/README.md promises.
    #[test]
    fn the_page_of_the_bindings_says_these_goals() {
        let page = include_str!("../../../../bindings/README.md").replace("\n  ", " ");
        for (language, call, most) in GOALS {
            let goal = match (language, call) {
                ("c", "single") => format!("a call from C takes over {most} times the Rust call"),
                (_, _) => format!("a decision in a batch of 256 over {most} times"),
            };
            assert!(page.contains(&goal), "bindings/README.md: {goal}");
        }
    }
}
