//! The orbs of calls: which call holds, what its outcome means, and what the ledger must be sent when.
//!
//! Nothing here does I/O or reads a clock. The program sends commands to a ledger, reports the answers, and passes the
//! time.

mod charge;
mod holds;
mod outcome;
mod remote;
mod statement;

use core::fmt;
use core::time::Duration;

pub use self::charge::{Amount, Charging, HoldCommand, HoldId, NoAmount, Unpaid};
pub use self::holds::{HoldAnswer, Holds, Output, SettleAnswer};
pub use self::outcome::{HandlerOutcome, McpOrbs, OnCancelled, Settlement};
pub use self::remote::{HoldStep, LedgerCall, LedgerReply, RemoteHolds, SettledCounts};
pub use self::statement::{ChargedBy, GateCharges, NoAccount, Statement, Uncharged};

/// How a gate holds and settles the orbs of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrbRules {
    /// What a handler that was stopped midway costs. It has no default.
    pub on_cancelled: OnCancelled,
    /// How long a hold lasts if the program stops. A third of it is the interval at which the holds of running calls are
    /// extended. Default: 60 seconds.
    pub ttl: Duration,
    /// How long a call waits for the ledger before it is denied. Default: 2 seconds.
    pub timeout: Duration,
    /// How many settlements can wait for the ledger. If it is reached, calls that consume orbs are denied. Default: 4,096.
    pub queue: usize,
    /// What calls at an MCP endpoint cost. A gate with one needs it. Default: none.
    pub mcp: Option<McpOrbs>,
}

impl OrbRules {
    /// Rules with the defaults, and what a handler that was stopped midway costs.
    #[must_use]
    pub const fn new(on_cancelled: OnCancelled) -> Self {
        Self { on_cancelled, ttl: Duration::from_secs(60), timeout: Duration::from_secs(2), queue: 4096, mcp: None }
    }

    /// Checks the durations and the queue.
    ///
    /// # Errors
    ///
    /// Returns a message if no call could be charged, or if a hold could expire while its call still waits for it.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.ttl < Duration::from_millis(100) || self.ttl > Duration::from_secs(86_400) {
            return Err("`ttl` is not 100 milliseconds to a day");
        }
        if self.timeout.is_zero() || self.timeout > self.beat() {
            return Err("`timeout` is 0, or over a third of `ttl`");
        }
        if self.queue == 0 {
            return Err("`queue` is 0: every call that consumes orbs would be denied");
        }
        Ok(())
    }

    /// Checks that a gate with an MCP endpoint can charge by these rules.
    ///
    /// # Errors
    ///
    /// Returns a message if they don't have what only such a gate needs.
    pub const fn check_mcp(&self) -> Result<(), &'static str> {
        match self.mcp {
            Some(_) => Ok(()),
            None => {
                Err("a gate with an MCP endpoint needs a ledger that says what tool errors and required input cost")
            }
        }
    }

    /// The interval at which holds are extended.
    pub(crate) fn beat(&self) -> Duration {
        self.ttl.checked_div(3).unwrap_or_default()
    }
}

impl fmt::Display for HoldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for HoldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
