//! `cargo xtask portable`: the code for any processor passes the same tests, and is not much slower than that for this kind of
//! processor.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::project::DECISIONS;
use crate::kit::project::Project;
use crate::measure::compiler::Compiler;
use crate::measure::instructions::Processor;

const FLAGS: &str = "--cfg orbgate_portable";

/// The code for any processor may take this many times as long.
const SLOWER: f64 = 1.5;

/// Timed in turn so often, and of each path the best: what else runs on the machine only slows.
const TURNS: usize = 5;

/// The step: the tests of decisions alone.
pub(crate) fn check(project: &Project) -> Result<StepResult> {
    if !cfg!(unix) {
        return Ok(StepResult::Skipped(
            "the code for other processors: the compiler is wrapped by a shell".to_owned(),
        ));
    }
    let wrapper = wrapper(project)?.display().to_string();
    for tests in DECISIONS {
        let tests = Program::parse(tests).env("RUSTC_WORKSPACE_WRAPPER", &wrapper);
        tests.run()?;
    }
    Ok(StepResult::Passed)
}

/// A program that compiles our own crates so: unlike `RUSTFLAGS` it leaves everybody else's as they are built.
fn wrapper(project: &Project) -> Result<PathBuf> {
    let home = project.target.join("xtask");
    fs::create_dir_all(&home)?;
    let script = home.join("portable.sh");
    fs::write(&script, format!("#!/bin/sh\nexec \"$@\" {FLAGS}\n"))?;
    Program::parse("chmod +x")
        .arg(script.display().to_string())
        .run()?;
    Ok(script)
}

/// A directory of its own: flags rebuild everything.
fn target(project: &Project) -> PathBuf {
    project.target.join("portable")
}

pub(crate) fn run(project: &Project) -> Result<()> {
    let target = target(project);
    let tests = Program::parse("cargo test -p orbgate --all-features --tests");
    let tests = tests.path("--target-dir", &target);
    tests.env("RUSTFLAGS", FLAGS).run()?;

    // What runs here is timed, too.
    let processor = Processor::X86_64;
    let compiler = Compiler::in_use(processor.target())?;
    processor.set_up()?.needed()?;
    compiler.set_up()?.needed()?;
    let usual = compiler.build(project)?;
    let portable = compiler.build_with(&target, FLAGS)?;
    let counts = processor.count(project, &usual)?.into_iter();
    let portable_counts: HashMap<_, _> = processor.count(project, &portable)?.into_iter().collect();
    let (times, portable_times) = times(&usual.join("paths"), &portable.join("paths"))?;

    println!(
        "\n{:<42}{:>13}{:>8}",
        "portable ÷ usual", "instructions", "time"
    );
    let mut slow = Vec::new();
    for (name, count) in counts {
        let of = |all: &HashMap<String, f64>| all.get(&name).copied().context("another path");
        let instructions = of(&portable_counts)? / count;
        let time = of(&portable_times)? / of(&times)?;
        println!("{name:<42}{instructions:>13.2}{time:>8.2}");
        if time > SLOWER {
            slow.push(name);
        }
    }
    let slow = slow.join(", ");
    ensure!(slow.is_empty(), "over {SLOWER} times as slow: {slow}");
    Ok(())
}

/// Nanoseconds of each path of two programs, which take turns.
fn times(one: &Path, other: &Path) -> Result<(HashMap<String, f64>, HashMap<String, f64>)> {
    let mut best = (HashMap::new(), HashMap::new());
    for _ in 0..TURNS {
        time(one, &mut best.0)?;
        time(other, &mut best.1)?;
    }
    Ok(best)
}

fn time(program: &Path, best: &mut HashMap<String, f64>) -> Result<()> {
    let printed = Program::parse("")
        .arg(program.display().to_string())
        .arg("time");
    for line in printed.read()?.lines() {
        let (name, time) = line.split_once('\t').context("a time without a tab")?;
        let time: f64 = time.parse()?;
        let best = best.entry(name.to_owned()).or_insert(time);
        *best = best.min(time);
    }
    Ok(())
}
