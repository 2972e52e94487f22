//! The gateway's program: `orbgate-gateway --config gateway.yaml`.
#![allow(
    clippy::disallowed_methods,
    reason = "a program says on its standard streams what it was asked, and has a token from its environment"
)]

use core::net::SocketAddr;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use orbgate_gateway::{OLDEST, StartError, check, probe, run};

const USAGE: &str = "\
usage: orbgate-gateway [--check] --config FILE
       orbgate-gateway --probe PROXY BACKEND --config FILE

Answers proxies that ask whether a request may pass: FILE says where and by which policy.

      --config   The configuration
      --check    Loads FILE and what it names, and serves nothing
      --probe    Sends probes through the proxy at PROXY (an address with a port), takes the place of its backend at BACKEND, and says
                 what arrives and was not allowed. The token in ORBGATE_TOKEN may make a call, and not every one
  -h, --help     Prints this
  -V, --version  Prints the version";

enum Asked {
    Help,
    Version,
    Check(PathBuf),
    Probe(PathBuf, SocketAddr, SocketAddr, String),
    Run(PathBuf),
}

fn main() -> ExitCode {
    let result = match asked(std::env::args_os().skip(1)) {
        Ok(Asked::Help) => return say(USAGE, 0),
        Ok(Asked::Version) => return say(&format!("orbgate-gateway {}", env!("CARGO_PKG_VERSION")), 0),
        Ok(Asked::Check(file)) => match check(&file) {
            Ok(checked) => {
                checked.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
                return say(&format!("{}: nothing is wrong\npolicy: {}", file.display(), checked.policy), 0);
            }
            Err(error) => Err(error),
        },
        Ok(Asked::Probe(file, proxy, backend, token)) => {
            return found(probe(&file, proxy, backend, &token));
        }
        Ok(Asked::Run(file)) => run(&file),
        Err(why) => {
            complain(&format!("orbgate-gateway: {why}\n\n{USAGE}"));
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(2)
        }
    }
}

/// Prints lines on standard output, and exits with `code`, or with 2 if they can't be written.
fn say(lines: &str, code: u8) -> ExitCode {
    let mut out = io::stdout().lock();
    match writeln!(out, "{lines}").and_then(|()| out.flush()) {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            // As in `orbgate-gateway --help | head -0`.
            if error.kind() != io::ErrorKind::BrokenPipe {
                complain(&format!("cannot write to standard output: {error}"));
            }
            ExitCode::from(2)
        }
    }
}

fn complain(lines: &str) {
    // There is nowhere else to report an error if standard error is closed.
    let _ = writeln!(io::stderr(), "{lines}");
}

/// Parses the arguments, in any order, or returns an error message.
fn asked(mut arguments: impl Iterator<Item = OsString>) -> Result<Asked, String> {
    let (mut file, mut is_check, mut addresses) = (None, false, None);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("-h" | "--help") => return Ok(Asked::Help),
            Some("-V" | "--version") => return Ok(Asked::Version),
            Some("--check") => is_check = true,
            Some("--config") => {
                let named = arguments.next().ok_or("`--config` needs a file")?;
                if file.replace(PathBuf::from(named)).is_some() {
                    return Err("`--config` is there twice".to_owned());
                }
            }
            Some("--probe") => {
                let mut address = || {
                    let text = arguments.next().unwrap_or_default();
                    let text = text.to_string_lossy();
                    let address = text.parse::<SocketAddr>();
                    address.map_err(|_| {
                        format!("`--probe` needs two IP addresses with their ports, not `{}`", text.escape_debug())
                    })
                };
                addresses = Some((address()?, address()?));
            }
            _ => {
                let argument = argument.to_string_lossy();
                return Err(format!("unknown argument `{}`", argument.escape_debug()));
            }
        }
    }
    let file = file.ok_or("`--config FILE` is missing")?;
    match (addresses, is_check) {
        (None, false) => Ok(Asked::Run(file)),
        (None, true) => Ok(Asked::Check(file)),
        (Some(_), true) => Err("`--check` and `--probe` can't be used together".to_owned()),
        (Some((proxy, backend)), false) => {
            let token = std::env::var("ORBGATE_TOKEN");
            let token = token.map_err(|_| "`--probe` needs a token in ORBGATE_TOKEN")?;
            Ok(Asked::Probe(file, proxy, backend, token))
        }
    }
}

/// Prints the findings of a probe. Exits with 1 if there are any.
fn found(result: Result<Vec<String>, StartError>) -> ExitCode {
    match result {
        Ok(findings) if findings.is_empty() => say("what arrives was allowed", 0),
        Ok(findings) => {
            let code = say(&findings.join("\n"), 1);
            complain(&format!("a cause besides the configuration is a proxy older than {OLDEST}"));
            code
        }
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(2)
        }
    }
}
