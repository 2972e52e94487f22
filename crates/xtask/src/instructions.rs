//! `cargo xtask bench --instructions`: no hot path may grow unseen.
//!
//! Instructions, not time: the same on every machine and in every run, so that a few per cent count. The
//! committed list says with which compiler it was made; that one is used here, too, whatever else is
//! installed, because each compiler makes other instructions.

use core::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::callgrind::{self, Compiler};
use crate::program::Program;
use crate::project::Project;
use crate::start;
use crate::test::StepResult;

const FILE: &str = "benches/instructions.tsv";
const HEADER: &str = "\
# Instructions of each hot path, counted by callgrind on a processor with AVX2: of a decision or a token's scopes the
# mean over a stream, of a load (1000/…) all. Written by `cargo xtask bench --instructions --update`, in the commit that
# changes them.
";
const UPDATE: &str = "cargo xtask bench --instructions --update";

/// A path may differ by this much, in per cent: smaller differences come from what the compiler inlines.
const ROOM: f64 = 3.0;

/// A hot path and its instructions.
pub(crate) type Count = (String, f64);

/// The committed list.
#[derive(Debug, PartialEq)]
struct Baseline {
    /// The version of the compiler that it was counted with.
    compiler: String,
    counts: Vec<Count>,
}

/// Counts every path and compares it with the committed list.
pub(crate) fn check(project: &Project) -> Result<StepResult> {
    let baseline = Baseline::read()?;
    let compiler = Compiler::of_version(&baseline.compiler)?;
    if let skipped @ StepResult::Skipped(_) = compiler.set_up()? {
        return Ok(skipped);
    }
    let programs = compiler.build(project)?;
    let counts = count(project, &programs)?;
    let faults = compare(&baseline.counts, &counts);
    if !faults.is_empty() {
        let faults = faults.join("\n");
        bail!("{faults}\nif that is meant, {FILE} belongs into the same commit: {UPDATE}");
    }
    println!("every path that was counted is within {ROOM} % of {FILE}");
    start::check(project, &programs)?;
    Ok(StepResult::Passed)
}

/// Counts every path and commits to it.
pub(crate) fn update(project: &Project) -> Result<()> {
    let compiler = Compiler::in_use()?;
    if let StepResult::Skipped(why) = compiler.set_up()? {
        bail!(why);
    }
    let counts = count(project, &compiler.build(project)?)?;
    let compiler = compiler.version;
    let text = Baseline { compiler, counts }.to_string();
    fs::write(FILE, text).with_context(|| FILE.to_owned())
}

/// Counts every path of the program `paths`, which stands in this directory, under callgrind.
pub(crate) fn count(project: &Project, programs: &Path) -> Result<Vec<Count>> {
    let program = programs.join("paths");
    let names = Program::parse("")
        .arg(program.display().to_string())
        .read()?;
    let counts = names.lines().map(|name| {
        let function = Some("paths::measured*");
        let (units, total) = callgrind::count(project, &program, &["count", name], function)?;
        let units: f64 = units.trim().parse()?;
        let each = rounded(total / units);
        println!("{name:<46}{each:>12}");
        Ok((name.to_owned(), each))
    });
    counts.collect()
}

/// Four digits: the seeds of hash maps move the fifth of what uses some.
pub(crate) fn rounded(count: f64) -> f64 {
    let unit = 10_f64.powf(count.log10().floor() - 3.0);
    // Whole above a thousand, and what a decimal fraction can say below.
    ((count / unit).round() * unit * 10.0).round() / 10.0
}

/// What has to be said of each path that is not as listed.
fn compare(listed: &[Count], counted: &[Count]) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, now) in counted {
        let Some((_, before)) = listed.iter().find(|(listed, _)| listed == name) else {
            faults.push(format!("{name} is not listed"));
            continue;
        };
        let change = (now / before - 1.0) * 100.0;
        // A list that says too much would hide the next growth.
        if change.abs() > ROOM {
            let what = if change > 0.0 { "grew" } else { "shrank" };
            let change = change.abs();
            faults.push(format!(
                "{name} {what} by {change:.1} %: {before} → {now} instructions"
            ));
        }
    }
    for (name, _) in listed {
        if !counted.iter().any(|(counted, _)| counted == name) {
            faults.push(format!("{name} is listed and no path any more"));
        }
    }
    faults
}

impl Baseline {
    fn read() -> Result<Self> {
        let text = fs::read_to_string(FILE).with_context(|| FILE.to_owned())?;
        Self::parse(&text).with_context(|| FILE.to_owned())
    }

    fn parse(text: &str) -> Result<Self> {
        let compiler = text.lines().find_map(|line| line.strip_prefix("# rustc "));
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        let counts = rows.map(|line| {
            let (name, count) = line.split_once('\t').context("a row without a tab")?;
            Ok((name.to_owned(), count.parse()?))
        });
        Ok(Self {
            compiler: compiler.context("no `# rustc` line")?.to_owned(),
            counts: counts.collect::<Result<_>>()?,
        })
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}# rustc {}", self.compiler)?;
        let mut counts = self.counts.iter();
        counts.try_for_each(|(name, count)| writeln!(f, "{name}\t{count}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[(&str, f64)]) -> Vec<Count> {
        let rows = rows
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count));
        rows.collect()
    }

    #[test]
    fn a_growth_of_more_than_three_per_cent_is_named() {
        let before = counts(&[("a/hits", 100.0), ("b/hits", 100.0), ("c/hits", 100.0)]);
        let now = counts(&[("a/hits", 102.9), ("b/hits", 103.1), ("c/hits", 97.1)]);
        let faults = compare(&before, &now);
        assert_eq!(faults, ["b/hits grew by 3.1 %: 100 → 103.1 instructions"]);
    }

    #[test]
    fn a_list_that_says_too_much_is_a_fault() {
        let faults = compare(&counts(&[("a", 100.0)]), &counts(&[("a", 90.0)]));
        assert_eq!(faults, ["a shrank by 10.0 %: 100 → 90 instructions"]);
    }

    #[test]
    fn the_list_has_every_path_and_no_other() {
        let faults = compare(&counts(&[("old", 1.0)]), &counts(&[("new", 1.0)]));
        assert_eq!(
            faults,
            ["new is not listed", "old is listed and no path any more"]
        );
    }

    #[test]
    fn a_count_has_four_digits() {
        let rows = [
            (693.22, "693.2"),
            (2_829.4, "2829"),
            (42_736_671.0, "42740000"),
            (1.0, "1"),
        ];
        for (count, shown) in rows {
            assert_eq!(rounded(count).to_string(), shown);
        }
    }

    #[test]
    fn the_list_reads_as_it_is_written() {
        let baseline = Baseline {
            compiler: "1.95.0".to_owned(),
            counts: counts(&[
                ("external/hits/orbgate-set", 693.2),
                ("1000/compile", 24_097_124.0),
            ]),
        };
        assert_eq!(Baseline::parse(&baseline.to_string()).unwrap(), baseline);
    }

    #[test]
    fn the_committed_list_is_sound() {
        let text = include_str!("../../../benches/instructions.tsv");
        let baseline = Baseline::parse(text).unwrap();
        assert_eq!(baseline.to_string(), text);
        assert!(baseline.counts.iter().all(|(_, count)| *count > 0.0));
    }
}
