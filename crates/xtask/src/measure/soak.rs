//! `cargo xtask soak replay`: the command answers millions of lines, in order and in constant memory.

use core::ops::Range;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, Subcommand};

use crate::kit::process;
use crate::kit::program::Program;
use crate::kit::project::Project;

#[derive(Debug, Args)]
pub(crate) struct Soak {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Feeds requests of many kinds, faulty ones among them, to `orbgate replay -`
    Replay(Replay),
}

#[derive(Debug, Args)]
struct Replay {
    /// How many lines
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    lines: u64,
}

/// More than this at any time is a leak or a buffer without an end.
const MOST_KIB: u64 = 64 * 1024;
/// What an allocator may add after the first tenth without that being growth.
const SLACK_KIB: u64 = 1024;

impl Soak {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        match &self.what {
            What::Replay(replay) => replay.run(project),
        }
    }
}

impl Replay {
    fn run(&self, project: &Project) -> Result<()> {
        Program::parse("cargo build --release -p orbgate-cli").run()?;
        let command = project.target.join("release").join("orbgate");
        let command = format!("{}{}", command.display(), std::env::consts::EXE_SUFFIX);
        let replay = Program::parse("").arg(command).arg("replay").arg("-");
        println!("$ {replay} # with {} lines", self.lines);

        let start = Instant::now();
        let mut child = replay
            .command()?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().context("no standard output")?;
        let lines = self.lines;
        let reader = thread::spawn(move || check_answers(output, lines));
        let fed = feed(&mut child, lines);
        // Of two errors the reader's comes first: where it gives up, the feeder cannot go on.
        reader
            .join()
            .map_err(|_| anyhow::Error::msg("the reader panicked"))??;
        let peaks = fed?;
        let status = child.wait()?;
        let expected = if (1..=lines).any(|line| LineShape::of(line).is_fault()) {
            2
        } else {
            0
        };
        ensure!(
            status.code() == Some(expected),
            "exit code {expected} expected, not {status}"
        );

        let seconds = start.elapsed().as_secs_f64();
        println!("{lines} lines answered in order, in {seconds:.1} s");
        println!(
            "{:.0} lines/s, with making and checking them",
            per_second(lines, seconds)
        );
        check_memory(&peaks)
    }
}

#[allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "a rate is rounded anyway"
)]
fn per_second(lines: u64, seconds: f64) -> f64 {
    lines as f64 / seconds
}

/// Writes the requests, and notes the child's peak memory after each tenth of them.
fn feed(child: &mut Child, lines: u64) -> Result<Vec<u64>> {
    let input = child.stdin.take().context("no standard input")?;
    let mut input = BufWriter::with_capacity(1 << 16, input);
    let mut text = String::new();
    let mut peaks = Vec::new();
    for tenth in tenths(lines) {
        let last = tenth.end.saturating_sub(1);
        for line in tenth {
            text.clear();
            write_request(line, &mut text);
            match input.write_all(text.as_bytes()) {
                // It ended early; what it answered, or did not, says why.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(peaks),
                written => written?,
            }
        }
        let peak = process::memory_kib(child.id(), "VmHWM");
        let memory = peak.map_or_else(|| "not known here".to_owned(), |peak| format!("{peak} KiB"));
        println!("{last:>12} lines written, peak memory {memory}");
        peaks.extend(peak);
    }
    Ok(peaks)
}

/// The line numbers, from 1, in ten ranges.
fn tenths(lines: u64) -> impl Iterator<Item = Range<u64>> {
    let end = move |tenth: u64| lines.saturating_mul(tenth).div_ceil(10).saturating_add(1);
    (1..=10).map(move |tenth: u64| end(tenth.saturating_sub(1))..end(tenth))
}

fn check_memory(peaks: &[u64]) -> Result<()> {
    let (Some(first), Some(last)) = (peaks.first(), peaks.last()) else {
        println!("memory: skipped, this system has no /proc/PID/status");
        return Ok(());
    };
    ensure!(
        *last <= MOST_KIB,
        "peak memory {last} KiB is over {MOST_KIB} KiB"
    );
    ensure!(
        last.saturating_sub(*first) <= SLACK_KIB,
        "peak memory grew from {first} KiB to {last} KiB after the first tenth"
    );
    println!("peak memory {last} KiB, after the first tenth {first} KiB");
    Ok(())
}

/// Reads the answers and compares each with its request, up to the first that is wrong.
fn check_answers(output: impl Read, lines: u64) -> Result<()> {
    let mut output = BufReader::with_capacity(1 << 16, output);
    let mut answer = String::new();
    for line in 1..=lines {
        answer.clear();
        if output.read_line(&mut answer)? == 0 {
            bail!(
                "the output ends after {} of {lines} lines",
                line.saturating_sub(1)
            );
        }
        let kind = LineShape::of(line);
        if !kind.is_answered_by(line, &answer) {
            let mut request = String::new();
            write_request(line, &mut request);
            bail!(
                "line {line}, {kind:?}: {}\nwas answered: {answer}",
                request.trim_end()
            );
        }
    }
    ensure!(
        output.read_line(&mut answer)? == 0,
        "more output than {lines} lines: {answer}"
    );
    Ok(())
}

/// A kind of line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineShape {
    Hit,
    OtherScope,
    Inference,
    NoToken,
    StrangeToken,
    Miss,
    Method,
    Malformed,
    Long,
    NotJson,
    Blank,
    UnknownField,
}

impl LineShape {
    /// The kind of a line. No pattern repeats: answers in another order are noticed.
    const fn of(line: u64) -> Self {
        match mix(line) % 4096 {
            0..1600 => Self::Hit,
            1600..2200 => Self::OtherScope,
            2200..2400 => Self::Inference,
            2400..2700 => Self::NoToken,
            2700..2800 => Self::StrangeToken,
            2800..3200 => Self::Miss,
            3200..3400 => Self::Method,
            3400..3800 => Self::Malformed,
            3800..3804 => Self::Long,
            3804..3900 => Self::NotJson,
            3900..4000 => Self::Blank,
            _ => Self::UnknownField,
        }
    }

    /// Is the line no request at all?
    const fn is_fault(self) -> bool {
        matches!(self, Self::NotJson | Self::Blank | Self::UnknownField)
    }

    /// The reason of its decision. Empty for a line that is not a request.
    const fn reason(self) -> &'static str {
        match self {
            Self::Hit | Self::Inference => r#""reason":"scope_held""#,
            Self::OtherScope => r#""reason":"scope_missing""#,
            Self::NoToken => r#""reason":"no_token""#,
            Self::StrangeToken => r#""reason":"invalid_token""#,
            Self::Miss => r#""reason":"no_route""#,
            Self::Method => r#""reason":"method_not_declared""#,
            Self::Malformed | Self::Long => r#""reason":"malformed_request""#,
            Self::NotJson | Self::Blank | Self::UnknownField => "",
        }
    }

    fn is_answered_by(self, line: u64, answer: &str) -> bool {
        if self.is_fault() {
            answer.starts_with(&format!(r#"{{"error":{{"line":{line},"#))
        } else {
            answer.starts_with(r#"{"decision":"#) && answer.contains(self.reason())
        }
    }
}

/// Writes the request of a line, with its line end.
fn write_request(line: u64, text: &mut String) {
    const TOKEN: &str = r#""token":{"kind":"user","scopes":"read:keys write:voxies"}"#;
    let request = match LineShape::of(line) {
        LineShape::Hit => format!(
            r#"{{"method":"POST","target":"/api/v1/external/voxies/{line}/run",{TOKEN},"allow_bonus_orbs_use":true}}"#
        ),
        LineShape::OtherScope => {
            format!(r#"{{"method":"GET","target":"/api/v1/external/voxies/{line}",{TOKEN}}}"#)
        }
        LineShape::Inference => {
            r#"{"scope":"read:inference","token":{"kind":"user","scopes":["read:inference"]}}"#
                .into()
        }
        LineShape::NoToken => {
            format!(r#"{{"method":"DELETE","target":"/api/v1/external/keys/{line}","token":null}}"#)
        }
        LineShape::StrangeToken => format!(
            r#"{{"method":"DELETE","target":"/api/v1/external/keys/{line}","token":{{"kind":"robot"}}}}"#
        ),
        LineShape::Miss => format!(r#"{{"method":"GET","target":"/elsewhere/{line}",{TOKEN}}}"#),
        LineShape::Method => {
            format!(r#"{{"method":"PUT","target":"/api/v1/external/voxies/{line}",{TOKEN}}}"#)
        }
        LineShape::Malformed => {
            format!(r#"{{"method":"GET","target":"/api/v1/external//voxies/{line}",{TOKEN}}}"#)
        }
        LineShape::Long => {
            format!(
                r#"{{"method":"GET","target":"/{}{line}",{TOKEN}}}"#,
                "long/".repeat(20_000)
            )
        }
        LineShape::NotJson => format!("this is not JSON {line}"),
        LineShape::Blank => String::new(),
        LineShape::UnknownField => {
            format!(r#"{{"method":"GET","target":"/{line}",{TOKEN},"colour":"red"}}"#)
        }
    };
    text.push_str(&request);
    text.push('\n');
}

/// Numbers without a pattern (splitmix64).
const fn mix(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a faultless command would answer to these lines.
    fn answers(lines: Range<u64>) -> String {
        let answer = |line| match LineShape::of(line) {
            kind if kind.is_fault() => {
                format!("{{\"error\":{{\"line\":{line},\"message\":\"\"}}}}\n")
            }
            kind => format!("{{\"decision\":\"…\",{}}}\n", kind.reason()),
        };
        lines.map(answer).collect()
    }

    #[test]
    fn every_answer_is_needed_and_no_more() {
        let check = |text: &str| check_answers(text.as_bytes(), 1000).map_err(|e| e.to_string());
        assert_eq!(check(&answers(1..1001)), Ok(()));
        let short = check(&answers(1..1000)).unwrap_err();
        assert_eq!(short, "the output ends after 999 of 1000 lines");
        assert!(
            check(&answers(1..1002))
                .unwrap_err()
                .starts_with("more output than 1000 lines")
        );
    }

    #[test]
    fn answers_in_another_order_are_noticed() {
        let faults: Vec<_> = (1..1000)
            .filter(|line| LineShape::of(*line).is_fault())
            .collect();
        let (first, second) = (faults[0], faults[1]);
        assert!(!LineShape::of(first).is_answered_by(first, &answers(second..second + 1)));
        let shifted = answers(2..1001) + &answers(1..2);
        assert!(check_answers(shifted.as_bytes(), 1000).is_err());
    }

    #[test]
    fn a_thousand_lines_have_most_kinds() {
        let long = (1..10_000)
            .filter(|line| LineShape::of(*line) == LineShape::Long)
            .count();
        assert!((1..100).contains(&long));
        for kind in [
            LineShape::Hit,
            LineShape::Miss,
            LineShape::Malformed,
            LineShape::Blank,
            LineShape::UnknownField,
        ] {
            assert!(
                (1..1000).any(|line| LineShape::of(line) == kind),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn each_request_is_one_line() {
        let mut text = String::new();
        (1..1000).for_each(|line| write_request(line, &mut text));
        assert_eq!(text.lines().count(), 999);
    }

    #[test]
    fn tenths_cover_every_line_once() {
        for lines in [1, 9, 10, 1003] {
            let all: Vec<_> = tenths(lines).flatten().collect();
            assert_eq!(all, (1..=lines).collect::<Vec<_>>());
        }
    }

    #[test]
    fn memory_may_not_grow() {
        assert!(check_memory(&[4000, 4100, 4200]).is_ok());
        assert!(check_memory(&[4000, 6000]).is_err());
        assert!(check_memory(&[70_000, 70_000]).is_err());
        assert!(check_memory(&[]).is_ok(), "not every system says");
    }
}
