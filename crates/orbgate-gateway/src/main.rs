//! The program of the gateway: `orbgate-gateway --config gateway.yaml`.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a program says on its standard streams what it was asked, and has a token from its environment"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use orbgate_gateway::{StartError, check, probe, run};

const USAGE: &str = "\
usage: orbgate-gateway [--check] --config FILE
       orbgate-gateway --probe PROXY BACKEND --config FILE

Answers proxies that ask whether a request may pass: FILE says where and by which policy.

      --config   The configuration
      --check    Loads FILE and what it names, and serves nothing
      --probe    Sends probes through the proxy at PROXY (an address with a port), takes the place of its backend at BACKEND, and says
                 what arrives and was not allowed. The token in ORBGATE_TOKEN may make a call, and not every one
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
        [
            Some("--probe"),
            Some(proxy),
            Some(backend),
            Some("--config"),
            _,
        ] => {
            match (
                proxy.parse(),
                backend.parse(),
                std::env::var("ORBGATE_TOKEN"),
            ) {
                (Ok(proxy), Ok(backend), Ok(token)) => {
                    return found(probe(&file, proxy, backend, &token));
                }
                _ => None,
            }
        }
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

/// Says what a probe has found: 1 if there is something.
fn found(result: Result<Vec<String>, StartError>) -> ExitCode {
    match result {
        Ok(findings) if findings.is_empty() => {
            println!("what arrives was allowed");
            ExitCode::SUCCESS
        }
        Ok(findings) => {
            println!("{}", findings.join("\n"));
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
