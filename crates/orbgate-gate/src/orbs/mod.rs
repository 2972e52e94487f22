//! The orbs of calls: which call holds, what its outcome means, and what the ledger must be sent when.
//!
//! Nothing here does I/O or reads a clock. The program sends commands to a ledger, reports the answers, and passes the
//! time.

pub(crate) mod address;
pub(crate) mod charge;
pub(crate) mod excess;
pub(crate) mod holds;
pub(crate) mod outcome;
pub(crate) mod remote;
pub(crate) mod reply;
pub(crate) mod rules;
pub(crate) mod statement;
