//! Shared by all commands: programs, set-up, outcomes.

pub(crate) mod outcome;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod project;
pub(crate) mod setup;
pub(crate) mod skipped;
pub(crate) mod unchanged;
pub(crate) mod watch;
