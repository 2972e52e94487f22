//! `orbgate-exchange`: puts the same exchanges to a language's gate, or becomes its program.
#![allow(clippy::disallowed_macros, reason = "a program says what failed")]

use std::os::unix::process::CommandExt as _;
use std::process::ExitCode;

use anyhow::{Error, Result};
use clap::{Parser, ValueEnum as _};
use orbgate_exchange::{Group, Program, build, every, run};

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
        for (name, framework) in every()? {
            println!("-- {name} {}", framework.unwrap_or_default());
            println!(
                "ran {} exchanges",
                run(build(name, framework)?, groups, &arguments.home)?
            );
        }
        return Ok(());
    }
    let program = match arguments.language.split_first() {
        None => Program::new(arguments.program),
        Some((name, framework)) => build(name, framework.first().map(String::as_str))?,
    };
    if let (Some(listen), Some(policy), Some(tokens)) =
        (arguments.listen, arguments.policy, arguments.tokens)
    {
        let mut command = program.command(&listen, policy.as_ref(), tokens.as_ref())?;
        command.args(arguments.ungated.then_some("--ungated"));
        return Err(Error::from(command.exec()));
    }
    println!("ran {} exchanges", run(program, groups, &arguments.home)?);
    Ok(())
}
