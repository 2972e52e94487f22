//! `orbgate serve`: runs the gateway. It is a separate program, so that this one needs no network code and builds
//! quickly.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::output::{Exit, Stop};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Configuration file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: PathBuf,

    /// Check the configuration and the files that it names, and exit
    #[arg(long)]
    check: bool,
}

/// Replaces this process with the gateway, so that signals and exit codes are the gateway's, or
/// explains why that failed.
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let check = arguments.check.then_some(OsStr::new("--check"));
    let config = [OsStr::new("--config"), arguments.config.as_os_str()];
    let all: Vec<_> = check.into_iter().chain(config).collect();
    Err(Stop::Error(start(&all)))
}

#[cfg(unix)]
fn start(arguments: &[&OsStr]) -> String {
    use std::io::ErrorKind;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    let error = Command::new("orbgate-gateway").args(arguments).exec();
    match error.kind() {
        ErrorKind::NotFound => "`orbgate-gateway`, the program that serves, is not in PATH; \
             from a clone: cargo install --locked --path crates/orbgate-gateway"
            .to_owned(),
        _ => format!("cannot start `orbgate-gateway`: {error}"),
    }
}

#[cfg(not(unix))]
fn start(_: &[&OsStr]) -> String {
    "`orbgate-gateway`, the program that serves, is for Unix".to_owned()
}

const HELP: &str = "\
The gateway answers nginx, HAProxy, Caddy, Traefik, Envoy and programs that
ask by AuthZEN. It is a program of its own, `orbgate-gateway`: this command
starts the one in PATH, or prints how to install it. It runs on Unix.

Examples:
  orbgate serve --config gateway.yaml
  orbgate serve --check --config gateway.yaml

Exit codes:
  0  it was told to end, or the configuration has no error
  2  could not run: an error of the configuration, or no gateway";
