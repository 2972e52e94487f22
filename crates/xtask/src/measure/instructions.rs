//! `cargo xtask bench --instructions`: no hot path may grow unseen.
//!
//! Instructions, not time: they are the same on every machine and in every run, so that a few per cent count. The
//! committed list names the compiler that it was made with. The same one is used here, even if another is
//! installed, because each compiler makes other instructions.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::kit::outcome::{StepResult, step};
use crate::kit::project::Project;
use crate::measure::compiler::Compiler;
use crate::measure::{callgrind, qemu, start};

const UPDATE: &str = "cargo xtask bench --instructions --update";

/// A path may differ by this much, in per cent: smaller differences come from what the compiler inlines.
const ROOM: f64 = 3.0;

/// A hot path and its instructions.
pub(crate) type Count = (String, f64);

/// A kind of processor whose instructions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processor {
    X86_64,
    Aarch64,
}

impl Processor {
    const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    pub(crate) const fn target(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-unknown-linux-musl",
            Self::Aarch64 => "aarch64-unknown-linux-musl",
        }
    }

    /// The committed list.
    const fn file(self) -> &'static str {
        match self {
            Self::X86_64 => "benches/instructions.tsv",
            Self::Aarch64 => "benches/instructions-aarch64.tsv",
        }
    }

    const fn how(self) -> &'static str {
        match self {
            Self::X86_64 => "counted by callgrind on a processor with AVX2",
            Self::Aarch64 => "of aarch64, counted by qemu",
        }
    }

    /// Sets up what counts.
    pub(crate) fn set_up(self) -> Result<StepResult> {
        match self {
            Self::X86_64 => callgrind::set_up(),
            Self::Aarch64 => qemu::set_up(),
        }
    }

    fn set_up_with(self, compiler: &Compiler) -> Result<()> {
        self.set_up()?.needed()?;
        compiler.set_up()?.needed()
    }

    /// Counts every path of the program `paths`, which is in this directory.
    pub(crate) fn count(self, project: &Project, programs: &Path) -> Result<Vec<Count>> {
        let program = programs.join("paths");
        let plugin = match self {
            Self::X86_64 => None,
            Self::Aarch64 => Some(qemu::plugin(project)?),
        };
        let count = |arguments: &[&str]| match &plugin {
            None => callgrind::count(project, &program, arguments, Some("paths::measured*")),
            Some(plugin) => qemu::count(plugin, &program, arguments),
        };
        let (names, _) = count(&[])?;
        let counts = names.lines().map(|name| {
            let (units, total) = count(&["count", name])?;
            let units: f64 = units.trim().parse()?;
            let each = rounded(total / units);
            println!("{name:<46}{each:>12}");
            Ok((name.to_owned(), each))
        });
        counts.collect()
    }

    /// Counts every path and compares it with the committed list.
    fn check(self, project: &Project) -> Result<()> {
        let baseline = Baseline::read(self)?;
        let compiler = Compiler::of_version(&baseline.compiler, self.target())?;
        self.set_up_with(&compiler)?;
        let programs = compiler.build(project)?;
        let counts = self.count(project, &programs)?;
        let file = self.file();
        let faults = compare(&baseline.counts, &counts);
        if !faults.is_empty() {
            let faults = faults.join("\n");
            bail!("{faults}\nif that is meant, {file} belongs into the same commit: {UPDATE}");
        }
        println!("every path that was counted is within {ROOM} % of {file}");
        if self == Self::X86_64 {
            start::check(project, &programs)?;
        }
        Ok(())
    }

    /// Counts every path and commits to it.
    fn update(self, project: &Project) -> Result<()> {
        let compiler = Compiler::in_use(self.target())?;
        self.set_up_with(&compiler)?;
        let counts = self.count(project, &compiler.build(project)?)?;
        let compiler = compiler.version;
        let text = Baseline { compiler, counts }.text(self);
        fs::write(self.file(), text).with_context(|| self.file().to_owned())
    }
}

/// The committed list.
#[derive(Debug, PartialEq)]
struct Baseline {
    /// The version of the compiler that it was counted with.
    compiler: String,
    counts: Vec<Count>,
}

/// Counts every path, and compares it with the committed lists.
pub(crate) fn check(project: &Project) -> Result<StepResult> {
    let mut skipped = Vec::new();
    for processor in Processor::ALL {
        if let StepResult::Skipped(why) = step(|| processor.check(project))? {
            skipped.push(why);
        }
    }
    Ok(match skipped.is_empty() {
        true => StepResult::Passed,
        false => StepResult::Skipped(skipped.join("; ")),
    })
}

/// Counts every path and commits to it.
pub(crate) fn update(project: &Project) -> Result<()> {
    Processor::ALL
        .into_iter()
        .try_for_each(|processor| processor.update(project))
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
    fn read(processor: Processor) -> Result<Self> {
        let file = processor.file();
        let text = fs::read_to_string(file).with_context(|| file.to_owned())?;
        Self::parse(&text).with_context(|| file.to_owned())
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

    fn text(&self, processor: Processor) -> String {
        let how = processor.how();
        let counts = self.counts.iter();
        let counts = counts.map(|(name, count)| format!("{name}\t{count}\n"));
        format!(
            "# Instructions of each hot path, {how}: of a decision or a token's scopes\n\
             # the mean over a stream, of a load (1000/…) all. Written by `{UPDATE}`, in\n\
             # the commit that changes them.\n\
             # rustc {}\n{}",
            self.compiler,
            counts.collect::<String>()
        )
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
        let text = baseline.text(Processor::X86_64);
        assert_eq!(Baseline::parse(&text).unwrap(), baseline);
    }

    fn committed(processor: Processor) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        fs::read_to_string(root.join(processor.file())).unwrap()
    }

    #[test]
    fn the_committed_lists_are_sound() {
        for processor in Processor::ALL {
            let text = committed(processor);
            let baseline = Baseline::parse(&text).unwrap();
            assert_eq!(baseline.text(processor), text);
            assert!(baseline.counts.iter().all(|(_, count)| *count > 0.0));
        }
    }

    #[test]
    fn the_page_says_what_the_lists_say() {
        let page = include_str!("../../../../docs/speed.md");
        for processor in Processor::ALL {
            let counts = Baseline::parse(&committed(processor)).unwrap().counts;
            let least = |stream: &str, names: &[&str]| {
                let of = |(name, count): &Count| {
                    let who = name.strip_prefix(stream)?;
                    names
                        .iter()
                        .any(|name| who.starts_with(name))
                        .then_some(*count)
                };
                counts.iter().filter_map(of).fold(f64::INFINITY, f64::min)
            };
            let cells = ["external/hits/", "github/hits/"].map(|stream| {
                let [own, router] =
                    [&["orbgate-set"][..], &["matchit", "wayfind"]].map(|who| least(stream, who));
                format!("{own:.0} | {router:.0}")
            });
            let name = processor
                .target()
                .split('-')
                .next()
                .unwrap()
                .replace('_', "-");
            let row = format!("| {name} | {} |", cells.join(" | "));
            assert!(page.contains(&row), "docs/speed.md has no row {row}");
        }
    }
}
