//! `cargo xtask load`: what the layer costs a service under load, and whether its memory stays flat.

use core::time::Duration;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::thread;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use crate::kit::process;
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::measure::record;

#[derive(Debug, Args)]
pub(crate) struct Load {
    /// How often each way of serving is measured; they take turns
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// How many connections, each of which waits for its answer before it asks again
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Then watches memory for this many minutes, under requests of many kinds
    #[arg(long, default_value_t = 10)]
    minutes: u32,
    /// Writes the figures into benches/record
    #[arg(long)]
    record: bool,
}

/// The ways of serving, as `examples/load.rs` of orbgate-tower calls them, and what they are.
const SETTINGS: [(&str, &str); 5] = [
    ("bare", "no layer"),
    ("known", "the layer, the token known by heart"),
    ("RS256", "the layer, RS256"),
    ("EdDSA", "the layer, EdDSA"),
    ("ES256", "the layer, ES256"),
];

const SCRIPT: &str = include_str!("load.lua");

/// What memory may grow by after the first minute without that being growth: allocators take pages in pieces.
const SLACK_KIB: u64 = 2048;

impl Load {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        setup::apt_until(has_wrk, "wrk", "wrk")?.needed()?;
        let build =
            "cargo build --profile published -p orbgate-tower --all-features --example load";
        Program::parse(build).run()?;
        let folder = project.target.join("xtask");
        fs::create_dir_all(&folder)?;
        let script = folder.join("load.lua");
        fs::write(&script, SCRIPT)?;
        let program = project.target.join("published/examples/load");
        let table = self.compare(&program, &script)?;
        println!("\n{table}");
        let memory = match self.minutes {
            0 => String::new(),
            _ => self.watch(&program, &script)?,
        };
        println!("{memory}");
        if self.record {
            record::write(
                "load",
                "The layer under load",
                &format!("{table}\n{memory}\n"),
            )?;
        }
        Ok(())
    }

    /// Measures the ways of serving by turns.
    fn compare(&self, program: &Path, script: &Path) -> Result<String> {
        let servers = SETTINGS.map(|(setting, _)| Server::start(program, setting));
        let mut servers = servers.into_iter().collect::<Result<Vec<_>>>()?;
        let mut rows: Vec<Vec<Figures>> = servers.iter().map(|_| Vec::new()).collect();
        for server in &mut servers {
            self.wrk(server, script, "right", 1)?;
        }
        for round in 1..=self.rounds {
            for ((server, row), (_, name)) in servers.iter_mut().zip(&mut rows).zip(SETTINGS) {
                let figures = self.wrk(server, script, "right", self.seconds)?;
                ensure!(figures.refused == 0.0, "{name}: a right request was denied");
                println!("{round}/{} {name}: {}", self.rounds, figures.cells());
                row.push(figures);
            }
        }
        let rows = SETTINGS.iter().zip(&rows).map(|((_, name), row)| {
            let figures = Figures::median(row);
            format!("| {name} | {} |\n", figures.cells())
        });
        Ok(HEAD.to_owned() + &rows.collect::<String>())
    }

    /// Asks what is denied and what is not, each differently, and notes the memory every minute.
    fn watch(&self, program: &Path, script: &Path) -> Result<String> {
        let mut server = Server::start(program, "audited")?;
        let start = server.memory_kib()?;
        println!("memory of the layer with ES256 and audit: {start} KiB at the start");
        let mut after = Vec::new();
        let mut requests = 0.0;
        for minute in 1..=self.minutes {
            let figures = self.wrk(&mut server, script, "mixed", 60)?;
            // Those that are under way when wrk stops are not counted.
            let under_way = f64::from(self.connections.saturating_mul(2));
            let denied = (figures.refused * 2.0 - figures.requests).abs();
            ensure!(
                denied <= under_way,
                "not every second one was denied: {} of {}",
                figures.refused,
                figures.requests
            );
            requests += figures.requests;
            let memory = server.memory_kib()?;
            println!("after {minute} min: {memory} KiB; {}", figures.cells());
            after.push(memory);
        }
        let (Some(first), Some(last)) = (after.first(), after.last()) else {
            bail!("no minute was measured");
        };
        ensure!(
            last.saturating_sub(*first) <= SLACK_KIB,
            "memory grew from {first} KiB after a minute to {last} KiB"
        );
        let minutes = self.minutes;
        Ok(format!(
            "memory: {start} KiB at the start, {first} KiB after 1 min, {last} KiB after {minutes} min \
             and {requests:.0} requests, every second one denied, each audited"
        ))
    }

    fn wrk(&self, server: &mut Server, script: &Path, what: &str, seconds: u32) -> Result<Figures> {
        let wrk = format!(
            "wrk --threads 1 --connections {} --timeout 10s",
            self.connections
        );
        let wrk = Program::parse(&wrk)
            .arg("--duration")
            .arg(format!("{seconds}s"));
        let wrk = wrk
            .path("--script", script)
            .arg(format!("http://{}", server.address));
        let wrk = wrk.arg("--").arg(server.token.clone()).arg(what);
        let before = server.centiseconds()?;
        let output = wrk.read()?;
        let taken = server.centiseconds()?.saturating_sub(before);
        let line = output
            .lines()
            .find_map(|line| line.strip_prefix("figures "));
        Figures::parse(line.unwrap_or_default(), taken).with_context(|| output.clone())
    }
}

/// wrk's own `--version` fails.
fn has_wrk() -> bool {
    let output = Program::parse("wrk --version").output();
    output
        .is_ok_and(|output| output.stdout.starts_with("wrk ") || output.stderr.starts_with("wrk "))
}

/// A service under load, until this is dropped.
struct Server {
    child: Child,
    /// It serves until this ends.
    _input: ChildStdin,
    address: String,
    token: String,
}

impl Server {
    fn start(program: &Path, setting: &str) -> Result<Self> {
        let program = PathBuf::from(program);
        let program = Program::at(&program).arg(setting);
        let mut command = program.command()?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().context("no standard input")?;
        let output = child.stdout.take().context("no standard output")?;
        let mut lines = BufReader::new(output).lines();
        let mut line = || lines.next().with_context(|| format!("`{program}` ended"));
        Ok(Self {
            address: line()??,
            token: line()??,
            child,
            _input: input,
        })
    }

    fn memory_kib(&self) -> Result<u64> {
        // What has been answered may not be tidied up yet.
        thread::sleep(Duration::from_millis(200));
        process::memory_kib(self.child.id(), "VmRSS").context("this system does not say how much")
    }

    fn centiseconds(&self) -> Result<u64> {
        let taken = process::processor_centiseconds(self.child.id());
        taken.context("this system does not say how much time a process takes")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came of a measurement, or the medians of several.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figures {
    requests: f64,
    seconds: f64,
    refused: f64,
    /// The service's processor time for a request, in microseconds.
    processor: f64,
    /// Until the answer, in microseconds: half of the requests, 90, 99 and 99.9 per cent of them.
    latencies: [f64; 4],
}

const HEAD: &str = "\
| | requests/s | processor time, µs | 50 %, µs | 90 % | 99 % | 99.9 % |
|---|--:|--:|--:|--:|--:|--:|
";

impl Figures {
    /// What `load.lua` prints, and the processor time that the service took.
    fn parse(line: &str, centiseconds: u64) -> Result<Self> {
        let figures: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [requests, microseconds, refused, broken, latencies @ ..] = figures.as_slice() else {
            bail!("`{line}` is not what the script prints");
        };
        ensure!(*broken == 0.0, "{broken} connections broke or timed out");
        ensure!(*requests > 0.0, "no request was answered");
        Ok(Self {
            requests: *requests,
            seconds: microseconds / 1e6,
            refused: *refused,
            processor: f64::from(u32::try_from(centiseconds)?) * 1e4 / requests,
            latencies: latencies.try_into()?,
        })
    }

    fn median(of: &[Self]) -> Self {
        let median = |figure: &dyn Fn(&Self) -> f64| {
            let mut figures: Vec<f64> = of.iter().map(figure).collect();
            figures.sort_by(f64::total_cmp);
            figures.get(figures.len() / 2).copied().unwrap_or_default()
        };
        Self {
            requests: median(&|figures| figures.requests / figures.seconds),
            seconds: 1.0,
            refused: median(&|figures| figures.refused),
            processor: median(&|figures| figures.processor),
            latencies: core::array::from_fn(|place| {
                median(&|figures| figures.latencies.get(place).copied().unwrap_or_default())
            }),
        }
    }

    fn cells(&self) -> String {
        let [half, most, nearly_all, all] = self.latencies;
        let rate = self.requests / self.seconds;
        let processor = self.processor;
        format!("{rate:.0} | {processor:.1} | {half:.0} | {most:.0} | {nearly_all:.0} | {all:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "1000 2000000 0 0 100 200 300 400";

    #[test]
    fn figures_are_read_as_the_script_prints_them() {
        let figures = Figures::parse(LINE, 5).unwrap();
        assert_eq!(figures.cells(), "500 | 50.0 | 100 | 200 | 300 | 400");
        for wrong in [
            "",
            "1000 2000000 0 0 100 200 300",
            "1000 2000000 0 1 100 200 300 400",
            "0 2000000 0 0 0 0 0 0",
        ] {
            assert!(Figures::parse(wrong, 5).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_row_has_the_median_of_its_rounds() {
        let rounds = [1000, 4000, 2000].map(|requests| {
            let line = LINE.replacen("1000", &requests.to_string(), 1);
            Figures::parse(&line, 40).unwrap()
        });
        let median = Figures::median(&rounds);
        assert_eq!(median.cells(), "1000 | 200.0 | 100 | 200 | 300 | 400");
    }
}
