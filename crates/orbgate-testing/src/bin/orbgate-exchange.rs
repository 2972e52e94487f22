//! `orbgate-exchange`: puts the same exchanges to a language's gate, or becomes its program.
#![allow(clippy::disallowed_macros, reason = "a program says what failed")]

use core::sync::atomic::{AtomicUsize, Ordering};
use std::os::unix::process::CommandExt as _;
use std::process::ExitCode;
use std::thread;

use anyhow::{Error, Result, bail};
use clap::{Parser, ValueEnum as _};
use orbgate_testing::exchange::{Group, Program, build, every, run};

/// Puts the same exchanges to a language's gate; with `--listen`, becomes its gate program
#[derive(Parser)]
#[command(name = "cargo xtask gate")]
struct Arguments {
    /// The language, and the framework where it has several
    #[arg(num_args = 0..=2, required_unless_present_any = ["every", "program"])]
    language: Vec<String>,
    /// Every language that the machine has, in each of its frameworks
    #[arg(long, conflicts_with_all = ["language", "listen"])]
    every: bool,
    /// With `--every`: of each language, only the first framework gets all groups, and the others only `exchanges` and `proof`
    #[arg(long, requires = "every")]
    quick: bool,
    /// Becomes the program, at this address
    #[arg(long, requires = "policy", requires = "tokens")]
    listen: Option<String>,
    /// Its policy
    #[arg(long)]
    policy: Option<String>,
    /// The issuers of its tokens
    #[arg(long)]
    tokens: Option<String>,
    /// Without the gate
    #[arg(long, requires = "listen")]
    ungated: bool,
    /// Only these groups
    #[arg(long, value_enum)]
    group: Vec<Group>,
    /// Where npm's packages are kept
    #[arg(long, default_value = "target/tmp")]
    home: String,
    /// The column of framing.tsv and servers.tsv of the program's server
    #[arg(long, requires = "program")]
    server: Option<String>,
    /// A program and its first arguments, instead of a language's
    #[arg(last = true)]
    program: Vec<String>,
}

fn main() -> ExitCode {
    match gate(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn gate(arguments: Arguments) -> Result<()> {
    let groups = match arguments.group.is_empty() {
        true => Group::value_variants(),
        false => &arguments.group,
    };
    if arguments.every {
        return all(groups, arguments.quick, &arguments.home);
    }
    let program = match arguments.language.split_first() {
        None => Program::new(arguments.program).with_server(arguments.server),
        Some((name, framework)) => build(name, framework.first().map(String::as_str))?,
    };
    if let (Some(listen), Some(policy), Some(tokens)) = (arguments.listen, arguments.policy, arguments.tokens) {
        let mut command = program.command(&listen, policy.as_ref(), tokens.as_ref())?;
        command.args(arguments.ungated.then_some("--ungated"));
        return Err(Error::from(command.exec()));
    }
    let name = match arguments.language.is_empty() {
        true => "program".to_owned(),
        false => arguments.language.join(" "),
    };
    let count = run(&name, program, groups, &arguments.home)?;
    println!("ran {count} exchanges");
    Ok(())
}

/// Every program, as many at once as there are processors: much of the time is spent waiting for what must take long.
fn all(groups: &[Group], is_quick: bool, home: &str) -> Result<()> {
    let programs = every()?;
    let is_first = |at: usize| {
        let language = |(language, _): &(&'static str, _)| *language;
        let before = at.checked_sub(1).and_then(|before| programs.get(before));
        before.map(language) != programs.get(at).map(language)
    };
    let next = AtomicUsize::new(0);
    let lane = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((language, framework)) = programs.get(at) else {
                return Ok(());
            };
            let name = [*language, framework.unwrap_or_default()].join(" ");
            let name = name.trim_end();
            let groups = match is_quick && !is_first(at) {
                true => &[Group::Exchanges, Group::Proof],
                false => groups,
            };
            let count = run(name, build(language, *framework)?, groups, home)?;
            println!("{name}: ran {count} exchanges");
        }
    };
    thread::scope(|scope| {
        let lanes = thread::available_parallelism().map_or(1, usize::from);
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        let mut ended = lanes.into_iter().map(|lane| lane.join());
        ended.try_for_each(|lane| lane.unwrap_or_else(|_| bail!("the driver panicked")))
    })
}
