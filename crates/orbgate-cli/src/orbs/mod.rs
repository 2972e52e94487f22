//! `orbgate orbs`: a ledger on the command line.

mod arguments;
mod asked;
#[cfg(feature = "orbs")]
mod file;
#[cfg(feature = "orbs")]
mod given;
#[cfg(feature = "orbs")]
mod grants;
#[cfg(feature = "orbs")]
mod people;
#[cfg(feature = "orbs")]
mod run;
#[cfg(feature = "orbs")]
mod show;
#[cfg(feature = "orbs")]
mod values;

pub(crate) use arguments::Arguments;

use crate::output::{Exit, Stop};

#[cfg(feature = "orbs")]
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    run::run(arguments)
}

/// Explains how to get a command that includes the ledger.
#[cfg(not(feature = "orbs"))]
pub(crate) fn run(_: &Arguments) -> Result<Exit, Stop> {
    let message = "this `orbgate` was built without the ledger, which the packages have; \
                   from a clone: cargo install --locked --path crates/orbgate-cli --features orbs";
    Err(Stop::Error(message.to_owned()))
}
