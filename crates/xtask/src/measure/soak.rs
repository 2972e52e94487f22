//! `cargo xtask soak`: `orbgate replay` answers millions of lines, in order and in constant memory.

use std::io::{BufRead as _, BufReader, BufWriter, ErrorKind, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::thread;

use anyhow::{Context as _, Error, Result, ensure};
use clap::Args;

use crate::kit::process;
use crate::kit::program::Program;
use crate::kit::project::Project;

#[derive(Debug, Args)]
pub(crate) struct Soak {
    /// How many lines, of many kinds, faulty ones among them
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1000..))]
    lines: u64,
}

/// More than this at any time is a leak or a buffer without an end.
const MOST_KIB: u64 = 64 * 1024;
/// What an allocator may add after the first tenth without that being growth.
const SLACK_KIB: u64 = 1024;

/// Kinds of lines, each with what its answer has in it; `#` is the number of the line, `TOKEN` a user's.
const KINDS: [(&str, &str); 11] = [
    (
        r#"{"method":"POST","target":"/api/v1/external/voxies/#/run",TOKEN,"allow_bonus_orbs_use":true}"#,
        r#""reason":"scope_held""#,
    ),
    (
        r#"{"method":"GET","target":"/api/v1/external/voxies/#",TOKEN}"#,
        r#""reason":"scope_missing""#,
    ),
    (
        r#"{"scope":"read:inference","token":{"kind":"user","scopes":["read:inference"]}}"#,
        r#""reason":"scope_held""#,
    ),
    (
        r#"{"method":"DELETE","target":"/api/v1/external/keys/#","token":null}"#,
        r#""reason":"no_token""#,
    ),
    (
        r#"{"method":"DELETE","target":"/api/v1/external/keys/#","token":{"kind":"robot"}}"#,
        r#""reason":"invalid_token""#,
    ),
    (
        r#"{"method":"GET","target":"/elsewhere/#",TOKEN}"#,
        r#""reason":"no_route""#,
    ),
    (
        r#"{"method":"PUT","target":"/api/v1/external/voxies/#",TOKEN}"#,
        r#""reason":"method_not_declared""#,
    ),
    (
        r#"{"method":"GET","target":"/api/v1/external//voxies/#",TOKEN}"#,
        r#""reason":"malformed_request""#,
    ),
    ("this is not JSON #", r#"{"error":{"line":#,"#),
    ("", r#"{"error":{"line":#,"#),
    (
        r#"{"method":"GET","target":"/#",TOKEN,"colour":"red"}"#,
        r#"{"error":{"line":#,"#,
    ),
];

const TOKEN: &str = r#""token":{"kind":"user","scopes":"read:keys write:voxies"}"#;

impl Soak {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        Program::parse("cargo build --release -p orbgate-cli").run()?;
        let command = project.target.join("release").join("orbgate");
        let replay = Program::at(&command.with_extension(std::env::consts::EXE_EXTENSION));
        let replay = replay.arg("replay").arg("-");
        println!("$ {replay} # with {} lines", self.lines);
        let mut command = replay.command()?;
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take().context("no standard input")?;
        let lines = self.lines;
        let feeder = thread::spawn(move || feed(input, lines));
        let peaks = self.check_answers(&mut child)?;
        let fed = feeder.join();
        fed.map_err(|_| Error::msg("the feeder panicked"))??;
        let status = child.wait()?;
        ensure!(
            status.code() == Some(2),
            "faulty lines are said by exit code 2, not {status}"
        );
        check_memory(&peaks)
    }

    /// Compares each answer with its line, and gives the child's peak memory after each tenth of them.
    fn check_answers(&self, child: &mut Child) -> Result<Vec<u64>> {
        let output = child.stdout.take().context("no standard output")?;
        let mut answers = BufReader::with_capacity(1 << 16, output).lines();
        let mut peaks = Vec::new();
        let tenth = self.lines.div_ceil(10);
        for line in 1..=self.lines {
            let answer = answers.next().context("the output ends too soon")??;
            let (request, expected) = of(line);
            let is_right = answer.contains(&expected);
            ensure!(
                is_right,
                "line {line}: {request}\nwas answered: {answer}\nnot: {expected}"
            );
            if line.is_multiple_of(tenth) || line == self.lines {
                let peak = process::memory_kib(child.id(), "VmHWM");
                println!("{line:>12} lines answered, peak memory {peak:?} KiB");
                peaks.extend(peak);
            }
        }
        ensure!(answers.next().is_none(), "more answers than lines");
        Ok(peaks)
    }
}

fn feed(input: ChildStdin, lines: u64) -> Result<()> {
    let mut input = BufWriter::with_capacity(1 << 16, input);
    for line in 1..=lines {
        match writeln!(input, "{}", of(line).0) {
            // It ended early; what it answered, or did not, says why.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            written => written?,
        }
    }
    Ok(())
}

/// A line and what its answer has in it. No pattern repeats: answers in another order are noticed.
fn of(line: u64) -> (String, String) {
    let number = mix(line);
    let (mut request, mut answer) = ("", "");
    for (kind, known) in (0_u64..).zip(KINDS) {
        if kind == number % 11 {
            (request, answer) = known;
        }
    }
    let filled = |text: &str| text.replace('#', &line.to_string()).replace("TOKEN", TOKEN);
    match number % 4096 {
        0 => {
            let path = "long/".repeat(20_000);
            let request = format!(r#"{{"method":"GET","target":"/{path}",{TOKEN}}}"#);
            (request, r#""reason":"malformed_request""#.to_owned())
        }
        _ => (filled(request), filled(answer)),
    }
}

/// Numbers without a pattern (splitmix64).
const fn mix(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn check_memory(peaks: &[u64]) -> Result<()> {
    let (Some(first), Some(last)) = (peaks.first(), peaks.last()) else {
        println!("memory: skipped, this system has no /proc/PID/status");
        return Ok(());
    };
    ensure!(
        *last <= MOST_KIB && last.saturating_sub(*first) <= SLACK_KIB,
        "peak memory {last} KiB: at most {MOST_KIB}, and {SLACK_KIB} more than after the first tenth, {first}"
    );
    println!("peak memory {last} KiB, after the first tenth {first} KiB");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_may_not_grow() {
        let check = super::check_memory;
        assert!(check(&[4000, 4100, 4200]).is_ok());
        assert!(check(&[4000, 6000]).is_err());
        assert!(check(&[70_000, 70_000]).is_err());
        assert!(check(&[]).is_ok(), "not every system says");
    }
}
