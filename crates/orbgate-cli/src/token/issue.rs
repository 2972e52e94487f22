//! `orbgate token issue`: runs an issuer on this machine, for testing a service.

use clap::Args;

use crate::output::{Exit, Stop};

/// The arguments of the command.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Port on 127.0.0.1 to listen on; 0 is any free port
    #[arg(long, default_value_t = 9000)]
    port: u16,
}

/// Issues tokens until the program is stopped.
#[cfg(feature = "token")]
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let port = arguments.port;
    let served = super::server::serve(port);
    served.map_err(|error| Stop::Error(format!("cannot listen on port {port}: {error}")))
}

/// Explains how to get a command that includes the issuer.
#[cfg(not(feature = "token"))]
pub(crate) fn run(_: &Arguments) -> Result<Exit, Stop> {
    let message = "this `orbgate` was built without the test issuer, which the packages include; \
                   from a clone: cargo install --locked --path crates/orbgate-cli --features token";
    Err(Stop::Error(message.to_owned()))
}

const HELP: &str = "\
For tests only, never in production. It has a key of its own, listens only on
this machine and gives any client a token that is valid for ten minutes:

  /tokens.yaml                         a configuration that trusts it
  /jwks                                its key
  /token?kind=user&scope=read:orbs     a token; `+` separates scopes

Examples:
  orbgate token issue &
  curl -s 127.0.0.1:9000/tokens.yaml > tokens.yaml
  TOKEN=$(curl -s '127.0.0.1:9000/token?kind=user&scope=read:orbs')

Exit codes:
  0  never: it runs until it is ended
  2  could not run: the port is taken";
