//! Runs steps in two lanes side by side, each step as a process of its own with its output in a file.

use core::iter;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Error, Result};

use crate::kit::project::{Project, script, script_within};
use crate::kit::skipped::{self, in_ci};
use crate::test::step::{Lane, Step, When};

/// Lines of a failed step's output that a person gets.
const TAIL: usize = 60;

/// Seconds after which CI ends a step that hangs, so that its output is seen. The longest took 1,306 on a machine that also built other things.
const LIMIT: &str = "2400";

/// Runs these steps and returns the names of those that failed.
pub(crate) fn run_each(project: &Project, steps: &[&'static Step]) -> Result<Vec<String>> {
    let home = project.target.join("xtask").join("steps");
    fs::create_dir_all(&home)?;
    let of = |lane: Lane| Queue::of(steps.iter().copied().filter(|step| step.lane == lane));
    let [cargo, languages, quiet] = [Lane::Cargo, Lane::Languages, Lane::Quiet].map(of);
    let in_lane = |lane: &Queue, other: &Queue| {
        let next = iter::from_fn(|| lane.first().or_else(|| other.last()));
        // One step alone is seen as it runs.
        let rows = next.map(|step| run(project, &home, step, steps.len() == 1));
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
    println!();
    for (_, row) in &rows {
        println!("{row}");
    }
    let failed = rows.into_iter().filter_map(|(failed, _)| failed).collect::<Vec<_>>();
    if in_ci() {
        // A record of CI may have kept only its end.
        for name in &failed {
            println!("\n== the end of {name}\n{}", end(&home.join(name).with_extension("log"))?);
        }
    }
    Ok(failed)
}

#[allow(clippy::disallowed_types, reason = "this is no engine")]
type Steps = std::sync::Mutex<VecDeque<&'static Step>>;

/// The steps of a lane that haven't begun.
struct Queue(Steps);

impl Queue {
    fn of(steps: impl IntoIterator<Item = &'static Step>) -> Self {
        Self(Steps::new(steps.into_iter().collect()))
    }

    fn first(&self) -> Option<&'static Step> {
        self.0.lock().ok()?.pop_front()
    }

    /// For the other lane, when it has nothing left.
    fn last(&self) -> Option<&'static Step> {
        self.0.lock().ok()?.pop_back()
    }
}

/// The last lines of an output.
fn end(log: &Path) -> Result<String> {
    let text = fs::read_to_string(log)?;
    let all: Vec<_> = text.trim_end().lines().collect();
    let last = all.get(all.len().saturating_sub(TAIL)..);
    Ok(last.unwrap_or_default().join("\n"))
}

/// Seconds of processor time of what a step started, as bash's `times` ends its output: `5m3.120s 0m30.050s`.
fn processor(log: &str) -> Option<f64> {
    let times = log.lines().next_back()?.split(' ').map(|time| {
        let (minutes, seconds) = time.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    });
    times.sum()
}

/// Runs a step as a process of its own: its name if it failed, and its row of the table.
fn run(project: &Project, home: &Path, step: &Step, live: bool) -> Result<(Option<String>, String)> {
    let name = step.name.to_owned();
    let [log, skipped] = ["log", "skipped"].map(|end| home.join(&name).with_extension(end));
    let (output, start) = (File::create(&log)?, Instant::now());
    File::create(&skipped)?;
    println!("== {name}: {}", step.about);
    let shell = project.shell()?;
    let function = format!("test_{name}");
    let step = match in_ci() && step.when != When::Assure {
        true => script_within(&shell, LIMIT, &function),
        false => script(&shell, &function),
    };
    let mut command = Command::from(step.env(skipped::VARIABLE, &skipped));
    if !live {
        command.stdout(output.try_clone()?).stderr(output);
    }
    let status = command.status()?;
    let result = match status.success() {
        true => skipped::read(&skipped, in_ci()),
        false => Err(Error::msg(status)),
    };
    if !live && (in_ci() || result.is_err()) {
        // In one piece: the other lane prints, too.
        let shown = if in_ci() { fs::read_to_string(&log)? } else { end(&log)? };
        println!("{shown}\n== the whole output of {name}: {}", log.display());
    }
    let failed = result.is_err().then(|| name.clone());
    let result = match result {
        Ok(skipped) if skipped.is_empty() => "passed".to_owned(),
        Ok(skipped) => format!("passed; skipped: {}", Vec::from_iter(skipped).join("; ")),
        Err(error) => format!("FAILED: {error:#}"),
    };
    let seconds = processor(&fs::read_to_string(&log)?).map(|seconds| format!(", {seconds:.0} of processor time"));
    let row = format!("{name:<12}{:>7.0} s{}  {result}", start.elapsed().as_secs_f64(), seconds.unwrap_or_default());
    println!("== {row}");
    Ok((failed, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_ends_with_its_processor_time() {
        assert_eq!(processor("passed\n0m0.004s 0m0.002s\n5m3.125s 0m30.5s\n"), Some(333.625));
        assert_eq!(processor(""), None);
        assert_eq!(processor("killed"), None);
    }
}
