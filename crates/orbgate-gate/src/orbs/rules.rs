//! The rules by which a gate holds and settles the orbs of calls.

use core::time::Duration;

/// How a gate holds and settles the orbs of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrbRules {
    /// What a call costs whose caller left before its answer was complete. It has no default.
    pub on_cancelled: OnCancelled,
    /// What a call costs whose answer the service broke off after its first byte. Default: as [`OrbRules::on_cancelled`].
    pub on_broken: Option<OnCancelled>,
    /// A call costs at most its hold times this, whatever its handler states. What is over isn't charged, but logged and counted.
    /// Default: 1.
    pub ceiling: u64,
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
    /// Rules with the defaults, and what a call costs whose caller left.
    #[must_use]
    pub const fn new(on_cancelled: OnCancelled) -> Self {
        let (ttl, timeout) = (Duration::from_secs(60), Duration::from_secs(2));
        Self { on_cancelled, on_broken: None, ceiling: 1, ttl, timeout, queue: 4096, mcp: None }
    }

    /// Checks the ceiling, the durations and the queue.
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
        if self.ceiling == 0 {
            return Err("`ceiling` is 0: no call that states an amount would cost anything");
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

/// What a call costs if its answer wasn't complete; at an MCP endpoint, also what other endings cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is charged, charged in part, or not")]
pub enum OnCancelled {
    /// What the handler has stated so far, and nothing if it has stated nothing.
    Stated,
    /// The whole amount, or what the handler has stated.
    Capture,
    /// Nothing.
    Void,
}

/// What the results of calls at an MCP endpoint cost that aren't simply complete. Neither has a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "each is stated")]
pub struct McpOrbs {
    /// A result with `isError: true`.
    pub on_tool_error: OnCancelled,
    /// A result of the type `input_required`. The client calls again with the input, and that call is held by itself.
    pub on_input_required: OnCancelled,
}
