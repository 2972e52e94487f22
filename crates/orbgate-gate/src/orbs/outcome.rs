//! What a handler's outcome means for the orbs that its call holds.

use crate::mcp::response::{McpEnd, Seen};
use crate::orbs::rules::{McpOrbs, OnCancelled, OrbRules};

/// How a handler ended. Whether the caller reads the answer doesn't matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "what every host must tell apart")]
pub enum HandlerOutcome {
    /// It answered completely, with this HTTP status.
    Status(u16),
    /// It answered completely, with this gRPC status.
    Grpc(u32),
    /// It threw an exception or panicked, or its answer failed before the first byte.
    Failed,
    /// It was stopped midway, or its stream failed after the first byte.
    Cancelled,
    /// It never ran: its caller left before it began, or the service wasn't ready.
    NotRun,
}

/// How a hold ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a hold is charged or released")]
pub enum Settlement {
    /// Spends this many orbs.
    Capture(u64),
    /// Releases all of them.
    Void,
}

/// The largest number of orbs that a ledger takes.
pub(super) const MOST_ORBS: u64 = (1 << 53) - 1;

impl OrbRules {
    /// The settlement of a hold of this amount, or of the amount that the handler has stated. `response` is what the response
    /// to a call at an MCP endpoint has said.
    ///
    /// Success is an HTTP status below 400, or the gRPC status 0. It captures; anything else voids, except what
    /// [`OrbRules::on_cancelled`] decides. At an MCP endpoint, a result captures and an error voids, whatever happens
    /// afterwards. A stream that ends without the response counts as stopped midway, but in older versions it captures, because
    /// the client can ask for the rest. In a session, everything captures but a status of 400 to 499, because callers choose
    /// which response a call gets.
    #[must_use]
    pub fn settlement(
        &self,
        outcome: HandlerOutcome,
        response: Option<McpEnd>,
        held: u64,
        stated: Option<u64>,
    ) -> Settlement {
        let in_session = response.is_some_and(|end| end.in_session);
        let captures = match (outcome, response) {
            (HandlerOutcome::NotRun, _) => false,
            // A server error can be the session's end, which its caller asks for.
            (HandlerOutcome::Status(status), _) if in_session => !(400..500).contains(&status),
            _ if in_session => true,
            (HandlerOutcome::Grpc(status), _) => status == 0,
            (HandlerOutcome::Status(status), _) if !(100..400).contains(&status) => false,
            (_, Some(McpEnd { seen: Seen::Result | Seen::Other, .. })) => true,
            (_, Some(McpEnd { seen: Seen::Error, .. })) => false,
            (_, Some(McpEnd { seen: Seen::ToolError, .. })) => self.mcp_setting(|mcp| mcp.on_tool_error),
            (_, Some(McpEnd { seen: Seen::InputRequired, .. })) => self.mcp_setting(|mcp| mcp.on_input_required),
            (HandlerOutcome::Failed, _) => false,
            (HandlerOutcome::Status(_), None | Some(McpEnd { seen: Seen::Nothing, .. })) => true,
            (HandlerOutcome::Status(_) | HandlerOutcome::Cancelled, response) => {
                response.is_some_and(|end| end.is_legacy) || self.on_cancelled == OnCancelled::Capture
            }
        };
        match captures {
            true => Settlement::Capture(stated.unwrap_or(held).min(MOST_ORBS)),
            false => Settlement::Void,
        }
    }

    fn mcp_setting(&self, of: impl Fn(&McpOrbs) -> OnCancelled) -> bool {
        self.mcp.as_ref().map_or(self.on_cancelled, of) == OnCancelled::Capture
    }
}
