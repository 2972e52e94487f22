//! The program of the gateway: `orbgate-gateway --config gateway.yaml`.
#![allow(
    clippy::disallowed_macros,
    reason = "a program says on its standard streams what it was asked"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use orbgate_gateway::{check, run};

const USAGE: &str = "\
usage: orbgate-gateway [--check] --config FILE

Answers proxies that ask whether a request may pass: FILE says where and by which policy.

      --config   The configuration
      --check    Loads FILE and what it names, and serves nothing
      --help     Prints this
      --version  Prints the version";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let texts: Vec<_> = arguments.iter().map(|text| text.to_str()).collect();
    let file = PathBuf::from(arguments.last().cloned().unwrap_or_default());
    let result = match texts.as_slice() {
        [Some("--help")] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        [Some("--version")] => {
            println!("orbgate-gateway {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        [Some("--check"), Some("--config"), _] => Some(check(&file)),
        [Some("--config"), _] => Some(run(&file)),
        _ => None,
    };
    match result {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(error)) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
