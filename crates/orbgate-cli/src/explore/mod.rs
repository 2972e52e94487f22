//! `orbgate explore`: the explorer, a page that shows a policy with the same engine, and follows a file.

#[cfg(feature = "explorer")]
mod server;

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::output::{Exit, Stop};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Policy file to show and to follow; without one, the page has an example
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,

    /// Port on 127.0.0.1; any free one if it is 0
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

/// `cargo xtask explorer` builds it.
#[cfg(orbgate_explorer)]
const PAGE: Option<&str> = Some(include_str!(env!("ORBGATE_EXPLORER")));
#[cfg(not(orbgate_explorer))]
const PAGE: Option<&str> = None;

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    match (PAGE, arguments) {
        #[cfg(feature = "explorer")]
        (Some(page), Arguments { file, port }) => server::run(page, file.clone(), *port),
        _ => Err(Stop::Error(WITHOUT.to_owned())),
    }
}

const WITHOUT: &str = "this `orbgate` was built without the explorer, which the packages have; \
                       `cargo xtask explorer` in a clone builds both";

const HELP: &str = "\
Shows a policy in the browser: errors and lint as you type, the decision on a
request and its reason, all routes with what a token can call, and what a
second policy would change. The page decides with the engine itself and sends
nothing. It prints its address and runs until you end it. If the file changes
on disk, the page shows the new version. It listens on 127.0.0.1 only, refuses
requests for other hosts, and reads no other file.

Examples:
  orbgate explore policy.yaml
  orbgate explore --port 8080

Exit codes:
  0  never: it runs until it is ended
  2  could not run: unreadable file, no free port, built without the page";
