//! Runs steps in two lanes side by side, each step as a process of its own, and prints a table of their times.

use core::time::Duration;
use core::{fmt, iter};
use std::collections::VecDeque;
use std::env::consts::EXE_EXTENSION;
use std::fs::{self, File};
use std::io::{IsTerminal as _, Write as _, stdout};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Error, Result};

use crate::kit::outcome::in_ci;
use crate::kit::program::{Program, time_of_children};
use crate::kit::project::Project;
use crate::kit::unchanged::Inputs;
use crate::kit::{skipped, watch};
use crate::test::step::{Lane, Step};

/// A step that prints nothing for this long hangs.
const LIMIT: Duration = Duration::from_secs(25 * 60);

/// Lines of a failed step's output that a person gets; CI gets all, and these once more at its end.
const TAIL: usize = 60;

/// Runs a step in this process, and prints its row.
pub(crate) fn here(step: Step, project: &Project) -> Result<()> {
    skipped::count(project, &step.name())?;
    let start = Instant::now();
    let result = step.settle(project);
    let row = Row {
        step: step.name(),
        times: [start.elapsed(), time_of_children()],
        result: match &result {
            Ok(0) => "passed".to_owned(),
            Ok(skipped) => format!("passed, {skipped} skipped"),
            Err(error) => format!("FAILED: {error:#}"),
        },
    };
    println!("{MARK}{row}");
    result.map(|_| ())
}

/// Begins the row among the lines of a step.
const MARK: &str = "== ";

/// Runs these steps and returns the names of those that failed.
pub(crate) fn run_each(project: &Project, steps: &[Step]) -> Result<Vec<String>> {
    let (start, before) = (Instant::now(), time_of_children());
    let own = own(project)?;
    // One step alone is seen as it runs.
    let live = steps.len() == 1;
    let of = |lane: Lane| Queue::of(steps.iter().copied().filter(|step| step.lane() == lane));
    let [cargo, languages, quiet] = [Lane::Cargo, Lane::Languages, Lane::Quiet].map(of);
    let in_lane = |lane: &Queue, other: &Queue| {
        let steps = iter::from_fn(|| lane.first().or_else(|| other.last()));
        let rows = steps.map(|step| run(project, &own, step, live));
        rows.collect::<Result<Vec<_>>>()
    };
    let mut rows = Vec::new();
    thread::scope(|scope| {
        let (in_lane, cargo, languages) = (&in_lane, &cargo, &languages);
        let lanes = [(cargo, languages), (languages, cargo)];
        let lanes = lanes.map(|(lane, other)| scope.spawn(move || in_lane(lane, other)));
        lanes.into_iter().try_for_each(|lane| {
            let panicked = |_| Err(Error::msg("a lane panicked"));
            rows.extend(lane.join().unwrap_or_else(panicked)?);
            Ok::<_, Error>(())
        })
    })?;
    rows.extend(in_lane(&quiet, &Queue::of([]))?);
    fs::remove_file(&own)?;
    let together = Row {
        step: "together".to_owned(),
        times: [start.elapsed(), time_of_children().saturating_sub(before)],
        result: String::new(),
    };
    println!("\n{:<12}{:>9}{:>13}", "step", "wall", "processors");
    for (_, row) in &rows {
        println!("{row}");
    }
    println!("{together}");
    let failed = rows.into_iter().filter(|(passed, _)| !passed);
    let failed: Vec<_> = failed.filter_map(|(_, row)| Some(row.split(' ').next()?.to_owned())).collect();
    if in_ci() {
        // A record of CI may have kept only its end.
        for name in &failed {
            let text = fs::read_to_string(log_of(project, name))?;
            println!("\n== the end of {name}\n{}", end(&text, TAIL));
        }
    }
    for step in steps {
        for what in skipped::by(project, &step.name()) {
            println!("skipped: {what}");
        }
    }
    Ok(failed)
}

#[allow(clippy::disallowed_types, reason = "this is no engine")]
type Steps = std::sync::Mutex<VecDeque<Step>>;

/// The steps of a lane that haven't begun.
struct Queue(Steps);

impl Queue {
    fn of(steps: impl IntoIterator<Item = Step>) -> Self {
        Self(Steps::new(steps.into_iter().collect()))
    }

    fn first(&self) -> Option<Step> {
        self.0.lock().ok()?.pop_front()
    }

    /// For the other lane, when it has nothing left.
    fn last(&self) -> Option<Step> {
        self.0.lock().ok()?.pop_back()
    }
}

/// Where a step's whole output is.
fn log_of(project: &Project, step: &str) -> PathBuf {
    project.target.join("xtask").join("log").join(step)
}

/// The last lines of an output, at most this many.
fn end(text: &str, lines: usize) -> String {
    let all: Vec<_> = text.trim_end().lines().collect();
    let last = all.get(all.len().saturating_sub(lines)..);
    last.unwrap_or_default().join("\n")
}

/// A copy of this program, because the step `tests` builds it again and so removes the original.
fn own(project: &Project) -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let home = project.target.join("xtask").join("lanes");
    fs::create_dir_all(&home)?;
    let name = format!("xtask-{}", std::process::id());
    let copy = home.join(name).with_extension(EXE_EXTENSION);
    fs::copy(&own, &copy).context("a copy of this program")?;
    Ok(copy)
}

/// Runs a step as a process of its own; whether it passed, and its row.
fn run(project: &Project, own: &Path, step: Step, live: bool) -> Result<(bool, String)> {
    let name = step.name();
    let inputs = Inputs::of(project, &name, &step.covers()).filter(|_| !in_ci());
    let path = log_of(project, &name);
    fs::create_dir_all(path.parent().unwrap_or(&path))?;
    let mut log = File::create(&path)?;
    println!("== {name}: {}", step.about());
    let program = Program::at(own).words("test --here").arg(&name);
    let program = match stdout().is_terminal() {
        true => program.env("CARGO_TERM_COLOR", "always"),
        false => program,
    };
    let mut row = None;
    let result = watch::follow(&program, LIMIT, |line| {
        if let Some(text) = line.strip_prefix(MARK) {
            row = Some(text.to_owned());
        }
        if live {
            println!("{line}");
        }
        writeln!(log, "{line}").context("the log of a step")
    });
    let passed = result.is_ok();
    let row = match (row, result) {
        (Some(row), _) => row,
        (None, Ok(())) => format!("{name:<12} passed"),
        (None, Err(error)) => format!("{name:<12} FAILED: {error:#}"),
    };
    if !live {
        let text = fs::read_to_string(&path)?;
        // The step's own row ends its output.
        let text = text.trim_end().trim_end_matches(row.as_str());
        let text = text.trim_end_matches(MARK);
        // In one piece: the other lane prints, too.
        let shown = match (in_ci(), passed) {
            (true, _) => text.trim_end().to_owned(),
            (false, true) => String::new(),
            (false, false) => end(text, TAIL),
        };
        println!("{shown}\n{MARK}{row}\n== the whole output: {}", path.display());
    }
    if let (true, Some(inputs)) = (passed && skipped::by(project, &name).is_empty(), inputs) {
        inputs.note()?;
    }
    Ok((passed, row))
}

/// A line of the table at the end: the time, and the processor time of all programs of the step, which is the same on a busy machine.
struct Row {
    step: String,
    times: [Duration; 2],
    result: String,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, result, .. } = self;
        let [time, processor] = self.times.map(|time| time.as_secs_f64());
        let line = format!("{step:<12}{time:>7.0} s{processor:>11.0} s  {result}");
        f.write_str(line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_wall_and_processor_time() {
        let row = Row {
            step: "tests".to_owned(),
            times: [9_000, 18_400].map(Duration::from_millis),
            result: "passed".to_owned(),
        };
        assert_eq!(row.to_string(), "tests             9 s         18 s  passed");
    }
}
